/** Commits away from the main thread, for disks that make one wait. Imports little, to start quickly. */
import { workerData } from 'node:worker_threads';
import { type ConnectionOptions, openConnection } from './connection.ts';
import { carryOut, Journal, type JournalMethod } from './journal.ts';
import { serveCalls } from './serve-calls.ts';

const connection = openConnection(workerData as ConnectionOptions);
const journal = new Journal(connection);

serveCalls(connection, (method, args) => {
  const result = carryOut(journal, method as JournalMethod, args);
  return { result, commitMs: journal.lastCommitMs };
});
