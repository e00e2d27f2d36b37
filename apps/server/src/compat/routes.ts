/** The endpoints of workflow-graph, on top of workflows, executions and leases like everything else here. */
import type { OperationId } from '@nebula/client/contract';
import {
  compilePlan,
  type Json,
  type JsonObject,
  mayServe,
  NebulaError,
  type NodeDocument,
  type RunDocument,
  readDefinitionObject,
} from '@nebula/core';
import type { OutsideWork } from '@nebula/engine';
import type { StoredLogLine } from '@nebula/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppParts } from '../http/app.ts';
import { sendEvents } from '../http/sse.ts';
import { DEFAULT_PROJECT, projectOfLease, projectOfWorkflow } from '../http/subject.ts';
import { judge, type Principal } from '../identity/principal.ts';
import { watchRights } from '../identity/rights.ts';
import type { Launcher } from '../launcher.ts';
import { COMPAT_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { parsed } from '../records.ts';
import type { Announced } from '../workers/announced.ts';
import type { Registry } from '../workers/registry.ts';
import { commandOf, convert, FINAL, JOB, RETRYABLE } from './convert.ts';
import { chunksIn, countIn, objectIn, type Query, queryIn, ttlSecondsIn, workerIn } from './input.ts';

const KIND = 'workflow-graph';
const JOBS = new Set([`${JOB.id}@${JOB.version}`]);
const PAGE = COMPAT_LIMITS.maxPage;
/** How often to look whether a job has ended, for those who follow its log. */
const ENDED_EVERY_MS = 500;

interface GraphRecord {
  readonly name: string;
  readonly jobs: readonly {
    readonly id: string;
    readonly needs: readonly string[];
    readonly labels: readonly string[];
    readonly retries: number;
  }[];
}

export interface CompatParts extends Pick<AppParts, 'authenticate' | 'audit'> {
  readonly parts: Parts;
  readonly launcher: Launcher;
  readonly registry: Registry;
  readonly announced: Announced;
}

type Ask = FastifyRequest<{ Params: Record<string, string>; Querystring: Query }>;

export function compatRoutes(app: FastifyInstance, own: CompatParts): void {
  void app.register(async (compat) => {
    for (const type of ['text/plain', 'text/yaml', 'application/yaml', 'application/x-yaml']) {
      compat.addContentTypeParser(type, { parseAs: 'string' }, (_request, text, done) => done(null, text));
    }
    workflowRoutes(compat, own);
    workerRoutes(compat, own);
    jobRoutes(compat, own);
    logRoutes(compat, own);
  });
}

/** Whoever calls, if they may. `like`: the operation of ours that it stands for. */
async function allowed(
  { authenticate }: CompatParts,
  request: FastifyRequest,
  like: OperationId,
  needs: Parameters<typeof judge>[2],
  project: string = DEFAULT_PROJECT,
): Promise<Principal> {
  const who = await authenticate(request);
  const verdict = judge(who, like, needs, project);
  if (verdict === 'allowed') return who;
  if (verdict === 'not-signed-in') {
    throw new NebulaError('NOT_SIGNED_IN', 'This server does not know who you are.', {
      hint: 'Send `Authorization: Bearer <token>`.',
    });
  }
  throw new NebulaError('NOT_ALLOWED', `${who.name} may not do this.`, { hint: `It needs the role ${needs}.` });
}

function workflowRoutes(app: FastifyInstance, own: CompatParts): void {
  const { parts, launcher, announced, audit } = own;
  const { engine, records, digest } = parts;
  const told = (request: Ask, operation: OperationId, who: Principal, target: string, status: number) =>
    audit({ operation, who, params: { target }, project: DEFAULT_PROJECT, status, ip: request.ip });

  app.post('/api/workflows', async (request: Ask, reply) => {
    const who = await allowed(own, request, 'registerWorkflow', 'editor');
    await announced.add([JOB]);
    const body = (request.body ?? null) as Json;
    // The same workflow is the same id: posting it twice makes no second one.
    const idOf = (name: string): string => `${slug(name)}-${digest(JSON.stringify(body)).slice(0, 8)}`;
    const { name, definition } = convert(body, idOf);
    const { workflowId } = await registered(parts, definition);
    const record: GraphRecord = { name, jobs: jobsOf(definition) };
    await records.commit([{ kind: KIND, id: workflowId, body: JSON.stringify(record) }]);
    await told(request, 'registerWorkflow', who, workflowId, 201);
    return reply.status(201).send(statusOf(workflowId, record, undefined));
  });

  app.get('/api/workflows', async (request: Ask) => {
    await allowed(own, request, 'listWorkflows', 'viewer');
    const status = queryIn(request.query, 'status');
    const rows = (await records.list(KIND, { limit: PAGE })).map((row) => parsed<GraphRecord>(row));
    const from = countIn(request.query, 'offset', 0);
    const to = from + countIn(request.query, 'limit', 100);
    const shown = async ({ id, body }: (typeof rows)[number]): Promise<JsonObject> =>
      statusOf(id, body, await newestRun(parts, id));
    // Runs are read only where they have to be.
    if (status === undefined) return await Promise.all(rows.slice(from, to).map(shown));
    return (await Promise.all(rows.map(shown))).filter((one) => one['status'] === status).slice(from, to);
  });

  app.get('/api/workflows/:id/status', async (request: Ask) => {
    const record = await found(own, request, 'getExecution', 'viewer');
    const { id } = request.params as { id: string };
    return statusOf(id, record, await newestRun(parts, id, queryIn(request.query, 'run')));
  });

  app.post('/api/workflows/:id/run', async (request: Ask, reply) => {
    await found(own, request, 'startExecution', 'operator');
    const { id } = request.params as { id: string };
    const { executionId } = await launcher.start({ workflowId: id }, { type: 'api', by: KIND });
    await told(request, 'startExecution', await own.authenticate(request), executionId, 202);
    return reply.status(202).send({ workflow_id: id, run_id: executionId });
  });

  app.post('/api/workflows/:id/cancel', async (request: Ask, reply) => {
    await found(own, request, 'cancelExecution', 'operator');
    const { id } = request.params as { id: string };
    const run = await newestRun(parts, id, queryIn(request.query, 'run'));
    if (run !== undefined && run.finishedAt === null)
      await engine.requestCancel(run.executionId, 'cancelled by a user');
    await told(request, 'cancelExecution', await own.authenticate(request), run?.executionId ?? id, 202);
    return reply.status(202).send({ workflow_id: id, run_id: run?.executionId ?? null });
  });
}

/** Compiled like any definition: what it cannot mean (a cycle, an unknown job, a broken condition) is refused here. */
async function registered({ engine, catalog }: Parts, definition: JsonObject): Promise<{ workflowId: string }> {
  const read = readDefinitionObject(definition);
  const problems = [
    ...read.problems,
    ...(read.definition === undefined ? [] : compilePlan(read.definition, catalog).problems),
  ].filter(({ severity }) => severity === 'error');
  const [first] = problems;
  if (first === undefined) return await engine.register(definition);
  throw new NebulaError('DEFINITION_INVALID', first.message, {
    ...(first.hint !== undefined && { hint: first.hint }),
    details: { problems: problems.map(({ code, message, path }) => ({ code, message, path: path.join('.') })) },
  });
}

function workerRoutes(app: FastifyInstance, own: CompatParts): void {
  const { registry } = own;

  app.get('/api/workers', async (request: Ask) => {
    await allowed(own, request, 'listWorkers', 'anyone');
    const { items } = await registry.list({ limit: PAGE });
    return items.map(({ workerId, labels, lastSeenAt, status }) => ({
      worker_id: workerId,
      labels,
      last_heartbeat_ms: Date.parse(lastSeenAt),
      status: status === 'live' ? 'online' : 'offline',
    }));
  });

  app.post('/api/workers/register', async (request: Ask) => {
    const who = await allowed(own, request, 'registerWorker', 'worker');
    const { workerId, labels } = workerIn(objectIn(request.body));
    await registry.put(workerId, { labels, actions: [...JOBS] }, who);
    return { worker_id: workerId, labels };
  });

  app.post('/api/workers/:id/heartbeat', async (request: Ask) => {
    const who = await allowed(own, request, 'beatWorker', 'worker');
    await registry.seen(request.params['id'] as string, who);
    return { ok: true };
  });
}

function jobRoutes(app: FastifyInstance, own: CompatParts): void {
  const { parts, registry } = own;
  const { outside } = parts.engine;

  app.post('/api/jobs/claim', async (request: Ask, reply) => {
    const who = await allowed(own, request, 'claimWork', 'worker');
    const body = objectIn(request.body);
    const { workerId, labels } = workerIn(body);
    const ttl = ttlSecondsIn(body);
    await registry.keep(workerId, { labels, actions: [...JOBS] }, who);
    const has = new Set(labels);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const [work] = await outside.claim({
      holder: workerId,
      max: 1,
      leaseMs: ttl * 1_000,
      signal: gone.signal,
      serves: (route, project) =>
        mayServe(route, JOBS, has) && judge(who, 'claimWork', 'worker', project) === 'allowed',
    });
    const claimed = work === undefined ? null : await claimedDocument(parts, work, workerId, ttl);
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(claimed));
  });

  const onLease = (
    path: string,
    like: OperationId,
    act: (leaseId: string, body: JsonObject) => Promise<unknown>,
  ): void => {
    app.post(`/api/jobs/:lease/${path}`, async (request: Ask) => {
      const leaseId = request.params['lease'] as string;
      await allowed(own, request, like, 'worker', await projectOfLease(parts, leaseId));
      await act(leaseId, objectIn(request.body));
      return { ok: true };
    });
  };
  onLease('heartbeat', 'extendLease', (leaseId) => outside.extend(leaseId));
  onLease('complete', 'completeLease', (leaseId, { outputs = {} }) =>
    outside.end(leaseId, { status: 'completed', output: outputs }),
  );
  onLease('fail', 'failLease', (leaseId, { error, retryable = true }) => {
    const message = typeof error === 'string' ? error : 'the job failed';
    const code = retryable === false ? FINAL : RETRYABLE;
    return outside.end(leaseId, { status: 'failed', error: { code, kind: 'USER', message } });
  });
  onLease('logs', 'logLease', (leaseId, body) => outside.log(leaseId, chunksIn(body)));

  app.get('/api/jobs/:wf/:job/cancelled', async (request: Ask) => {
    const { wf, job } = request.params as { wf: string; job: string };
    await allowed(own, request, 'extendLease', 'worker', await projectOfWorkflow(parts, wf));
    const run = await newestRun(parts, wf, queryIn(request.query, 'run'));
    if (run === undefined) return false;
    if (run.status === 'cancelled') return true;
    return run.nodes[job]?.status === 'cancelled' || (await outside.stopReason(run.executionId, job)) !== null;
  });
}

