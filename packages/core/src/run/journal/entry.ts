/**
 * The journal of a run: what happened, in order. The format is a contract: new entries may be added, existing ones
 * never change, and golden journals guard them. Entries name nodes by path (`items/3/pack`), never by position in the
 * definition.
 *
 * Entries of one frame share its time. Decisions that need an expression are recorded with their result (`dead`,
 * `taken`, `input`), so folding a journal evaluates nothing.
 *
 * Long because it is the whole format: a reader of journals finds every entry here.
 */

import type { Effect } from '../../action.ts';
import type { Ceiling } from '../../capability/narrow.ts';
import type { RunError } from '../../error.ts';
import type { ExecutionId, NodePath, WorkflowId } from '../../ids.ts';
import type { SettingValues } from '../../plan/plan.ts';
import type { Json } from '../../value.ts';
import type { Estimates } from '../state/estimates.ts';
import type { FinalRunStatus } from '../state/status.ts';
import type { InlineValue, StoredValue } from './stored-value.ts';

/** Version of the entry format; a newer one is refused with `JOURNAL_TOO_NEW`. */
export const JOURNAL_FORMAT = 1;

export type Entry =
  | RunStarted
  | NodeScheduled
  | NodeStarted
  | NodeCompleted
  | NodeRetrying
  | NodeReturned
  | NodeFailed
  | NodeUnhandled
  | NodeSkipped
  | NodeCancelled
  | NodeUnknown
  | NodeSettled
  | NodeOpened
  | NodeStopping
  | ScopesOpened
  | ScopeStopping
  | ScopeClosed
  | ItemsAdded
  | RoundDelayed
  | ChildRequested
  | NodeWaiting
  | NodeAnswered
  | SignalKept
  | SignalTaken
  | SignalRefused
  | NodeGated
  | NodeGranted
  | ScopeCompensating
  | ScopeCompensated
  | NodeCompensating
  | NodeConfigured
  | RunHeld
  | RunBegun
  | RunPaused
  | RunResumed
  | RunStopping
  | RunFinished
  | RunReopened
  | RunMigrated
  | RunCheckpointed;

export interface RunStarted {
  readonly type: 'run.started';
  readonly format: typeof JOURNAL_FORMAT;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly input: StoredValue;
  readonly trigger: Json;
  /** The execution and node that this run was started for, and the depth of the chain of parents. */
  readonly parent?: Parent;
  /** The start key: no other run of the workflow with this key is active or delayed at the same time. */
  readonly key?: string;
  /** How long nodes took in earlier runs. Dispatch puts the longest way first. */
  readonly estimates?: Estimates;
  /** The W3C trace context of the caller that started the run: the spans of the run are below it. */
  readonly traceparent?: string;
  /** The seed of `uuid()` and `random()`; if absent, the id of the execution is the only seed. */
  readonly seed?: string;
  /** The concurrency slot that the run needs. */
  readonly place?: ConcurrencySlot;
  /** The authority of the run; left out by earlier versions. */
  readonly authority?: RunAuthority;
}

/** The principal that started a run, as the audit log names it, and the ceiling of the run. */
export interface RunAuthority {
  readonly principal?: string;
  readonly ceiling: Ceiling;
}

/**
 * A concurrency slot under a key that at most `limit` runs hold at once. With `skip` a run gets its slot at the start
 * or is not started. With `wait` and `replace` it is `pending` until it is granted one; `replace` also cancels the
 * oldest holders.
 */
export interface ConcurrencySlot {
  readonly key: string;
  readonly limit: number;
  readonly policy: 'skip' | 'wait' | 'replace';
}

export interface Parent {
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly depth: number;
  /** The parents of the parent, nearest first. */
  readonly above?: readonly ExecutionId[];
}

/** The node becomes ready. `values`: results of the expressions among its settings, by key, for all its attempts. */
export interface NodeConfigured {
  readonly type: 'node.configured';
  readonly node: NodePath;
  readonly values: SettingValues;
}

/** The nodes are ready and wait for a slot. Left out for a node that starts in the same frame. */
export interface NodeScheduled {
  readonly type: 'node.scheduled';
  readonly nodes: readonly NodePath[];
}

