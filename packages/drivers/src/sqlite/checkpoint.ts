import type { Connection } from './connection.ts';

/** NOOP only reports. PASSIVE copies what it can without waiting. TRUNCATE empties the log file. */
export type CheckpointMode = 'NOOP' | 'PASSIVE' | 'TRUNCATE';

/** The state of the write-ahead log, in pages. */
export interface LogState {
  readonly pages: number;
  /** Pages that are not yet in the database file. */
  readonly uncopied: number;
}

export function checkpoint(connection: Connection, mode: CheckpointMode): LogState {
  if (mode !== 'NOOP') connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  // A separate query: a checkpoint reports the length of the log when the checkpoint began.
  const { log, checkpointed } = connection.prepare('PRAGMA wal_checkpoint(NOOP)').get() as {
    readonly log: number;
    readonly checkpointed: number;
  };
  return { pages: Math.max(0, log), uncopied: Math.max(0, log - checkpointed) };
}
