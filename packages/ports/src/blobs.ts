/**
 * Large values by content. The key is `<executionId>/<sha256>`, so a blob belongs to one execution, is deleted with it,
 * and is never written twice.
 */
import type { ExecutionId } from '@nebula/core';

export interface Blobs {
  put(executionId: ExecutionId, sha256: string, data: Uint8Array): Promise<void>;
  /** Rejects with `BLOB_CORRUPT` when the bytes do not match their hash. */
  get(executionId: ExecutionId, sha256: string): Promise<Uint8Array | undefined>;
  deleteExecution(executionId: ExecutionId): Promise<void>;
  /** Executions that have blobs, to find orphans. */
  executions(): AsyncIterable<string>;
}
