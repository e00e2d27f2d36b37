/**
 * The journal of a run: what happened, in order. A contract: entries are only ever added to, never changed,
 * and golden journals guard them. Nodes are named by path (`items/3/pack`), never by position in the definition.
 *
 * Entries of one frame share its time. Decisions that need an expression are recorded with their result
 * (`dead`, `taken`, `input`), so replaying a journal evaluates nothing.
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
  | RunCheckpointed;

export interface RunStarted {
  readonly type: 'run.started';
  readonly format: typeof JOURNAL_FORMAT;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly input: StoredValue;
  readonly trigger: Json;
  /** The execution whose node this one is, and how many there are above. */
  readonly parent?: Parent;
  /** No other run of the workflow with this key is active, or held, beside it. */
  readonly key?: string;
  /** How long nodes took in earlier runs: the longest way goes first. */
  readonly estimates?: Estimates;
  /** The W3C trace context of whoever started it: its spans are below that one. */
  readonly traceparent?: string;
  /** The seed of `uuid()` and `random()`; without it, the id of the execution. */
  readonly seed?: string;
  /** It goes on beside so many others at the most. */
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
 * A place among the runs that may go on at once under a key. With `skip` a run comes with its place, or not at all; with
 * `wait` and `replace` it is `pending` until it is granted one, and with `replace` the oldest are asked to make room.
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
}

/** The node becomes ready: what the expressions among its numbers and durations give, by key, for all its attempts. */
export interface NodeConfigured {
  readonly type: 'node.configured';
  readonly node: NodePath;
  readonly values: SettingValues;
}

/** Ready, and waits for a slot. Left out for a node that starts in the same frame. */
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
  /** The resolved parameters; with the first attempt only. */
  readonly input?: StoredValue;
}

export interface NodeCompleted {
  readonly type: 'node.completed';
  readonly node: NodePath;
  readonly output?: StoredValue;
  /** Keys of the conditional edges that were not taken. */
  readonly dead?: readonly string[];
  /** Variables that it assigned. */
  readonly vars?: Readonly<Record<string, StoredValue>>;
  /** The parameters of what would undo it, or why they cannot be had. */
  readonly undo?: StoredValue;
  readonly undoError?: RunError;
  /** The output is that of an earlier attempt with the same input. */
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
  /** The rule that it counts against, where `impliedRule` does not say so: a rule of `retry`, by index, or `lost`. */
  readonly rule?: number | 'lost';
}

/** A graceful hand-back: the attempt ended without an outcome and costs nothing. */
export interface NodeReturned {
  readonly type: 'node.returned';
  readonly node: NodePath;
}

/**
 * A node failed for good.
 *  - handled: error edges take it
 *  - ignored: `onError: ignore`; goes on as if completed with null, except for the edges in `dead`
 *  - tolerated: workflow policy `ignore`
 *  - deferred: workflow policy `finish-running`, or what failed cleaned up in a finally; the scope fails at its end
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

/** Every node that its error edges led to was skipped: from now on nothing handles the failure. */
export interface NodeUnhandled {
  readonly type: 'node.unhandled';
  readonly node: NodePath;
  readonly handling: Exclude<FailureHandling, 'handled'>;
}

/**
 *  - dead: its join cannot be satisfied, by choice: too few of its edges were taken
 *  - when: its condition is false
 *  - disabled: `enabled: false`; goes on along its success and always edges
 *  - failure: its join cannot be satisfied, and one of its edges is dead by failure
 */
export type SkipReason = 'dead' | 'when' | 'disabled' | 'failure';

export interface NodeSkipped {
  readonly type: 'node.skipped';
  readonly nodes: readonly NodePath[];
  readonly why: SkipReason;
  /** For a disabled node: keys of its conditional edges that were not taken. */
  readonly dead?: readonly string[];
}

/**
 * A node that had begun was cut off, because what is around it ends early or somebody cancelled it. Nodes that had not
 * begun need no entry: they are cancelled by the one that says that their scope ends early.
 */
