export type { Blobs } from './blobs.ts';
export type { Clock, Timer } from './clock.ts';
export type { Digest } from './digest.ts';
export type { Campaign, Leader } from './leader.ts';
export type { LogFilter, LogLevel, LogLine, Logs, StoredLogLine } from './logs.ts';
export {
  type CacheChoice,
  type CachePage,
  type CachePlace,
  type CacheRow,
  holderInTheWay,
  inTheWayOf,
  isGivenBack,
  type Listener,
  type ListenerChanges,
  nextMoment,
  type PermitAsk,
  type PermitChanges,
  type PermitRelease,
  type PermitRow,
  type PlaceHolder,
  type PublishedSignal,
  type RateAsk,
} from './permits.ts';
export type { Delivery, Queue, Task } from './queue.ts';
export type { Random } from './random.ts';
export type { CommitOutcome, RecordChange, RecordPage, RecordRow, Records } from './records.ts';
export type { Foreign, ForeignOutcome, Invocation, InvocationOutcome, Line, Sandbox } from './sandbox.ts';
export {
  checkSecret,
  credentialDoor,
  SECRET_LIMITS,
  type SecretInfo,
  type Secrets,
  secretIn,
  secretsIn,
} from './secrets.ts';
export {
  DEFAULT_PROJECT,
  type DueClaim,
  type DurationRow,
  EXECUTION_STATUSES,
  type ExecutionCounts,
  type ExecutionFilter,
  type ExecutionRow,
  type ExecutionScope,
  type ExecutionStatus,
  FINISHED_STATUSES,
  type FrameRow,
  type InboxRow,
  type NewExecution,
  type OutgoingRow,
  type RegisterOutcome,
  type SnapshotRow,
  STORE_GONE,
  type Store,
  UNFINISHED_STATUSES,
  type WorkflowHead,
  type WorkflowVersionHead,
  type WorkflowVersionRow,
  type Write,
  type WriteOutcome,
} from './store.ts';
