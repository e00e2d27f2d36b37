import type { ExecutionId, WorkflowId } from '@nebula/core';
import type { Digest } from '@nebula/ports';

/** The same idempotency key of the same workflow is the same execution in every process. */
export function keyedExecutionId(digest: Digest, workflowId: WorkflowId, key: string): ExecutionId {
  return `exe_k${digest(`${workflowId} ${key}`).slice(0, 40)}`;
}
