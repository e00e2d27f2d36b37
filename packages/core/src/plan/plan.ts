/**
 * A plan: a definition prepared for execution. Immutable and indexed, with every expression parsed and every name
 * resolved. All runs of a workflow version share one plan.
 */

import type { Action, Capabilities, Effect, RetryPolicyFunction } from '../action.ts';
import type { FailurePolicy, Mode, OnError, TriggerDefinition, WorkflowDefinition } from '../definition/model.ts';
import type { SettingType } from '../definition/value-type.ts';
import type { RunError } from '../error.ts';
import type { Budget, CompiledValue, ErrorMatcher, Matcher } from '../expression/index.ts';
import type { ExecutionId, WorkflowId } from '../ids.ts';
import type { Problem } from '../problem.ts';
import type { SchemaCheck } from '../schema/index.ts';
import type { Steps } from '../steps.ts';
import type { Json, JsonObject, JsonSchema } from '../value.ts';
import type { TestPlan } from './pin.ts';

export interface Plan {
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly definition: WorkflowDefinition;
  readonly root: GraphPlan;
  readonly variables: JsonObject;
  readonly mode: Mode;
  /** Maximum number of concurrent attempts of one run. */
  readonly maxParallelism: number;
  readonly timeoutMs: number | null;
  readonly onFailure: FailurePolicy;
  /** Runs only after a failure and its compensation. */
  readonly failureNode: NodePlan | undefined;
  readonly maxTotalRetries: number;
  readonly start: StartPlan | undefined;
  readonly triggers: readonly TriggerPlan[];
  /** Undefined: the operator's default; null: forever. */
  readonly retentionMs: number | null | undefined;
  /**
   * Returns the input with the defaults of its schema filled in, and its problems as sentences. A large input is checked
   * in steps.
   */
  acceptInput(input: Json): AcceptedInput | Steps<AcceptedInput>;
  newBudget(): Budget;
  /**
   * The URL at which a node can be called, once; undefined without a server. Equal arguments return equal URLs. The
   * URL is unsigned: a reader of the journal cannot call the node.
   */
  readonly callbackUrl: CallbackUrl | undefined;
  /** The plan may call `uuid()` or `random()`, so its runs start with a seed. */
  readonly draws: boolean;
  /** Nodes of its runs may wait for a call, also those of returned graphs. */
  readonly awaitsCalls: boolean;
  /** Its runs are test runs. */
  readonly test?: TestPlan;
}

/** `generation` gives a node that starts anew another URL. */
export type CallbackUrl = (executionId: ExecutionId, node: string, generation: number) => string;

/** A trigger of the workflow. */
export interface TriggerPlan {
  readonly definition: TriggerDefinition;
  /** Without it, the received data is the input. */
  readonly input: CompiledValue | undefined;
  /** The value that assigns events to runs, for an event trigger. */
  readonly key: CompiledValue | undefined;
}

/** How starts with the same key are admitted. */
export interface StartPlan {
  /** Reads only the input and the trigger. */
  readonly key: CompiledValue;
  readonly policy: 'allow' | 'singleton' | 'debounce';
  readonly windowMs: number;
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
  readonly outputReads: readonly NodeRead[];
}

/** A node whose output is read, `up` scopes above the reader, by its index in the graph of that scope. */
export interface NodeRead {
  readonly up: number;
  readonly index: number;
}

export interface NodePlan {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly incoming: readonly EdgePlan[];
  readonly outgoing: readonly EdgePlan[];
  /** The number of distinct predecessors. Joins count these: several edges from one node count once. */
  readonly sources: number;
  /**
   * The number of sources from which an edge must be taken. `all` and `ended` wait until every source has ended;
   * `ended` needs no taken edge.
   */
  readonly join: 'all' | 'ended' | number;
  readonly level: number;
  /** Estimated time (ms) of the longest path to an end node; the critical path is started first. */
  readonly rank: number;
  /** Estimated duration of the node alone, according to the definition. */
  readonly estimateMs: number;
  /** The definition has an estimate, which overrides measured durations. */
  readonly isEstimated: boolean;
  readonly priority: number;
  /** '' for attempts in this process; otherwise the route to a matching remote worker. */
  readonly route: string;
  readonly enabled: boolean;
  readonly when: CompiledValue | undefined;
  readonly onError: OnError | undefined;
  readonly retry: RetryPlan;
  readonly timeouts: Timeouts;
  /** Numbers and durations given by expressions; undefined for nearly every node. */
  readonly settings: readonly SettingPlan[] | undefined;
  readonly work: Work;
  /** The action that undoes the node when the run fails later. */
  readonly compensate: CompensationPlan | undefined;
  readonly cache: CachePlan | undefined;
  readonly concurrency: ConcurrencyPlan | undefined;
  readonly rateLimit: RateLimitPlan | undefined;
  /** In the body of a loop: no iteration starts after this node has completed. */
  readonly breaks: boolean;
  /** In the body of a loop: items to add when this node completes. */
  readonly emits: CompiledValue | undefined;
  /** Nodes whose outputs the parameters and the condition read; these outputs are needed to start this node. */
  readonly reads: readonly NodeRead[];
}

