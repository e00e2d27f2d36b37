/** Rejects no-op requests with 409 so that 202 always means a state change. */
import type { BodyOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { ExecutionRow } from '@nebula/ports';
import type { Parts } from '../parts.ts';

type Change = BodyOf<'bulkExecutions'>['operation'];

/** Accepts the request if an earlier one is still in the inbox: a pending retry, say, may make it effective. */
export async function rejectNoop({ store }: Parts, executionId: string, change: Change): Promise<void> {
  const row = await store.execution(executionId);
  const refusal = row && refusalOf(row, change);
  if (refusal !== undefined && (await store.inbox(executionId)).length === 0) throw refusal;
}

const CODES = new Set(['ALREADY_FINISHED', 'NOT_FINISHED', 'NOTHING_TO_RETRY']);

export const isNoop = ({ code }: NebulaError): boolean => CODES.has(code);

function refusalOf({ executionId, status, finishedAt }: ExecutionRow, change: Change): NebulaError | undefined {
  const isEnded = finishedAt !== null;
  switch (change) {
    case 'cancel':
    case 'pause':
    case 'resume':
    case 'signal':
      if (!isEnded) return undefined;
      return new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}.`, {
        hint: 'To continue it, retry the failed nodes, replay it from a node, or relaunch it.',
      });
    case 'retry':
      if (!isEnded) {
        return new NebulaError('NOT_FINISHED', `${executionId} is ${status}: only an ended run can be retried.`, {
          hint: 'Wait for its end, or cancel it first.',
        });
      }
      if (status !== 'completed') return undefined;
      return new NebulaError('NOTHING_TO_RETRY', `${executionId} has completed: there is nothing to retry.`, {
        hint: 'Replay it from a node, or relaunch it.',
      });
    case 'delete':
      return undefined;
  }
}