function logRoutes(app: FastifyInstance, own: CompatParts): void {
  const { parts } = own;
  const { logs } = parts;
  const runOf = async (request: Ask, like: OperationId): Promise<RunDocument> => {
    const { wf } = request.params as { wf: string };
    await allowed(own, request, like, 'viewer', await projectOfWorkflow(parts, wf));
    const run = await newestRun(parts, wf, queryIn(request.query, 'run'));
    if (run !== undefined) return run;
    throw new NebulaError('UNKNOWN_EXECUTION', `Workflow '${wf}' has not been run.`);
  };

  app.get('/api/workflows/:wf/jobs/:job/logs', async (request: Ask) => {
    const { executionId, workflowId } = await runOf(request, 'listLogs');
    const node = request.params['job'] as string;
    await logs.flush();
    return (await logs.read({ executionId, node, limit: 10_000 })).map((line, index) =>
      chunkOf(line, workflowId, index),
    );
  });

  app.get('/api/workflows/:wf/jobs/:job/logs/stream', async (request: Ask, reply) => {
    const run = await runOf(request, 'followLogs');
    const ended = new AbortController();
    const look = (): Promise<Principal> => own.authenticate(request);
    const stop = watchRights(parts.clock, await look(), look, () => ended.abort());
    reply.raw.once('close', () => {
      stop();
      ended.abort();
    });
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
    });
    await streamLogs(parts, run, request.params['job'] as string, reply, ended);
    return reply;
  });
}

