/** Test runs and rehearsals, as the API of the engine has them. */
import type { ExecutionId, Json, NodePath, RunError, TestOptions } from '@nebula/core';
import type { DivergenceKind } from '@nebula/core/run';
import type { ExecutionStatus } from '@nebula/ports';

export interface TestRequest extends TestOptions {
  /** An ended run of the workflow, whose results are the pins of nodes before `only` that have none. */
  readonly from?: ExecutionId;
}

export interface ResultPage {
  /** The number of nodes to leave out. */
  readonly after: number;
  readonly limit: number;
  /** Longer outputs are cut. */
  readonly maxChars: number;
}

export interface ResultList {
  readonly items: readonly ResultItem[];
  /** `after` of the next page; null: this is the last one. */
  readonly next: number | null;
}

export interface ResultItem {
  /** The path in the definition. */
  readonly node: string;
  /** The path in the run. */
  readonly path: NodePath;
  readonly status: 'completed' | 'failed' | 'skipped';
  readonly at: number;
  /** The output as a whole, or the beginning of its JSON text; `bytes` is its length. */
  readonly output?:
    | { readonly bytes: number; readonly value: Json }
    | { readonly bytes: number; readonly preview: string };
  readonly error?: RunError;
}

export interface RehearsalOptions {
  readonly project: string;
  /** The number of runs. */
  readonly limit: number;
  /** Runs that are not replayed by then are left out. */
  readonly maxMs: number;
}

export interface RehearsedRun {
  readonly executionId: ExecutionId;
  readonly status: ExecutionStatus;
  readonly version: number;
  readonly createdAt: number;
  readonly outcome:
    | {
        readonly result: 'same';
        readonly frames: number;
        /** Frames that were accepted without a check, since the journal does not determine what caused them. */
        readonly unclear: number;
      }
    | { readonly result: 'differs'; readonly difference: RehearsalDifference }
    | { readonly result: 'not-replayed'; readonly reason: string };
}

/** The first decision that would be another one. */
export interface RehearsalDifference {
  readonly kind: DivergenceKind;
  /** Null: the run itself. */
  readonly node: NodePath | null;
  readonly text: string;
  readonly frame: number;
  readonly at: number;
  readonly recorded: Json;
  readonly now: Json;
}
