/** Finds executions, returns their documents and results, and waits for them. */
import type { AnswerOf } from '@nebula/client/contract';
import { concurrencyPermit, isFinished, NebulaError, type RunDocument } from '@nebula/core';
import {
  CHILD_TRIGGER,
  EXECUTION_STATUSES,
  type ExecutionFilter,
  type ExecutionRow,
  type ExecutionStatus,
} from '@nebula/ports';
import { gone, type Handlers, ok } from '../http/handler.ts';
import { unknownExecution } from '../http/subject.ts';
import { type Principal, visibleProjects } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import type { Waits } from '../waits.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

/** `peek`: the view of a live run in an engine of this process. */
export function executionRoutes(parts: Parts, waits: Waits, peek: Peek = () => undefined) {
  const { executions, store } = parts;
  return {
    async listExecutions({ query, who, project }) {
      const { trigger, errorCode, parent, root, search, order, cursor, limit = 50 } = query;
      const { rows, next } = await store.list({
        ...filterOf(query, who, project),
        limit,
        ...(trigger !== undefined && { trigger }),
        ...(errorCode !== undefined && { errorCode }),
        ...(parent !== undefined && { parent }),
        ...(root === true && { isRoot: true }),
        ...(search !== undefined && { search }),
        ...(order !== undefined && { order }),
        ...(cursor !== undefined && { cursor }),
      });
      return ok({ items: rows.map(summaryOf), next });
    },

    async countExecutions({ query, who, project }) {
      return ok({ counts: { ...(await store.counts(filterOf(query, who, project))) } });
    },

    async getExecution({ params: { executionId }, query, isLocal }) {
      const { at, values, node, scope, nodesLimit, nodesAfter } = query;
      const part = { scope, limit: nodesLimit, after: nodesAfter };
      const isWhole = [scope, nodesLimit, nodesAfter].every((given) => given === undefined);
      // A command that watches its own engine reads often, so the live run is read from memory.
      const live = isLocal && at === undefined && isWhole ? peek(executionId) : undefined;
      const read = () =>
        values === 'none' ? executions.bareDocument(executionId, at, part) : executions.document(executionId, at, part);
      const document = (live ?? known(executionId, await read())) as AnswerOf<'getExecution'>;
      if (node === undefined || Object.hasOwn(document.nodes, node)) return ok(document);
      const ended = await executions.endedNode(executionId, node, at);
      if (ended === undefined) return ok(document);
      const { input, output, ...bare } = ended;
      const added = values === 'none' ? bare : { ...bare, input, output };
      return ok({ ...document, nodes: { ...document.nodes, [node]: added } } as AnswerOf<'getExecution'>);
    },

    async getResult({ params: { executionId }, query: { wait }, signal }) {
      const ended = await waits.ended(executionId, wait, signal);
      return ok(await resultOf(parts, executionId, ended ?? peek(executionId)));
    },

    async deleteExecution({ params: { executionId } }) {
      if (await executions.delete(executionId)) return gone();
      throw new NebulaError('NOT_FINISHED', `${executionId} has not ended.`, { hint: 'Cancel it first.' });
    },
  } satisfies Partial<Handlers>;
}

