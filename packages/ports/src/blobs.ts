/**
 * Large values, by content: the key is `<executionId>/<sha256>`, so a blob belongs to one execution,
 * goes with it, and is never written twice.
 */

export interface Blobs {
  put(executionId: string, sha256: string, data: Uint8Array): Promise<void>;
  /** Rejects with `BLOB_CORRUPT` when the bytes no longer fit their hash. */
  get(executionId: string, sha256: string): Promise<Uint8Array | undefined>;
  /** All blobs of an execution. */
  deleteExecution(executionId: string): Promise<void>;
  /** Executions that have blobs, for sweeping orphans. */
  executions(): AsyncIterable<string>;
}
