/**
 * A workflow of workflow-graph → a definition of ours. Every job is a node, whatever its place in the graph: labels,
 * retries, timeout and condition hold for all of them, and what the jobs before it gave is handed to it.
 */
import { type ActionDescription, isJsonObject, type Json, type JsonObject, NebulaError } from '@nebula/core';
import { parse } from 'yaml';

/** What workers of workflow-graph run. A lost attempt of theirs is repeated, or fails the job: it never hangs. */
export const JOB: ActionDescription = {
  id: 'workflow-graph.job',
  version: '1',
  title: 'A job of workflow-graph',
  description: 'A command line that a worker of workflow-graph runs.',
  effect: 'idempotent',
};

/** Only a failure that its worker calls retryable is worth another try. */
export const RETRYABLE = 'JOB_FAILED';
export const FINAL = 'JOB_REFUSED';

const RETRY = { policy: 'exponential', initial: '1s', max: '1m', on: [RETRYABLE, 'TIMEOUT'] } as const;
const MAX_ALIASES = 100;

export interface Converted {
  readonly name: string;
  readonly definition: JsonObject;
}

/** `text`: YAML or JSON. `id`: what to call it. */
export function convert(body: Json, idOf: (name: string) => string): Converted {
  const workflow = typeof body === 'string' ? parsed(body) : body;
  if (!isJsonObject(workflow)) throw refused('', 'is not an object');
  const { name = 'workflow', on = null, env = {}, jobs } = workflow;
  if (typeof name !== 'string') throw refused('name', 'is not a text');
  if (!isJsonObject(jobs ?? null) || Object.keys(jobs as JsonObject).length === 0) throw refused('jobs', 'has no jobs');
  const nodes: Record<string, Json> = {};
  const edges: Json[] = [];
  for (const [id, job] of Object.entries(jobs as JsonObject)) {
    if (!isJsonObject(job)) throw refused(`jobs.${id}`, 'is not an object');
    const { node, more } = jobNode(id, job, texts(`env`, env));
    nodes[id] = node;
    edges.push(...more);
  }
  const notes = `on: ${JSON.stringify(on)}`;
  const definition = { id: idOf(name), name, description: notes, nodes, ...(edges.length > 0 && { edges }) };
  return { name, definition };
}

function jobNode(
  id: string,
  job: JsonObject,
  shared: Readonly<Record<string, string>>,
): { readonly node: JsonObject; readonly more: Json[] } {
  const at = `jobs.${id}`;
  const { name, run, steps, timeout, retries = 0, labels = [] } = job;
  const needs = list(`${at}.needs`, job['needs']);
  const own = texts(`${at}.env`, job['env'] ?? {});
  if ((run === undefined) === (steps === undefined)) throw refused(at, "has either 'run' or 'steps'");
  if (!Number.isInteger(retries) || (retries as number) < 0) throw refused(`${at}.retries`, 'is not a count');
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) {
    throw refused(`${at}.timeout`, 'is not a number of seconds');
  }
  const { when, on } = conditionOf(`${at}.if`, job['if']);
  const given = {
    env: literal({ ...shared, ...own }),
    steps: stepsOf(at, run, steps),
    // What they gave, whether they ran or were skipped.
    upstream: Object.fromEntries(needs.map((before) => [before, `{{ $nodes.${before}.output }}`])),
  };
  const node = {
    action: `${JOB.id}@${JOB.version}`,
    with: given,
    labels: list(`${at}.labels`, labels),
    retry: { ...RETRY, attempts: (retries as number) + 1, system: retries },
    ...(typeof name === 'string' && { name }),
    ...(timeout !== undefined && { timeout: `${timeout}s` }),
    ...(when !== undefined && { when }),
    ...(on === 'success' && needs.length > 0 && { needs }),
  };
  const more = on === 'success' ? [] : needs.map((from) => ({ from, to: id, on }));
  return { node, more };
}

function stepsOf(at: string, run: Json | undefined, steps: Json | undefined): Json[] {
  const all: Json = steps === undefined ? [{ run: run as Json }] : steps;
  if (!Array.isArray(all) || all.length === 0) throw refused(`${at}.steps`, 'is not a list of steps');
  return all.map((step, index) => {
    const where = `${at}.steps.${index}`;
    if (!isJsonObject(step) || typeof step['run'] !== 'string') throw refused(where, "has no 'run'");
    const condition = step['if'];
    if (condition !== undefined && typeof condition !== 'string' && typeof condition !== 'boolean') {
      throw refused(`${where}.if`, 'is not an expression');
    }
    return {
      run: literal(step['run']),
      env: literal(texts(`${where}.env`, step['env'] ?? {})),
      // Decided when the job is given out.
      if: typeof condition === 'string' ? `{{ ${condition} }}` : (condition ?? true),
    };
  });
}

type When = { readonly when?: Json; readonly on: 'success' | 'always' | 'error' };

const KINDS: Readonly<Record<string, When['on']>> = {
  'success()': 'success',
  'always()': 'always',
  'failure()': 'error',
};

/** An expression, or one of the words that say after what it runs. */
function conditionOf(at: string, condition: Json | undefined): When {
  if (condition === undefined) return { on: 'success' };
  if (typeof condition === 'boolean') return { on: 'success', when: String(condition) };
  if (typeof condition !== 'string') throw refused(at, 'is not an expression');
  const text = condition.replace(/^\s*\$\{\{|\}\}\s*$/g, '').trim();
  const kind = KINDS[text];
  return kind === undefined ? { on: 'success', when: text } : { on: kind };
}

/** The line that a worker runs: the variables, then the steps that are wanted, one after the other until one fails. */
export function commandOf(input: Json): string {
  const { env = {}, steps = [] } = input as unknown as {
    env?: Record<string, string>;
    steps?: { run: string; env: Record<string, string>; if: Json }[];
  };
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

/** Braces in command lines are their own (`docker ps --format '{{.Names}}'`), not our expressions. */
function literal<T extends Json>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('{{', "{{ '{{' }}") as T;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, literal(member)])) as unknown as T;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

function texts(at: string, value: Json): Record<string, string> {
  if (!isJsonObject(value)) throw refused(at, 'is not an object of texts');
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => {
      if (!VARIABLE.test(name)) throw refused(`${at}.${name}`, 'is not the name of a variable');
      if (typeof text === 'object' && text !== null) throw refused(`${at}.${name}`, 'is not a text');
      return [name, String(text ?? '')];
    }),
  );
}

function list(at: string, value: Json | undefined): string[] {
  const all = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  if (Array.isArray(all) && all.every((one) => typeof one === 'string')) return all as string[];
  throw refused(at, 'is not a list of texts');
}

function parsed(text: string): Json {
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES }) as Json;
  } catch (error) {
    throw new NebulaError('BODY_INVALID', `The workflow cannot be read: ${(error as Error).message.split('\n')[0]}`, {
      hint: 'It is YAML or JSON.',
    });
  }
}

function refused(at: string, what: string): NebulaError {
  return new NebulaError('DEFINITION_INVALID', `${at === '' ? 'The workflow' : `'${at}'`} ${what}.`, {
    hint: 'See docs/workers.md for what a workflow of workflow-graph may say.',
  });
}
