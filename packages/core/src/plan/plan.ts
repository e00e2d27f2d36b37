/**
 * A plan: a definition made ready to run. Immutable, indexed, every expression parsed, every name resolved.
 * One plan serves all runs of a workflow version.
 */
import type { Action, Capabilities, Effect, RetryPolicyFunction } from '../action.ts';
import type { FailurePolicy, Mode, OnError, TriggerDefinition, WorkflowDefinition } from '../definition/model.ts';
import type { ValueType } from '../definition/value-type.ts';
import type { RunError } from '../error.ts';
import type { Budget, CompiledValue, ErrorMatcher, Matcher } from '../expression/index.ts';
import type { Problem } from '../problem.ts';
import type { SchemaCheck } from '../schema/index.ts';
import type { Steps } from '../steps.ts';
import type { Json, JsonObject, JsonSchema } from '../value.ts';

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
  /** Runs after a failure and its compensation; never otherwise. */
  readonly failureNode: NodePlan | undefined;
  readonly maxTotalRetries: number;
  readonly start: StartPlan | undefined;
  readonly triggers: readonly TriggerPlan[];
  /** Undefined: the operator's default; null: for ever. */
  readonly retentionMs: number | null | undefined;
  /** The input with the defaults of its schema filled in, and what is wrong with it in plain sentences. */
  acceptInput(input: Json): { readonly input: Json; readonly problems: readonly string[] };
  newBudget(): Budget;
  /** The address at which a node can be called, once; undefined where no server is. Equal arguments give equal addresses. */
  readonly callbackUrl: CallbackUrl | undefined;
  /** The plan may call `uuid()` or `random()`: its runs begin with a seed. */
  readonly draws: boolean;
}

/** `generation`: a node that begins as something new has another address. */
export type CallbackUrl = (executionId: string, node: string, generation: number) => string;

/** What starts the workflow besides people and programs. */
export interface TriggerPlan {
  readonly definition: TriggerDefinition;
  /** Without it, what came is the input. */
  readonly input: CompiledValue | undefined;
  /** Of an event: what its runs are told apart by. */
  readonly key: CompiledValue | undefined;
}

/** How starts with the same key are admitted. */
export interface StartPlan {
  /** Reads the input and the trigger only. */
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

/** A node whose output is read: `up` scopes above the reader, in the graph of that scope. */
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
  /** Nodes before it. Joins count these: several edges from one of them are one. */
  readonly sources: number;
  /** From how many sources an edge must be taken: `all` waits until every one has ended. */
  readonly join: 'all' | number;
  readonly level: number;
  /** Longest way to an end node, by estimates (ms): the critical path goes first. */
  readonly rank: number;
  /** How long it takes by itself, as far as the definition tells. */
  readonly estimateMs: number;
  /** The definition says how long: nothing that is learnt counts. */
  readonly isEstimated: boolean;
  readonly priority: number;
  /** Where its attempts are run: '' in this process, else by a worker outside that fits. */
  readonly route: string;
  readonly enabled: boolean;
  readonly when: CompiledValue | undefined;
  readonly onError: OnError | undefined;
  readonly retry: RetryPlan;
  readonly timeouts: Timeouts;
  /** Numbers and durations that are expressions; undefined for nearly every node. */
  readonly settings: readonly SettingPlan[] | undefined;
  readonly work: Work;
  /** What undoes the node when the run fails later. */
  readonly compensate: CompensationPlan | undefined;
  readonly cache: CachePlan | undefined;
  readonly concurrency: ConcurrencyPlan | undefined;
  readonly rateLimit: RateLimitPlan | undefined;
  /** In the body of a loop: no round begins after this node has completed. */
  readonly breaks: boolean;
  /** In the body of a loop: items that are added when this node has completed. */
  readonly emits: CompiledValue | undefined;
  /** Nodes whose outputs the parameters and the condition read: what must be at hand to start this one. */
  readonly reads: readonly NodeRead[];
}

/** What a node does once it is ready. */
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

