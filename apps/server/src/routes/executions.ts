/** Finds executions and returns their documents and results. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError, type RunDocument } from '@nebula/core';
import type { ExecutionRow } from '@nebula/ports';
import { gone, type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import type { Waits } from '../waits.ts';
import { filterOf } from './execution-filter.ts';
import { known, resultOf } from './result.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

type Own = 'listExecutions' | 'countExecutions' | 'getExecution' | 'getResult' | 'deleteExecution';

/** `peek`: the view of a live run in an engine of this process. */
export function executionRoutes(parts: Parts, waits: Waits, peek: Peek = () => undefined): Pick<Handlers, Own> {
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
  };
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
