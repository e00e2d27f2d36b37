/** Pins and parts of test runs, as plans have them; `test-plan.ts` makes them. */
import type { Json } from '../value.ts';

/** Replaces the work of a node. */
export type Pin =
  | { readonly output: Json }
  | { readonly error: PinnedError }
  /** The node is skipped as if its `when` were false. */
  | { readonly skipped: true };

export interface PinnedError {
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
}

export interface TestOptions {
  /** Runs this node and all that leads to it. */
  readonly until?: string;
  /** Runs this node alone: all that leads to it is pinned. */
  readonly only?: string;
  readonly pins?: Readonly<Record<string, Pin>>;
}

/** The part of a graph that takes part in a test. */
export interface TestPart {
  readonly ids: ReadonlySet<string>;
  /** The node of the graph that is the target or contains it. The graph has its output. */
  readonly target: string;
}

export interface TestPlan {
  readonly options: TestOptions;
  /** By the path of the node around the graph; '' for the graph of the workflow. */
  readonly parts: ReadonlyMap<string, TestPart>;
  readonly pins: ReadonlyMap<string, Pin>;
}