/** Runs an action. */
export interface ActionWork {
  readonly kind: 'action';
  readonly action: Action;
  readonly with: CompiledValue;
  /** The node's own word; undefined: the action's. */
  readonly effect: Effect | undefined;
  /** Capabilities asked for; the ceiling of the run narrows them (`run/authority.ts`). */
  readonly granted: Capabilities;
  /** Names of secrets by the alias that the action knows. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** Runs an action, and then the graph that it returned. */
export interface DynamicWork extends Omit<ActionWork, 'kind'> {
  readonly kind: 'dynamic';
  /** Does the work of `accept` beforehand, in steps: the same object is then accepted at once. */
  prepare(graph: Json): Steps<CompiledReturn>;
  /** The graph ready to run, or what is wrong with it, as far as can be known before it runs. */
  accept(graph: Json): CompiledReturn;
  /** A graph that was accepted, maybe by an earlier version that knew less. The same graph gives the same plan. */
  compile(graph: Json): CompiledReturn;
}

export type CompiledReturn = { readonly body: GraphPlan } | { readonly problems: readonly Problem[] };

export interface BranchWork {
  readonly kind: 'branch';
  readonly on: CompiledValue | undefined;
  /** The only predecessor: what `match` tests without `on`, and what `error` tests. */
  readonly subject: NodePlan | undefined;
  readonly cases: readonly BranchCase[];
  /** Keys of the edges that are taken when no case fits. */
  readonly otherwise: readonly string[];
  /** Every case that fits is taken, not just the first. */
  readonly many: boolean;
}

/** Keys of all edges of a branch that it chooses from. */
export function caseKeys({ cases, otherwise }: BranchWork): ReadonlySet<string> {
  return new Set([...cases.flatMap(({ to }) => to), ...otherwise]);
}

/** Exactly one of `equals`, `when`, `match` and `error`. */
export interface BranchCase {
  /** Compared, as text, with the value of `on`. */
  readonly equals?: string;
  readonly when?: CompiledValue;
  readonly match?: Matcher;
  readonly error?: ErrorMatcher;
  /** Keys of the edges that are taken when it fits. */
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
  /** Rounds that may be open at once; 1 when they go one after the other. */
  readonly maxConcurrency: number;
  /** How many rounds must succeed; undefined: all. */
  readonly minSuccess: { readonly count: number } | { readonly ratio: number } | undefined;
  /** `first`: the first round that succeeds ends the loop, and the others are withdrawn. */
  readonly until: 'all' | 'first';
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
  /** Rounds allowed and the delays between them. */
  readonly backoff: RetryPlan;
  readonly body: GraphPlan;
}

/** A body, run once. */
export interface GroupWork {
  readonly kind: 'group';
  readonly body: GraphPlan;
}

/** Another workflow, run inside this one. */
export interface InlineWork {
  readonly kind: 'inline';
  readonly workflow: SubPlan;
  readonly input: CompiledValue | undefined;
  readonly output: CompiledValue | undefined;
  readonly isolation: 'shared' | 'isolated' | 'transactional';
}

/** Another workflow, or a launch plan, run as an execution of its own. */
export interface ChildWork {
  readonly kind: 'child';
  /** Undefined: what `launchPlan` says. */
  readonly workflowId: string | undefined;
  readonly launchPlan: string | undefined;
  /** Undefined: the newest when it is started. */
  readonly version: number | undefined;
  readonly input: CompiledValue | undefined;
  readonly output: CompiledValue | undefined;
  /** Inside a returned graph: what that graph may be granted at the most. */
  readonly bound: Capabilities | undefined;
}

/** The part of a workflow that an enclosing run needs. */
export interface SubPlan {
  readonly workflowId: string;
  readonly version: number;
  readonly root: GraphPlan;
  readonly variables: JsonObject;
  readonly onFailure: FailurePolicy;
  readonly timeoutMs: number | null;
  acceptInput(input: Json): { readonly input: Json; readonly problems: readonly string[] };
}

export interface WaitWork {
  readonly kind: 'wait';
  /** The first of them that happens ends the wait. */
  readonly waits: readonly WaitPlan[];
  /** A duration, a number of milliseconds or a moment. */
  readonly deadline: CompiledValue | undefined;
}

/** `name`: what `event` in the output says. */
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

/** Takes up what the rounds of a split gave: `{ aggregated: […] }`. */
export interface MergeWork {
  readonly kind: 'merge';
  /** The split, which is a forEach in the same graph. */
  readonly of: string;
}

/** An action of its own, which sees the node as `$self`. Evaluated when the node completes. */
export interface CompensationPlan extends Omit<ActionWork, 'kind'> {
  readonly route: string;
  readonly retry: RetryPlan;
  readonly timeouts: Timeouts;
}

export interface CachePlan {
  readonly version: string;
  readonly ttlMs: number | null;
  /** Members of the input that do not count. */
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
  /** The first one that matches an error decides; with none there is no retry. */
  readonly rules: readonly RetryRule[];
  /** Attempts that may be cut off by a crash or a lost lease and are repeated. */
  readonly lost: number;
}

export interface RetryRule {
  readonly policy: 'fixed' | 'exponential' | 'exponential-jitter' | RetryPolicyFunction;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly multiplier: number;
  /** Attempts allowed, the first included: `attempts` − 1 retries of errors that the rule matches. */
  readonly attempts: number;
  /** Undefined: every error. */
  readonly on: RetryMatch | undefined;
}

/** Codes and kinds by name, and patterns of codes. */
export interface RetryMatch {
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly ErrorMatcher[];
}

/** A number or duration of a node that is an expression. */
export interface SettingPlan {
  /** `retry.attempts`: as people find it. */
  readonly key: string;
  readonly type: ValueType;
  readonly value: CompiledValue;
}

/** By key: durations in milliseconds, shares as text. */
export type SettingValues = Readonly<Record<string, number | string>>;

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
  readonly reads: readonly NodeRead[];
  /** On the first of several edges between two nodes: the others. Undefined for nearly every edge. */
  readonly twins: readonly EdgePlan[] | undefined;
  /** Another edge between the same nodes stands before it. */
  readonly isTwin: boolean;
}

/** True when nothing has to be evaluated to decide the edge. */
export function isPlain(edge: EdgePlan): boolean {
  return edge.when === undefined && edge.match === undefined && edge.matchError === undefined;
}

/** The edge along which a split hands its failures on to its merge: nobody wrote it. */
export function isImplied({ on, from, to }: EdgePlan): boolean {
  return on === 'error' && to.work.kind === 'merge' && to.work.of === from.id;
}

export type EdgeError = { readonly edge: EdgePlan; readonly error: RunError };

/** For whoever builds a plan. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
