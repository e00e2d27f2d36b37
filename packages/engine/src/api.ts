/** What the engine offers to apps. `Engine` runs things; `Desk` only looks and leaves durable requests. */
import type {
  Action,
  BareRun,
  CallbackUrl,
  Capabilities,
  Explanation,
  ExpressionLimits,
  Json,
  Parent,
  Plan,
  RetryPolicyFunction,
  RunAuthority,
  RunDocument,
  RunError,
  RunPlace,
  Settlement,
  TimelineEvent,
  UndoPlan,
} from '@nebula/core';
import type {
  Blobs,
  CacheChoice,
  Clock,
  Digest,
  ExecutionFilter,
  ExecutionRow,
  LogLevel,
  Logs,
  PermitRow,
  Position,
  Queue,
  Random,
  Sandbox,
  Secrets,
  Store,
} from '@nebula/ports';
import type { Projects } from './authority.ts';
import type { TracedFrame } from './tracing.ts';

/** The drivers an app has chosen. */
export interface Drivers {
  readonly store: Store;
  readonly queue: Queue;
  readonly blobs: Blobs;
  readonly logs: Logs;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  /** Without it, a node that names credentials fails with `NO_SECRETS`. */
  readonly secrets?: Pick<Secrets, 'get'>;
}

/** A start, as a launch plan resolves it. */
export interface PlannedStart {
  readonly workflowId: string;
  /** Undefined: the newest. */
  readonly version: number | undefined;
  readonly input: Json;
  readonly place?: RunPlace;
}

export interface EngineOptions {
  readonly actions: readonly Action[];
  /**
   * The launch plan of a `workflow` node, for a run of this project. Rejects with a code where it cannot be used: the
   * node then fails with it. Without this, nodes that name launch plans fail with `NO_LAUNCH_PLANS`.
   */
  readonly launchPlan?: (
    plan: string,
    start: { readonly project: string; readonly input: Json },
  ) => Promise<PlannedStart>;
  readonly retryPolicies?: Readonly<Record<string, RetryPolicyFunction>>;
  /** Actions that workers outside have announced. */
  readonly announced?: readonly Action[];
  /** Labels of this process: nodes that ask for others are run by workers outside. `all`: no worker is outside. */
  readonly labels?: readonly string[] | 'all';
  /** Attempts that may run at the same time in this process. */
  readonly concurrency?: number;
  /** Projects and their ceilings. Left out: one project without a ceiling, for programs that embed the engine. */
  readonly projects?: Projects;
  /** Capabilities that the operator asks for on behalf of every workflow. */
  readonly capabilities?: Capabilities;
  readonly inlineLimitBytes?: number;
  /** Where nodes that wait for a call can be called: `$nodes.<id>.callbackUrl`. Without it they have no address. */
  readonly callbackUrl?: CallbackUrl;
  /** What one evaluation of an expression may cost; what is left out keeps its default. */
  readonly expressionLimits?: Partial<ExpressionLimits>;
  /** Compiled workflows by their text: for engines of one process that have the same actions. */
  readonly compiled?: Map<string, Plan>;
  /** How long finished runs are kept when their workflow does not say; null keeps them for ever. */
  readonly retentionMs?: number | null;
  /** Unfinished runs that may be in memory at once; others wait in the store. */
  readonly maxCachedRuns?: number;
  /** A run is snapshotted when its journal has grown by so much, and by as much as the last snapshot has. */
  readonly snapshotMinBytes?: number;
  /** New runs are refused with `BUSY` while this many wait or run. */
  readonly maxActiveRuns?: number;
}

/** What a run is doing, as it happens. Hints for people; the journal is the truth. */
export type LiveEvent =
  | { readonly type: 'changed'; readonly executionId: string }
  | {
      readonly type: 'progress';
      readonly executionId: string;
      readonly node: string;
      readonly fraction: number;
      readonly message?: string;
    }
  | { readonly type: 'timeline'; readonly executionId: string; readonly event: TimelineEvent }
  /** The store does not take what the engine writes; it is tried again until it does. */
  | { readonly type: 'trouble'; readonly error: unknown }
  /** One run cannot go on in this process. It stays in the store and is tried again later. */
  | { readonly type: 'fault'; readonly executionId: string; readonly error: unknown }
  | { readonly type: 'finished'; readonly executionId: string; readonly document: RunDocument };