/** The work of a node once it is ready. */
export type Work =
  | ActionWork
  | DynamicWork
  | BranchWork
  | SetWork
  | TerminateWork
  | ForEachWork
  | WhileWork
  | RetryUntilWork
  | GroupWork
  | InlineWork
  | ChildWork
  | WaitWork
  | MergeWork;

/** The graph that runs inside the node. A child is a run of its own. */
export function innerGraph(work: Work): GraphPlan | undefined {
  if (work.kind === 'inline') return work.workflow.root;
  return 'body' in work ? work.body : undefined;
}

/** Runs an action. */
export interface ActionWork {
  readonly kind: 'action';
  readonly action: Action;
  readonly with: CompiledValue;
  /** The effect declared by the node; undefined: that of the action. */
  readonly effect: Effect | undefined;
  /** The requested capabilities; the ceiling of the run narrows them (`run/authority.ts`). */
  readonly granted: Capabilities;
  /** Alias → name of the secret. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** Runs an action, then the graph that it returned. */
export interface DynamicWork extends Omit<ActionWork, 'kind'> {
  readonly kind: 'dynamic';
  /** Does the work of `accept` beforehand, in steps; `accept` of the same object is then immediate. */
  prepare(graph: Json): Steps<CompiledReturn>;
  /** Returns the compiled graph, or the problems that can be detected before it runs. */
  accept(graph: Json): CompiledReturn;
  /**
   * Compiles a graph that was accepted before, possibly by an earlier version with fewer checks. The same graph returns
   * the same plan.
   */
  compile(graph: Json): CompiledReturn;
}

export type CompiledReturn = { readonly body: GraphPlan } | { readonly problems: readonly Problem[] };

export interface BranchWork {
  readonly kind: 'branch';
  readonly on: CompiledValue | undefined;
  /** The only predecessor: tested by `match` without `on`, and by `error`. */
  readonly subject: NodePlan | undefined;
  readonly cases: readonly BranchCase[];
  /** Keys of the edges taken when no case matches. */
  readonly otherwise: readonly string[];
  /** Takes every matching case, not just the first. */
  readonly many: boolean;
}

/** Keys of all edges from which a branch chooses. */
export function caseKeys({ cases, otherwise }: BranchWork): ReadonlySet<string> {
  return new Set([...cases.flatMap(({ to }) => to), ...otherwise]);
}

/** Has exactly one of `equals`, `when`, `match` and `error`. */
export interface BranchCase {
  /** Compared, as text, with the value of `on`. */
  readonly equals?: string;
  readonly when?: CompiledValue;
  readonly match?: Matcher;
  readonly error?: ErrorMatcher;
  /** Keys of the edges taken when the case matches. */
  readonly to: readonly string[];
}

export interface SetWork {
  readonly kind: 'set';
  readonly values: ReadonlyMap<string, CompiledValue>;
}

export interface TerminateWork {
  readonly kind: 'terminate';
  readonly status: 'completed' | 'failed';
  readonly output: CompiledValue | undefined;
  /** Evaluates to a text, or to `{ code, message, details }`. */
  readonly error: CompiledValue | undefined;
}

export interface ForEachWork {
  readonly kind: 'forEach';
  readonly in: CompiledValue;
  /** Maximum number of open iterations; 1 for a sequential loop. */
  readonly maxConcurrency: number;
  /** The number of iterations that must succeed; undefined: all. */
  readonly minSuccess: { readonly count: number } | { readonly ratio: number } | undefined;
  /** `first`: the first successful iteration ends the loop, and the others are cancelled. */
  readonly until: 'all' | 'first';
  /** The node is a split: in its iterations, its output is the item. */
  readonly isSplit: boolean;
  readonly body: GraphPlan;
}

export interface WhileWork {
  readonly kind: 'while';
  readonly condition: CompiledValue;
  readonly maxIterations: number;
  readonly body: GraphPlan;
}

export interface RetryUntilWork {
  readonly kind: 'retryUntil';
  readonly until: CompiledValue | undefined;
  /** The maximum number of iterations and the delays between them. */
  readonly backoff: RetryPlan;
  readonly body: GraphPlan;
}

/** A body that runs once. */
export interface GroupWork {
  readonly kind: 'group';
  readonly body: GraphPlan;
}

/** Another workflow that runs inside this run. */
export interface InlineWork {
  readonly kind: 'inline';
  readonly workflow: SubPlan;
  readonly input: CompiledValue | undefined;
  readonly output: CompiledValue | undefined;
  readonly isolation: 'shared' | 'isolated' | 'transactional';
}

/** Another workflow, or a launch plan, that runs as a separate execution. */
export interface ChildWork {
  readonly kind: 'child';
  /** Undefined: selected by `launchPlan`. */
  readonly workflowId: WorkflowId | undefined;
  readonly launchPlan: string | undefined;
  /** Undefined: the newest version at start. */
  readonly version: number | undefined;
  readonly input: CompiledValue | undefined;
  readonly output: CompiledValue | undefined;
  /** Inside a returned graph: the upper bound of that graph's grants. */
  readonly bound: Capabilities | undefined;
}

export interface AcceptedInput {
  readonly input: Json;
  readonly problems: readonly string[];
}

/** The part of an inlined workflow that the enclosing run needs. */
export interface SubPlan {
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly definition: WorkflowDefinition;
  readonly root: GraphPlan;
  readonly variables: JsonObject;
  readonly onFailure: FailurePolicy;
  readonly timeoutMs: number | null;
  acceptInput(input: Json): AcceptedInput | Steps<AcceptedInput>;
}

export interface WaitWork {
  readonly kind: 'wait';
  /** The first condition that occurs ends the wait. */
  readonly waits: readonly WaitPlan[];
  /** A duration, a number of milliseconds or a date. */
  readonly deadline: CompiledValue | undefined;
}

/** `name` is the value of `event` in the output. */
export type WaitPlan =
  | { readonly kind: 'for'; readonly name: string; readonly for: CompiledValue }
  | { readonly kind: 'until'; readonly name: string; readonly until: CompiledValue }
  | {
      readonly kind: 'signal';
      readonly name: string;
      readonly signal: string;
      readonly key: CompiledValue | undefined;
      readonly check: SchemaCheck | undefined;
    }
  | {
      readonly kind: 'approval';
      readonly name: string;
      readonly title: CompiledValue | undefined;
      readonly who: CompiledValue | undefined;
      readonly form: JsonSchema | undefined;
      readonly check: SchemaCheck | undefined;
    }
  | { readonly kind: 'callback'; readonly name: string };

/** Collects the results of the iterations of a split: `{ aggregated: […] }`. */
export interface MergeWork {
  readonly kind: 'merge';
  /** The id of the split, which is a forEach in the same graph. */
  readonly of: string;
}

/** The compensating action, which sees the node as `$self`. Its parameters are evaluated when the node completes. */
export interface CompensationPlan extends Omit<ActionWork, 'kind'> {
  readonly route: string;
  readonly retry: RetryPlan;
  readonly timeouts: Timeouts;
}

export interface CachePlan {
  readonly version: string;
  readonly ttlMs: number | null;
  /** Members of the input that are not part of the cache key. */
  readonly ignore: readonly string[];
  readonly overwrite: boolean;
}

export interface ConcurrencyPlan {
  readonly key: CompiledValue;
  readonly limit: number;
}

export interface RateLimitPlan extends ConcurrencyPlan {
  readonly perMs: number;
}

export interface Timeouts {
  readonly attemptMs: number | null;
  readonly queuedMs: number | null;
  readonly totalMs: number | null;
}

export interface RetryPlan {
  /** The first rule that matches an error applies; an error without a matching rule is not retried. */
  readonly rules: readonly RetryRule[];
  /** How many times an attempt is repeated after a crash or a lost lease cut it off. */
  readonly lost: number;
}

export interface RetryRule {
  readonly policy: 'fixed' | 'exponential' | 'exponential-jitter' | RetryPolicyFunction;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly multiplier: number;
  /** The maximum number of attempts, including the first: `attempts` − 1 retries of errors that the rule matches. */
  readonly attempts: number;
  /** Undefined: every error. */
  readonly on: RetryMatch | undefined;
}

/** Codes and kinds by name, and patterns of codes. */
export interface RetryMatch {
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly ErrorMatcher[];
}

/** A number or duration of a node that is given by an expression. */
export interface SettingPlan {
  /** The key as written by users, e.g. `retry.attempts`. */
  readonly key: string;
  readonly type: SettingType;
  readonly value: CompiledValue;
}

/** Values by key: durations in milliseconds, shares as text. */
export type SettingValues = Readonly<Record<string, number | string>>;

export interface EdgePlan {
  /** Unique among the edges that leave the node: the target's id, with `#2`, `#3`… for further edges. */
  readonly key: string;
  readonly from: NodePlan;
  readonly to: NodePlan;
  readonly on: 'success' | 'error' | 'always' | 'result';
  readonly when: CompiledValue | undefined;
  readonly match: Matcher | undefined;
  readonly matchError: ErrorMatcher | undefined;
  /** Nodes whose outputs the condition reads. */
  readonly reads: readonly NodeRead[];
  /** On the first of several edges between two nodes: the others. Undefined for nearly every edge. */
  readonly twins: readonly EdgePlan[] | undefined;
  /** An earlier edge connects the same nodes. */
  readonly isTwin: boolean;
}

/** True when the edge can be decided without evaluating anything. */
export function isPlain(edge: EdgePlan): boolean {
  return edge.when === undefined && edge.match === undefined && edge.matchError === undefined;
}

/** The implicit error edge from a split to its merge. */
export function isImplied({ on, from, to }: EdgePlan): boolean {
  return on === 'error' && to.work.kind === 'merge' && to.work.of === from.id;
}

export type EdgeError = { readonly edge: EdgePlan; readonly error: RunError };

/** A writable view of a type, for building plans. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
