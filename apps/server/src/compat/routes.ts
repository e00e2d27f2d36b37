/** The endpoints of workflow-graph, built on workflows, executions and leases. */
import type { OperationId } from '@nebula/client/contract';
import { type Json, NebulaError } from '@nebula/core';
import type { FastifyInstance } from 'fastify';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { judge, type Principal } from '../identity/principal.ts';
import { COMPAT_LIMITS } from '../limits.ts';
import { isNoop } from '../routes/execution-requests.ts';
import { allowed, refuseStrangers, SECRET_PREFIX } from './access.ts';
import { type Ask, type Compat, type CompatParts, workflowIn } from './endpoint.ts';
import { Graphs, PROTOCOL } from './graphs.ts';
import { countIn, queryIn } from './input.ts';
import { logRoutes } from './log-routes.ts';
import { workflowDocument } from './wire.ts';
import { workerRoutes } from './worker-routes.ts';

export function compatRoutes(app: FastifyInstance, options: CompatParts): void {
  const compat: Compat = { ...options, graphs: new Graphs(options.parts) };
  void app.register(async (scope) => {
    // Callers are authenticated before the body is read.
    scope.addHook('onRequest', async (request) => refuseStrangers(options, request));
    // The route, because addresses contain leases and the secret path.
    scope.addHook('onResponse', async ({ method, routeOptions }, reply) =>
      options.onRequest(`${method} ${routeOptions.url}`, reply.statusCode, reply.elapsedTime),
    );
    for (const type of ['text/plain', 'text/yaml', 'application/yaml', 'application/x-yaml']) {
      scope.addContentTypeParser(type, { parseAs: 'string' }, (_request, text, done) => done(null, text));
    }
    const clientRoutes = (to: FastifyInstance): void => {
      workflowRoutes(to, compat);
      logRoutes(to, compat);
    };
    clientRoutes(scope);
    workerRoutes(scope, compat);
    const { path, clients } = options.tokenless ?? {};
    if (path === undefined) return;
    const secretRoutes = async (secret: FastifyInstance): Promise<void> => {
      workerRoutes(secret, compat);
      if (clients === true) clientRoutes(secret);
    };
    await scope.register(secretRoutes, { prefix: SECRET_PREFIX });
  });
}

function workflowRoutes(app: FastifyInstance, compat: Compat): void {
  const { parts, launcher, graphs } = compat;
  const { executions, random } = parts;
  const recordAudit = (request: Ask, operation: OperationId, who: Principal, target: string, project: string) =>
    compat.audit({
      operation,
      who,
      params: { target },
      project,
      status: operation === 'registerWorkflow' ? 201 : 202,
      ip: request.ip,
    });

  app.post('/api/workflows', async (request: Ask, reply) => {
    const caller = await allowed(compat, request, 'registerWorkflow', 'editor', undefined);
    const project = queryIn(request.query, 'project') ?? homeOf(caller);
    const who = await allowed(compat, request, 'registerWorkflow', 'editor', project);
    await requireProject(parts, project);
    const { id, graph } = await graphs.create((request.body ?? null) as Json, project);
    await recordAudit(request, 'registerWorkflow', who, id, project);
    return reply.status(201).send(workflowDocument(id, graph));
  });

  app.get('/api/workflows', async (request: Ask) => {
    const who = await allowed(compat, request, 'listWorkflows', 'viewer', undefined);
    return await listed(graphs, request.query, who);
  });

  app.get('/api/workflows/:id/status', async (request: Ask) => {
    const { graph, named } = await workflowIn(compat, request, 'getExecution', 'viewer');
    return await graphs.document(request.params['id'] as string, graph, await graphs.run(named));
  });

  app.post('/api/workflows/:id/run', async (request: Ask, reply) => {
    const { graph, named, who } = await workflowIn(compat, request, 'startExecution', 'operator');
    const { workflowId } = named;
    const executionId = random.id('exe');
    await graphs.claimName(workflowId, executionId);
    const cause = { type: 'api', by: who.name, protocol: PROTOCOL };
    await launcher.start({ workflowId, executionId }, cause);
    await recordAudit(request, 'startExecution', who, executionId, graph.project);
    return reply.status(202).send({ workflow_id: workflowId, run_id: executionId });
  });

  app.post('/api/workflows/:id/cancel', async (request: Ask, reply) => {
    const { graph, named, who } = await workflowIn(compat, request, 'cancelExecution', 'operator');
    const runs = await graphs.unfinished(named);
    for (const executionId of runs) {
      await executions.requestCancel(executionId, 'cancelled by a user').catch(unlessNoop);
    }
    for (const target of runs.length === 0 ? [named.workflowId] : runs) {
      await recordAudit(request, 'cancelExecution', who, target, graph.project);
    }
    return reply.status(202).send({ workflow_id: named.workflowId, run_id: runs[0] ?? null });
  });
}

/** The project of a workflow that names none: the only one of its author, or the default one. */
function homeOf({ isAdmin, roles }: Principal): string {
  const [only = DEFAULT_PROJECT, ...others] = isAdmin ? [] : Object.keys(roles);
  return others.length === 0 ? only : DEFAULT_PROJECT;
}

/** A run that has just ended, or is being cancelled, needs no cancel. */
function unlessNoop(error: unknown): void {
  if (!(error instanceof NebulaError && isNoop(error))) throw error;
}

async function listed(graphs: Graphs, query: Ask['query'], who: Principal): Promise<Json[]> {
  const status = queryIn(query, 'status');
  const from = countIn(query, 'offset', 0);
  const to = from + Math.min(countIn(query, 'limit', 100), COMPAT_LIMITS.maxPage);
  const shown: Json[] = [];
  let index = 0;
  for await (const { id, body } of graphs.all()) {
    if (index >= to) break;
    if (judge(who, 'listWorkflows', 'viewer', body.project) !== 'allowed') continue;
    // Reads runs only if the response needs them.
    const isShown = index >= from;
    if (!isShown && status === undefined) {
      index++;
      continue;
    }
    const run = await graphs.run({ workflowId: id, executionId: undefined });
    const document = await graphs.document(id, body, run);
    const jobs = document['jobs'] as readonly { readonly status: string }[];
    if (status !== undefined && !jobs.some((job) => job.status === status)) continue;
    if (isShown) shown.push(document);
    index++;
  }
  return shown;
}
