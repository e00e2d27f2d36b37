/** Executions: starting them, finding them, and what they come to. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError, parseDuration, type RunDocument } from '@nebula/core';
import { type ExecutionRow, FINISHED_STATUSES } from '@nebula/ports';
import { endingsAt } from '../endings.ts';
import { created, gone, type Handlers, ok } from '../http/handler.ts';
import { unknownExecution } from '../http/subject.ts';
import { type Launcher, traceparentIn } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { filterOf } from './execution-filter.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

type Result = AnswerOf<'getResult'>;

/** Longer than this a request does not wait, whatever it asks for. */
const MAX_WAIT_MS = 5 * 60_000;

type Own =
  | 'startExecution'
  | 'listExecutions'
  | 'countExecutions'
  | 'getExecution'
  | 'getResult'
  | 'deleteExecution'
  | 'relaunchExecution';

export function executionRoutes(parts: Parts, launcher: Launcher): Pick<Handlers, Own> {
  const { engine, store } = parts;
  return {
    async startExecution({ body, query, who, headers, signal, repeatId }) {
      const traceparent = traceparentIn(headers);
      const own = repeatId === undefined ? {} : { idempotencyKey: repeatId };
      const launch = { ...own, ...body, traceparent };
      const { executionId, isNew } = await launcher.start(launch, { type: 'api', by: who.name });
      const result = await resultOf(parts, executionId, query.wait, signal);
      return isNew ? created(result) : ok(result);
    },

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

    async getExecution({ params: { executionId }, query: { at } }) {
      const document = await documentOf(parts, executionId, at);
      return ok(document as AnswerOf<'getExecution'>);
    },

    async getResult({ params: { executionId }, query: { wait }, signal }) {
      return ok(await resultOf(parts, executionId, wait, signal));
    },

    async deleteExecution({ params: { executionId } }) {
      if (await engine.delete(executionId)) return gone();
      throw new NebulaError('NOT_FINISHED', `${executionId} has not ended.`, { hint: 'Cancel it first.' });
    },

    async relaunchExecution({ params: { executionId }, body, who, repeatId }) {
      const trigger = { type: 'relaunch', by: who.name, executionId };
      const again = await launcher.relaunch(executionId, { ...body, idempotencyKey: repeatId }, trigger);
      return created(await resultOf(parts, again, undefined, new AbortController().signal));
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

async function documentOf({ engine }: Parts, executionId: string, at?: number): Promise<RunDocument> {
  const document = await engine.document(executionId, at);
  if (document === undefined) throw unknownExecution(executionId);
  return document;
}

/** Where it stands now; with `wait`, where it stands when it has ended or the time is over. */
export async function resultOf(
  parts: Parts,
  executionId: string,
  wait: string | undefined,
  signal: AbortSignal,
): Promise<Result> {
  const waitMs = wait === undefined ? 0 : waitOf(wait);
  const ended = waitMs === 0 ? undefined : await endingsAt(parts).of(executionId, waitMs, signal);
  const document = ended ?? parts.engine.peek(executionId) ?? (await documentOf(parts, executionId));
  const { workflowId, status, output, error } = document;
  const isEnded = (FINISHED_STATUSES as readonly string[]).includes(status);
  return { executionId, workflowId, status, ended: isEnded, output, error: error as Result['error'] };
}

function waitOf(text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === 'number') return Math.min(ms, MAX_WAIT_MS);
  throw new NebulaError('QUERY_INVALID', `wait: ${ms.message}`, { hint: ms.hint });
}