export interface NodeCancelled {
  readonly type: 'node.cancelled';
  readonly node: NodePath;
  readonly error?: RunError;
  /** Keys of its always edges whose condition does not hold. */
  readonly dead?: readonly string[];
}

/**
 * Nobody knows whether a `once` attempt took effect. In a scope that ends early its edges are decided with this, as those
 * of a cancelled node; said once more of a node whose outcome was unknown before that.
 */
export interface NodeUnknown {
  readonly type: 'node.unknown';
  readonly node: NodePath;
  readonly error: RunError;
  /** As for a cancelled node. */
  readonly dead?: readonly string[];
}

/** Somebody looked; what follows from it is in the entries after this one. `unknown`: `verify` could not tell either. */
export interface NodeSettled {
  readonly type: 'node.settled';
  readonly node: NodePath;
  readonly by: 'verify' | 'person';
  readonly outcome: 'happened' | 'retry' | 'fail' | 'unknown';
}

/**
 * A composite node begins. A forEach has its items here; a node that runs its body once opens it with this entry, and a
 * workflow inside has its input here.
 */
export interface NodeOpened {
  readonly type: 'node.opened';
  readonly node: NodePath;
  readonly items?: StoredValue;
  readonly count?: number;
  readonly input?: StoredValue;
  /** The graph that an action returned. Never a blob: folding a journal reads nothing else. */
  readonly graph?: InlineValue;
}

/**
 * The node will fail with this as soon as nothing of it runs any more: its body, or the execution that runs for it. A
 * second one says that nothing more is to be undone.
 */
export interface NodeStopping {
  readonly type: 'node.stopping';
  readonly node: NodePath;
  readonly error: RunError;
  /** It does not fail: somebody has cancelled it. */
  readonly cancelled?: boolean;
  /** False: what has been done in it is not undone. */
  readonly compensate?: boolean;
  readonly finally?: Finally;
  readonly cancelRequested?: CancelRequested;
}

/** Somebody has cancelled what was ending by a failure or a time limit: the next cancel skips its finally. */
export type CancelRequested = boolean;

/**
 * A scope that ends early. Nodes that have not begun are cancelled by the entry that says so, in this scope and in all
 * that are open below it; then the targets of taken always edges run, and what follows them.
 *  - true: they do
 *  - false: somebody cancelled a second time, and they do not
 *  - left out: in journals from before always edges were a finally. Nothing is cancelled by the entry.
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

/** An iteration has ended. Without output and error: with the output of the body's only end node. */
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

/** The next iteration of a retryUntil comes at `until`. */
export interface RoundDelayed {
  readonly type: 'round.delayed';
  readonly node: NodePath;
  readonly until: number;
}

/** Another workflow is to run as an execution of its own, of this id: starting it twice is starting it once. */
export interface ChildRequested {
  readonly type: 'child.requested';
  readonly node: NodePath;
  readonly attempt: number;
  readonly executionId: ExecutionId;
  /** Left out where a launch plan says which. */
  readonly workflowId?: WorkflowId;
  readonly launchPlan?: string;
  readonly version?: number;
  readonly input: StoredValue;
  /** It has run for the node before, and is to go on from what failed in it. */
  readonly again?: boolean;
  /** In the journal of a fork: it is the child of the run that was forked, and not gone on with. */
  readonly copied?: boolean;
}

/** What a wait waits for; the first that happens ends it. `name` is what its output calls the event. */
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
  /** When it fails with TIMEOUT. */
  readonly deadline?: number;
  /** The deadline was written as a date: a pause does not move it. */
  readonly deadlineFixed?: true;
}

/** Somebody approved or rejected; what follows is in the entries after this one. */
export interface NodeAnswered {
  readonly type: 'node.answered';
  readonly node: NodePath;
  readonly approved: boolean;
  readonly by: string;
  readonly comment?: string;
}

