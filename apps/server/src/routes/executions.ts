/** Executions: starting them, looking at them, operating them. */
import type { AnswerOf, OperationId } from '@nebula/client/contract';
import { type Json, NebulaError, parseDuration, type RunDocument } from '@nebula/core';
import { type ExecutionFilter, type ExecutionRow, type ExecutionStatus, FINISHED_STATUSES } from '@nebula/ports';
import { endingsAt } from '../endings.ts';
import { created, gone, type Handlers, ok, type Reply, reply } from '../http/handler.ts';
import { type Principal, visibleProjects } from '../identity/principal.ts';
import { type Launcher, traceparentIn } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { isoTime, isoTimeOrNull } from './times.ts';
import { isInVain, refuseInVain } from './vain.ts';

type Result = AnswerOf<'getResult'>;

/** Longer than this a request does not wait, whatever it asks for. */
const MAX_WAIT_MS = 5 * 60_000;

const OWN = [
  'startExecution',
  'listExecutions',
  'countExecutions',
  'bulkExecutions',
  'getExecution',
  'getResult',
  'deleteExecution',
  'relaunchExecution',
  'getJournal',
  'getTimeline',
  'explainExecution',
  'getUndoPlan',
  'getDefinition',
  'getBlob',
  'listLogs',
  'cancelExecution',
  'pauseExecution',
  'resumeExecution',
  'signalExecution',
  'answerApproval',
  'callBack',
  'retryExecution',
  'replayExecution',
  'settleNode',
] as const satisfies readonly OperationId[];