/** What was said, then what is said, until the job has ended. */
async function streamLogs(
  { logs, engine }: Parts,
  { executionId, workflowId }: RunDocument,
  node: string,
  reply: FastifyReply,
  ended: AbortController,
): Promise<void> {
  const look = async (): Promise<void> => {
    const run = await engine.document(executionId);
    const status = run?.nodes[node]?.status;
    if (run !== undefined && run.finishedAt === null && (status === undefined || !FINAL_STATUSES.has(status))) return;
    await logs.flush();
    setTimeout(() => ended.abort(), ENDED_EVERY_MS).unref();
  };
  const timer = setInterval(() => void look().catch(() => ended.abort()), ENDED_EVERY_MS);
  timer.unref();
  async function* events() {
    let index = 0;
    for await (const line of logs.follow({ executionId, node, limit: PAGE }, ended.signal)) {
      yield [{ id: String(line.position), json: JSON.stringify(chunkOf(line, workflowId, index++)) }];
    }
  }
  try {
    await sendEvents(reply.raw, events(), ended.signal);
  } finally {
    clearInterval(timer);
  }
}

const FINAL_STATUSES: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled']);

async function found(
  own: CompatParts,
  request: Ask,
  like: OperationId,
  needs: 'viewer' | 'operator',
): Promise<GraphRecord> {
  const id = request.params['id'] as string;
  const who = await own.authenticate(request);
  const row = who.kind === 'nobody' ? undefined : await own.parts.records.get(KIND, id);
  await allowed(own, request, like, needs);
  if (row !== undefined) return parsed<GraphRecord>(row).body;
  throw new NebulaError('UNKNOWN_WORKFLOW', `There is no workflow '${id}'.`);
}