function summaryOf(row: ExecutionRow): AnswerOf<'listExecutions'>['items'][number] {
  const { executionId, workflowId, version, project, status } = row;
  return {
    executionId,
    workflowId,
    version: Math.max(0, version),
    project,
    status,
    createdAt: isoTime(row.createdAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    wakeAt: isoTimeOrNull(row.wakeAt),
    trigger: row.trigger,
    ...(row.trigger === TEST_TRIGGER && { test: true }),
    startedAt: isoTimeOrNull(row.startedAt),
    durationMs: row.finishedAt === null ? null : row.finishedAt - row.createdAt,
    parent: row.trigger === CHILD_TRIGGER ? row.parent : null,
    error:
      row.errorCode === null ? null : { code: row.errorCode, node: row.errorNode, message: row.errorMessage ?? '' },
  };
}

const TEST_TRIGGER = 'test';

type Peek = (executionId: string) => RunDocument | undefined;

/** `isQuiescent` asks the engine of this process; without one, only the end of a run is known. */
export function quiescenceRoutes(
  { executions }: Parts,
  waits: Waits,
  isQuiescent: (executionId: string) => Promise<boolean> = async () => false,
) {
  return {
    async awaitRest({ params: { executionId }, query: { wait }, signal }) {
      const result = await waits.of(executionId, 'parked', wait, signal);
      return ok({
        executionId,
        settled: result !== undefined,
        parked: result?.parked ?? false,
        resting: await isQuiescent(executionId),
        waitingFor: (result?.parked ? result.waitingFor : []) as AnswerOf<'awaitRest'>['waitingFor'],
        inside: result?.parked ? result.inside.map(({ document }) => document.executionId) : [],
        execution: (result?.document ?? null) as AnswerOf<'awaitRest'>['execution'],
      });
    },

    async listPermits({ params: { executionId }, query: { key } }) {
      const rows = await executions.permits(executionId, concurrencyPermit(key));
      return ok({
        items: rows.map(({ node, isHeld, executionId: holder }) => ({ executionId: holder, node, isHeld })),
      });
    },
  } satisfies Partial<Handlers>;
}

type Result = AnswerOf<'getResult'>;

function known<T>(executionId: string, document: T | undefined): T {
  if (document === undefined) throw unknownExecution(executionId);
  return document;
}

/** `read`: the view, if the caller has read it already. */
export async function resultOf(parts: Parts, executionId: string, read: RunDocument | undefined): Promise<Result> {
  const document = read ?? known(executionId, await parts.executions.document(executionId));
  const { workflowId, status, output, error } = document;
  return { executionId, workflowId, status, ended: isFinished(status), output, error: error as Result['error'] };
}

interface FilterQuery {
  readonly workflowId?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
}

export function filterOf(
  query: FilterQuery,
  who: Principal,
  project: string | undefined,
): Omit<ExecutionFilter, 'limit'> {
  const { workflowId, status, since, until } = query;
  const visible = visibleProjects(who);
  return {
    ...(project === undefined ? onlyProject(visible) : { project }),
    ...(workflowId !== undefined && { workflowId }),
    ...(status !== undefined && { status: statusesOf(status) }),
    ...(since !== undefined && { since: momentOf('since', since) }),
    ...(until !== undefined && { until: momentOf('until', until) }),
  };
}

/** The format allows leap seconds, which `Date` does not. */
export function momentOf(name: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isFinite(at)) return at;
  throw new NebulaError('QUERY_INVALID', `'${name}' is not a time.`, {
    details: { errors: [{ pointer: `?${name}`, detail: 'is not a time' }] },
  });
}

/** A list covers one project or all: a caller who sees only some must name one. */
function onlyProject(visible: readonly string[] | undefined): { readonly project?: string } {
  if (visible === undefined) return {};
  const [project, ...others] = visible;
  if (project !== undefined && others.length === 0) return { project };
  throw new NebulaError('QUERY_INVALID', 'You have access to several projects, and the request names none.', {
    hint: `Add ?project= with one of ${visible.join(', ')}.`,
    details: { errors: [{ pointer: '?project', detail: 'is missing' }] },
  });
}

const STATUSES: readonly string[] = EXECUTION_STATUSES;

function statusesOf(text: string): ExecutionStatus[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !STATUSES.includes(name));
  if (unknown === undefined) return names as ExecutionStatus[];
  throw new NebulaError('QUERY_INVALID', `'${unknown.slice(0, 80)}' is not a status.`, {
    hint: `It is one of ${STATUSES.join(', ')}.`,
    details: { errors: [{ pointer: '?status', detail: 'is not a status' }] },
  });
}
