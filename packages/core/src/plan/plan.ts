/**
 * A plan: a definition made ready to run. Immutable, indexed, every expression parsed, every name resolved.
 * One plan serves all runs of a workflow version.
 */
import type { Action, Capabilities, Effect, RetryPolicyFunction } from '../action.ts';
import type { FailurePolicy, Mode, OnError, WorkflowDefinition } from '../definition/model.ts';
import type { RunError } from '../error.ts';
import type { Budget, CompiledValue, ErrorMatcher, Matcher } from '../expression/index.ts';
import type { Json, JsonObject } from '../value.ts';

export interface Plan {
  readonly workflowId: string;
  readonly version: number;
  readonly definition: WorkflowDefinition;
  readonly root: GraphPlan;
  readonly variables: JsonObject;
  readonly mode: Mode;
  /** Attempts of one run that may be under way at once. */
  readonly maxParallelism: number;
  readonly timeoutMs: number | null;
  readonly onFailure: FailurePolicy;
  readonly maxTotalRetries: number;
  /** Undefined: the operator's default; null: for ever. */
  readonly retentionMs: number | null | undefined;
  /** The input with the defaults of its schema filled in, and what is wrong with it in plain sentences. */
  acceptInput(input: Json): { readonly input: Json; readonly problems: readonly string[] };
  newBudget(): Budget;
}

/** The graph of a workflow or of a composite node's body. Each run of a graph is a scope. */
export interface GraphPlan {
  readonly nodes: readonly NodePlan[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** Nodes without incoming edges. */
  readonly entries: readonly NodePlan[];
  /** Nodes without outgoing edges. */
  readonly ends: readonly NodePlan[];
  readonly levels: readonly (readonly NodePlan[])[];
  readonly output: CompiledValue | undefined;
  /** Nodes whose outputs `output` reads. */
  readonly outputReads: readonly NodePlan[];
}

export interface NodePlan {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly incoming: readonly EdgePlan[];
  readonly outgoing: readonly EdgePlan[];
  /** How many incoming edges must be taken: `all` waits until every edge is decided. */
  readonly join: 'all' | number;
  readonly level: number;
  /** Longest way to an end node, by estimates (ms): the critical path goes first. */
  readonly rank: number;
  readonly priority: number;
  readonly enabled: boolean;
  readonly when: CompiledValue | undefined;
  readonly onError: OnError | undefined;
  readonly retry: RetryPlan;
  readonly timeouts: Timeouts;
  readonly action: Action;
  readonly with: CompiledValue;
  /** The node's own word; undefined: the action's. */
  readonly effect: Effect | undefined;
  readonly granted: Capabilities;
  /** Nodes whose outputs the parameters and the condition read: what must be at hand to start this one. */
  readonly reads: readonly NodePlan[];
}

export interface Timeouts {
  readonly attemptMs: number | null;
  readonly queuedMs: number | null;
  readonly totalMs: number | null;
}

export interface RetryPlan {
  readonly policy: 'fixed' | 'exponential' | 'exponential-jitter' | RetryPolicyFunction;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly multiplier: number;
  /** Attempts allowed for USER errors, the first included. */
  readonly attempts: number;
  /** Retries allowed after SYSTEM errors and lost attempts. */
  readonly system: number;
  /** Undefined: every code. */
  readonly on: ReadonlySet<string> | undefined;
}

export interface EdgePlan {
  /** Names the edge among those that leave its node: the target's id, with `#2`, `#3`… for further ones. */
  readonly key: string;
  readonly from: NodePlan;
  readonly to: NodePlan;
  readonly on: 'success' | 'error' | 'always' | 'result';
  readonly when: CompiledValue | undefined;
  readonly match: Matcher | undefined;
  readonly matchError: ErrorMatcher | undefined;
  /** Nodes whose outputs the condition reads. */
  readonly reads: readonly NodePlan[];
}

/** True when nothing has to be evaluated to decide the edge. */
export function isPlain(edge: EdgePlan): boolean {
  return edge.when === undefined && edge.match === undefined && edge.matchError === undefined;
}

export type EdgeError = { readonly edge: EdgePlan; readonly error: RunError };