/** What a node must be granted before it begins: a place among those with the same key, a moment, or a look at the cache. */
export type Gate =
  | { readonly kind: 'concurrency'; readonly key: string; readonly limit: number }
  | { readonly kind: 'rate'; readonly key: string; readonly limit: number; readonly perMs: number }
  | { readonly kind: 'cache' }
  /** The cache has no output for `key`: of all who want it, one works it out. */
  | ({ readonly kind: 'reserve' } & CacheMiss);

export interface CacheMiss {
  readonly key: string;
  /** What all inputs of the action have in common, and this one member by member, as the cache will keep it. */
  readonly family: string;
  readonly input: string;
  /** An earlier output of the same action, and what is different in the input; null when there is none. */
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
  /** For a look at the cache: the resolved parameters. */
  readonly input?: StoredValue;
}

/** It may begin at `until`. Left out for a node that begins in the same frame. */
export interface NodeGranted {
  readonly type: 'node.granted';
  readonly node: NodePath;
  readonly until: number;
}

/** A signal came for which nobody waits yet. */
export interface SignalKept {
  readonly type: 'signal.kept';
  readonly signal: string;
  readonly key: string;
  readonly payload: StoredValue;
}

/** The oldest kept signal of this name and key was taken up, by the node that completes after this. */
export interface SignalTaken {
  readonly type: 'signal.taken';
  readonly signal: string;
  readonly key: string;
}

/** A signal, approval form or call does not fit the schema of the wait, which goes on. */
export interface SignalRefused {
  readonly type: 'signal.refused';
  readonly node: NodePath;
  readonly event: string;
  readonly problem: string;
}

/**
 * What has been done in the scope is undone, last first; then the scope fails, or the run ends like this. Everything
 * that is not final becomes cancelled. For the run (scope '') the failure node comes after that.
 */
export interface ScopeCompensating {
  readonly type: 'scope.compensating';
  readonly scope: string;
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  /** False: nothing is undone, and only the failure node comes. */
  readonly compensate?: boolean;
}

/**
 * The compensation of the scope has ended: `undone` of its steps completed, `left` did not. Journals of earlier versions
 * do not have this entry.
 */
export interface ScopeCompensated {
  readonly type: 'scope.compensated';
  readonly scope: string;
  readonly undone: number;
  readonly left: number;
}

/**
 * The body of a composite node failed with this, and the node begins again: what completed inside is undone first, last
 * first. `node.retrying` follows when that is done.
 */
export interface NodeCompensating {
  readonly type: 'node.compensating';
  readonly node: NodePath;
  readonly error: RunError;
}

/**
 * The run begins at `until`, and with this input where one is given: later starts with the same key put it off. One that
 * waits for a place begins when it has one, too.
 */
export interface RunHeld {
  readonly type: 'run.held';
  readonly until: number;
  readonly placed?: boolean;
  readonly input?: StoredValue;
}

/** A held run begins. */
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
 * The run will end like this as soon as nothing of it runs any more. A second one says it anew: somebody cancels a run
 * that is ending, or wants nothing undone.
 */
export interface RunStopping {
  readonly type: 'run.stopping';
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  readonly output?: StoredValue;
  /** False: what has been done is not undone. */
  readonly compensate?: boolean;
  /** The run stays paused, and this goes on when it is resumed. Without it a pause ends here. */
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

/** Retry from the failed nodes, or replay from one: these begin again, everything else stands. */
export interface RunReopened {
  readonly type: 'run.reopened';
  readonly nodes: readonly NodePath[];
  /** Composite nodes that go on where they were. */
  readonly open?: readonly string[];
  /** Of `nodes`, those that begin as something new, with a new idempotency key. */
  readonly renewed?: readonly string[];
  /** Of a replay: the edited input of its first node. */
  readonly input?: StoredValue;
  /** The ceiling of the run from here on, where the project grants less than the run had. */
  readonly ceiling?: Ceiling;
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
