export type { MigrationDecision, ReopenPreview } from '@nebula/core/run';
export type {
  Callbacks,
  Drivers,
  Engine,
  EngineHealth,
  EngineOptions,
  ExecutionService,
  Explanation,
  JournalFrame,
  LeaseState,
  Metrics,
  MigrationReport,
  RemoteOutcome,
  RemoteTask,
  RunValues,
  ValuePreview,
  WaitResult,
  WorkflowMetrics,
} from './api.ts';
export { createEngine } from './engine.ts';
export { readTraceparent, spanIdOf, type TracedFrame, traceOf } from './observe/tracing.ts';
export { executionOfLease, staleLease } from './remote/lease.ts';
export { createExecutionService } from './requests/execution-service.ts';
export { isTestRun } from './requests/request-checks.ts';
export type { Projects } from './start/authority.ts';
export { withoutTest } from './start/plans.ts';
export { keyedExecutionId } from './start/starts.ts';
export { type MissingBlob, missingBlobs } from './storage/blob-references.ts';
export type { RehearsedRun } from './test-runs.ts';
