export type {
  ClaimRequest,
  Desk,
  Drivers,
  Engine,
  EngineHealth,
  EngineOptions,
  Explanation,
  Histogram,
  JournalFrame,
  LeaseBeat,
  LeaseLine,
  LeaseState,
  LiveEvent,
  Metrics,
  Outside,
  OutsideOutcome,
  OutsideWork,
  Settled,
  Settlement,
  StartOptions,
} from './api.ts';
export type { Projects } from './authority.ts';
export { createDesk, type DeskDrivers } from './desk.ts';
export { createEngine } from './engine.ts';
export { keyedExecutionId } from './execution-id.ts';
export { executionOfLease, staleLease } from './lease.ts';
export { readTraceparent, spanIdOf, type TracedFrame, traceOf } from './tracing.ts';
