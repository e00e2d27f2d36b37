/** Responses in the serialisation of workflow-graph, whose programs read maps of texts and whole numbers. */
import {
  isJsonObject,
  type JobSummary,
  type Json,
  type JsonObject,
  jobCommand,
  type NodeDocument,
  parseRoute,
  type RetryRule,
  type RunDocument,
} from '@nebula/core';
import type { RemoteTask } from '@nebula/engine';
import type { StoredLogLine } from '@nebula/ports';

/** A workflow. */
export interface Graph {
  readonly name: string;
  readonly trigger: string;
  readonly jobs: readonly JobSummary[];
  /** The data for pictures, by job. */
  readonly display?: Readonly<Record<string, JsonObject>>;
}

export function workflowDocument(
  id: string,
  { name, trigger, jobs, display = {} }: Graph,
  run?: RunDocument,
): JsonObject {
  return {
    id,
    name,
    trigger,
    status: run === undefined ? 'created' : wordOf(run.status),
    run_id: run?.executionId ?? null,
    jobs: jobs.map((job) => ({
      ...jobDocument(job),
      ...(Object.hasOwn(display, job.id) && display[job.id]),
      ...jobState(run?.nodes[job.id], run),
    })),
  };
}

/** In the keys that `createWorkflow` takes. */
function jobDocument(job: JobSummary): JsonObject {
  const { id, name, command, env, condition, timeoutSeconds, steps } = job;
  return {
    id,
    name,
    command,
    depends_on: [...job.needs],
    required_labels: [...job.labels],
    max_retries: job.retries,
    ...(Object.keys(env).length > 0 && { env }),
    ...(condition !== undefined && { if: condition }),
    ...(timeoutSeconds !== undefined && { timeout: timeoutSeconds }),
    ...(steps !== undefined && { steps: steps.map(stepDocument) }),
  };
}

function stepDocument({ run, env, condition }: NonNullable<JobSummary['steps']>[number]): JsonObject {
  return { run, ...(condition !== undefined && { if: condition }), ...(Object.keys(env).length > 0 && { env }) };
}

function jobState(node: NodeDocument | undefined, run: RunDocument | undefined): JsonObject {
  const status = jobWord(node?.status ?? 'pending', run);
  // A job that is queued again shows nothing of its last attempt.
  const startedAt = status === 'queued' ? null : millisecondsOf(node?.startedAt);
  const finishedAt = millisecondsOf(node?.finishedAt);
  return {
    status,
    attempt: Math.max(0, (node?.attempts ?? 0) - 1),
    output: status === 'failure' ? (node?.error?.message ?? null) : null,
    outputs: textsOf(node?.output ?? null),
    error: node?.error?.message ?? null,
    started_at: startedAt,
    started_at_ms: startedAt,
    completed_at_ms: finishedAt,
    duration_secs: startedAt === null || finishedAt === null ? null : Math.floor((finishedAt - startedAt) / 1_000),
  };
}

function millisecondsOf(time: string | null | undefined): number | null {
  return time === null || time === undefined ? null : Date.parse(time);
}

const WORDS: Readonly<Record<string, string>> = {
  completed: 'success',
  failed: 'failure',
  'timed-out': 'failure',
  unknown: 'failure',
  waiting: 'queued',
  compensating: 'running',
};

function wordOf(status: string): string {
  return WORDS[status] ?? status;
}

/** Jobs of workflow-graph are queued, running, success, failure, skipped or cancelled. */
function jobWord(status: string, run: RunDocument | undefined): string {
  if (status !== 'pending') return wordOf(status);
  return run === undefined || run.finishedAt === null ? 'queued' : 'skipped';
}

/** Outputs are maps of texts; a job that was skipped, or gave anything else, has an empty one. */
function textsOf(output: Json): Record<string, string> {
  if (!isJsonObject(output)) return {};
  const text = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(output).map(([name, value]) => [name, text(value)]));
}

export interface Claimed {
  readonly work: RemoteTask;
  /** Names workflow and run for the worker. */
  readonly workflowId: string;
  readonly workerId: string;
  readonly ttlSeconds: number;
  readonly route: string;
  readonly retry: RetryRule | undefined;
  readonly now: number;
}

export function claimDocument({ work, workflowId, workerId, ttlSeconds, route, retry, now }: Claimed): JsonObject {
  const { node, input, attempt, leaseId, queuedAt } = work;
  const { upstream = {} } = (isJsonObject(input) ? input : {}) as { upstream?: JsonObject };
  return {
    job: {
      job_id: node,
      workflow_id: workflowId,
      command: jobCommand(input),
      required_labels: route === '' ? [] : [...parseRoute(route).labels],
      retry_policy: { max_retries: (retry?.attempts ?? 1) - 1, backoff: backoffOf(retry) },
      attempt: attempt - 1,
      upstream_outputs: Object.fromEntries(Object.entries(upstream).map(([id, output]) => [id, textsOf(output)])),
      enqueued_at_ms: queuedAt,
      delayed_until_ms: attempt === 1 ? 0 : queuedAt,
    },
    lease: {
      lease_id: leaseId,
      job_id: node,
      workflow_id: workflowId,
      worker_id: workerId,
      ttl_secs: ttlSeconds,
      granted_at_ms: now,
    },
  };
}

/** `"None"`, `{"Fixed": …}` or `{"Exponential": …}`, in whole seconds. */
function backoffOf(retry: RetryRule | undefined): Json {
  const seconds = (ms: number): number => Math.ceil(ms / 1_000);
  if (retry === undefined || retry.initialMs === 0) return 'None';
  const { policy, initialMs, maxMs } = retry;
  if (policy === 'fixed') return { Fixed: { delay_secs: seconds(Math.min(initialMs, maxMs)) } };
  return { Exponential: { base_secs: seconds(initialMs), max_secs: seconds(maxMs) } };
}

export function chunkDocument(
  { node, at, message, fields = {} }: StoredLogLine,
  workflowId: string,
  index: number,
): JsonObject {
  return {
    workflow_id: workflowId,
    job_id: node ?? '',
    sequence: fields['sequence'] ?? index,
    data: message,
    timestamp_ms: at,
    stream: fields['stream'] ?? 'stdout',
  };
}
