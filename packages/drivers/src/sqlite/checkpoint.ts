import type { Connection } from './connection.ts';

/** NOOP only looks. PASSIVE copies what it can without making anyone wait. TRUNCATE empties the log file. */
export type CheckpointMode = 'NOOP' | 'PASSIVE' | 'TRUNCATE';

/** How far the write-ahead log has come, in pages. */
export interface LogState {
  readonly pages: number;
  /** Of these, how many are not yet in the database file. */
  readonly uncopied: number;
}

export function checkpoint(connection: Connection, mode: CheckpointMode): LogState {
  if (mode !== 'NOOP') connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  // Asked separately: a checkpoint reports the length that the log had when it began.
  const { log, checkpointed } = connection.prepare('PRAGMA wal_checkpoint(NOOP)').get() as {
    readonly log: number;
    readonly checkpointed: number;
  };
  return { pages: Math.max(0, log), uncopied: Math.max(0, log - checkpointed) };
}
