/** Cursors between the pages of a list of executions. Callers return the text unchanged. */
import { NebulaError } from '@nebula/core';

export interface ExecutionCursor {
  readonly createdAt: number;
  /** The number in the order of creation, which distinguishes executions of the same millisecond. */
  readonly number: number;
}

const CURSOR = /^at_(-?[0-9a-z]{1,11})_([0-9a-z]{1,11})$/;

/** Orders by time, then by creation. */
export function byCreation(a: ExecutionCursor, b: ExecutionCursor): number {
  return a.createdAt - b.createdAt || a.number - b.number;
}

export function encodeCursor({ createdAt, number }: ExecutionCursor): string {
  return `at_${createdAt.toString(36)}_${number.toString(36)}`;
}

/** Rejects text that `encodeCursor` cannot have made, with `CURSOR_INVALID`. */
export function decodeCursor(cursor: string): ExecutionCursor {
  const [, createdAt = '', number = ''] = CURSOR.exec(cursor) ?? [];
  const decoded = { createdAt: Number.parseInt(createdAt, 36), number: Number.parseInt(number, 36) };
  if (Number.isSafeInteger(decoded.createdAt) && Number.isSafeInteger(decoded.number)) return decoded;
  throw new NebulaError('CURSOR_INVALID', `'${cursor.slice(0, 80)}' is not a cursor of this list.`, {
    hint: 'Give the cursor of an earlier page unchanged, or none for the first page.',
  });
}
