/** Checkpoints on a thread of their own: they copy megabytes and wait for the disk. */
import { type CheckpointMode, checkpoint } from './checkpoint.ts';
import { serveCalls } from './serve-calls.ts';

serveCalls((connection) => (_, args) => ({ result: checkpoint(connection, args[0] as CheckpointMode), commitMs: 0 }));
