import type { Digest } from '@nebula/ports';

/** The same idempotency key of the same workflow is the same execution in every process. */
export function keyedExecutionId(digest: Digest, workflowId: string, key: string): string {
  return `exe_k${digest(`${workflowId} ${key}`).slice(0, 40)}`;
}
