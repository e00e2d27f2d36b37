/**
 * A state as text, and back: bounds how much journal has to be read to load a run.
 * Holds what the journal determines and nothing derived; the journal stays the truth, so a snapshot
 * of another format is simply not used.
 */

import type { Plan } from '../plan/plan.ts';
import { isJsonObject, type Json } from '../value.ts';
import { isTaken, placeReady } from './evolve.ts';
import { isFinal, type NodeState, newRunState, nodeAt, type Phase, pathOf, type RunState } from './state.ts';
import { armAll } from './timers.ts';

const SNAPSHOT_FORMAT = 1;

const RUN_FIELDS = [
  'status',
  'input',
  'trigger',
  'vars',
  'startedAt',
  'activeSince',
  'finishedAt',
  'output',
  'error',
  'stopping',
  'deferredError',
  'totalRetries',
  'reopened',
  'spilled',
] as const satisfies readonly (keyof RunState)[];

const NODE_FIELDS = [
  'phase',
  'attempts',
  'userFailures',
  'systemFailures',
  'queuedAt',
  'startedAt',
  'input',
  'output',
] as const satisfies readonly (keyof NodeState)[];

export function encodeSnapshot(state: RunState): string {
  // Without a prototype: `__proto__` is a good name for a node.
  const nodes = Object.create(null) as Record<string, unknown>;
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      if (node.phase.status !== 'pending' || node.attempts > 0) nodes[pathOf(node)] = pick(node, NODE_FIELDS);
    }
  }
  return JSON.stringify({ format: SNAPSHOT_FORMAT, seq: state.seq, run: pick(state, RUN_FIELDS), nodes });
}

/** Undefined when the text is of another format, is damaged, or names nodes that the plan does not have. */
export function decodeSnapshot(plan: Plan, executionId: string, text: string): RunState | undefined {
  const snapshot = parsed(text);
  if (!isJsonObject(snapshot) || snapshot.format !== SNAPSHOT_FORMAT) return undefined;
  const { seq, run, nodes } = snapshot as unknown as { seq: number; run: object; nodes: Record<string, object> };
  const state = newRunState(plan, executionId);
  Object.assign(state, run);
  state.seq = seq;
  for (const [path, fields] of Object.entries(nodes)) {
    const node = nodeAt(state, path);
    if (node === undefined) return undefined;
    Object.assign(node, fields);
  }
  index(state);
  return state;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Builds everything that is derived from the phases. */
function index(state: RunState): void {
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      indexNode(state, node);
      if (!isFinal(node.phase.status)) continue;
      scope.open--;
      (scope.openPerLevel[node.plan.level] as number)--;
      for (const edge of node.plan.outgoing) {
        const target = scope.nodes[edge.to.index] as NodeState;
        target.decided++;
        if (isTaken(edge, node.phase)) target.taken++;
      }
    }
    while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
  }
  armAll(state);
}

function indexNode(state: RunState, node: NodeState): void {
  const status: Phase['status'] = node.phase.status;
  if (status === 'running') state.running.add(node);
  else if (status === 'unknown') state.unknown.add(node);
  else if (status === 'queued') placeReady(state, node);
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Record<K, T[K]>> {
  const picked: Partial<Record<K, T[K]>> = {};
  for (const key of keys) picked[key] = from[key];
  return picked;
}