/** Of several runs the newest, unless one is named. */
async function newestRun(
  { store, engine }: Parts,
  workflowId: string,
  runId?: string,
): Promise<RunDocument | undefined> {
  const { rows } =
    runId === undefined ? await store.list({ workflowId, limit: 1 }) : { rows: [await store.execution(runId)] };
  const [row] = rows;
  return row?.workflowId === workflowId ? await engine.document(row.executionId) : undefined;
}

function statusOf(id: string, { name, jobs }: GraphRecord, run: RunDocument | undefined): JsonObject {
  return {
    id,
    name,
    status: run === undefined ? 'created' : wordOf(run.status),
    run_id: run?.executionId ?? null,
    jobs: jobs.map(({ id: job, needs, labels, retries }) => ({
      id: job,
      depends_on: [...needs],
      required_labels: [...labels],
      max_retries: retries,
      ...jobStatus(run?.nodes[job]),
    })),
  };
}

function jobStatus(node: NodeDocument | undefined): JsonObject {
  const {
    status = 'pending',
    attempts = 0,
    output = null,
    error = null,
    startedAt = null,
    finishedAt = null,
  } = node ?? {};
  return {
    status: wordOf(status),
    attempt: Math.max(0, attempts - 1),
    outputs: output,
    error: error?.message ?? null,
    started_at_ms: startedAt === null ? null : Date.parse(startedAt),
    completed_at_ms: finishedAt === null ? null : Date.parse(finishedAt),
  };
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

async function claimedDocument(
  { clock, engine }: Parts,
  work: OutsideWork,
  workerId: string,
  ttl: number,
): Promise<JsonObject> {
  const { workflowId, node, input, attempt, leaseId } = work;
  const { root } = await engine.plan(workflowId);
  const plan = root.nodes[root.indexOf.get(node) ?? -1];
  const now = clock.now();
  return {
    job: {
      job_id: node,
      workflow_id: workflowId,
      command: commandOf(input),
      required_labels: [...labelsOf(plan?.route ?? '')],
      retry_policy: { max_retries: (plan?.retry.rules[0]?.attempts ?? 1) - 1, backoff: 'exponential' },
      attempt: attempt - 1,
      upstream_outputs: ((input as JsonObject)['upstream'] ?? {}) as Json,
      enqueued_at_ms: now,
      delayed_until_ms: 0,
    },
    lease: {
      lease_id: leaseId,
      job_id: node,
      workflow_id: workflowId,
      worker_id: workerId,
      ttl_secs: ttl,
      granted_at_ms: now,
    },
  };
}

function labelsOf(route: string): readonly string[] {
  return route === '' ? [] : (JSON.parse(route) as string[]).slice(2);
}

function jobsOf(definition: JsonObject): GraphRecord['jobs'] {
  const nodes = definition['nodes'] as Record<string, JsonObject>;
  const edges = (definition['edges'] ?? []) as unknown as { from: string; to: string }[];
  return Object.entries(nodes).map(([id, node]) => ({
    id,
    needs: [...((node['needs'] ?? []) as string[]), ...edges.filter(({ to }) => to === id).map(({ from }) => from)],
    labels: node['labels'] as string[],
    retries: (node['retry'] as { attempts: number }).attempts - 1,
  }));
}

function chunkOf({ node, at, message, fields = {} }: StoredLogLine, workflowId: string, index: number): JsonObject {
  return {
    workflow_id: workflowId,
    job_id: node ?? '',
    sequence: fields['sequence'] ?? index,
    data: message,
    timestamp_ms: at,
    stream: fields['stream'] ?? 'stdout',
  };
}

function slug(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, 60) || 'workflow';
}
