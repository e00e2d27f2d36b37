/** Runs, scopes and nodes before anything has happened to them. */

import { Heap } from '../../heap.ts';
import type { ExecutionId } from '../../ids.ts';
import type { GraphPlan, NodePlan, Plan } from '../../plan/plan.ts';
import { goesFirst, rankOf } from '../dispatch/dispatch-order.ts';
import { NULL_VALUE } from '../journal/stored-value.ts';
import type { NodeState, PlanOf, Realm, RunState, ScopeState } from './state.ts';
import { newAssignments, varsOf } from './variables.ts';

export const NO_PERMITS: readonly string[] = [];
export const NO_RETRIES: readonly number[] = [];
const PENDING = { status: 'pending' } as const;

/** `planOf`: returns the versions to which the journal of the run migrates it. */
export function newRunState(plan: Plan, executionId: ExecutionId, planOf: PlanOf = noOther): RunState {
  const { workflowId, version, onFailure } = plan;
  const realm: Realm = {
    input: NULL_VALUE,
    vars: varsOf(plan.variables),
    assigned: newAssignments(plan.variables),
    workflowId,
    version,
    onFailure,
  };
  const root = newScope(plan.root, '', null, 0, realm);
  return {
    executionId,
    plan,
    planOf,
    migrated: null,
    seq: 0,
    phase: PENDING,
    trigger: null,
    parent: null,
    traceparent: null,
    seed: null,
    authority: null,
    projectCeiling: 'all',
    startKey: null,
    estimates: null,
    startedAt: 0,
    updatedAt: 0,
    activeSince: 0,
    stopping: null,
    undo: [],
    undoGraphs: {},
    undone: [],
    totalRetries: 0,
    reopened: 0,
    generations: 0,
    lastAttempt: 0,
    lastChildAt: 0,
    spilled: 0,
    root,
    scopes: new Map([['', root]]),
    hasOldStops: false,
    delayedUntil: null,
    slot: null,
    bufferedSignals: [],
    running: new Set(),
    unknown: new Set(),
    gated: new Set(),
    children: new Set(),
    listening: new Set(),
    dispatched: 0,
    dispatchedRemote: 0,
    runningRemote: 0,
    ready: new Heap(goesFirst(plan)),
    readyRemote: new Heap(goesFirst(plan)),
    timers: new Heap((a, b) => a.at < b.at),
    endChecks: new Set(),
    released: new Set(),
  };
}

function noOther(version: number): never {
  throw new Error(`the plan of version ${version} is needed to fold a migration`);
}

export function newScope(
  graph: GraphPlan,
  path: string,
  parent: NodeState | null,
  iteration: number,
  realm: Realm,
  undoes: ScopeState | null = null,
): ScopeState {
  const scope: ScopeState = {
    path,
    graph,
    nodes: [],
    parent,
    iteration,
    realm,
    rankBase: parent === null ? 0 : rankOf(parent),
    ranks: null,
    stopping: null,
    underWay: 0,
    unknowns: 0,
    held: 0,
    deferredError: null,
    undoing: null,
    undoes,
    undoItems: [],
    isClosed: false,
    isDone: false,
    busy: 0,
    open: graph.nodes.length,
    blockedByLevel: new Set(),
    openPerLevel: graph.levels.map((level) => level.length),
    level: 0,
  };
  for (const plan of graph.nodes) scope.nodes.push(newNode(plan, scope));
  return scope;
}

export function newNode(plan: NodePlan, scope: ScopeState): NodeState {
  const attemptsBefore = scope.parent?.attemptsBefore ?? 0;
  return {
    plan,
    scope,
    phase: PENDING,
    decided: 0,
    taken: 0,
    failedEdges: 0,
    isHolding: false,
    heldSources: 0,
    isHeld: false,
    inFinally: false,
    decidedAs: undefined,
    attempts: attemptsBefore,
    retries: NO_RETRIES,
    lost: 0,
    settings: undefined,
    queuedAt: null,
    pausedMs: 0,
    startedAt: null,
    input: undefined,
    output: undefined,
    passed: 0,
    permits: NO_PERMITS,
    missed: undefined,
    generation: 0,
    attemptsBefore,
    child: undefined,
    busy: 0,
    endings: 0,
    dispatchState: 'none',
  };
}

/** Puts a node back to where it was before anything happened to it; attempts are still counted. */
export function resetNode(node: NodeState): void {
  node.phase = PENDING;
  node.decided = 0;
  node.taken = 0;
  node.retries = NO_RETRIES;
  node.lost = 0;
  node.failedEdges = 0;
  node.inFinally = false;
  node.decidedAs = undefined;
  node.endings = 0;
  node.settings = undefined;
  node.queuedAt = null;
  node.pausedMs = 0;
  node.startedAt = null;
  node.input = undefined;
  node.output = undefined;
  node.passed = 0;
  node.missed = undefined;
  node.dispatchState = 'none';
}
