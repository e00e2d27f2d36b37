/** Journal frames as the store keeps them: JSON text, one array of entries per frame. */
import { type Entry, type ExecutionId, NebulaError } from '@nebula/core';
import type { FrameRow, Journal } from '@nebula/ports';
import type { JournalFrame } from '../api.ts';

export interface Frame {
  readonly seq: number;
  readonly at: number;
  readonly entries: readonly Entry[];
}

export function encodeEntries(entries: readonly Entry[]): string {
  return JSON.stringify(entries);
}

export function decodeFrame(row: Omit<FrameRow, 'position'>): Frame {
  try {
    return { seq: row.seq, at: row.at, entries: JSON.parse(row.entries) as Entry[] };
  } catch (cause) {
    throw new NebulaError('JOURNAL_CORRUPT', `Frame ${row.seq} of ${row.executionId} cannot be read.`, {
      hint: 'Restore the data folder from a backup, or delete this execution.',
      cause,
    });
  }
}

/** Frames and characters that are read and decoded in one piece: 512 Ki characters take about 5 ms. */
const MAX_PIECE_FRAMES = 512;
const MAX_PIECE_CHARS = 512 * 1024;

/** The journal after a frame, read in pieces: other runs continue in between, and a reader may stop at any frame. */
export async function* framesOf(
  store: Journal,
  executionId: ExecutionId,
  after: number,
): AsyncGenerator<JournalFrame, void, undefined> {
  let limit = 16;
  for (let seq = after; ; ) {
    const rows = await store.frames(executionId, seq, limit);
    let chars = 0;
    for (const row of rows) {
      seq = row.seq;
      chars += row.entries.length;
      yield { ...decodeFrame(row), position: row.position, chars: row.entries.length };
    }
    if (rows.length < limit) return;
    limit = Math.max(1, Math.min(MAX_PIECE_FRAMES, 2 * limit, Math.floor((limit * MAX_PIECE_CHARS) / chars)));
  }
}

/** The journal before a frame, the newest frame first, read in pieces. */
export async function* framesBackOf(
  store: Journal,
  executionId: ExecutionId,
  before: number,
): AsyncGenerator<JournalFrame, void, undefined> {
  let limit = 16;
  for (let seq = before; seq > 1; ) {
    const rows = await store.framesBefore(executionId, seq, limit);
    let chars = 0;
    for (const row of rows) {
      seq = row.seq;
      chars += row.entries.length;
      yield { ...decodeFrame(row), position: row.position, chars: row.entries.length };
    }
    if (rows.length < limit) return;
    limit = Math.max(1, Math.min(MAX_PIECE_FRAMES, 2 * limit, Math.floor((limit * MAX_PIECE_CHARS) / chars)));
  }
}
