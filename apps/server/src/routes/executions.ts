/** Finds executions, returns their documents and results, and waits for them. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError, type RunDocument } from '@nebula/core';
import { type ExecutionRow, FINISHED_STATUSES } from '@nebula/ports';
import { gone, type Handlers, ok } from '../http/handler.ts';
import { unknownExecution } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import type { Waits } from '../waits.ts';
import { filterOf } from './execution-filter.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

/** `peek`: the view of a live run in an engine of this process. */
export function executionRoutes(parts: Parts, waits: Waits, peek: Peek = () => undefined) {
  const { executions, store } = parts;
  return {
    async listExecutions({ query, who, project }) {
      const { rows, next } = await store.list({
        ...filterOf(query, who, project),
        limit: query.limit ?? 50,
        ...(query.cursor !== undefined && { cursor: query.cursor }),
      });
      return ok({ items: rows.map(summaryOf), next });
    },

    async countExecutions({ query, who, project }) {
      return ok({ counts: { ...(await store.counts(filterOf(query, who, project))) } });
    },

    async getExecution({ params: { executionId }, query: { at, values }, isLocal }) {
      // A command that watches its own engine reads often, so the live run is read from memory.
      const live = isLocal && at === undefined ? peek(executionId) : undefined;
      const read = () =>
        values === 'none' ? executions.bareDocument(executionId, at) : executions.document(executionId, at);
      return ok((live ?? known(executionId, await read())) as AnswerOf<'getExecution'>);
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
    version,
    project,
    status,
    createdAt: isoTime(row.createdAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    wakeAt: isoTimeOrNull(row.wakeAt),
  };
}

type Peek = (executionId: string) => RunDocument | undefined;

/** `isQuiescent` asks the engine of this process; without one, only the end of a run is known. */
export function quiescenceRoutes(
  { executions }: Parts,
  waits: Waits,
  isQuiescent: (executionId: string) => Promise<boolean> = async () => false,
) {
  return {
    async awaitRest({ params: { executionId }, query: { wait }, signal }) {
      const rest = await waits.of(executionId, 'parked', wait, signal);
      return ok({
        executionId,
        settled: rest !== undefined,
        parked: rest?.parked ?? false,
        resting: await isQuiescent(executionId),
        waitingFor: (rest?.parked ? rest.waitingFor : []) as AnswerOf<'awaitRest'>['waitingFor'],
        inside: rest?.parked ? rest.inside.map(({ document }) => document.executionId) : [],
        execution: (rest?.document ?? null) as AnswerOf<'awaitRest'>['execution'],
      });
    },

    async listPlaces({ params: { executionId }, query: { key } }) {
      const rows = await executions.places(executionId, key);
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
  const isEnded = (FINISHED_STATUSES as readonly string[]).includes(status);
  return { executionId, workflowId, status, ended: isEnded, output, error: error as Result['error'] };
}
