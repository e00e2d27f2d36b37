/** Shared parts of the endpoints of workflow-graph. */
import type { OperationId } from '@nebula/client/contract';
import { JOB_REFERENCE } from '@nebula/core';
import type { FastifyRequest } from 'fastify';
import type { AppParts } from '../http/app.ts';
import { unknownWorkflow } from '../http/subject.ts';
import type { Principal } from '../identity/principal.ts';
import type { Launcher } from '../launcher.ts';
import type { Feed } from '../live/feed.ts';
import type { Followers } from '../live/followers.ts';
import type { EngineParts } from '../parts.ts';
import type { Registry } from '../workers/registry.ts';
import { type Access, allowed } from './access.ts';
import { type Graphs, type NamedRun, namedRun, type StoredGraph } from './graphs.ts';
import { type Query, queryIn } from './input.ts';

export interface CompatParts extends Pick<AppParts, 'audit'>, Access {
  readonly parts: EngineParts;
  readonly launcher: Launcher;
  readonly registry: Registry;
  readonly feed: Feed;
  readonly followers: Followers;
  onRequest(route: string, status: number, milliseconds: number): void;
}

export interface Compat extends CompatParts {
  readonly graphs: Graphs;
}

export type Ask = FastifyRequest<{ Params: Record<string, string>; Querystring: Query }>;

/** The actions that workers of workflow-graph run. */
export const JOBS: ReadonlySet<string> = new Set([JOB_REFERENCE]);

interface NamedWorkflow {
  readonly graph: StoredGraph;
  /** The run that the path or `?run=` names. */
  readonly named: NamedRun;
  readonly who: Principal;
}

/** The workflow that a path names, if the caller may see it. */
export async function workflowIn(
  compat: Compat,
  request: Ask,
  like: OperationId,
  needs: 'viewer' | 'operator',
  parameter = 'id',
): Promise<NamedWorkflow> {
  const name = request.params[parameter] as string;
  const { workflowId, executionId = queryIn(request.query, 'run') } = namedRun(name);
  // A caller that may not call the operation in any project learns nothing from the lookup.
  await allowed(compat, request, like, needs, undefined);
  const graph = await compat.graphs.find(workflowId);
  if (graph === undefined) throw unknownWorkflow(name);
  const who = await allowed(compat, request, like, needs, graph.project, () => unknownWorkflow(name));
  return { graph, named: { workflowId, executionId }, who };
}
