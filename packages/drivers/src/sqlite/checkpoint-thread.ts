/** Checkpoints away from the main thread: they copy megabytes and wait for the disk. */
import { workerData } from 'node:worker_threads';
import { type CheckpointMode, checkpoint } from './checkpoint.ts';
import { type ConnectionOptions, openConnection } from './connection.ts';
import { serveCalls } from './serve-calls.ts';

const connection = openConnection(workerData as ConnectionOptions);

serveCalls(connection, (_, args) => ({ result: checkpoint(connection, args[0] as CheckpointMode), commitMs: 0 }));
