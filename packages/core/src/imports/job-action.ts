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

interface JobInput {
  readonly env?: Readonly<Record<string, string>>;
  readonly steps?: readonly {
    readonly run: string;
    readonly env: Readonly<Record<string, string>>;
    readonly if: Json;
  }[];
}

/** The exports of the variables, then the steps whose `if` holds, joined so that a failing step ends the command. */
export function jobCommand(input: Json): string {
  const { env = {}, steps = [] } = (isJsonObject(input) ? input : {}) as JobInput;
  const wanted = steps.filter((step) => step.if !== false && step.if !== null && step.if !== '' && step.if !== 'false');
  const [only] = wanted;
  const shared = exported(env);
  if (wanted.length === 1 && only !== undefined) return `${shared}${exported(only.env)}${only.run}`;
  return `set -e\n${shared}${wanted.map((step) => `(\n${exported(step.env)}${step.run}\n)`).join('\n')}`;
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
