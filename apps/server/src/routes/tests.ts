/** Test runs, the outputs that they can be pinned with, and rehearsals. */
import type { AnswerOf, BodyOf } from '@nebula/client/contract';
import { isTestVersion, type Json, NebulaError, type Pin, type WorkflowDefinition } from '@nebula/core';
import type { RehearsedRun } from '@nebula/engine';
import { type Call, created, type Handlers, ok } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject, unknownExecution, unknownWorkflow } from '../http/subject.ts';
import { isAtLeast } from '../identity/principal.ts';
import { homeOf } from '../launch-plan.ts';
import { traceparentIn } from '../launcher.ts';
import { TEST_LIMITS } from '../limits.ts';
import type { EngineParts, Parts } from '../parts.ts';
import type { Waits } from '../waits.ts';
import { resultOf } from './executions.ts';
import { isoTime } from './times.ts';
import { claimIds, compiled, invalidDefinition } from './workflow-registration.ts';

export function testRoutes(parts: EngineParts, waits: Waits) {
  const { engine, store, random, digest } = parts;
  return {
    async startTest(call) {
      const { query, body, signal, repeatId } = call;
      const repeated = repeatId === undefined ? undefined : `exe_t${digest(`test ${repeatId}`).slice(0, 40)}`;
      const executionId = body.executionId ?? repeated ?? random.id('exe');
      const before = await store.execution(executionId);
      const isNew = before === undefined;
      if (isNew) await start(parts, call, executionId);
      else if (before.project !== (call.project ?? DEFAULT_PROJECT) || !isTestVersion(before.version)) {
        // A body that is refused anyway is refused for that, whatever the id names.
        await tested(parts, call, call.project ?? DEFAULT_PROJECT);
        throw idTaken(executionId);
      }
      const ended = await waits.ended(executionId, query.wait, signal);
      const answer = await resultOf(parts, executionId, ended ?? engine.peek(executionId));
      return isNew ? created(answer) : ok(answer);
    },
  } satisfies Partial<Handlers>;
}

async function start(parts: EngineParts, call: Call<'startTest'>, executionId: string): Promise<void> {
  const { body, who, headers, isLocal, project = DEFAULT_PROJECT } = call;
  const { input = {}, until, only, from } = body;
  const pins = body.pins as Readonly<Record<string, Pin>> | undefined;
  refuseUnlessEditor(call, project);
  const pinChars = pins === undefined ? 0 : JSON.stringify(pins).length;
  if (pinChars > TEST_LIMITS.maxPinChars) throw tooManyChars(pinChars);
  if (from !== undefined && (await parts.store.execution(from))?.project !== project) throw unknownExecution(from);
  const { definition, version: origin } = await tested(parts, call, project);
  const part = { ...(until !== undefined && { until }), ...(only !== undefined && { only }) };
  const { workflowId, version } = await parts.executions.registerTest(
    definition as unknown as Json,
    { ...part, ...(from !== undefined && { from }), ...(pins && { pins }) },
    executionId,
  );
  const trigger = {
    type: 'test',
    by: who.name,
    ...(origin !== undefined && { version: origin }),
    ...part,
    ...(from !== undefined && { from }),
    ...(pins && { pins: Object.keys(pins) }),
  };
  const traceparent = traceparentIn(headers);
  await parts.engine.start(workflowId, version, {
    input: input as Json,
    trigger,
    project,
    executionId,
    ...(isLocal ? {} : { principal: who.name }),
    ...(traceparent !== undefined && { traceparent }),
  });
}

/**
 * A definition that is not registered is an edit, and so are pins: other data before a node that uses a secret could
 * send it elsewhere. Results of another run are pins, too: that run had another input, or another version, so a node that
 * checks the input, or an approval, would count for what it has not seen.
 */
function refuseUnlessEditor({ body, who }: Call<'startTest'>, project: string): void {
  const { pins, from, source, definition } = body;
  if ([pins, from, source, definition].every((given) => given === undefined)) return;
  const what =
    pins !== undefined ? 'pins' : from !== undefined ? 'results of another run' : 'a definition that is not registered';
  const role = Object.hasOwn(who.roles, project) ? who.roles[project] : undefined;
  if (who.isAdmin || (role !== undefined && isAtLeast(role, 'editor'))) return;
  throw new NebulaError('NOT_ALLOWED', `Only an editor may start a test run with ${what}.`, {
    hint: 'Name a registered workflow without `pins` and `from`, or ask an editor of the project.',
  });
}

/** `version`: that of a registered definition. */
async function tested(
  parts: Parts,
  { body, isLocal }: Call<'startTest'>,
  project: string,
): Promise<{ readonly definition: WorkflowDefinition; readonly version?: number }> {
  const { workflowId, version } = body;
  if (body.source === undefined && body.definition === undefined && workflowId !== undefined) {
    const home = await homeOf(parts, workflowId);
    if (home.project !== project) throw unknownWorkflow(workflowId);
    const row = await parts.store.workflowVersion(workflowId, version ?? home.active);
    if (row === undefined) {
      throw new NebulaError('UNKNOWN_WORKFLOW', `There is no version ${version} of workflow '${workflowId}'.`);
    }
    return { definition: JSON.parse(row.definition) as WorkflowDefinition, version: row.version };
  }
  const beside = (['workflowId', 'version'] as const).find((name) => body[name] !== undefined);
  if (beside !== undefined) throw besideDefinition(beside);
  const definition = await edited(parts, body, project, isLocal);
  // The id is claimed as by a registration: runs belong to the project of their workflow.
  await claimIds(parts, definition, project, false);
  return { definition };
}

