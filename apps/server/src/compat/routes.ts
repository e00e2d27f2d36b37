/** The endpoints of workflow-graph, built on workflows, executions and leases. */
import type { OperationId } from '@nebula/client/contract';
import type { Json } from '@nebula/core';
import type { FastifyInstance } from 'fastify';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { judge, type Principal } from '../identity/principal.ts';
import { allowed, refuseStrangers, SECRET_PREFIX } from './access.ts';
import { type Ask, type Compat, type CompatParts, found } from './endpoint.ts';
import { Graphs } from './graphs.ts';
import { countIn, queryIn } from './input.ts';
import { logRoutes } from './log-routes.ts';
import { workflowDocument } from './wire.ts';
import { workerRoutes } from './worker-routes.ts';

export function compatRoutes(app: FastifyInstance, own: CompatParts): void {
  const compat: Compat = { ...own, graphs: new Graphs(own.parts) };
  void app.register(async (scope) => {
    // Callers are authenticated before the body is read.
    scope.addHook('onRequest', async (request) => refuseStrangers(own, request));
    for (const type of ['text/plain', 'text/yaml', 'application/yaml', 'application/x-yaml']) {
      scope.addContentTypeParser(type, { parseAs: 'string' }, (_request, text, done) => done(null, text));
    }
    workflowRoutes(scope, compat);
    logRoutes(scope, compat);
    workerRoutes(scope, compat);
    if (own.tokenless?.path === undefined) return;
    await scope.register(async (secret) => workerRoutes(secret, compat), { prefix: SECRET_PREFIX });
  });
}

function workflowRoutes(app: FastifyInstance, own: Compat): void {
  const { parts, launcher, graphs } = own;
  const { executions, random } = parts;
  const told = (request: Ask, operation: OperationId, who: Principal, target: string, project: string) =>
    own.audit({
      operation,
      who,
      params: { target },
      project,
      status: operation === 'registerWorkflow' ? 201 : 202,
      ip: request.ip,
    });

  app.post('/api/workflows', async (request: Ask, reply) => {
    const project = queryIn(request.query, 'project') ?? DEFAULT_PROJECT;
    const who = await allowed(own, request, 'registerWorkflow', 'editor', project);
    await requireProject(parts, project);
    const { id, graph } = await graphs.create((request.body ?? null) as Json, project);
    await told(request, 'registerWorkflow', who, id, project);
    return reply.status(201).send(workflowDocument(id, graph));
  });

  app.get('/api/workflows', async (request: Ask) => {
    const who = await allowed(own, request, 'listWorkflows', 'viewer', undefined);
    return await listed(graphs, request.query, who);
  });

  app.get('/api/workflows/:id/status', async (request: Ask) => {
    const { graph, named } = await found(own, request, 'getExecution', 'viewer');
    return workflowDocument(request.params['id'] as string, graph, await graphs.run(named));
  });

  app.post('/api/workflows/:id/run', async (request: Ask, reply) => {
    const { graph, named, who } = await found(own, request, 'startExecution', 'operator');
    const { workflowId } = named;
    const executionId = random.id('exe');
    await graphs.claimName(workflowId, executionId);
    await launcher.start({ workflowId, executionId }, { type: 'api', by: who.name });
    await told(request, 'startExecution', who, executionId, graph.project);
    return reply.status(202).send({ workflow_id: workflowId, run_id: executionId });
  });

  app.post('/api/workflows/:id/cancel', async (request: Ask, reply) => {
    const { graph, named, who } = await found(own, request, 'cancelExecution', 'operator');
    const run = await graphs.run(named);
    if (run !== undefined && run.finishedAt === null)
      await executions.requestCancel(run.executionId, 'cancelled by a user');
    await told(request, 'cancelExecution', who, run?.executionId ?? named.workflowId, graph.project);
    return reply.status(202).send({ workflow_id: named.workflowId, run_id: run?.executionId ?? null });
  });
}

async function listed(graphs: Graphs, query: Ask['query'], who: Principal): Promise<Json[]> {
  const status = queryIn(query, 'status');
  const from = countIn(query, 'offset', 0);
  const to = from + countIn(query, 'limit', 100);
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
    const document = workflowDocument(id, body, await graphs.run({ workflowId: id, executionId: undefined }));
    const jobs = document['jobs'] as readonly { readonly status: string }[];
    if (status !== undefined && !jobs.some((job) => job.status === status)) continue;
    if (isShown) shown.push(document);
    index++;
  }
  return shown;
}