export interface NodeStarted {
  readonly type: 'node.started';
  readonly node: NodePath;
  readonly attempt: number;
  readonly worker: string;
  readonly effect: Effect;
  /** The resolved parameters, in the first attempt only. */
  readonly input?: StoredValue;
}

export interface NodeCompleted {
  readonly type: 'node.completed';
  readonly node: NodePath;
  readonly output?: StoredValue;
  /** Keys of the conditional edges that were not taken. */
  readonly dead?: readonly string[];
  /** Variables that the node assigned. */
  readonly vars?: Readonly<Record<string, StoredValue>>;
  /** The parameters of its compensation, or the error that their evaluation gave. */
  readonly undo?: StoredValue;
  readonly undoError?: RunError;
  /** The output was taken from an earlier attempt with the same input. */
  readonly cached?: CacheHit;
}

export interface CacheHit {
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly at: number;
}

/** An attempt failed, and another one will follow at `until`. */
export interface NodeRetrying {
  readonly type: 'node.retrying';
  readonly node: NodePath;
  readonly error: RunError;
  readonly until: number;
  /**
   * The rule that the retry counts against, if `impliedRule` gives another one: the index of a rule in `retry`, or
   * `lost`.
   */
  readonly rule?: number | 'lost';
}

/** The worker handed the attempt back: it ended without an outcome and does not count against a limit. */
export interface NodeReturned {
  readonly type: 'node.returned';
  readonly node: NodePath;
}

/**
 * How a final failure is handled.
 *  - handled: error edges take it
 *  - ignored: `onError: ignore`; continues as if completed with null, except for the edges in `dead`
 *  - tolerated: workflow policy `ignore`
 *  - deferred: workflow policy `finish-running`, or the node belonged to a finally; the scope fails at its end
 *  - fatal: ends the scope, or with `halt` the run, now
 */
export type FailureHandling = 'handled' | 'ignored' | 'tolerated' | 'deferred' | 'fatal';

export interface NodeFailed {
  readonly type: 'node.failed';
  readonly node: NodePath;
  readonly error: RunError;
  readonly handling: FailureHandling;
  /** Keys of the error and always edges that are taken. */
  readonly taken?: readonly string[];
  readonly dead?: readonly string[];
}

/** Every node that its error edges led to was skipped, so nothing handles the failure any more. */
export interface NodeUnhandled {
  readonly type: 'node.unhandled';
  readonly node: NodePath;
  readonly handling: Exclude<FailureHandling, 'handled'>;
}

/**
 *  - dead: its join cannot be satisfied, by choice: too few of its edges were taken
 *  - when: its condition is false
 *  - disabled: `enabled: false`; continues along its success and always edges
 *  - failure: its join cannot be satisfied, and one of its edges is dead by failure
 *  - test: it does not lead to the node that a test run is about, or is pinned as skipped
 */
export type SkipReason = 'dead' | 'when' | 'disabled' | 'failure' | 'test';

export interface NodeSkipped {
  readonly type: 'node.skipped';
  readonly nodes: readonly NodePath[];
  readonly why: SkipReason;
  /** Keys of the conditional edges of a disabled node that were not taken. */
  readonly dead?: readonly string[];
}

/**
 * A node that had begun was cut off, because its scope ends early or a person cancelled it. Nodes that had not begun
 * need no entry: the entry that ends their scope early cancels them.
 */
export interface NodeCancelled {
  readonly type: 'node.cancelled';
  readonly node: NodePath;
  readonly error?: RunError;
  /** Keys of its always edges whose condition does not hold. */
  readonly dead?: readonly string[];
}

/**
 * The outcome of a `once` attempt is unknown. In a scope that ends early this entry also decides the node's edges, as
 * for a cancelled node; it is written again for a node whose outcome was unknown before.
 */
export interface NodeUnknown {
  readonly type: 'node.unknown';
  readonly node: NodePath;
  readonly error: RunError;
  /** Keys of the always edges whose condition does not hold, as in `node.cancelled`. */
  readonly dead?: readonly string[];
}

