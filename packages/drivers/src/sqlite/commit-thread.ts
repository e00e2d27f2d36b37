/** Commits away from the main thread, for disks that make one wait. Imports little, to start quickly. */
import { carryOut, Journal, type JournalMethod } from './journal.ts';
import { serveCalls } from './serve-calls.ts';

serveCalls((connection) => {
  const journal = new Journal(connection);
  return (method, args) => {
    const result = carryOut(journal, method as JournalMethod, args);
    return { result, commitMs: journal.lastCommitMs };
  };
});
