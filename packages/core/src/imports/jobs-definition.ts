/**
 * Converts workflow-graph jobs to a definition. Every job becomes a node.
 *
 *   needs            a success edge from each; a failed job skips its downstream jobs, the others run
 *   if: always()     an `always` edge from every ancestor and `join: ended`: the job runs however they end, skipped ones
 *                    included; the outcome of the run stays
 *   if: failure()    the same edges, each taken only if that ancestor failed
 *   if: <expression> `when`
 *
 * A job that needs a cleanup job is downstream of the failures that the cleanup job ran after: it has a success edge from
 * each ancestor that the cleanup job hides, which is dead by failure after a failure.
 */
import { parseDuration } from '../duration.ts';
import { idsInOrder, writtenOrder } from '../node-order.ts';
import type { DocumentPath } from '../problem.ts';
import { WORKER_LOST } from '../retry/retry.ts';
import type { JsonObject } from '../value.ts';
import {
  JOB_FAILED,
  JOB_REFERENCE,
  type JobStep,
  jobCommand,
  literal,
  type RunsAfter,
  runsAfter,
  type StepInput,
  stepInput,
  unescaped,
} from './job-action.ts';
import type { Job, JobsDocument } from './jobs-document.ts';

/** The minimum for the number of jobs of a run that run at the same time. */
const MIN_PARALLELISM = 25;

export interface JobsDefinition {
  readonly definition: JsonObject;
  /** Converts a path of the definition to the path in the document. */
  origin(path: DocumentPath): DocumentPath;
}

export interface JobsOptions {
  /** Default: derived from the name. */
  readonly id?: string;
}

export function jobsDefinition(document: JobsDocument, options: JobsOptions = {}): JobsDefinition {
  const { name, trigger, jobs } = document;
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const nodes = Object.fromEntries(jobs.map((job) => [job.id, jobNode(job, document)]));
  const edges = jobs.flatMap((job) => edgesOf(job, byId));
  const order = writtenOrder(jobs.map(({ id }) => id));
  const definition = {
    id: options.id ?? slug(name),
    name,
    ...(trigger !== '' && { description: trigger }),
    config: { onFailure: 'finish-running', maxParallelism: Math.max(MIN_PARALLELISM, jobs.length) },
    nodes,
    ...(edges.length > 0 && { edges: edges.map(({ edge }) => edge) }),
    ...(order !== undefined && { order: [...order] }),
  };
  return {
    definition,
    origin(path) {
      const [root, which, key, ...rest] = path;
      const edge = root === 'edges' ? edges[Number(which)] : undefined;
      if (edge !== undefined) return [...edge.job.path, edge.key];
      const job = root === 'nodes' ? byId.get(String(which)) : undefined;
      if (job === undefined) return JOBS_ROOTS.has(String(root)) ? ['jobs'] : path;
      return [...job.path, ...(KEYS[String(key)]?.(rest) ?? [])];
    },
  };
}

const JOBS_ROOTS: ReadonlySet<string> = new Set(['nodes', 'edges', 'config', 'order']);

const KEYS: Readonly<Record<string, (rest: DocumentPath) => DocumentPath>> = {
  name: () => ['name'],
  needs: (rest) => ['needs', ...rest],
  when: () => ['if'],
  join: () => ['if'],
  labels: (rest) => ['labels', ...rest],
  retry: () => ['retries'],
  timeout: () => ['timeout'],
  with: ([which, ...rest]) => (which === 'upstream' ? ['needs'] : which === 'env' ? ['env'] : ['steps', ...rest]),
};

function jobNode(job: Job, { env }: JobsDocument): JsonObject {
  const { name, needs, labels, retries, timeoutSeconds } = job;
  const runs = runsOf(job);
  const when = conditionOf(job);
  return {
    ...(name !== undefined && { name }),
    action: JOB_REFERENCE,
    with: {
      env: literal({ ...env, ...job.env }),
      steps: job.steps.map(escapedStep),
      // Null for a skipped job.
      upstream: Object.fromEntries(needs.map((id) => [id, `{{ ${nodeRef(id)}.output }}`])),
    },
    ...(labels.length > 0 && { labels: [...labels] }),
    retry: retryOf(retries),
    ...(timeoutSeconds !== undefined && { timeout: `${Math.ceil(timeoutSeconds * 1_000)}ms` }),
    ...(when !== undefined && { when }),
    ...(runs === 'success' && needs.length > 0 && { needs: [...needs] }),
    ...(runs === 'always' && needs.length > 0 && { join: 'ended' }),
  };
}

/** Retries immediately, as workflow-graph does; a lost lease counts as an error like the others. */
function retryOf(retries: number): JsonObject {
  return { policy: 'fixed', delay: '0s', attempts: retries + 1, on: [JOB_FAILED, 'TIMEOUT', WORKER_LOST] };
}

function escapedStep(step: JobStep): JsonObject {
  const input = stepInput(step);
  return { ...input, run: literal(input.run), env: literal({ ...input.env }) };
}

function runsOf({ condition }: Job): RunsAfter {
  return runsAfter(condition) ?? 'success';
}

