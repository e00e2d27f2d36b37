/** The engine as apps see it. `Engine` executes runs; `ExecutionService` only reads them and leaves durable requests. */
import type {
  Action,
  BareRun,
  CallbackToken,
  CallbackUrl,
  Capabilities,
  ConcurrencySlot,
  DefinitionChecks,
  Entry,
  ExecutionId,
  Json,
  NebulaError,
  NodeDocument,
  NodePath,
  OpenCatalog,
  Plan,
  ProcessSettings,
  RunDocument,
  RunError,
  TimelineEvent,
  UndoPlan,
  WorkflowId,
} from '@nebula/core';
import type {
  DocumentPart,
  Explanation,
  Migration,
  MigrationDecisions,
  Parent,
  ReopenPreview,
  RunAuthority,
  Settlement,
} from '@nebula/core/run';
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
  WorkflowSourceRow,
} from '@nebula/ports';
import type { EngineFigures } from './observe/figures.ts';
import type { TracedFrame } from './observe/tracing.ts';
import type { Projects } from './start/authority.ts';
import type { RehearsalOptions, RehearsedRun, ResultList, ResultPage, TestRequest } from './test-runs.ts';

/** The drivers that an app has chosen. */
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
export interface LaunchPlanStart {
  readonly workflowId: WorkflowId;
  /** Undefined: the newest. */
  readonly version: number | undefined;
  readonly input: Json;
  readonly slot?: ConcurrencySlot;
}

export interface EngineOptions extends ProcessSettings {
  /**
   * The launch plan of a `workflow` node, for a run of this project. Rejects with a code where it cannot be used: the
   * node then fails with it. Without this, nodes that name launch plans fail with `NO_LAUNCH_PLANS`.
   */
  readonly launchPlan?: (
    plan: string,
    start: { readonly project: string; readonly input: Json },
  ) => Promise<LaunchPlanStart>;
  /** Attempts that may run at the same time in this process. */
  readonly concurrency?: number;
  /** Projects and their ceilings. Left out: one project without a ceiling, for programs that embed the engine. */
  readonly projects?: Projects;
  readonly inlineLimitBytes?: number;
  /** Made with the same settings, to check definitions before the engine exists: it does not compile them again. */
  readonly checks?: DefinitionChecks;
  /** The URLs of nodes that wait for a call: `$nodes.<id>.callbackUrl`. Without it nodes have none. */
  readonly callbacks?: Callbacks;
  /** Compiled workflows by their text, shared by engines of one process that have the same actions. */
  readonly compiled?: Map<string, Plan>;
  /** How long finished runs are kept if their workflow does not say; null keeps them for ever. */
  readonly retentionMs?: number | null;
  /** Unfinished runs that may be in memory at once; others wait in the store. */
  readonly maxCachedRuns?: number;
  /** A run gets a snapshot when its journal has grown by this much, and by the size of the last snapshot. */
  readonly snapshotMinBytes?: number;
  /** Milliseconds that the decisions of one turn may take before the event loop runs; 10 by default. */
  readonly sliceMs?: number;
  /** The engine refuses new runs with `BUSY` while this many wait or run. */
  readonly maxActiveRuns?: number;
}

/** Makes the URLs of nodes that wait for a call. */
export interface Callbacks {
  /** The URL as expressions and journals have it: unsigned. */
  readonly url: CallbackUrl;
  /** The signature for an unsigned URL; undefined if another server made it, or nobody. */
  sign(unsigned: CallbackToken): { readonly executionId: ExecutionId; readonly signature: string } | undefined;
  /** The text that replaces the signature in journals; undefined if this server did not make the signature. */
  unsign(signed: CallbackToken): string | undefined;
}

/** Live events of runs. Hints for people; the journal is the truth. */
export type LiveEvent =
  | { readonly type: 'changed'; readonly executionId: ExecutionId }
  | {
      readonly type: 'progress';
      readonly executionId: ExecutionId;
      readonly node: NodePath;
      readonly fraction: number;
      readonly message?: string;
    }
  | { readonly type: 'timeline'; readonly executionId: ExecutionId; readonly event: TimelineEvent }
  /** An operation failed and is repeated until it succeeds. */
  | { readonly type: 'trouble'; readonly error: unknown }
  /** A run cannot continue in this process. It stays in the store and is tried again later. */
  | { readonly type: 'fault'; readonly executionId: ExecutionId; readonly error: unknown }
  | { readonly type: 'finished'; readonly executionId: ExecutionId; readonly document: RunDocument };

