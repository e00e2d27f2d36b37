/**
 * The single entrance for received definitions. Reading, compiling and verifying takes time in proportion to
 * the text, so definitions above a small size go to a thread and do not block the event loop.
 */
import {
  type Ceiling,
  type Compile,
  isJsonObject,
  type Json,
  NebulaError,
  type Problem,
  unreachable,
  usedWorkflows,
  type WorkflowDefinition,
  withFewPatterns,
} from '@nebula/core';
import { CHECK_LIMITS, UPLOAD_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { type Checked, checkDefinition, type DefinitionInput, readInput } from './check.ts';
import { type Job, outlineOf, type Question } from './questions.ts';
import { checkInThread, DIVIDE } from './side-thread.ts';
import { usedWorkflowsOf, usedWorkflowText } from './used-workflows.ts';

export interface CheckedDefinition {
  readonly definition: WorkflowDefinition | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Checks a definition with the actions, the workflows and the ceiling of the project. Files of the project (`isLocal`)
 * have only the limits of the language.
 */
export async function checkedDefinition(
  parts: Parts,
  input: DefinitionInput,
  project: string,
  isLocal: true | undefined,
): Promise<CheckedDefinition> {
  const text = 'source' in input ? input.source : JSON.stringify(input.definition);
  if (isLocal === undefined && text.length > UPLOAD_LIMITS.maxDefinitionChars) throw tooLong(text.length);
  const ceiling = await parts.projects.ceilingOf(project);
  const setting: Setting = { parts, project, ceiling, isBounded: isLocal === undefined };
  const most = 'source' in input ? CHECK_LIMITS.inProcessTextChars : CHECK_LIMITS.inProcessChars;
  const checked =
    (text.length <= most || isCompiled(input, setting) ? await checkHere(input, setting) : undefined) ??
    (await checkBeside('source' in input ? input : { definition: text }, setting));
  if ('tooMany' in checked) throw tooMany(checked);
  return checked;
}

interface Setting {
  readonly parts: Parts;
  readonly project: string;
  readonly ceiling: Ceiling;
  readonly isBounded: boolean;
}

/** A command that owns the data folder has compiled its file already. */
function isCompiled(input: DefinitionInput, { parts, project, ceiling }: Setting): boolean {
  if (!('definition' in input) || !isJsonObject(input.definition)) return false;
  const definition = input.definition as unknown as WorkflowDefinition;
  return parts.executions.checks.isChecked(definition, { project, ceiling });
}

/** Undefined if it has large patterns, or uses large workflows, which are compiled with it. */
async function checkHere(
  input: DefinitionInput,
  { parts, project, ...options }: Setting,
): Promise<Checked | undefined> {
  const read = readInput(input);
  const used = read.definition === undefined ? [] : usedWorkflows(read.definition);
  const workflows = await usedWorkflowsOf(parts, used, project, CHECK_LIMITS.inProcessChars);
  if (workflows === undefined) return undefined;
  const compile: Compile = (definition, how) => parts.executions.checks.check(definition, { project, ...how });
  return withFewPatterns(CHECK_LIMITS.inProcessInstructions, () =>
    checkDefinition(input, { ...options, workflows, compile }, read),
  );
}

async function checkBeside(input: DefinitionInput, setting: Setting): Promise<Checked> {
  const { parts, ceiling, isBounded } = setting;
  const { capabilities, labels } = parts.executions.catalog;
  const job: Job = {
    input,
    ceiling: ceiling as Json,
    capabilities: capabilities as Json,
    labels: labels as Json,
    isBounded,
  };
  const done = await checkInThread(job, (question) => answerTo(question, setting));
  if ('fault' in done) throw new Error(`The thread that checks definitions failed: ${done.fault}`);
  if ('tooMany' in done) return done;
  return { ...done, definition: (done.definition ?? undefined) as WorkflowDefinition | undefined };
}

/** Answers a question of the checking thread. */
function answerTo(question: Question, { parts, project }: Setting): unknown {
  const catalog = parts.executions.catalog.within(project);
  switch (question.ask) {
    case 'action': {
      const action = catalog.action(question.reference);
      return action && outlineOf(action);
    }
    case 'actionIds':
      return [...catalog.actionIds()];
    case 'versionsOf':
      return catalog.versionsOf(question.id);
    case 'retryPolicies':
      return [...catalog.retryPolicyNames()];
    case 'reaches': {
      const reaches = catalog.action(question.reference)?.reaches as
        | Readonly<Record<string, (input: Json) => string | undefined>>
        | undefined;
      return reaches?.[question.list]?.(question.input);
    }
    case 'workflow':
      return usedWorkflowText(parts, question.id, question.version ?? undefined, project);
    default:
      return unreachable(question);
  }
}

function tooMany({ tooMany: what, count }: Extract<Checked, { tooMany: string }>): NebulaError {
  const most = what === 'nodes' ? UPLOAD_LIMITS.maxNodes : UPLOAD_LIMITS.maxEdges;
  return new NebulaError('TOO_LARGE', `The definition has ${count} ${what}; the limit for uploads is ${most}.`, {
    hint: DIVIDE,
  });
}

function tooLong(chars: number): NebulaError {
  return new NebulaError(
    'TOO_LARGE',
    `The definition has ${chars} characters as JSON; the limit for uploads is ${UPLOAD_LIMITS.maxDefinitionChars}.`,
    { hint: DIVIDE },
  );
}
