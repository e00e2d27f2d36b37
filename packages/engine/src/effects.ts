/** The events that the parts of an engine report. `engine-effects.ts` acts on them. */
import type { ExecutionId, NodePath } from '@nebula/core';
import type { Draft, LiveRun } from './turn/live-run.ts';

export interface Effects {
  /** The frame of a draft is durable or, with `isWritten` false, the draft changed nothing. */
  decided(run: LiveRun, draft: Draft, isWritten: boolean): void;
  /** A run, or frames that another engine wrote to it, came into memory. */
  loaded(run: LiveRun): void;
  /** The run lost one reason to stay in memory. */
  released(executionId: ExecutionId): void;
  /** A run is due at this time. */
  wake(at: number): void;
  /** The store accepted a write. */
  written(): void;
  /** An operation failed and is repeated. */
  trouble(error: unknown): void;
  /** A run cannot continue in this process; it stays in the store. */
  fault(executionId: ExecutionId, error: unknown): void;
  /** An attempt reports its progress. */
  progress(executionId: ExecutionId, node: NodePath, fraction: number, message: string | undefined): void;
}
