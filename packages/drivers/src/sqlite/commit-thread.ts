/** Commits on a thread of their own, for slow disks. Imports little, to start quickly. */
import { serveCalls } from './serve-calls.ts';
import { carryOut, type WriteMethod, Writes } from './writes.ts';

serveCalls((connection) => {
  const writes = new Writes(connection);
  return (method, args) => {
    const result = carryOut(writes, method as WriteMethod, args);
    return { result, commitMs: writes.lastCommitMs };
  };
});
