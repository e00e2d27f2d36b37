/** One turn of a run: collects the entries of the next frame. */

import type { Capabilities } from '../../action.ts';
import { StepBudget } from '../../expression/index.ts';
import type { ExecutionId, NodePath, WorkflowId } from '../../ids.ts';
import type { AcceptedInput } from '../../plan/plan.ts';
import type { Steps } from '../../steps.ts';
import type { Json } from '../../value.ts';
import { evolve } from '../evolve/evolve.ts';
import type { FoldEffects } from '../evolve/fold.ts';
import type { CacheMiss, Entry, Gate, SkipReason } from '../journal/entry.ts';
import { type BlobLookup, inlineValue, type StoredValue } from '../journal/stored-value.ts';
import { pathOf } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';

/** An attempt to stop once the frame is written. */
export interface Abort {
  readonly node: NodePath;
  readonly attempt: number;
  readonly reason: string;
  /** The journal has closed the attempt: the run no longer waits for its end. */
  readonly isOver: boolean;
}

/** An execution to start once the frame is written. */
export interface ChildStart {
  readonly node: NodePath;
  readonly executionId: ExecutionId;
  /** Undefined: the workflow of `launchPlan`. */
  readonly workflowId: WorkflowId | undefined;
  readonly launchPlan: string | undefined;
  readonly version: number | undefined;
  readonly input: Json;
  readonly depth: number;
  readonly attempt: number;
  /** The child has run for the node before: it is not started, but continues from its failed nodes. */
  readonly again: boolean;
  /** A ceiling in addition to that of the parent. */
  readonly bound?: Capabilities | undefined;
}

export interface ChildCancel {
  readonly executionId: ExecutionId;
  /** The attempt of the node: the same child may run, and be cancelled, once per attempt. */
  readonly attempt: number;
  /** False: the child does not undo its completed nodes. */
  readonly compensate: boolean;
}

/** An output that the cache missed and can now store. */
export interface CacheFill {
  readonly node: NodePath;
  readonly output: StoredValue;
  readonly miss: CacheMiss;
  readonly ttlMs: number | null;
}

export interface InputCheck {
  readonly node: NodeState;
  readonly steps: Steps<AcceptedInput>;
}

export interface Turn extends FoldEffects {
  readonly state: RunState;
  readonly now: number;
  readonly lookup: BlobLookup;
  /** Turns a value into one that the run stores: a large value becomes a blob. */
  readonly store: (value: Json) => StoredValue;
  /** A number from 0 up to 1, drawn by the caller that brought the current stimulus. */
  jitter: number;
  readonly newId: () => ExecutionId;
  readonly entries: Entry[];
  readonly aborts: Abort[];
  /** Requests of gated nodes, which go out with the frame. */
  readonly gateRequests: { readonly node: NodePath; readonly gate: Gate }[];
  readonly children: ChildStart[];
  /** Outputs to cache. They are collected at once: the node's iteration may be dropped by the end of the turn. */
  readonly cacheFills: CacheFill[];
  /** Child executions to cancel once the frame is written. */
  readonly cancels: ChildCancel[];
  /** Nodes that became ready in this turn. The nodes not started by its end are journalled as scheduled. */
  readonly readied: NodeState[];
  /** Nodes whose incoming edges changed. */
  readonly work: NodeState[];
  /** Inlined workflows whose large input is still being checked; they open before anything else is decided. */
  readonly inputChecks: InputCheck[];
  /** End checks made in this turn. Above a limit the rest is left for the next turn, so that other runs get theirs. */
  iterations: number;
  /** The budget for expressions of the current step. */
  readonly budgets: StepBudget;
  /** Called after each step. True suspends the turn, so that it does not block other work of the process. */
  mustPause: () => boolean;
  /** Work is left, and `resumeTurn` continues with it. The turn is not sealed before that. */
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
    // A spread would take 5 µs here.
    freedPermits: [],
    unsubscribed: [],
    leftUnknown: [],
    aborts: [],
    gateRequests: [],
    children: [],
    cacheFills: [],
    cancels: [],
    readied: [],
    work: [],
    inputChecks: [],
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
  throw new Error('a turn of a workflow with child executions needs a source of ids');
}

/** Journals the entry and folds it into the state. */
export function emit(turn: Turn, entry: Entry): void {
  turn.entries.push(entry);
  evolve(turn.state, entry, turn.now, turn);
}

/** Neighbouring skips with the same reason share an entry: a dead branch of 10,000 nodes is one entry. */
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

/** Journals, once, that the compensation of a scope has ended. */
export function emitCompensated(turn: Turn, { path, undoing }: ScopeState): void {
  if (undoing === null || undoing.isDone) return;
  const undone = undoing.nodes.filter(({ phase }) => phase.status === 'completed').length;
  emit(turn, { type: 'scope.compensated', scope: path, undone, left: undoing.nodes.length - undone });
}
