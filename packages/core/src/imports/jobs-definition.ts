/**
 * Converts workflow-graph jobs to a definition. Every job becomes a node.
 *
 *   needs            a success edge from each; a failed job skips its downstream jobs, the others run
 *   if: always()     an `always` edge from every ancestor: the job runs however they end; the outcome of the run stays
 *   if: failure()    the same edges, each taken only if that ancestor failed
 *   if: <expression> `when`
 */
import type { DocumentPath } from '../problem.ts';
import { WORKER_LOST } from '../retry/retry.ts';
import type { JsonObject } from '../value.ts';
import { JOB_FAILED, JOB_REFERENCE, jobCommand, literal, unescaped } from './job-action.ts';
import type { Job, JobStep, JobsDocument } from './jobs-document.ts';

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

type Runs = 'success' | 'always' | 'failure';

const WORDS: Readonly<Record<string, Runs>> = { 'success()': 'success', 'always()': 'always', 'failure()': 'failure' };

export function jobsDefinition(document: JobsDocument, options: JobsOptions = {}): JobsDefinition {
  const { name, trigger, jobs } = document;
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const nodes = Object.fromEntries(jobs.map((job) => [job.id, jobNode(job, document, byId)]));
  const edges = jobs.flatMap((job) => endedEdges(job, byId).map((edge) => ({ job, edge })));
  const definition = {
    id: options.id ?? slug(name),
    name,
    ...(trigger !== '' && { description: trigger }),
    config: { onFailure: 'finish-running', maxParallelism: Math.max(MIN_PARALLELISM, jobs.length) },
    nodes,
    ...(edges.length > 0 && { edges: edges.map(({ edge }) => edge) }),
  };
  return {
    definition,
    origin(path) {
      const [root, which, key, index] = path;
      if (root === 'edges') return [...(edges[Number(which)]?.job.path ?? ['jobs']), 'if'];
      const job = root === 'nodes' ? byId.get(String(which)) : undefined;
      if (job === undefined) return root === 'nodes' || root === 'config' ? ['jobs'] : path;
      return [...job.path, ...(KEYS[String(key)]?.(index) ?? [])];
    },
  };
}

const KEYS: Readonly<Record<string, (index: string | number | undefined) => DocumentPath>> = {
  name: () => ['name'],
  needs: (index) => ['needs', ...(index === undefined ? [] : [index])],
  when: () => ['if'],
  labels: (index) => ['labels', ...(index === undefined ? [] : [index])],
  retry: () => ['retries'],
  timeout: () => ['timeout'],
  with: (which) => (which === 'upstream' ? ['needs'] : which === 'env' ? ['env'] : ['steps']),
};

function jobNode(job: Job, { env }: JobsDocument, byId: ReadonlyMap<string, Job>): JsonObject {
  const { name, needs, labels, retries, timeoutSeconds } = job;
  const runs = runsOf(job);
  const when = conditionOf(job, byId);
  return {
    ...(name !== undefined && { name }),
    action: JOB_REFERENCE,
    with: {
      env: literal({ ...env, ...job.env }),
      steps: job.steps.map(stepInput),
      // Null for a skipped job.
      upstream: Object.fromEntries(needs.map((id) => [id, `{{ ${nodeRef(id)}.output }}`])),
    },
    ...(labels.length > 0 && { labels: [...labels] }),
    retry: retryOf(retries),
    ...(timeoutSeconds !== undefined && { timeout: `${Math.ceil(timeoutSeconds * 1_000)}ms` }),
    ...(when !== undefined && { when }),
    ...(runs === 'success' && needs.length > 0 && { needs: [...needs] }),
  };
}

/** Retries immediately, as workflow-graph does; a lost lease counts as an error like the others. */
function retryOf(retries: number): JsonObject {
  return { policy: 'fixed', delay: '0s', attempts: retries + 1, on: [JOB_FAILED, 'TIMEOUT', WORKER_LOST] };
}

function stepInput({ run, env, condition }: JobStep): JsonObject {
  // A condition is evaluated when the job is dispatched.
  return { run: literal(run), env: literal(env), if: condition === undefined ? true : `{{ ${condition} }}` };
}

function runsOf({ condition }: Job): Runs {
  return (condition !== undefined && Object.hasOwn(WORDS, condition) ? WORDS[condition] : undefined) ?? 'success';
}

/** Edges for jobs that depend on how their ancestors ended. */
function endedEdges(job: Job, byId: ReadonlyMap<string, Job>): JsonObject[] {
  const runs = runsOf(job);
  if (runs === 'success') return [];
  return [...ancestorsOf(job, byId)].map((from) => ({
    from,
    to: job.id,
    on: 'always',
    ...(runs === 'failure' && { when: `${nodeRef(from)}.status == 'failed'` }),
  }));
}

/** The job's own expression. A job after a cleanup job is also downstream of the failure and is skipped with it. */
function conditionOf(job: Job, byId: ReadonlyMap<string, Job>): string | undefined {
  if (runsOf(job) !== 'success') return job.needs.length === 0 && runsOf(job) === 'failure' ? 'false' : undefined;
  const own = job.condition === undefined || job.condition === 'success()' ? [] : [`(${job.condition})`];
  const ancestors = [...ancestorsOf(job, byId)];
  const isAfterCleanup = ancestors.some((id) => runsOf(byId.get(id) as Job) !== 'success');
  const checks = isAfterCleanup ? ancestors.map((id) => `not (${ENDED_BADLY} contains ${nodeRef(id)}.status)`) : [];
  if (checks.length === 0) return own.length === 0 ? undefined : job.condition;
  return [...own, ...checks].join(' and ');
}

const ENDED_BADLY = "['failed', 'cancelled']";

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
  readonly command: string;
  readonly needs: readonly string[];
  readonly labels: readonly string[];
  readonly retries: number;
}

/** The jobs of a definition created by this file; undefined when any node is something else. */
export function jobsIn(definition: JsonObject): readonly JobSummary[] | undefined {
  const nodes = Object.entries((definition['nodes'] ?? {}) as Record<string, JsonObject>);
  if (nodes.length === 0 || nodes.some(([, node]) => node['action'] !== JOB_REFERENCE)) return undefined;
  return nodes.map(([id, node]) => {
    const { name = id, labels = [], retry, with: input = {} } = node;
    const { upstream = {}, ...own } = input as JsonObject;
    const { attempts = 1 } = (retry ?? {}) as { attempts?: number };
    return {
      id,
      name: String(name),
      command: jobCommand(unescaped(own)),
      needs: Object.keys(upstream as JsonObject),
      labels: labels as string[],
      retries: attempts - 1,
    };
  });
}