async function edited(
  parts: Parts,
  body: BodyOf<'validateWorkflow'>,
  project: string,
  isLocal: true | undefined,
): Promise<WorkflowDefinition> {
  await requireProject(parts, project);
  const { source, definition: given, filename } = body;
  const text = { ...(source !== undefined && { source }), ...(given !== undefined && { definition: given }) };
  const { definition, problems } = await compiled(
    parts,
    { ...text, ...(filename !== undefined && { filename }) },
    project,
    isLocal,
  );
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (definition === undefined || errors.length > 0) throw invalidDefinition(errors);
  return definition;
}

function idTaken(executionId: string): NebulaError {
  return new NebulaError('EXECUTION_ID_TAKEN', `The id '${executionId}' belongs to another run.`, {
    hint: 'Choose another id, or leave it out.',
  });
}

function besideDefinition(name: string): NebulaError {
  return new NebulaError('BODY_INVALID', `'${name}' does not go with a definition.`, {
    hint: `The definition has the id of the workflow: leave '${name}' out.`,
    details: { errors: [{ pointer: `/${name}`, detail: 'does not go with a definition' }] },
  });
}

function tooManyChars(chars: number): NebulaError {
  const message = `The pins have ${chars} characters as JSON; the limit is ${TEST_LIMITS.maxPinChars}.`;
  return new NebulaError('TOO_LARGE', message, { hint: 'Shorten the outputs.' });
}

export function outputRoutes({ executions }: Parts) {
  return {
    async listOutputs({ params: { executionId }, query: { cursor = '0', limit = 20 } }) {
      if (!/^\d{1,9}$/.test(cursor)) {
        throw new NebulaError('CURSOR_INVALID', 'The cursor does not belong to this list.', {
          hint: 'Use `next` of a page.',
        });
      }
      const page = { after: Number(cursor), limit, maxChars: TEST_LIMITS.maxPreviewChars };
      const found = await executions.results(executionId, page);
      if (found === undefined) throw unknownExecution(executionId);
      const items = found.items.map(({ at, output, ...item }): AnswerOf<'listOutputs'>['items'][number] => {
        if (output === undefined) return { ...item, at: isoTime(at) };
        const { bytes } = output;
        const shown = 'preview' in output ? { preview: output.preview } : { output: output.value };
        return { ...item, at: isoTime(at), bytes, ...shown };
      });
      return ok({ items, next: found.next === null ? null : String(found.next) });
    },
  } satisfies Partial<Handlers>;
}

export function rehearsalRoutes(parts: Parts) {
  let open = 0;
  return {
    async rehearseWorkflow({ params: { workflowId }, body, project = DEFAULT_PROJECT, isLocal }) {
      if (open >= TEST_LIMITS.maxRehearsals) {
        throw new NebulaError('BUSY', 'Other rehearsals are under way.', { hint: 'Try again.', retryable: true });
      }
      open++;
      try {
        const { limit = 20, ...given } = body;
        const definition = await edited(parts, given, project, isLocal);
        if (definition.id !== workflowId) throw otherWorkflow(definition.id, workflowId);
        const options = { project, limit, maxMs: TEST_LIMITS.maxRehearsalMs };
        return ok(rehearsalOf(await parts.executions.rehearse(definition as unknown as Json, options)));
      } finally {
        open--;
      }
    },
  } satisfies Partial<Handlers>;
}

function otherWorkflow(id: string, workflowId: string): NebulaError {
  return new NebulaError('DEFINITION_INVALID', `The definition is one of '${id}', not of '${workflowId}'.`, {
    hint: `Rehearse it with the runs of '${id}', or keep the id.`,
  });
}

function rehearsalOf(runs: readonly RehearsedRun[]): AnswerOf<'rehearseWorkflow'> {
  const count = (result: RehearsedRun['outcome']['result']): number =>
    runs.filter(({ outcome }) => outcome.result === result).length;
  return {
    counts: { same: count('same'), differs: count('differs'), notReplayed: count('not-replayed') },
    runs: runs.map(({ executionId, version, status, createdAt, outcome }) => {
      const run = { executionId, version, status, createdAt: isoTime(createdAt), result: outcome.result };
      if (outcome.result === 'same') return { ...run, unclear: outcome.unclear };
      if (outcome.result === 'not-replayed') return { ...run, reason: outcome.reason };
      const { at, recorded, now, ...difference } = outcome.difference;
      const values = { recorded: shortValue(recorded), now: shortValue(now) };
      return { ...run, difference: { ...difference, at: isoTime(at), ...values } };
    }),
  };
}

function shortValue(value: Json): Json {
  return JSON.stringify(value).length > TEST_LIMITS.maxValueChars ? null : value;
}