/**
 * A person or `verify` settled an unknown outcome; the consequences are in the entries that follow. `unknown`: `verify`
 * could not tell.
 */
export interface NodeSettled {
  readonly type: 'node.settled';
  readonly node: NodePath;
  readonly by: 'verify' | 'person';
  readonly outcome: 'happened' | 'retry' | 'fail' | 'unknown';
}

/**
 * A composite node begins. The entry has the items of a forEach and the input of an inline workflow. A node that runs
 * its body once opens it with this entry.
 */
export interface NodeOpened {
  readonly type: 'node.opened';
  readonly node: NodePath;
  readonly items?: StoredValue;
  readonly count?: number;
  readonly input?: StoredValue;
  /** The graph that an action returned. Never a blob: folding a journal reads nothing but the journal. */
  readonly graph?: InlineValue;
}

/**
 * The node fails with this error as soon as nothing inside it runs any more: neither its body nor its child execution.
 * A second entry says that nothing more is to be undone.
 */
export interface NodeStopping {
  readonly type: 'node.stopping';
  readonly node: NodePath;
  readonly error: RunError;
  /** A person cancelled the node: it does not fail. */
  readonly cancelled?: boolean;
  /** False: completed nodes inside are not undone. */
  readonly compensate?: boolean;
  readonly finally?: Finally;
  readonly cancelRequested?: CancelRequested;
}

/**
 * A person cancelled something that was already ending by a failure or a time limit: the next cancel skips its finally.
 */
export type CancelRequested = boolean;

/**
 * Whether a scope that ends early runs its finally. The entry cancels nodes that have not begun, in this scope and in
 * all open scopes below it. Then the targets of taken always edges run, and the nodes that follow them.
 *  - true: the finally runs
 *  - false: the finally is skipped, because of a second cancel
 *  - left out: in journals from before finallys. The entry cancels nothing.
 */
export type Finally = boolean;

/** Iterations of a loop begin: `from` up to, not including, `to`. */
export interface ScopesOpened {
  readonly type: 'scopes.opened';
  readonly node: NodePath;
  readonly from: number;
  readonly to: number;
}

/** The scope ends early with this error; null: a node with `break` has completed. */
export interface ScopeStopping {
  readonly type: 'scope.stopping';
  readonly scope: string;
  readonly error: RunError | null;
  readonly finally?: Finally;
}

/** An iteration has ended. Without output and error, its output is that of the body's only end node. */
export interface ScopeClosed {
  readonly type: 'scope.closed';
  readonly scope: string;
  readonly output?: StoredValue;
  readonly error?: RunError;
}

/** Items that a node of the body added to its forEach. */
export interface ItemsAdded {
  readonly type: 'items.added';
  readonly node: NodePath;
  readonly items: StoredValue;
  readonly count: number;
}

/** A retryUntil begins its next iteration at `until`. */
export interface RoundDelayed {
  readonly type: 'round.delayed';
  readonly node: NodePath;
  readonly until: number;
}

/** The node requests a child execution. The id is fixed here, so a second start has no effect. */
export interface ChildRequested {
  readonly type: 'child.requested';
  readonly node: NodePath;
  readonly attempt: number;
  readonly executionId: ExecutionId;
  /** Left out if the launch plan names the workflow. */
  readonly workflowId?: WorkflowId;
  readonly launchPlan?: string;
  readonly version?: number;
  readonly input: StoredValue;
  /** The child has run for the node before, and continues from its failed nodes. */
  readonly again?: boolean;
  /** In the journal of a fork: the id belongs to the child of the forked run, which a retry does not continue. */
  readonly copied?: boolean;
}

/** An event that a wait waits for. The first one to happen ends the wait; `name` is the event's name in the output. */
export type AwaitedEvent =
  /** `fixed`: written as a date, not as a duration, so a pause does not move it. */
  | { readonly kind: 'time'; readonly name: string; readonly at: number; readonly fixed?: true }
  | { readonly kind: 'signal'; readonly name: string; readonly signal: string; readonly key: string }
  | { readonly kind: 'approval'; readonly name: string; readonly title?: string; readonly who?: readonly string[] }
  | { readonly kind: 'callback'; readonly name: string };

