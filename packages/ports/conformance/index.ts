export { type BlobsSubject, blobsSuite } from './blobs.ts';
export { type ClockSubject, clockSuite } from './clock.ts';
export { type LeaderSubject, leaderSuite } from './leader.ts';
export { type LogsSubject, logsSuite } from './logs.ts';
export { localQueueSuite, type QueueSubject, queueSuite } from './queue.ts';
export { randomSuite } from './random.ts';
export { type RecordsSubject, recordsSuite } from './records.ts';
export {
  errorOf,
  makeAction,
  makeInvocation,
  type OpenSandbox,
  type OpenSandboxFunction,
  sandboxSuite,
} from './sandbox.ts';
export { type SecretsSubject, secretsSuite } from './secrets.ts';
export { storeSuite } from './store.ts';
export type { StoreSubject } from './store-subject.ts';
