/** Cursors between the pages of a list of executions. Callers return the text unchanged. */
import { NebulaError } from '@nebula/core';

export interface ExecutionCursor {
  readonly createdAt: number;
  /** The number in the order of creation, which distinguishes executions of the same millisecond. */
  readonly number: number;
}

const CURSOR = /^at_(-?[0-9a-z]{1,11})_([0-9a-z]{1,11})$/;

/** The place of a human task in its order: since or deadline, and its number. */
export interface HumanTaskCursor {
  readonly at: number;
  readonly number: number;
}

/** The deadline of a task without one, so that it comes last. */
export const NO_DEADLINE = Number.MAX_SAFE_INTEGER;

export function encodeTaskCursor({ at, number }: HumanTaskCursor): string {
  return encodeCursor({ createdAt: at, number });
}

export function decodeTaskCursor(cursor: string): HumanTaskCursor {
  const { createdAt: at, number } = decodeCursor(cursor);
  return { at, number };
}

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
