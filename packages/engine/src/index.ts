export type {
  Desk,
  Drivers,
  Engine,
  EngineHealth,
  EngineOptions,
  Explanation,
  Histogram,
  JournalFrame,
  LiveEvent,
  Metrics,
  Settled,
  Settlement,
  StartOptions,
} from './api.ts';
export { createDesk, type DeskDrivers } from './desk.ts';
export { createEngine } from './engine.ts';
export { keyedExecutionId } from './execution-id.ts';
export { readTraceparent, spanIdOf, type TracedFrame, traceOf } from './tracing.ts';