export interface JournalFrame {
  readonly seq: number;
  readonly at: number;
  readonly position: Position;
  readonly entries: readonly Entry[];
  /** The length of the entries as JSON text. */
  readonly chars: number;
}

/** Reads runs and leaves durable requests; works beside an engine of another process. */
/** A value, or the beginning of the text of a large one. */
export type ValuePreview =
  | { readonly bytes: number; readonly value: Json }
  | { readonly bytes: number; readonly beginning: string; readonly sha256?: string };

/** Null where there is no value yet. */
export interface RunValues {
  readonly input: ValuePreview | null;
  readonly output: ValuePreview | null;
  /** Of a run. */
  readonly variables?: ValuePreview;
  /** Of a node. */
  readonly idempotencyKey?: string | null;
  readonly cached?: boolean;
}

export interface ExecutionService {
  /** `at`: the run after that frame of its journal. `part`: only some of its nodes. */
  document(executionId: ExecutionId, at?: number, part?: DocumentPart): Promise<RunDocument | undefined>;
  /** The document without inputs, outputs and variables: no blob is read for it. */
  bareDocument(executionId: ExecutionId, at?: number, part?: DocumentPart): Promise<BareRun | undefined>;
  /**
   * A node of an iteration that has ended, from the journal. Undefined if there is none, or if the journal is too long
   * to be folded for it.
   */
  endedNode(executionId: ExecutionId, path: NodePath, at?: number): Promise<NodeDocument | undefined>;
  /** The values of the run, or of one of its nodes, as previews. Undefined if there is no such run or node. */
  values(executionId: ExecutionId, path?: NodePath, at?: number): Promise<RunValues | undefined>;
  /** The frames after this one, read in pieces: other work runs in between, and a reader may stop at any frame. */
  frames(executionId: ExecutionId, after?: number): AsyncIterable<JournalFrame>;
  /** The frames before this one, the newest first, read in pieces. */
  framesBack(executionId: ExecutionId, before?: number): AsyncIterable<JournalFrame>;
  /** All frames after this one, at once. */
  journal(executionId: ExecutionId, after?: number): Promise<readonly JournalFrame[]>;
  timeline(executionId: ExecutionId): Promise<readonly TimelineEvent[]>;
  /**
   * Why a node, or without `node` the run, has its status. `at`: the status after that frame of the journal; what only
   * other runs know is then left out.
   */
  explain(executionId: ExecutionId, node?: NodePath, at?: number): Promise<Explanation | undefined>;
  /** Stores the human tasks of a run of data from before there were any. */
  saveHumanTasks(executionId: ExecutionId): Promise<void>;
  /** The compensations that would run if the run failed now, and those that have run. */
  undoPlan(executionId: ExecutionId): Promise<UndoPlan | undefined>;
  /** Holders of a key in the project of this run, and the waiters for it, in the order in which they are granted it. */
  permits(executionId: ExecutionId, key: string): Promise<readonly PermitRow[]>;
  list(filter: ExecutionFilter): Promise<{ readonly rows: readonly ExecutionRow[]; readonly next: string | null }>;
  /**
   * Cancels the run, or with `node` that node and the nodes inside it. `compensate`: false leaves effects as they are.
   * Rejects with `ALREADY_ENDING` for a run that is being compensated; with `compensate` false the compensation is stopped.
   *
   * All requests return false when there is no such execution. They are durable; an engine acts on them when it sees them.
   */
  requestCancel(
    executionId: ExecutionId,
    reason: string,
    options?: { readonly compensate?: boolean; readonly node?: NodePath },
  ): Promise<boolean>;
  /** Running attempts end, no node starts and timers stop until the run is resumed. */
  requestPause(executionId: ExecutionId, reason?: string): Promise<boolean>;
  requestResume(executionId: ExecutionId): Promise<boolean>;
  /**
   * Runs a node of a finished run again, with all nodes that depend on it. Rejects with `UNKNOWN_NODE`, `NOT_REPLAYABLE`,
   * `INPUT_INVALID`.
   */
  requestReplay(executionId: ExecutionId, node: NodePath, input?: Json): Promise<boolean>;
  /**
   * Starts a new run that takes over the results before `node` and runs from there. The forked run is not changed.
   * `principal` forks. Returns the id of the new run.
   */
  fork(executionId: ExecutionId, node: NodePath, input?: Json, principal?: string): Promise<ExecutionId>;
  /**
   * Names of the secrets that a given input or output of a node would direct: those of its action, or of a graph that it
   * returns. Empty if there is no such node.
   */
  secretsBehind(executionId: ExecutionId, node: NodePath, given: 'input' | 'output'): Promise<readonly string[]>;
  /** The run buffers the signal until a node waits for it. */
  requestSignal(executionId: ExecutionId, signal: SignalRequest): Promise<boolean>;
  /**
   * Delivers the signal to the run of the project (by default `default`) that has waited longest for this signal and
   * key. Without such a run the signal is buffered for `keepMs` (by default a day). Returns the run that takes it, if
   * there is one already.
   */
  publishSignal(
    signal: SignalRequest & { readonly keepMs?: number; readonly messageId?: string; readonly project?: string },
  ): Promise<string | undefined>;
  /** Drops the signals that are buffered for runs of a project; not for the default project, which stays. */
  forgetSignals(project: string): Promise<void>;
  /** Rejects with `NOT_WAITING`, `NOT_ALLOWED`, `FORM_INVALID`. */
  requestAnswer(executionId: ExecutionId, node: NodePath, answer: AnswerRequest): Promise<boolean>;
  requestCallback(executionId: ExecutionId, node: NodePath, payload: Json): Promise<boolean>;
  /** Retries the failed nodes of a finished run. */
  requestRetry(executionId: ExecutionId): Promise<boolean>;
  /** Reports the changes that a move to another version of the workflow would make, and why it may be refused. */
  checkMigration(executionId: ExecutionId, request: MigrationRequest): Promise<MigrationReport | undefined>;
  /**
   * Moves the run to another version. Its nodes keep their results; an ended run stays ended until it is retried. Rejects
   * with `SAME_VERSION`, `STILL_RUNNING`, `MIGRATION_BLOCKED`, `DECISION_NEEDED`, `DECISION_INVALID`, `INPUT_INVALID`.
   */
  requestMigration(executionId: ExecutionId, request: MigrationRequest): Promise<MigrationReport | undefined>;
  /**
   * Takes the last migration back and returns the version before it. Rejects with `NOT_MIGRATED` once the run has
   * continued.
   */
  requestMigrationBack(executionId: ExecutionId): Promise<number | undefined>;
  /**
   * Settles an unknown outcome. `attempt`: the attempt that was examined, by default the newest; the settlement does
   * not apply to a later one.
   */
  requestSettle(executionId: ExecutionId, node: NodePath, outcome: Settlement, attempt?: number): Promise<boolean>;
  /**
   * What a retry of an ended run, or with `replayed` a replay, would do. Undefined if there is no such run. Rejects as these
   * requests do, and with `NOTHING_TO_RETRY`.
   */
  previewReopen(
    executionId: ExecutionId,
    replayed?: { readonly node: NodePath; readonly input?: Json | undefined },
  ): Promise<ReopenPreview | undefined>;
  delete(executionId: ExecutionId): Promise<boolean>;
  /** The actions of this process, and those that were announced. */
  readonly catalog: OpenCatalog;
  /** Checks definitions. A run of a checked definition does not compile it again. */
  readonly checks: DefinitionChecks;
  /**
   * Stores a definition (already compiled without errors) as a version; the same content is the same version. `source`
   * replaces the text of the version.
   */
  register(
    definition: Json,
    source?: WorkflowSourceRow,
  ): Promise<{ readonly workflowId: WorkflowId; readonly version: number; readonly created: boolean }>;
  /**
   * Stores a definition (already compiled without errors) for one test run: the execution that is started with this id
   * and the returned version. Rejects with `TEST_INVALID`, `UNKNOWN_EXECUTION`, `NOT_FINISHED`, `TOO_LARGE`.
   */
  registerTest(
    definition: Json,
    test: TestRequest,
    executionId: ExecutionId,
  ): Promise<{ readonly workflowId: WorkflowId; readonly version: number }>;
  /** The last results of the nodes of a run, in the order of the definition. Undefined if there is no such run. */
  results(executionId: ExecutionId, page: ResultPage): Promise<ResultList | undefined>;
  /** Replays the last ended runs of the workflow against a definition (already compiled without errors). */
  rehearse(definition: Json, options: RehearsalOptions): Promise<readonly RehearsedRun[]>;
  /** The input of the run. */
  input(executionId: ExecutionId): Promise<Json | undefined>;
  /** A version of a workflow, compiled; without `version`, the newest. Rejects with `UNKNOWN_WORKFLOW`, `PLAN_INVALID`. */
  plan(workflowId: WorkflowId, version?: number): Promise<Plan>;
  /**
   * A call to the address of a node. Durable when it resolves with `taken`, even before the node waits. `over`: the
   * node has been called, or no longer waits. A repeated call has no further effect.
   */
  requestCall(
    executionId: ExecutionId,
    node: NodePath,
    generation: number,
    payload: Json,
  ): Promise<'taken' | 'over' | 'unknown'>;
  /** Removes cached outputs and returns their number. */
  forgetCached(which: CacheChoice): Promise<number>;
}