export interface JournalFrame {
  readonly seq: number;
  readonly at: number;
  readonly position: Position;
  readonly entries: readonly Json[];
}

/** Looks at runs and leaves durable requests; works beside an engine of another process. */
export interface Desk {
  /** `at`: as it was after that frame of its journal. */
  document(executionId: string, at?: number): Promise<RunDocument | undefined>;
  /** The same without inputs, outputs and variables: no stored value is read for it. */
  bareDocument(executionId: string, at?: number): Promise<BareRun | undefined>;
  /** The frames after this one. */
  journal(executionId: string, after?: number): Promise<readonly JournalFrame[]>;
  timeline(executionId: string): Promise<readonly TimelineEvent[]>;
  /** Of one node, or, without `node`, of the run. */
  explain(executionId: string, node?: string): Promise<Explanation | undefined>;
  /** What would be undone if the run failed now, and what has been. */
  undoPlan(executionId: string): Promise<UndoPlan | undefined>;
  /** Who holds a key that this run shares with others of its project, and who waits for it, in the order of granting. */
  places(executionId: string, key: string): Promise<readonly PermitRow[]>;
  list(filter: ExecutionFilter): Promise<{ readonly rows: readonly ExecutionRow[]; readonly next: string | null }>;
  /** False when there is no such execution. The request is durable; an engine acts on it when it sees it. */
  /**
   * Of the run, or with `node` of that node and what is in it. `compensate`: false leaves what was done as it is. Rejects
   * with `ALREADY_ENDING` for a run that is being undone; without `compensate` that is stopped.
   */
  requestCancel(
    executionId: string,
    reason: string,
    options?: { readonly compensate?: boolean; readonly node?: string },
  ): Promise<boolean>;
  /** What runs ends, nothing starts, and time stands still, until it is resumed. */
  requestPause(executionId: string, reason?: string): Promise<boolean>;
  requestResume(executionId: string): Promise<boolean>;
  /** Runs a node of a finished run, and everything that depends on it, as something new. Rejects with `UNKNOWN_NODE`, `NOT_REPLAYABLE`. */
  requestReplay(executionId: string, node: string, input?: Json): Promise<boolean>;
  /**
   * A new run that begins where this one would be replayed from: what was done before that node is taken over, and
   * this one is not touched. Gives the id of the new run.
   */
  fork(executionId: string, node: string, input?: Json): Promise<string>;
  /** Kept by the run until a node waits for it. */
  requestSignal(executionId: string, signal: SignalRequest): Promise<boolean>;
  /**
   * For whichever run of the project (`default` unless told) waits for it: the one that has waited longest with this key takes it. With none it is kept for
   * `keepMs` (a day unless said otherwise). Gives the run that takes it, if there is one already.
   */
  publishSignal(
    signal: SignalRequest & { readonly keepMs?: number; readonly messageId?: string; readonly project?: string },
  ): Promise<string | undefined>;
  /** Rejects with `NOT_WAITING`, `NOT_ALLOWED`, `FORM_INVALID`. */
  requestAnswer(executionId: string, node: string, answer: AnswerRequest): Promise<boolean>;
  requestCallback(executionId: string, node: string, payload: Json): Promise<boolean>;
  /** Retries the failed nodes of a finished run. */
  requestRetry(executionId: string): Promise<boolean>;
  /** `attempt`: the one that was looked at, by default the newest. What is known of it says nothing about a later one. */
  requestSettle(executionId: string, node: string, outcome: Settlement, attempt?: number): Promise<boolean>;
  delete(executionId: string): Promise<boolean>;
  /** Stores a definition (already compiled without errors) as a version; the same content is the same version. */
  register(
    definition: Json,
  ): Promise<{ readonly workflowId: string; readonly version: number; readonly created: boolean }>;
  /** What it was started with. */
  input(executionId: string): Promise<Json | undefined>;
  /** A version of a workflow, compiled; without `version`, the newest. Rejects with `UNKNOWN_WORKFLOW`, `PLAN_INVALID`. */
  plan(workflowId: string, version?: number): Promise<Plan>;
  /**
   * A call to the address of a node. Durable when it resolves with `taken`; it counts also when it comes before the node
   * waits. `over`: the node has been called, or does not wait any more. The same call twice is one.
   */
  requestCall(
    executionId: string,
    node: string,
    generation: number,
    payload: Json,
  ): Promise<'taken' | 'over' | 'unknown'>;
  /** Forgets outputs that might be used again, and says how many. */
  forgetCached(which: CacheChoice): Promise<number>;
}

