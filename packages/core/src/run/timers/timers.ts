/**
 * The timers of a run: one heap, derived from the nodes. Items are not removed when they become obsolete; `isDue`
 * checks them when their time comes.
 *
 * The worker that runs an attempt watches its time limits itself. The timers here are a safety net for a worker that
 * died or hangs, hence the margin.
 */
import { RUN_DEFAULTS } from '../../limits.ts';
import type { AwaitedEvent } from '../journal/entry.ts';
import { bodyOf, endingOf, isFinished, isPaused, isStopped, waitsForSlot } from '../state/selectors.ts';
import { timeoutsOf } from '../state/settings.ts';
import type { NodeState, Phase, RunState, ScopeState, TimerItem } from '../state/state.ts';

/** How much longer than a running attempt's own limit the journal waits for its worker to report. */
export const TIMEOUT_MARGIN_MS = 1_000;

export function armWorkflow(state: RunState): void {
  const { timeoutMs } = state.plan;
  if (timeoutMs !== null) arm(state, { at: state.activeSince + timeoutMs, kind: 'workflow', node: null });
}

export function armDelayed(state: RunState): void {
  if (state.delayedUntil !== null) arm(state, { at: state.delayedUntil, kind: 'delayed', node: null });
}

/** A gated node counts as queued. */
export function armQueued(state: RunState, node: NodeState): void {
  const { queuedMs } = timeoutsOf(node);
  if (node.phase.status !== 'queued' && node.phase.status !== 'gated') return;
  if (queuedMs !== null) arm(state, { at: node.phase.since + queuedMs, kind: 'queued', node });
  armTotal(state, node);
}

export function armAttempt(state: RunState, node: NodeState): void {
  const { attemptMs } = timeoutsOf(node);
  const { phase } = node;
  if (phase.status !== 'running' && phase.status !== 'child') return;
  // No worker watches the time of a child.
  const marginMs = phase.status === 'child' ? 0 : TIMEOUT_MARGIN_MS;
  if (attemptMs !== null) arm(state, { at: phase.since + attemptMs + marginMs, kind: 'attempt', node });
  armTotal(state, node, marginMs);
}

function armTotal(state: RunState, node: NodeState, marginMs = 0): void {
  const { totalMs } = timeoutsOf(node);
  const since = totalSince(node);
  if (totalMs !== null && since !== null) arm(state, { at: since + totalMs + marginMs, kind: 'total', node });
}

export function armRetry(state: RunState, node: NodeState): void {
  if (node.phase.status !== 'waiting') return;
  arm(state, { at: node.phase.until, kind: 'retry', node });
  armTotal(state, node);
}

export function armStop(state: RunState): void {
  if (state.stopping === null) return;
  arm(state, { at: state.stopping.since + RUN_DEFAULTS.cancelGraceMs, kind: 'stop', node: null });
}

/** Arms the grace time of a scope or composite node that is being stopped. */
export function armStopping(state: RunState, node: NodeState | null, scope?: ScopeState): void {
  const since = scope?.stopping?.since ?? (node?.phase.status === 'open' ? node.phase.stopping?.since : undefined);
  if (since === undefined) return;
  arm(state, { at: since + RUN_DEFAULTS.cancelGraceMs, kind: 'stop', node, ...(scope && { scope }) });
}

/** One attempt of a composite node is one run of its whole body. */
export function armOpen(state: RunState, node: NodeState): void {
  const { attemptMs } = timeoutsOf(node);
  if (node.phase.status !== 'open') return;
  if (attemptMs !== null) arm(state, { at: node.phase.since + attemptMs, kind: 'attempt', node });
  armTotal(state, node);
}

export function armIteration(state: RunState, node: NodeState): void {
  const until = bodyOf(node)?.until ?? null;
  if (until !== null) arm(state, { at: until, kind: 'iteration', node });
}

export function armGate(state: RunState, node: NodeState): void {
  const { phase } = node;
  if (phase.status !== 'gated') return;
  if (phase.until !== null) arm(state, { at: phase.until, kind: 'gate', node });
}

