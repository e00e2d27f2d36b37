/** What an execution has come to. */
import type { AnswerOf } from '@nebula/client/contract';
import type { RunDocument } from '@nebula/core';
import { FINISHED_STATUSES } from '@nebula/ports';
import { unknownExecution } from '../http/subject.ts';
import type { Parts } from '../parts.ts';

type Result = AnswerOf<'getResult'>;

export async function documentOf({ desk }: Parts, executionId: string, at?: number): Promise<RunDocument> {
  const document = await desk.document(executionId, at);
  if (document === undefined) throw unknownExecution(executionId);
  return document;
}

/** `known`: where it stands, where that has been read already. */
export async function resultOf(parts: Parts, executionId: string, known: RunDocument | undefined): Promise<Result> {
  const { workflowId, status, output, error } = known ?? (await documentOf(parts, executionId));
  const isEnded = (FINISHED_STATUSES as readonly string[]).includes(status);
  return { executionId, workflowId, status, ended: isEnded, output, error: error as Result['error'] };
}
