/** Endpoints for workers of workflow-graph. */
import type { OperationId } from '@nebula/client/contract';
import { JOB_FAILED, JOB_REFUSED, type JsonObject, mayServe } from '@nebula/core';
import { type LeaseState, type RemoteTask, staleLease } from '@nebula/engine';
import type { FastifyInstance } from 'fastify';
import { projectOfLease, workflowProject } from '../http/subject.ts';
import { judge, type Principal } from '../identity/principal.ts';
import { COMPAT_LIMITS } from '../limits.ts';
import { onlyProjectOf } from '../workers/registry.ts';
import { allowed } from './access.ts';
import { type Ask, type Compat, JOBS } from './endpoint.ts';
import { namedRun } from './graphs.ts';
import { chunksIn, objectIn, outputsIn, queryIn, workerIn } from './input.ts';
import { claimDocument } from './wire.ts';

export function workerRoutes(app: FastifyInstance, compat: Compat): void {
  registryRoutes(app, compat);
  claimRoute(app, compat);
  leaseRoutes(app, compat);
  cancelledRoute(app, compat);
}

function registryRoutes(app: FastifyInstance, compat: Compat): void {
  const { registry, parts } = compat;
  const { remote } = parts.engine;

  app.get('/api/workers', async (request: Ask) => {
    const who = await allowed(compat, request, 'listWorkers', 'anyone', undefined);
    const { items } = await registry.list({ limit: COMPAT_LIMITS.maxPage }, who);
    return items.map(({ workerId, labels, lastSeenAt, registeredAt, status }) => {
      const current = remote.workOf(workerId)[0]?.node ?? null;
      return {
        worker_id: workerId,
        labels,
        registered_at_ms: Date.parse(registeredAt),
        last_heartbeat_ms: Date.parse(lastSeenAt),
        current_job: current,
        status: current !== null ? 'busy' : status === 'gone' ? 'offline' : 'idle',
      };
    });
  });

  app.post('/api/workers/register', async (request: Ask) => {
    const who = await allowed(compat, request, 'registerWorker', 'worker', undefined);
    const { worker_id: workerId, labels } = workerIn(request.body);
    const project = projectIn(request, who);
    await allowed(compat, request, 'registerWorker', 'worker', project);
    await registry.put(workerId, { project, labels, actions: [...JOBS] }, who);
    return { worker_id: workerId, labels };
  });

  app.post('/api/workers/:id/heartbeat', async (request: Ask) => {
    const who = await allowed(compat, request, 'beatWorker', 'worker', undefined);
    await registry.seen(request.params['id'] as string, who);
    return { ok: true };
  });
}

/** Workers of workflow-graph know no projects: the project is that of the query, or the only one of their key. */
function projectIn(request: Ask, who: Principal): string {
  return queryIn(request.query, 'project') ?? onlyProjectOf(who);
}

function claimRoute(app: FastifyInstance, compat: Compat): void {
  const { parts, registry } = compat;

  app.post('/api/jobs/claim', async (request: Ask, reply) => {
    const who = await allowed(compat, request, 'claimWork', 'worker', undefined);
    const { worker_id: workerId, labels, lease_ttl_secs: asked } = workerIn(request.body);
    // A worker reads the length of its lease from the answer.
    const ttlSeconds = Math.min(asked, COMPAT_LIMITS.maxTtlSeconds);
    const home = projectIn(request, who);
    await allowed(compat, request, 'claimWork', 'worker', home);
    await registry.keep(workerId, { project: home, labels, actions: [...JOBS] }, who);
    const has = new Set(labels);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const [work] = await parts.engine.remote.claim({
      holder: workerId,
      principal: who.name,
      max: 1,
      leaseMs: ttlSeconds * 1_000,
      signal: gone.signal,
      serves: (route, project) =>
        project === home && mayServe(route, JOBS, has) && judge(who, 'claimWork', 'worker', project) === 'allowed',
    });
    const claimed = work === undefined ? null : await claimedDocument(compat, work, workerId, ttlSeconds);
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(claimed));
  });
}

async function claimedDocument(
  { parts, graphs }: Compat,
  work: RemoteTask,
  workerId: string,
  ttlSeconds: number,
): Promise<JsonObject> {
  const { workflowId, version, executionId, node } = work;
  const { root } = await parts.executions.plan(workflowId, version);
  const plan = root.nodes[root.indexOf.get(node) ?? -1];
  return claimDocument({
    work,
    workflowId: await graphs.nameOf(workflowId, executionId),
    workerId,
    ttlSeconds,
    route: plan?.route ?? '',
    retry: plan?.retry.rules[0],
    now: parts.clock.now(),
  });
}

function leaseRoutes(app: FastifyInstance, compat: Compat): void {
  const { parts, registry } = compat;
  const { remote } = parts.engine;
  const onLease = (
    path: string,
    like: OperationId,
    act: (leaseId: string, body: JsonObject, by: string) => Promise<LeaseState | undefined>,
  ): void => {
    app.post(`/api/jobs/:lease/${path}`, async (request: Ask) => {
      const leaseId = request.params['lease'] as string;
      await allowed(compat, request, like, 'worker', undefined);
      const who = await allowed(compat, request, like, 'worker', await projectOfLease(parts, leaseId), staleLease);
      const state = await act(leaseId, objectIn(request.body), who.name);
      if (state !== undefined) await registry.reported(state.holder, who);
      return { ok: true };
    });
  };
  onLease('heartbeat', 'extendLease', (leaseId, _, by) => remote.extend(leaseId, {}, by));
  onLease('complete', 'completeLease', async (leaseId, body, by) => {
    await remote.end(leaseId, { status: 'completed', output: outputsIn(body).outputs ?? {} }, by);
    return undefined;
  });
  // A failure is retried only if its worker allows it. For a job that was asked to stop, the report says that it has
  // stopped.
  onLease('fail', 'failLease', async (leaseId, { error, retryable }, by) => {
    const message = typeof error === 'string' ? error : 'the job failed';
    const code = retryable === true ? JOB_FAILED : JOB_REFUSED;
    const state = await remote.extend(leaseId, {}, by);
    const status = state.cancel === null ? 'failed' : 'unknown';
    await remote.end(leaseId, { status, error: { code, kind: 'USER', message } }, by);
    return state;
  });
  onLease('logs', 'logLease', (leaseId, body, by) => remote.log(leaseId, chunksIn(body), by));
}

function cancelledRoute(app: FastifyInstance, compat: Compat): void {
  const { parts, graphs } = compat;

  app.get('/api/jobs/:wf/:job/cancelled', async (request: Ask) => {
    const { wf, job } = request.params as { wf: string; job: string };
    const { workflowId, executionId = queryIn(request.query, 'run') } = namedRun(wf);
    const who = await allowed(compat, request, 'extendLease', 'worker', undefined);
    const project = await workflowProject(parts, workflowId);
    // A worker has nothing to stop for a workflow that is gone, or that it may not see.
    if (project === undefined || judge(who, 'extendLease', 'worker', project) === 'invisible') return false;
    await allowed(compat, request, 'extendLease', 'worker', project);
    const run = await (executionId === undefined ? graphs.runOfWorker(wf) : graphs.run({ workflowId, executionId }));
    const node = run !== undefined && Object.hasOwn(run.nodes, job) ? run.nodes[job] : undefined;
    if (run === undefined || node === undefined) return false;
    if (run.status === 'cancelled') return true;
    return node.status === 'cancelled' || (await parts.engine.remote.stopReason(run.executionId, job)) !== null;
  });
}