export function executionRoutes(parts: Parts, launcher: Launcher): Pick<Handlers, (typeof OWN)[number]> {
  const { engine, store, blobs, logs } = parts;

  /** The request is durable when this answers; an engine acts on it. */
  const accepted = async (
    executionId: string,
    requested: Promise<boolean>,
  ): Promise<Reply<{ executionId: string; accepted: true }>> => {
    if (!(await requested)) throw unknownExecution(executionId);
    return reply(202, { executionId, accepted: true });
  };

  return {
    async startExecution({ body, query, who, headers, signal, repeatId }) {
      const traceparent = traceparentIn(headers);
      const own = repeatId === undefined ? {} : { idempotencyKey: repeatId };
      const launch = { ...own, ...body, traceparent };
      const { executionId, isNew } = await launcher.start(launch, { type: 'api', by: who.name });
      const result = await resultOf(parts, executionId, query.wait, signal);
      return isNew ? created(result) : ok(result);
    },

    async listExecutions({ query, who, project }) {
      const { rows, next } = await store.list({
        ...filterOf(query, who, project),
        limit: query.limit ?? 50,
        ...(query.cursor !== undefined && { cursor: query.cursor }),
      });
      return ok({ items: rows.map(summaryOf), next });
    },

    async countExecutions({ query, who, project }) {
      return ok({ counts: { ...(await store.counts(filterOf(query, who, project))) } });
    },

    async bulkExecutions(call) {
      const { body, who } = call;
      const operation = bulkOperation(parts, body, who);
      const { ids, unknown, more } = await chosen(parts, body, who);
      let done = 0;
      const failed: AnswerOf<'bulkExecutions'>['failed'] = unknown.map(notThere);
      for (const executionId of ids) {
        try {
          await refuseInVain(parts, executionId, body.operation);
          if (await operation(executionId)) done++;
          else failed.push(body.operation === 'delete' ? notEnded(executionId) : notThere(executionId));
        } catch (error) {
          if (!(error instanceof NebulaError)) throw error;
          // A filter finds also such as it is not meant for; those that were named were meant.
          const isMeant = body.ids !== undefined || !isInVain(error);
          if (isMeant) failed.push({ executionId, code: error.code, message: error.message });
        }
      }
      return ok({ done, failed, more });
    },

    async getExecution({ params: { executionId } }) {
      const document = await documentOf(parts, executionId);
      return ok(document as AnswerOf<'getExecution'>);
    },

    async getResult({ params: { executionId }, query: { wait }, signal }) {
      return ok(await resultOf(parts, executionId, wait, signal));
    },

    async deleteExecution({ params: { executionId } }) {
      if (await engine.delete(executionId)) return gone();
      throw new NebulaError('NOT_FINISHED', `${executionId} has not ended.`, { hint: 'Cancel it first.' });
    },

    async relaunchExecution({ params: { executionId }, body, who, repeatId }) {
      const trigger = { type: 'relaunch', by: who.name, executionId };
      const again = await launcher.relaunch(executionId, { ...body, idempotencyKey: repeatId }, trigger);
      return created(await resultOf(parts, again, undefined, new AbortController().signal));
    },

    async getJournal({ params: { executionId }, query: { after = 0, limit = 1_000 } }) {
      const frames = (await engine.journal(executionId)).filter(({ seq }) => seq > after);
      const items = frames
        .slice(0, limit)
        .map((frame) => ({ ...frame, at: isoTime(frame.at), entries: [...frame.entries] }));
      return ok({ items, next: frames.length > limit ? String(items.at(-1)?.seq) : null });
    },

    async getTimeline({ params: { executionId }, query: { after = 0, limit = 1_000 } }) {
      const events = await engine.timeline(executionId);
      const items = events.slice(after, after + limit).map((event) => ({ ...event, at: isoTime(event.at) }));
      return ok({ items, next: events.length > after + limit ? String(after + limit) : null });
    },

    async explainExecution({ params: { executionId }, query: { node } }) {
      const explanation = await engine.explain(executionId, node);
      if (explanation === undefined) throw unknownNode(executionId, node);
      return ok({ ...explanation, reasons: [...explanation.reasons], next: [...explanation.next] });
    },

    async getUndoPlan({ params: { executionId } }) {
      const plan = await parts.engine.undoPlan(executionId);
      if (plan === undefined) throw unknownExecution(executionId);
      return ok({ toUndo: [...plan.toUndo], undone: [...plan.undone] });
    },

    async getDefinition({ params: { executionId } }) {
      const row = await rowOf(parts, executionId);
      const version = await store.workflowVersion(row.workflowId, row.version);
      if (version === undefined) throw new NebulaError('UNKNOWN_WORKFLOW', `Its workflow '${row.workflowId}' is gone.`);
      const { workflowId, hash, createdAt, definition } = version;
      return ok({
        workflowId,
        version: row.version,
        hash,
        createdAt: isoTime(createdAt),
        active: false,
        definition: JSON.parse(definition) as Json,
      });
    },

    async getBlob({ params: { executionId, sha256 } }) {
      const data = await blobs.get(executionId, sha256);
      if (data === undefined) throw new NebulaError('BLOB_MISSING', 'There is no such value.');
      return ok(data);
    },

    async listLogs({ params: { executionId }, query: { node, level, after, limit = 1_000 } }) {
      const lines = await logs.read({
        executionId,
        limit: limit + 1,
        ...(node !== undefined && { node }),
        ...(level !== undefined && { minLevel: level }),
        ...(after !== undefined && { afterPosition: after }),
      });
      const items = lines.slice(0, limit).map(({ executionId: _, ...line }) => ({ ...line, at: isoTime(line.at) }));
      return ok({ items, next: lines.length > limit ? String(items.at(-1)?.position) : null });
    },

    async cancelExecution({ params: { executionId }, body: { reason, node, compensate }, who }) {
      await refuseInVain(parts, executionId, 'cancel');
      const options = { ...(node !== undefined && { node }), ...(compensate !== undefined && { compensate }) };
      const why = reason ?? `cancelled by ${who.name}`;
      return accepted(executionId, engine.requestCancel(executionId, why, options));
    },
    async pauseExecution({ params: { executionId }, body: { reason } }) {
      await refuseInVain(parts, executionId, 'pause');
      return accepted(executionId, engine.requestPause(executionId, reason));
    },
    async resumeExecution({ params: { executionId } }) {
      await refuseInVain(parts, executionId, 'resume');
      return accepted(executionId, engine.requestResume(executionId));
    },
    async signalExecution({ params: { executionId }, body: { signal, key, payload } }) {
      await refuseInVain(parts, executionId, 'signal');
      const request = { signal, ...(key !== undefined && { key }), payload: (payload ?? null) as Json };
      return accepted(executionId, engine.requestSignal(executionId, request));
    },
    answerApproval: ({ params: { executionId }, body: { node, approved, by, comment, form }, who }) =>
      accepted(
        executionId,
        engine.requestAnswer(executionId, node, {
          approved,
          by: answering(who, by),
          ...(comment !== undefined && { comment }),
          ...(form !== undefined && { form: form as Json }),
        }),
      ),
    callBack: ({ params: { executionId }, body: { node, payload } }) =>
      accepted(executionId, engine.requestCallback(executionId, node, (payload ?? null) as Json)),
    async retryExecution({ params: { executionId } }) {
      await refuseInVain(parts, executionId, 'retry');
      return accepted(executionId, engine.requestRetry(executionId));
    },

    async replayExecution({ params: { executionId }, body: { node, input, fork } }) {
      const edited = input as Json | undefined;
      if (!fork) return accepted(executionId, engine.requestReplay(executionId, node, edited));
      return reply(202, { executionId: await engine.fork(executionId, node, edited), accepted: true });
    },

    settleNode: ({ params: { executionId }, body: { node, happened, output, then = 'retry', attempt } }) =>
      accepted(
        executionId,
        engine.requestSettle(
          executionId,
          node,
          happened ? { happened: true, output: (output ?? null) as Json } : { happened: false, then },
          attempt,
        ),
      ),
  };
}

