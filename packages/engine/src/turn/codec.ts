/** Journal frames as the store keeps them: JSON text, one array of entries per frame. */
import { type Entry, NebulaError } from '@nebula/core';
import type { FrameRow } from '@nebula/ports';

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
