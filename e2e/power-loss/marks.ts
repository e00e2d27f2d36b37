/**
 * Marks in the record: the promises that the product has made by then, and the effects in the outside world, which does
 * not lose its power.
 */
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';

export type Mark =
  /** These facts were acknowledged: a power cut from now on must not lose them. */
  | { readonly type: 'promised'; readonly facts: readonly string[] }
  | { readonly type: 'blob'; readonly owner: string; readonly sha256: string }
  /** The blobs of this owner are being deleted: they may be gone from now on. */
  | { readonly type: 'blobs-deleted'; readonly owner: string }
  | { readonly type: 'secret-begun' | 'secret'; readonly name: string; readonly value: string }
  | { readonly type: 'effect'; readonly key: string };

export type Marking = (mark: Mark) => void;

/** Appends to the file that the recorder turns into marks. */
export function markingInto(file: string): Marking {
  const handle = openSync(file, 'a');
  return (mark) => void writeSync(handle, JSON.stringify(mark));
}

/** The text that stands for a fact, the same from the call that made it and from the table that has it. */
export const fact = {
  run: (executionId: string): string => `run ${executionId}`,
  frame: (executionId: string, seq: number, entries: string): string => `frame ${executionId} ${seq} ${hash(entries)}`,
  message: (executionId: string, messageId: string): string => `message ${executionId} ${messageId}`,
  signal: (messageId: string): string => `signal ${messageId}`,
  snapshot: (executionId: string, seq: number): string => `snapshot ${executionId} ${seq}`,
  deleted: (executionId: string): string => `deleted ${executionId}`,
  workflow: (workflowId: string, version: number, of: string): string => `workflow ${workflowId} ${version} ${of}`,
  lease: (worker: string, expiresAt: number): string => `lease ${worker} ${expiresAt}`,
  record: (kind: string, id: string, revision: number, body: string): string =>
    `record ${kind} ${id} ${revision} ${hash(body)}`,
  cached: (key: string, at: number): string => `cached ${key} ${at}`,
  line: (executionId: string, message: string): string => `line ${executionId} ${hash(message)}`,
};

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
