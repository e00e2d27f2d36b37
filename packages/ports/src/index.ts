export type { BackupOptions, Backups } from './backups.ts';
export type { Blobs } from './blobs.ts';
export type { CacheChoice, CacheCursor, CachePage, CacheRow, OutputCache } from './cache.ts';
export { type Clock, later, type Timer } from './clock.ts';
export type {
  Definitions,
  DurationRow,
  NewWorkflowVersion,
  RegisterOutcome,
  WorkflowHead,
  WorkflowPage,
  WorkflowSourceRow,
  WorkflowVersionHead,
  WorkflowVersionRow,
} from './definitions.ts';
export type { Digest } from './digest.ts';
export {
  DEFAULT_PROJECT,
  type DueClaim,
  EXECUTION_STATUSES,
  type ExecutionCounts,
  type ExecutionFilter,
  type ExecutionPage,
  type ExecutionRow,
  type ExecutionScope,
  type ExecutionStatus,
  type Executions,
  FINISHED_STATUSES,
  type StalledFilter,
  type StalledRow,
  type StatusChange,
  UNFINISHED_STATUSES,
} from './executions.ts';
export type { Inbox, InboxRow, OutgoingRow, PublishedSignal, Subscription, SubscriptionChanges } from './inbox.ts';
export type {
  FeedPage,
  FrameRow,
  Journal,
  LoadedExecution,
  LoadRange,
  SnapshotRow,
  StoredFrame,
  Write,
  WriteOutcome,
} from './journal.ts';
export type { Campaign, Leader } from './leader.ts';
export {
  type LogFilter,
  type LogLevel,
  type LogLine,
  type Logs,
  MAX_LOG_MESSAGE_CHARS,
  STACK_FIELD,
  type StoredLogLine,
} from './logs.ts';
export type { HostProgram, Outgoing, OutgoingConnection, OutgoingRequest } from './outgoing.ts';
export {
  blockersOf,
  blockingHolder,
  isReleasedAtOnce,
  nextMoment,
  type PermitChanges,
  type PermitHolder,
  type PermitRequest,
  type PermitRow,
  type Permits,
  type RateRequest,
} from './permits.ts';
export { comparePositions, FEED_START, type Position, parsePosition, positionOf } from './position.ts';
export type { Delivery, Queue, QueueStats, Task } from './queue.ts';
export type { Random } from './random.ts';
export type { CommitOutcome, RecordChange, RecordPage, RecordRow, Records } from './records.ts';
export type { Foreign, ForeignOutcome, Invocation, InvocationOutcome, Line, Sandbox } from './sandbox.ts';
export {
  checkSecret,
  credentialReader,
  SECRET_LIMITS,
  type SecretInfo,
  type Secrets,
  secretIn,
  secretsIn,
} from './secrets.ts';
export {
  checkInSlices,
  copyInSlices,
  inSlices,
  isLongWorkWaiting,
  isSliceOver,
  oneSlice,
  pause,
  pauseFor,
  SLICE_MS,
} from './slices.ts';
export type { FinishedSpan, SpanFigures, Spans } from './spans.ts';
export { STORE_GONE, type Store } from './store.ts';
export type { WorkerLease, Workers } from './workers.ts';
