/** The result of an execution. */
import type { AnswerOf } from '@nebula/client/contract';
import type { RunDocument } from '@nebula/core';
import { FINISHED_STATUSES } from '@nebula/ports';
import { unknownExecution } from '../http/subject.ts';
import type { Parts } from '../parts.ts';

type Result = AnswerOf<'getResult'>;

export function known<T>(executionId: string, document: T | undefined): T {
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