export function armWait(state: RunState, node: NodeState): void {
  const { phase } = node;
  if (phase.status !== 'listening') return;
  const at = firstTime(phase.waits);
  if (at !== undefined) arm(state, { at, kind: 'wait', node });
  if (phase.deadline !== null) arm(state, { at: phase.deadline, kind: 'deadline', node });
  const { attemptMs } = timeoutsOf(node);
  if (attemptMs !== null) arm(state, { at: phase.since + attemptMs, kind: 'attempt', node });
  armTotal(state, node);
}

function firstTime(waits: readonly AwaitedEvent[]): number | undefined {
  let first: number | undefined;
  for (const wait of waits) if (wait.kind === 'time' && wait.at < (first ?? Number.POSITIVE_INFINITY)) first = wait.at;
  return first;
}

/**
 * Obsolete items stay until their time: a node that is retried every second within a `total` of a month would leave
 * millions. Therefore the heap is rebuilt from time to time, to at most `MAX_PER_NODE` items per node.
 */
const LOOK_EVERY = 1_024;
const MAX_PER_NODE = 4;

function arm(state: RunState, item: TimerItem): void {
  state.timers.push(item);
  const { size } = state.timers;
  if (size % LOOK_EVERY !== 0) return;
  let nodes = 0;
  for (const scope of state.scopes.values()) nodes += scope.nodes.length;
  if (size > MAX_PER_NODE * nodes) armAll(state);
}

/** Rebuilds the heap, after a snapshot was loaded or when too many items are obsolete. */
export function armAll(state: RunState): void {
  state.timers.clear();
  if (isFinished(state.phase.status)) return;
  armWorkflow(state);
  armDelayed(state);
  armStop(state);
  for (const scope of state.scopes.values()) {
    armStopping(state, null, scope);
    for (const node of scope.nodes) {
      armQueued(state, node);
      armAttempt(state, node);
      armRetry(state, node);
      armOpen(state, node);
      armStopping(state, node);
      armIteration(state, node);
      armWait(state, node);
      armGate(state, node);
    }
  }
}

/** Returns whether the item still applies at its time, or its node has moved on. */
export function isDue(state: RunState, item: TimerItem): boolean {
  const { node, at } = item;
  const phase = node?.phase;
  if (item.kind === 'stop') return isStoppingStill(state, item);
  // Once something is being stopped, only its running attempts still have a time limit.
  if (node === null ? state.stopping !== null : phase?.status !== 'running' && isStopped(state, node)) return false;
  const { attemptMs = null, queuedMs = null } = node === null ? {} : timeoutsOf(node);
  switch (item.kind) {
    case 'delayed':
      return state.delayedUntil === at && !waitsForSlot(state);
    case 'workflow':
      return (
        state.delayedUntil === null &&
        endingOf(state) === null &&
        at === state.activeSince + (state.plan.timeoutMs ?? 0)
      );
    case 'retry':
      return phase?.status === 'waiting' && phase.until === at && node?.dispatchState === 'none';
    case 'queued':
      return (phase?.status === 'queued' || phase?.status === 'gated') && phase.since + (queuedMs ?? 0) === at;
    case 'attempt':
      if (phase?.status === 'listening') return phase.since + (attemptMs ?? 0) === at;
      if (phase?.status === 'open') return isAttemptOpen(phase) && phase.since + (attemptMs ?? 0) === at;
      if (phase?.status === 'child') return phase.stopping === undefined && phase.since + (attemptMs ?? 0) === at;
      return phase?.status === 'running' && phase.since + (attemptMs ?? 0) + TIMEOUT_MARGIN_MS === at;
    case 'iteration':
      return phase?.status === 'open' && isAttemptOpen(phase) && phase.body.until === at;
    case 'gate':
      return phase?.status === 'gated' && phase.until === at;
    case 'wait':
      return phase?.status === 'listening' && firstTime(phase.waits) === at;
    case 'deadline':
      return phase?.status === 'listening' && phase.deadline === at;
    case 'total':
      return isOverdue(item);
  }
}

/** A second cancel restarts the grace time and makes the timer of the first one obsolete. */
function isStoppingStill(state: RunState, { node, scope, at }: TimerItem): boolean {
  const since = stoppingSince(state, node, scope);
  if (since === undefined || since + RUN_DEFAULTS.cancelGraceMs !== at) return false;
  return attemptsToStop(state, scope ?? node ?? state.root).length > 0;
}