export interface SignalRequest {
  readonly signal: string;
  /** Of the waits for this signal, the one with the same key is meant. */
  readonly key?: string;
  readonly payload?: Json;
}

export interface AnswerRequest {
  readonly approved: boolean;
  readonly by: string;
  readonly comment?: string;
  readonly form?: Json;
}

export interface StartOptions {
  readonly input?: Json;
  readonly trigger?: Json;
  /** Chosen by the caller where starting twice must be starting once. */
  readonly executionId?: string;
  /** The same key is the same execution, for ever: instead of an id. */
  readonly idempotencyKey?: string;
  /** The node whose execution it is. */
  readonly parent?: Parent;
  /** It goes on beside so many others at the most. With `skip` rejects with `SKIPPED` where there are as many. */
  readonly place?: RunPlace;
  /** Where it belongs: that of its workflow. Another one is refused with `UNKNOWN_WORKFLOW`. */
  readonly project?: string;
  /** The principal that starts the run, as the audit log names it. */
  readonly principal?: string;
  /** Narrows what the project grants: children bring the authority of their parents. */
  readonly authority?: RunAuthority;
  /** The W3C trace context above the run. What is none is left out of account. */
  readonly traceparent?: string;
}

/** How waiting for a run ended: it finished, or nothing can move it without a person or a signal. */
export type Settled =
  | { readonly parked: false; readonly document: RunDocument }
  | {
      readonly parked: true;
      readonly document: RunDocument;
      readonly waitingFor: readonly Explanation[];
      /** The executions for which it waits, which are parked themselves. */
      readonly inside: readonly Settled[];
    };

export interface Metrics {
  /** Counters by name, e.g. `workflow.started`. */
  readonly counters: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  /** Milliseconds: count, sum, min, max and buckets, e.g. `workflow.node.duration_ms`. */
  readonly histograms: Readonly<Record<string, Histogram>>;
}

export interface Histogram {
  readonly count: number;
  readonly sum: number;
  /** Upper bounds (ms) and how many observations were at or below each. */
  readonly buckets: readonly (readonly [upperBoundMs: number, count: number])[];
}

/** Whether the engine gets on. */
export interface EngineHealth {
  readonly phase: 'new' | 'open' | 'closing' | 'closed';
  /** When the store last took something from this engine, its lease included: several times a minute. Null: never. */
  readonly wroteAt: number | null;
  /** What has gone wrong since then, and is being tried again. */
  readonly trouble: unknown;
}