export interface MigrationRequest {
  /** Undefined: the newest version. */
  readonly version?: number | undefined;
  readonly decisions?: MigrationDecisions | undefined;
}

export interface MigrationReport extends Pick<Migration, 'from' | 'to' | 'changes'> {
  readonly refusal: NebulaError | undefined;
}

export interface SignalRequest {
  readonly signal: string;
  /** Only a wait with the same key takes the signal. */
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
  /** An id chosen by the caller: a second start with the same id has no effect. */
  readonly executionId?: ExecutionId;
  /** Instead of an id: starts with the same key give the same execution, for ever. */
  readonly idempotencyKey?: string;
  /** The node that runs this execution as its child. */
  readonly parent?: Parent;
  /** Limits the runs with the same key. With the policy `skip`, `start` rejects with `SKIPPED` at the limit. */
  readonly slot?: ConcurrencySlot;
  /** The project of the workflow. Another one is refused with `UNKNOWN_WORKFLOW`. */
  readonly project?: string;
  /** The principal that starts the run, as the audit log names it. */
  readonly principal?: string;
  /** Narrows the grants of the project: children have the authority of their parents. */
  readonly authority?: RunAuthority;
  /** The W3C trace context of the caller. A text that is none is ignored. */
  readonly traceparent?: string;
}