function conditionOf(job: Job): string | undefined {
  // Without ancestors, none has failed.
  if (runsOf(job) === 'failure' && job.needs.length === 0) return 'false';
  return runsAfter(job.condition) === undefined ? job.condition : undefined;
}

interface JobEdge {
  readonly job: Job;
  /** The key of the job that the edge comes from. */
  readonly key: 'if' | 'needs';
  readonly edge: JsonObject;
}

/** The edges of a job besides its needs. */
function edgesOf(job: Job, byId: ReadonlyMap<string, Job>): JobEdge[] {
  const { id: to } = job;
  const runs = runsOf(job);
  const when = (from: string): JsonObject => ({ when: failed(from) });
  if (runs === 'success') {
    // A job that only needs jobs for failures must not run because of these edges: with a condition that never holds
    // after a success, they are never taken.
    const isSure = job.needs.some((id) => byId.get(id)?.condition === 'always()');
    const edge = (from: string): JsonObject => ({ from, to, ...(!isSure && when(from)) });
    return [...hiddenFrom(job, byId)].map((from) => ({ job, key: 'needs', edge: edge(from) }));
  }
  return [...ancestorsOf(job, byId)].map((from) => ({
    job,
    key: 'if',
    edge: { from, to, on: 'always', ...(runs === 'failure' && when(from)) },
  }));
}

function failed(id: string): string {
  return `${nodeRef(id)}.status == 'failed'`;
}

/** The ancestors of whose failure the job's needs do not tell, because cleanup jobs are in between. */
function hiddenFrom({ id: own, needs }: Job, byId: ReadonlyMap<string, Job>): Set<string> {
  const found = new Set<string>();
  const open = [...needs];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const job = byId.get(id);
    if (job === undefined || runsOf(job) === 'success') continue;
    const hidden = job.needs.filter((one) => one !== own && !found.has(one));
    for (const one of hidden) found.add(one);
    open.push(...hidden);
  }
  return new Set([...found].filter((id) => !needs.includes(id)));
}

function ancestorsOf({ id: own, needs }: Job, byId: ReadonlyMap<string, Job>): Set<string> {
  const found = new Set<string>();
  const open = [...needs];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    // The compiler reports cycles.
    if (id === own || found.has(id)) continue;
    found.add(id);
    open.push(...(byId.get(id)?.needs ?? []));
  }
  return found;
}

function nodeRef(id: string): string {
  return `$nodes['${id}']`;
}

function slug(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, 60) || 'workflow';
}

export interface JobSummary {
  readonly id: string;
  readonly name: string;
  /** Without the variables of the job. */
  readonly command: string;
  readonly needs: readonly string[];
  readonly labels: readonly string[];
  readonly retries: number;
  readonly env: Readonly<Record<string, string>>;
  readonly condition?: string;
  readonly timeoutSeconds?: number;
  /** Absent for a job with a single command. */
  readonly steps?: readonly JobStep[];
}

/** The jobs of a definition created by this file; undefined when any node is something else, or there is none. */
export function jobsIn(definition: JsonObject): readonly JobSummary[] | undefined {
  const {
    nodes = {},
    order,
    edges = [],
  } = definition as unknown as {
    readonly nodes?: Readonly<Record<string, JsonObject>>;
    readonly order?: readonly string[];
    readonly edges?: readonly JsonObject[];
  };
  const ids = idsInOrder({ nodes, ...(order && { order }) });
  if (ids.length === 0 || ids.some((id) => nodes[id]?.['action'] !== JOB_REFERENCE)) return undefined;
  const words = new Map(
    edges
      .filter(({ on }) => on === 'always')
      .map(({ to, when }) => [to, when === undefined ? 'always()' : 'failure()']),
  );
  return ids.map((id) => summaryOf(id, nodes[id] as JsonObject, words.get(id)));
}

function summaryOf(id: string, node: JsonObject, word: string | undefined): JobSummary {
  const { name = id, labels = [], needs, retry, timeout, when, with: input = {} } = node;
  const {
    upstream = {},
    env = {},
    steps = [],
  } = unescaped(input) as {
    readonly upstream?: JsonObject;
    readonly env?: JobSummary['env'];
    readonly steps?: readonly StepInput[];
  };
  const { attempts = 1 } = (retry ?? {}) as { attempts?: number };
  const condition = word ?? when;
  const timeoutMs = typeof timeout === 'string' ? parseDuration(timeout) : undefined;
  return {
    id,
    name: String(name),
    command: jobCommand({ steps } as unknown as JsonObject),
    needs: (needs as string[] | undefined) ?? Object.keys(upstream),
    labels: labels as string[],
    retries: attempts - 1,
    env,
    ...(typeof condition === 'string' && { condition }),
    ...(typeof timeoutMs === 'number' && { timeoutSeconds: timeoutMs / 1_000 }),
    ...(steps.some(({ on }) => on !== undefined) && { steps: steps.map(stepOf) }),
  };
}

function stepOf({ run, env, if: condition, on }: StepInput): JobStep {
  if (on !== undefined && on !== 'success') return { run, env, condition: `${on}()` };
  const expression = typeof condition === 'string' ? condition.replace(/^\{\{ | \}\}$/g, '') : undefined;
  return { run, env, condition: expression };
}