export interface NodeWaiting {
  readonly type: 'node.waiting';
  readonly node: NodePath;
  readonly waits: readonly AwaitedEvent[];
  /** The time at which the wait fails with TIMEOUT. */
  readonly deadline?: number;
  /** The deadline was written as a date: a pause does not move it. */
  readonly deadlineFixed?: true;
}

/** A person approved or rejected; the consequences are in the entries that follow. */
export interface NodeAnswered {
  readonly type: 'node.answered';
  readonly node: NodePath;
  readonly approved: boolean;
  readonly by: string;
  readonly comment?: string;
}

/** A grant that a node needs before it begins: a permit, a moment of a rate, or a look at the cache. */
export type Gate =
  | { readonly kind: 'concurrency'; readonly key: string; readonly limit: number }
  | { readonly kind: 'rate'; readonly key: string; readonly limit: number; readonly perMs: number }
  | { readonly kind: 'cache' }
  /** The cache has no output for `key`: one of the nodes that need it computes it, and the others wait. */
  | ({ readonly kind: 'reserve' } & CacheMiss);

export interface CacheMiss {
  readonly key: string;
  /** The family of the cache entry, which all inputs of the action share, and this input as one hash per member. */
  readonly family: string;
  readonly input: string;
  /** An earlier output of the same action and the changed members of the input; null if there is none. */
  readonly earlier: {
    readonly executionId: ExecutionId;
    readonly node: NodePath;
    readonly changed: readonly string[];
  } | null;
}

export interface NodeGated {
  readonly type: 'node.gated';
  readonly node: NodePath;
  readonly gate: Gate;
  /** The resolved parameters, for a look at the cache. */
  readonly input?: StoredValue;
}

/** The node may begin at `until`. Left out for a node that begins in the same frame. */
export interface NodeGranted {
  readonly type: 'node.granted';
  readonly node: NodePath;
  readonly until: number;
}

/** A signal arrived while no node waited for it. */
export interface SignalKept {
  readonly type: 'signal.kept';
  readonly signal: string;
  readonly key: string;
  readonly payload: StoredValue;
}

/** The node that completes next took the oldest buffered signal of this name and key. */
export interface SignalTaken {
  readonly type: 'signal.taken';
  readonly signal: string;
  readonly key: string;
}

/** A signal, approval form or call did not fit the schema of the wait; the wait continues. */
export interface SignalRefused {
  readonly type: 'signal.refused';
  readonly node: NodePath;
  readonly event: string;
  readonly problem: string;
}

/**
 * Completed nodes of the scope are undone, last first; then the scope fails, or the run ends with this status. Every
 * node that is not final becomes cancelled. For the run (scope '') the failure node runs after the undo.
 */
export interface ScopeCompensating {
  readonly type: 'scope.compensating';
  readonly scope: string;
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  /** False: nothing is undone, and only the failure node runs. */
  readonly compensate?: boolean;
}

/**
 * The compensation of the scope has ended: `undone` steps completed, `left` steps did not. Journals of earlier versions
 * do not have this entry.
 */
export interface ScopeCompensated {
  readonly type: 'scope.compensated';
  readonly scope: string;
  readonly undone: number;
  readonly left: number;
}

/**
 * The body of a composite node failed with this error and the node is retried. Completed nodes inside are undone first,
 * last first; `node.retrying` follows.
 */
export interface NodeCompensating {
  readonly type: 'node.compensating';
  readonly node: NodePath;
  readonly error: RunError;
}

/**
 * The run begins at `until`, with this input if one is given: a later start with the same key delays the run. A run
 * that waits for a concurrency slot begins only once it has both.
 */
export interface RunHeld {
  readonly type: 'run.held';
  readonly until: number;
  readonly placed?: boolean;
  readonly input?: StoredValue;
}

/** A delayed run begins. */
export interface RunBegun {
  readonly type: 'run.begun';
}

export interface RunPaused {
  readonly type: 'run.paused';
  readonly reason?: string;
}

export interface RunResumed {
  readonly type: 'run.resumed';
}

/**
 * The run ends with this status as soon as nothing in it runs any more. A later entry replaces an earlier one: a person
 * cancels a run that is ending, or asks not to undo it.
 */