/** The result of waiting for a run: it ended, or it is parked and only a person or a signal moves it. */
export type WaitResult =
  | { readonly parked: false; readonly document: RunDocument }
  | {
      readonly parked: true;
      readonly document: RunDocument;
      readonly waitingFor: readonly Explanation[];
      /** The executions that it waits for, which are parked too. */
      readonly inside: readonly WaitResult[];
    };

export interface Metrics {
  /** Counters by name, e.g. `workflow.started`. */
  readonly counters: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  /** Milliseconds: count, sum, min, max and buckets, e.g. `workflow.node.duration_ms`. */
  readonly histograms: Readonly<Record<string, Histogram>>;
  /** The counters and histograms of each workflow that has run here, by names that begin with `workflow.`. */
  readonly workflows: readonly WorkflowMetrics[];
}

export interface WorkflowMetrics extends Pick<Metrics, 'counters' | 'histograms'> {
  readonly project: string;
  readonly workflowId: string;
}

export interface Histogram {
  readonly count: number;
  readonly sum: number;
  /** Upper bounds (ms), and the number of observations at or below each. */
  readonly buckets: readonly (readonly [upperBoundMs: number, count: number])[];
}

/** The health of an engine: whether it makes progress. */
export interface EngineHealth {
  readonly phase: 'new' | 'open' | 'closing' | 'closed';
  /** When the store last accepted a write of this engine, its lease included: several times a minute. Null: never. */
  readonly wroteAt: number | null;
  /** The last error since then; the operation is repeated. */
  readonly trouble: unknown;
}

