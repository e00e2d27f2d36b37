import { createHash } from 'node:crypto';
import { NebulaError } from '@nebula/core';
import type { Blobs } from '@nebula/ports';

export function memoryBlobs(): Blobs {
  const executions = new Map<string, Map<string, Uint8Array>>();
  return {
    async put(executionId, sha256, data) {
      const blobs = executions.get(executionId) ?? new Map<string, Uint8Array>();
      executions.set(executionId, blobs);
      if (!blobs.has(sha256)) blobs.set(sha256, data.slice());
    },
    async get(executionId, sha256) {
      const data = executions.get(executionId)?.get(sha256);
      if (data !== undefined && createHash('sha256').update(data).digest('hex') !== sha256) {
        throw new NebulaError('BLOB_CORRUPT', `The stored value ${sha256} of execution ${executionId} is damaged.`);
      }
      return data?.slice();
    },
    async deleteExecution(executionId) {
      executions.delete(executionId);
    },
    async *executions() {
      yield* [...executions.keys()];
    },
  };
}