export interface Engine extends Desk {
  /**
   * Takes the worker's lease, recovers what an earlier process left and begins to work.
   * With `only`, no other runs than these, and those that run for them, are gone on with.
   */
  open(options?: { readonly only?: readonly string[] }): Promise<void>;
  /** Durable when it resolves. Rejects with `INPUT_INVALID`, `UNKNOWN_WORKFLOW`, `BUSY`. */
  start(workflowId: string, version: number | undefined, options?: StartOptions): Promise<string>;
  /**
   * Waits until the run has ended or, with `rest` (the default), until nothing but a person, a signal or a far time
   * moves it. A run that waits for other executions rests when all of these do: its children, and those that hold the
   * permits for which its nodes wait. Rejects with the reason of `signal` when that aborts.
   */
  settled(executionId: string, until?: 'end' | 'rest', signal?: AbortSignal): Promise<Settled>;
  /** Neither time nor a worker nor a request moves the run: only people, signals and the executions that run for it. */
  isResting(executionId: string): Promise<boolean>;
  /** The newest view of a run that is in memory; undefined when it is not. */
  peek(executionId: string): RunDocument | undefined;
  on(listener: (event: LiveEvent) => void): () => void;
  metrics(): Promise<Metrics>;
  /** From now on workers outside run these, besides what this process has: plans are compiled with them. */
  announce(actions: readonly Action[]): void;
  /** What workers of other processes do with this engine. */
  readonly outside: Outside;
  health(): EngineHealth;
  /**
   * From now on every frame is handed to `sink` once it is durable, and attempts and children are told where in the trace
   * they stand. Returns the way to stop.
   */
  trace(sink: (frame: TracedFrame) => void): () => void;
  /**
   * Stops taking work, aborts what runs and waits up to `graceMs` for it to end; what does not end is handed back.
   * Runs stay resumable.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Work for workers of other processes. A lease is refused with `STALE_LEASE` once its attempt is over, and to everybody
 * but the principal that claimed it (`by`).
 */
export interface Outside {
  /** Takes what fits, or waits for it. What nobody is there any more to take is handed back. */
  claim(request: ClaimRequest): Promise<readonly OutsideWork[]>;
  /** Tells that the attempt is alive, and how far it is. */
  extend(leaseId: string, beat?: LeaseBeat, by?: string): Promise<LeaseState>;
  log(leaseId: string, lines: readonly LeaseLine[], by?: string): Promise<LeaseState>;
  /** The secret behind an alias of the node's. */
  credential(leaseId: string, alias: string, by?: string): Promise<string>;
  /** Durable when it resolves. */
  end(leaseId: string, outcome: OutsideOutcome, by?: string): Promise<void>;
  /** Why what runs of a node should stop, if it should. */
  stopReason(executionId: string, node: string): Promise<string | null>;
  /** How much a worker has, as far as this process knows. */
  running(holder: string): number;
  /** Leases of a worker, the oldest first, as far as this process knows. */
  workOf(holder: string): readonly { readonly executionId: string; readonly node: string }[];
}

export interface ClaimRequest {
  /** Whether the worker may run what waits on this route, in this project. */
  serves(route: string, project: string): boolean;
  readonly max: number;
  /** It is lost when nothing is heard of it for so long. */
  readonly leaseMs: number;
  /** How long to wait for work; not at all when left out. */
  readonly waitMs?: number;
  /** Aborted when whoever asks has gone. */
  readonly signal?: AbortSignal;
  /** The worker, by the id that it gave itself: shown to people. */
  readonly holder?: string;
  /** The principal that claims: only it may report on the leases that it gets. */
  readonly principal?: string;
}

export interface OutsideWork {
  readonly leaseId: string;
  /** The lease is good until then. */
  readonly until: number;
  /** `id@version`. */
  readonly action: string;
  readonly input: Json;
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly node: string;
  readonly attempt: number;
  /** Since when the attempt waited for a worker. */
  readonly queuedAt: number;
  readonly idempotencyKey: string;
  /** Then the attempt has timed out; null: never. */
  readonly deadline: number | null;
  /** Aliases that may be asked for. */
  readonly credentials: readonly string[];
  /** What the action may reach. */
  readonly capabilities: Capabilities;
  /** Where in a trace it stands (W3C trace context). */
  readonly traceparent?: string;
}

export interface LeaseBeat {
  /** As before when left out. */
  readonly leaseMs?: number;
  readonly progress?: number;
  readonly message?: string;
}

export interface LeaseLine {
  readonly at?: number;
  readonly level?: LogLevel;
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

export interface LeaseState {
  readonly until: number;
  /** Why the attempt should stop, if it should. */
  readonly cancel: string | null;
}

/** `unknown`: it may have taken effect. `returned`: it was not begun. */
export type OutsideOutcome =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'unknown'; readonly error: RunError }
  | { readonly status: 'returned' };

export type { Explanation, Settlement };
