/** One turn of a run: the entries of its next frame, as they are decided. */

import type { Capabilities } from '../../action.ts';
import { StepBudget } from '../../expression/index.ts';
import type { ExecutionId, NodePath, WorkflowId } from '../../ids.ts';
import type { Json } from '../../value.ts';
import { evolve } from '../evolve/evolve.ts';
import type { FoldEffects } from '../evolve/fold.ts';
import type { CacheMiss, Entry, Gate, SkipReason } from '../journal/entry.ts';
import { type BlobLookup, inlineValue, type StoredValue } from '../journal/stored-value.ts';
import { pathOf } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';

/** An attempt that should be stopped once the frame is written. */
export interface Abort {
  readonly node: NodePath;
  readonly attempt: number;
  readonly reason: string;
  /** The journal has closed the attempt: nobody waits for its end any more. */
  readonly isOver: boolean;
}

/** An execution that should be started once the frame is written. */
export interface ChildStart {
  readonly node: NodePath;
  readonly executionId: ExecutionId;
  /** Undefined: what `launchPlan` says. */
  readonly workflowId: WorkflowId | undefined;
  readonly launchPlan: string | undefined;
  readonly version: number | undefined;
  readonly input: Json;
  readonly depth: number;
  readonly attempt: number;
  /** It has run for the node before: it is not started, but told to go on from what failed. */
  readonly again: boolean;
  /** A ceiling beside that of its parent. */
  readonly bound?: Capabilities | undefined;
}

export interface ChildCancel {
  readonly executionId: ExecutionId;
  /** The node's: it may run for it a second time, and be cancelled a second time. */
  readonly attempt: number;
  /** False: what it has done stays as it is. */
  readonly compensate: boolean;
}

/** What the cache did not have and has now. */
export interface CacheFill {
  readonly node: NodePath;
  readonly output: StoredValue;
  readonly miss: CacheMiss;
  readonly ttlMs: number | null;
}

export interface Turn extends FoldEffects {
  readonly state: RunState;
  readonly now: number;
  readonly lookup: BlobLookup;
  /** Makes a value one that the run keeps: a large one becomes a blob. */
  readonly store: (value: Json) => StoredValue;
  /** From 0 up to 1, drawn by whoever brought the stimulus that is being decided on. */
  jitter: number;
  readonly newId: () => ExecutionId;
  readonly entries: Entry[];
  readonly aborts: Abort[];
  /** Gates that nodes stand before: what they ask for goes out with the frame. */
  readonly gateRequests: { readonly node: NodePath; readonly gate: Gate }[];
  readonly children: ChildStart[];
  /** Outputs that others may use again. Noted at once: the iteration that the node is in may be gone by the end of the turn. */
  readonly cacheFills: CacheFill[];
  /** Child executions that should be cancelled once the frame is written. */
  readonly cancels: ChildCancel[];
  /** Nodes found ready in this turn; those that are not started by its end are journalled as scheduled. */
  readonly readied: NodeState[];
  /** Nodes whose incoming edges changed. */
  readonly work: NodeState[];
  /** Iterations that ended in this turn; after so many the rest is left for the next one, so that others get theirs. */
  iterations: number;
  /** For the expressions of the node that is being looked at. */
  readonly budgets: StepBudget;
  /** Asked after each step. True: the turn is suspended, so that whatever else the process has to do is not kept waiting. */
  mustPause: () => boolean;
  /** Some work is left, and `resumeTurn` goes on with it. Nothing is sealed before that. */
  isSuspended: boolean;
}

export function newTurn(
  state: RunState,
  now: number,
  lookup: BlobLookup,
  newId: () => ExecutionId = noIds,
  store: (value: Json) => StoredValue = inlineValue,
): Turn {
  return {
    state,
    now,
    lookup,
    store,
    jitter: 1,
    newId,
    entries: [],
    // Written out: a spread takes 5 µs here.
    freedPermits: [],
    unsubscribed: [],
    aborts: [],
    gateRequests: [],
    children: [],
    cacheFills: [],
    cancels: [],
    readied: [],
    work: [],
    iterations: 0,
    budgets: new StepBudget(state.plan.newBudget),
    mustPause: never,
    isSuspended: false,
  };
}

function never(): boolean {
  return false;
}

function noIds(): never {
  throw new Error('whoever decides on a workflow with child executions must bring ids for them');
}

/** Records what happened, and lets the state follow. */
export function emit(turn: Turn, entry: Entry): void {
  turn.entries.push(entry);
  evolve(turn.state, entry, turn.now, turn);
}

/** Neighbouring skips for the same reason share an entry: a dead branch of 10,000 nodes is one entry. */
export function emitSkipped(turn: Turn, node: NodeState, why: SkipReason, dead?: readonly string[]): void {
  const path = pathOf(node);
  const last = turn.entries.at(-1);
  if (last?.type === 'node.skipped' && last.why === why && dead === undefined && last.dead === undefined) {
    (last.nodes as string[]).push(path);
    evolve(turn.state, { type: 'node.skipped', nodes: [path], why }, turn.now, turn);
    return;
  }
  emit(turn, { type: 'node.skipped', nodes: [path], why, ...(dead === undefined ? {} : { dead }) });
}

/** Says once that the compensation of a scope has ended. */
export function emitCompensated(turn: Turn, { path, undoing }: ScopeState): void {
  if (undoing === null || undoing.isDone) return;
  const undone = undoing.nodes.filter(({ phase }) => phase.status === 'completed').length;
  emit(turn, { type: 'scope.compensated', scope: path, undone, left: undoing.nodes.length - undone });
}
