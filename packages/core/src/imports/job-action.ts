/** The action behind a workflow-graph job: the input of the worker and the command line that it runs. */
import type { Action } from '../action.ts';
import { isJsonObject, type Json, type JsonObject } from '../value.ts';

/** A lost attempt is repeated or fails the job; a job never becomes `unknown`. */
export const JOB_ACTION = {
  id: 'workflow-graph.job',
  version: '1',
  title: 'A job of workflow-graph',
  description: 'A command line that a worker of workflow-graph runs by `sh -c`.',
  effect: 'idempotent',
} as const satisfies Partial<Action>;

export const JOB_REFERENCE = `${JOB_ACTION.id}@${JOB_ACTION.version}`;

/** Codes of failures that the worker reports as retryable and as not retryable. */
export const JOB_FAILED = 'JOB_FAILED';
export const JOB_REFUSED = 'JOB_REFUSED';

/** When a job or step runs: after successes only, in any case, or after a failure only. */
export type RunsAfter = 'success' | 'always' | 'failure';

const WORDS: Readonly<Record<string, RunsAfter>> = {
  'success()': 'success',
  'always()': 'always',
  'failure()': 'failure',
};

/** The meaning of a condition that is one of these words; undefined for an expression. */
export function runsAfter(condition: string | undefined): RunsAfter | undefined {
  if (condition === undefined) return 'success';
  return Object.hasOwn(WORDS, condition) ? WORDS[condition] : undefined;
}

export interface JobStep {
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
  readonly condition: string | undefined;
  /** The command of a job that has `run` instead of steps. */
  readonly isWhole?: true;
}

/** A step in the input of the action. */
export interface StepInput {
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
  readonly if: Json;
  /** Absent for the command of a job without steps, and in definitions of earlier versions. */
  readonly on?: RunsAfter;
}

/** An expression is evaluated when the job is dispatched. */
export function stepInput({ run, env, condition, isWhole }: JobStep): StepInput {
  if (isWhole) return { run, env, if: true };
  const on = runsAfter(condition);
  return { run, env, if: on === undefined ? `{{ ${condition} }}` : true, on: on ?? 'success' };
}

/** The command line of steps as a status shows it: without the variables of the job. */
export function stepsCommand(steps: readonly JobStep[]): string {
  return commandOf({}, steps.map(stepInput));
}

/** The command line that a worker runs by `sh -c`: the exports of the variables, then the steps whose `if` holds. */
export function jobCommand(input: Json): string {
  const { env = {}, steps = [] } = (isJsonObject(input) ? input : {}) as {
    readonly env?: StepInput['env'];
    readonly steps?: readonly StepInput[];
  };
  return commandOf(env, steps);
}

/**
 * A step is a subshell with `set -e`. Steps for failures need a script that continues after a failed step, and ends with
 * its exit code. A subshell before `||` or in a condition would ignore `set -e`.
 */
function commandOf(env: StepInput['env'], steps: readonly StepInput[]): string {
  const wanted = steps.filter((step) => step.if !== false && step.if !== null && step.if !== '' && step.if !== 'false');
  const [only] = wanted;
  const shared = exported(env);
  if (wanted.length === 1 && only?.on === undefined) return `${shared}${exported(only?.env ?? {})}${only?.run}`;
  if (wanted.every(({ on = 'success' }) => on === 'success')) {
    return `set -e\n${shared}${wanted.map(subshell).join('\n')}`;
  }
  return `${shared}nebula_code=0\n${wanted.map(guarded).join('\n')}\nexit "$nebula_code"`;
}

function subshell({ env, run }: StepInput): string {
  return `(\n${exported(env)}${run}\n)`;
}

/** The first failed step decides the exit code. */
function guarded(step: StepInput): string {
  const { on = 'success' } = step;
  const body = `(\nset -e\n${exported(step.env)}${step.run}\n)\nnebula_step=$?`;
  const noted = 'if [ "$nebula_code" -eq 0 ]; then nebula_code=$nebula_step; fi';
  if (on === 'always') return `${body}\n${noted}`;
  return `if [ "$nebula_code" ${on === 'success' ? '-eq' : '-ne'} 0 ]; then\n${body}\n${noted}\nfi`;
}

function exported(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'`);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

const ESCAPED = "{{ '{{' }}";

/** Escapes braces in command lines (`docker ps --format '{{.Names}}'`), which are not expressions. */
export function literal<T extends Json>(value: T): T {
  return mapTexts(value, (text) => text.replaceAll('{{', ESCAPED));
}

export function unescaped<T extends Json>(value: T): T {
  return mapTexts(value, (text) => text.replaceAll(ESCAPED, '{{'));
}

function mapTexts<T extends Json>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change)) as unknown as T;
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value as JsonObject).map(([key, member]) => [key, mapTexts(member, change)]);
  return Object.fromEntries(members) as T;
}
