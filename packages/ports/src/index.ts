export type { BackupOptions, Backups } from './backups.ts';
export type { Blobs } from './blobs.ts';
export type { CacheChoice, CacheCursor, CachePage, CacheRow, OutputCache } from './cache.ts';
export { type Clock, later, type Timer } from './clock.ts';
export type {
  Definitions,
  DurationRow,
  NewWorkflowVersion,
  RegisterOutcome,
  TestVersionRow,
  WorkflowHead,
  WorkflowPage,
  WorkflowSourceRow,
  WorkflowVersionHead,
  WorkflowVersionRow,
} from './definitions.ts';
export type { Digest } from './digest.ts';
export {
  CHILD_TRIGGER,
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
  MAX_EXAMINED_PER_PAGE,
  MAX_FOUND_IDS,
  type StalledFilter,
  type StalledRow,
  type StatusChange,
  type StoredError,
  UNFINISHED_STATUSES,
} from './executions.ts';
export {
  HUMAN_TASK_KINDS,
  type HumanTask,
  type HumanTaskChanges,
  type HumanTaskCounts,
  type HumanTaskFilter,
  type HumanTaskKind,
  type HumanTaskPage,
  type HumanTaskRow,
  type HumanTaskScope,
  type HumanTasks,
  MAX_COUNTED_TASKS,
} from './human-tasks.ts';
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
  type FoundLines,
  type LogFilter,
  type LogLevel,
  type LogLine,
  type LogSearch,
  type Logs,
  MAX_LOG_MESSAGE_CHARS,
  MAX_SEARCHED_LINES,
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
export {
  type ExecutionStatistics,
  type FinishedStatus,
  MAX_EXAMINED_EXECUTIONS,
  type Percentiles,
  type Statistics,
  type StatisticsBucket,
  type StatisticsFilter,
} from './statistics.ts';
export { STORE_GONE, type Store } from './store.ts';
export type { WorkerLease, Workers } from './workers.ts';