export interface RunStopping {
  readonly type: 'run.stopping';
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  readonly output?: StoredValue;
  /** False: completed nodes are not undone. */
  readonly compensate?: boolean;
  /** The run stays paused, and continues to its end when it is resumed. If absent, the entry ends a pause. */
  readonly paused?: boolean;
  readonly finally?: Finally;
  readonly cancelRequested?: CancelRequested;
}

/** Exactly one per generation of the run. Nodes that are not final become `cancelled`. */
export interface RunFinished {
  readonly type: 'run.finished';
  readonly status: FinalRunStatus;
  readonly output?: StoredValue;
  readonly error?: RunError;
}

/** A retry from the failed nodes, or a replay from one node: these nodes begin again, all others keep their outcome. */
export interface RunReopened {
  readonly type: 'run.reopened';
  readonly nodes: readonly NodePath[];
  /** Composite nodes that continue where they were. */
  readonly open?: readonly string[];
  /** The subset of `nodes` that begin as something new, with a new idempotency key. */
  readonly renewed?: readonly string[];
  /** The edited input of the first node of a replay. */
  readonly input?: StoredValue;
  /** The new ceiling of the run, if its project now grants less than the run had. */
  readonly ceiling?: Ceiling;
}

/**
 * The run continues with another version of its workflow. Nodes keep their results by their paths; nodes that the version
 * does not have are dropped. The fold needs the plans of both versions.
 */
export interface RunMigrated {
  readonly type: 'run.migrated';
  readonly version: number;
  /** Nodes that begin again: at once, or in an ended run with its retry. */
  readonly nodes?: readonly NodePath[];
  /** The subset of `nodes` that begin as something new, with a new idempotency key. */
  readonly renewed?: readonly NodePath[];
  /** Edges out of ended nodes that were decided anew, because their conditions have changed. */
  readonly edges?: readonly DecidedAgain[];
  /** The decisions of the request on changed nodes, by path in the definition. They are for readers: the fold ignores them. */
  readonly decisions?: Readonly<Record<string, 'keep' | 'again' | 'drop'>>;
  /** The input of the run with the defaults of the new version. */
  readonly input?: StoredValue;
  /** Takes the last migration back: the run is as it was before. */
  readonly back?: true;
}

export interface DecidedAgain {
  readonly node: NodePath;
  readonly dead?: readonly string[];
  readonly taken?: readonly string[];
}

/** The state after frame `seq` is stored as a snapshot. The run is loaded from there; the fold ignores the entry. */
export interface RunCheckpointed {
  readonly type: 'run.checkpointed';
  readonly seq: number;
}

type Same<A, B> = [A, B] extends [B, A] ? true : false;

/** Fields of entries that hold one value, and fields that hold several by name. */
type FieldOf<E, Type> = E extends unknown
  ? { [K in keyof E]-?: Same<NonNullable<E[K]>, Type> extends true ? K : never }[keyof E]
  : never;
type ValueField = FieldOf<Entry, StoredValue>;
type ValuesField = FieldOf<Entry, Readonly<Record<string, StoredValue>>>;
type ValueHolder = { readonly type: string } & { readonly [K in ValueField]?: StoredValue } & {
  readonly [K in ValuesField]?: Readonly<Record<string, StoredValue>>;
};

// A field that is missing here does not compile.
const VALUE_FIELDS = keysOf({
  input: true,
  output: true,
  items: true,
  payload: true,
  undo: true,
} satisfies Record<ValueField, true>);
const VALUES_FIELDS = keysOf({ vars: true } satisfies Record<ValuesField, true>);

/** The values of an entry that may be blobs. */
export function valuesIn(entry: Entry): readonly StoredValue[] {
  const holder: ValueHolder = entry;
  const values: StoredValue[] = [];
  for (const field of VALUE_FIELDS) if (holder[field] !== undefined) values.push(holder[field]);
  for (const field of VALUES_FIELDS) values.push(...Object.values(holder[field] ?? {}));
  return values;
}

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  const keys: K[] = [];
  for (const key in record) keys.push(key);
  return keys;
}
