import type { Digest } from '@nebula/ports';

/** The same key of the same workflow is the same execution, whoever starts it. */
export function keyedExecutionId(digest: Digest, workflowId: string, key: string): string {
  return `exe_k${digest(`${workflowId} ${key}`).slice(0, 40)}`;
}