/** Only an administrator answers for others. */
function answering(who: Principal, by: string | undefined): string {
  if (by === undefined || by === who.name || who.isAdmin) return by ?? who.name;
  throw new NebulaError('NOT_ALLOWED', `${who.name} may not answer as ${by}.`, { hint: 'Leave `by` out.' });
}

function summaryOf(row: ExecutionRow): AnswerOf<'listExecutions'>['items'][number] {
  const { executionId, workflowId, version, project, status } = row;
  return {
    executionId,
    workflowId,
    version,
    project,
    status,
    createdAt: isoTime(row.createdAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    wakeAt: isoTimeOrNull(row.wakeAt),
  };
}

interface FilterQuery {
  readonly workflowId?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
}

function filterOf(query: FilterQuery, who: Principal, project: string | undefined): Omit<ExecutionFilter, 'limit'> {
  const { workflowId, status, since, until } = query;
  const visible = visibleProjects(who);
  return {
    ...(project === undefined ? onlyProject(visible) : { project }),
    ...(workflowId !== undefined && { workflowId }),
    ...(status !== undefined && { status: statusesOf(status) }),
    ...(since !== undefined && { since: momentOf('since', since) }),
    ...(until !== undefined && { until: momentOf('until', until) }),
  };
}

/** The format allows leap seconds; the calendar of the machine does not know them. */
function momentOf(name: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isFinite(at)) return at;
  throw new NebulaError('QUERY_INVALID', `'${name}' is no moment.`, {
    details: { errors: [{ pointer: `?${name}`, detail: 'is no moment' }] },
  });
}

/** Lists are of one project, or of all. */
function onlyProject(visible: readonly string[] | undefined): { readonly project?: string } {
  if (visible === undefined) return {};
  const [project, ...others] = visible;
  if (project !== undefined && others.length === 0) return { project };
  throw new NebulaError('QUERY_INVALID', 'You see several projects: say which one is meant.', {
    hint: `Add ?project= with one of ${visible.join(', ')}.`,
    details: { errors: [{ pointer: '?project', detail: 'is missing' }] },
  });
}

const STATUSES: readonly string[] = ['pending', 'running', 'paused', 'compensating', ...FINISHED_STATUSES];

function statusesOf(text: string): ExecutionStatus[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !STATUSES.includes(name));
  if (wrong === undefined) return names as ExecutionStatus[];
  throw new NebulaError('QUERY_INVALID', `'${wrong.slice(0, 80)}' is no status.`, {
    hint: `It is one of ${STATUSES.join(', ')}.`,
    details: { errors: [{ pointer: '?status', detail: 'is no status' }] },
  });
}

async function rowOf({ store }: Parts, executionId: string): Promise<ExecutionRow> {
  const row = await store.execution(executionId);
  if (row === undefined) throw unknownExecution(executionId);
  return row;
}

async function documentOf({ engine }: Parts, executionId: string): Promise<RunDocument> {
  const document = await engine.document(executionId);
  if (document === undefined) throw unknownExecution(executionId);
  return document;
}

/** Where it stands now; with `wait`, where it stands when it has ended or the time is over. */
export async function resultOf(
  parts: Parts,
  executionId: string,
  wait: string | undefined,
  signal: AbortSignal,
): Promise<Result> {
  const waitMs = wait === undefined ? 0 : waitOf(wait);
  const ended = waitMs === 0 ? undefined : await endingsAt(parts).of(executionId, waitMs, signal);
  const document = ended ?? parts.engine.peek(executionId) ?? (await documentOf(parts, executionId));
  const { workflowId, status, output, error } = document;
  const isEnded = (FINISHED_STATUSES as readonly string[]).includes(status);
  return { executionId, workflowId, status, ended: isEnded, output, error: error as Result['error'] };
}