function stoppingSince(state: RunState, node: NodeState | null, scope: ScopeState | undefined): number | undefined {
  if (scope !== undefined) return scope.isClosed ? undefined : scope.stopping?.since;
  if (node === null) return state.stopping?.since;
  return node.phase.status === 'open' ? node.phase.stopping?.since : undefined;
}

/**
 * Attempts that were asked to stop together with `outer`. Compensations are among them only if `outer` is their own undo
 * scope, and child executions never are: they may take their time.
 */
export function attemptsToStop(state: RunState, outer: ScopeState | NodeState): NodeState[] {
  if (outer.busy === 0) return [];
  return [...state.running].filter((node) => {
    return (node.scope.undoes === null || node.scope === outer) && isStoppedWith(state, node, outer);
  });
}

/**
 * The chain of stopped nodes from `node` reaches `outer`. A node in a finally of `outer` is not stopped with it, even
 * if a scope inside that finally is being stopped.
 */
function isStoppedWith(state: RunState, node: NodeState, outer: ScopeState | NodeState): boolean {
  for (let at: NodeState | null = node; at !== null && isStopped(state, at); at = at.scope.parent) {
    if (at.scope === outer || at.scope.parent === outer) return true;
  }
  return false;
}

/** The attempt is neither being stopped nor being undone before a retry. */
function isAttemptOpen({ stopping, retrying }: Extract<Phase, { status: 'open' }>): boolean {
  return stopping === null && retrying === undefined;
}

const WAITS: ReadonlySet<string> = new Set(['queued', 'waiting', 'gated', 'child', 'listening']);

function isOverdue({ node, at }: TimerItem): boolean {
  if (node === null) return false;
  const { phase } = node;
  if (phase.status === 'running') return isPastTotal(node, at - TIMEOUT_MARGIN_MS);
  if (phase.status === 'open') return phase.stopping === null && isPastTotal(node, at);
  if (phase.status === 'child' && phase.stopping !== undefined) return false;
  return WAITS.has(phase.status) && isPastTotal(node, at);
}

/** Returns whether the node's `total` time, over all attempts, is up. */
export function isPastTotal(node: NodeState, now: number): boolean {
  const leftMs = totalLeftMs(node, now);
  return leftMs !== null && leftMs <= 0;
}

/** The rest of the node's `total` time; null: the node has no such limit. */
export function totalLeftMs(node: NodeState, now: number): number | null {
  const { totalMs } = timeoutsOf(node);
  const since = totalSince(node);
  return totalMs === null || since === null ? null : since + totalMs - now;
}

/** The time from which `total` counts. */
function totalSince({ queuedAt, pausedMs }: NodeState): number | null {
  return queuedAt === null ? null : queuedAt + pausedMs;
}

/** The earliest time at which a timer of the run may be due; undefined when there is none. */
export function nextTimer(state: RunState): number | undefined {
  // The workers watch the attempts that still run.
  if (isPaused(state)) return undefined;
  for (;;) {
    const item = state.timers.peek();
    if (item === undefined) return undefined;
    if (isDue(state, item)) return item.at;
    state.timers.pop();
  }
}

/** Nodes that wait for their next attempt or iteration; `most` of them. */
export function delayedNodes(state: RunState, most: number): NodeState[] {
  const nodes: NodeState[] = [];
  for (const item of state.timers) {
    if (nodes.length >= most) break;
    const isDelay = item.kind === 'retry' || item.kind === 'iteration';
    if (isDelay && item.node !== null && isDue(state, item)) nodes.push(item.node);
  }
  return nodes;
}

/** Returns whether time alone moves the run before `until`. */
export function movesByItself(state: RunState, until: number): boolean {
  if (isPaused(state)) return false;
  for (const item of state.timers) if (item.at <= until && isDue(state, item)) return true;
  return false;
}

export function popDue(state: RunState, now: number): TimerItem | undefined {
  const at = nextTimer(state);
  return at !== undefined && at <= now ? state.timers.pop() : undefined;
}