export interface Engine extends ExecutionService {
  /**
   * Takes the worker's lease, recovers the runs of an earlier process and begins to work.
   * With `only`, the engine works on these runs and their children, and on no others.
   */
  open(options?: { readonly only?: readonly string[] }): Promise<void>;
  /** Durable when it resolves. Rejects with `INPUT_INVALID`, `UNKNOWN_WORKFLOW`, `BUSY`. */
  start(workflowId: WorkflowId, version: number | undefined, options?: StartOptions): Promise<ExecutionId>;
  /**
   * Waits until the run has ended or, with `parked` (the default), until only a person, a signal or a far time moves
   * it. A run that waits for other executions is parked when all of these are: its children, and the holders of the
   * permits that its nodes wait for. Rejects with the reason of `signal` when that aborts.
   */
  waitFor(executionId: ExecutionId, until?: 'end' | 'parked', signal?: AbortSignal): Promise<WaitResult>;
  /** Neither time nor a worker nor a request moves the run: only people, signals and its children do. */
  isQuiescent(executionId: ExecutionId): Promise<boolean>;
  /** The document of a run in memory; undefined if the run is not in memory, or its state is not durable yet. */
  peek(executionId: ExecutionId): RunDocument | undefined;
  on(listener: (event: LiveEvent) => void): () => void;
  metrics(): Promise<Metrics>;
  /** Announces actions that remote workers run from now on: plans are compiled with them. */
  announce(actions: readonly Action[]): void;
  readonly remote: RemoteWorkers;
  health(): EngineHealth;
  /** The work of this process, and what waits in its queue. */
  figures(): Promise<EngineFigures>;
  /**
   * Sends every durable frame to `sink` from now on, and gives attempts and children their trace context. Returns a
   * function that stops it.
   */
  trace(sink: (frame: TracedFrame) => void): () => void;
  /**
   * Stops taking work, aborts running attempts and waits up to `graceMs` for their end; attempts that do not end are
   * handed back. Runs stay resumable.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * The operations of remote workers. A lease is refused with `STALE_LEASE` once its attempt is over, and to every principal
 * but the one that claimed it (`by`).
 */
export interface RemoteWorkers {
  /**
   * Takes tasks that fit the worker, or waits for some. Tasks are handed back if the worker has disconnected meanwhile.
   */
  claim(request: ClaimRequest): Promise<readonly RemoteTask[]>;
  /** A heartbeat, with the progress of the attempt. */
  extend(leaseId: string, beat?: LeaseBeat, by?: string): Promise<LeaseState>;
  log(leaseId: string, lines: readonly LeaseLine[], by?: string): Promise<LeaseState>;
  /** The secret behind an alias of the node. */
  credential(leaseId: string, alias: string, by?: string): Promise<string>;
  /** Durable when it resolves. */
  end(leaseId: string, outcome: RemoteOutcome, by?: string): Promise<void>;
  /** Why the attempt of a node should stop; null if it should not. */
  stopReason(executionId: ExecutionId, node: NodePath): Promise<string | null>;
  /** The number of leases of a worker, as far as this process knows. */
  running(holder: string): number;
  /** Leases of a worker, the oldest first, as far as this process knows. */
  workOf(holder: string): readonly { readonly executionId: ExecutionId; readonly node: NodePath }[];
}

export interface ClaimRequest {
  /** Returns whether the worker may run tasks of this route in this project. */
  serves(route: string, project: string): boolean;
  readonly max: number;
  /** The attempt is lost after the worker has been silent for this long. */
  readonly leaseMs: number;
  /** How long to wait for work; if absent, the claim does not wait. */
  readonly waitMs?: number;
  /** Aborts when the worker disconnects. */
  readonly signal?: AbortSignal;
  /** The id that the worker gave itself, for people. */
  readonly holder?: string;
  /** The principal that claims. Only this principal may report on the leases. */
  readonly principal?: string;
}

export interface RemoteTask {
  readonly leaseId: string;
  /** The end of the lease. */
  readonly until: number;
  /** `id@version`. */
  readonly action: string;
  readonly input: Json;
  readonly executionId: ExecutionId;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly node: NodePath;
  readonly attempt: number;
  /** The time since which the attempt waited for a worker. */
  readonly queuedAt: number;
  readonly idempotencyKey: string;
  /** When the attempt times out; null: never. */
  readonly deadline: number | null;
  /** Aliases of secrets that the worker may ask for. */
  readonly credentials: readonly string[];
  /** The capabilities that the action is granted. */
  readonly capabilities: Capabilities;
  /** W3C trace context. */
  readonly traceparent?: string;
}

export interface LeaseBeat {
  /** If absent, the length does not change. */
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
  /** The worker that claimed the lease. */
  readonly holder: string;
  readonly until: number;
  /** Why the attempt should stop; null if it should not. */
  readonly cancel: string | null;
}

/** `unknown`: the attempt may have taken effect. `returned`: the attempt was not begun. */
export type RemoteOutcome =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'unknown'; readonly error: RunError }
  | { readonly status: 'returned' };

export type { Explanation };