function waitOf(text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === 'number') return Math.min(ms, MAX_WAIT_MS);
  throw new NebulaError('QUERY_INVALID', `wait: ${ms.message}`, { hint: ms.hint });
}

type BulkBody = Parameters<Handlers['bulkExecutions']>[0]['body'];

function bulkOperation({ engine }: Parts, body: BulkBody, who: Principal): (executionId: string) => Promise<boolean> {
  const { operation, reason, compensate, signal } = body;
  switch (operation) {
    case 'cancel':
      return (id) =>
        engine.requestCancel(id, reason ?? `cancelled by ${who.name}`, compensate === undefined ? {} : { compensate });
    case 'pause':
      return (id) => engine.requestPause(id, reason);
    case 'resume':
      return (id) => engine.requestResume(id);
    case 'retry':
      return (id) => engine.requestRetry(id);
    case 'delete':
      return (id) => engine.delete(id);
    case 'signal': {
      if (signal === undefined) throw bodyLacks('signal', 'Which signal?');
      const { signal: name, key, payload } = signal;
      return (id) =>
        engine.requestSignal(id, {
          signal: name,
          ...(key !== undefined && { key }),
          payload: (payload ?? null) as Json,
        });
    }
  }
}

interface Chosen {
  readonly ids: readonly string[];
  /** Named, and not there for this caller. */
  readonly unknown: readonly string[];
  readonly more: boolean;
}

const notThere = (executionId: string): AnswerOf<'bulkExecutions'>['failed'][number] => ({
  executionId,
  code: 'UNKNOWN_EXECUTION',
  message: `There is no execution ${executionId}.`,
});

const notEnded = (executionId: string): AnswerOf<'bulkExecutions'>['failed'][number] => ({
  executionId,
  code: 'NOT_FINISHED',
  message: `${executionId} has not ended.`,
});

/** The executions that a bulk operation is for: those named, or those found; only such as the caller may operate. */
async function chosen(parts: Parts, { ids, filter, limit = 1_000 }: BulkBody, who: Principal): Promise<Chosen> {
  const may = new Set(who.isAdmin ? [] : Object.keys(who.roles).filter((project) => who.roles[project] !== 'viewer'));
  const isTheirs = (project: string): boolean => who.isAdmin || may.has(project);
  if (ids !== undefined) {
    const theirs: string[] = [];
    for (const id of ids) {
      const row = await parts.store.execution(id);
      if (row !== undefined && isTheirs(row.project)) theirs.push(id);
    }
    return { ids: theirs, unknown: ids.filter((id) => !theirs.includes(id)), more: false };
  }
  if (filter === undefined) throw bodyLacks('ids', 'Say which: `ids`, or a `filter`.');
  if (filter.project !== undefined && !isTheirs(filter.project)) {
    throw new NebulaError('NOT_ALLOWED', `${who.name} may not operate runs of project '${filter.project}'.`);
  }
  const found: string[] = [];
  const where = filterOf(filter, who.isAdmin ? who : { ...who, roles: rolesOf(who, may) }, filter.project);
  let cursor: string | undefined;
  do {
    const page = await parts.store.list({
      ...where,
      limit: Math.min(1_000, limit - found.length),
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.rows.map(({ executionId }) => executionId));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && found.length < limit);
  return { ids: found, unknown: [], more: cursor !== undefined };
}

function rolesOf({ roles }: Principal, projects: ReadonlySet<string>): Principal['roles'] {
  return Object.fromEntries(Object.entries(roles).filter(([project]) => projects.has(project)));
}

function bodyLacks(member: string, hint: string): NebulaError {
  return new NebulaError('BODY_INVALID', `The body lacks '${member}'.`, {
    hint,
    details: { errors: [{ pointer: `/${member}`, detail: 'is missing' }] },
  });
}

function unknownExecution(executionId: string): NebulaError {
  return new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
}

function unknownNode(executionId: string, node: string | undefined): NebulaError {
  if (node === undefined) return unknownExecution(executionId);
  return new NebulaError('UNKNOWN_NODE', `There is no node '${node}' in ${executionId}.`);
}
