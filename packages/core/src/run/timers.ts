/**
 * The timers of a run: one heap, derived from the nodes. Items are never removed when they lose their meaning;
 * `isDue` looks whether they still hold when their time has come.
 *
 * The worker that runs an attempt watches its time limits itself. Here they are the net under it, for a worker
 * that died or hangs: hence the margin.
 */
import { RUN_DEFAULTS } from '../limits.ts';
import { isFinished, type NodeState, type RunState, type TimerItem } from './state.ts';

/** How much longer than a running attempt's own limit the journal waits for its worker to report. */
export const TIMEOUT_MARGIN_MS = 1_000;

export function armWorkflow(state: RunState): void {
  const { timeoutMs } = state.plan;
  if (timeoutMs !== null) arm(state, { at: state.activeSince + timeoutMs, kind: 'workflow', node: null });
}

export function armQueued(state: RunState, node: NodeState): void {
  const { queuedMs, totalMs } = node.plan.timeouts;
  if (node.phase.status !== 'queued') return;
  if (queuedMs !== null) arm(state, { at: node.phase.since + queuedMs, kind: 'queued', node });
  if (totalMs !== null) arm(state, { at: (node.queuedAt as number) + totalMs, kind: 'total', node });
}

export function armAttempt(state: RunState, node: NodeState): void {
  const { attemptMs, totalMs } = node.plan.timeouts;
  if (node.phase.status !== 'running') return;
  if (attemptMs !== null) {
    arm(state, { at: node.phase.since + attemptMs + TIMEOUT_MARGIN_MS, kind: 'attempt', node });
  }
  if (totalMs !== null) {
    arm(state, { at: (node.queuedAt as number) + totalMs + TIMEOUT_MARGIN_MS, kind: 'total', node });
  }
}

export function armRetry(state: RunState, node: NodeState): void {
  const { totalMs } = node.plan.timeouts;
  if (node.phase.status !== 'waiting') return;
  arm(state, { at: node.phase.until, kind: 'retry', node });
  if (totalMs !== null) arm(state, { at: (node.queuedAt as number) + totalMs, kind: 'total', node });
}

export function armStop(state: RunState): void {
  if (state.stopping === null) return;
  arm(state, { at: state.stopping.since + RUN_DEFAULTS.cancelGraceMs, kind: 'stop', node: null });
}

/**
 * Items that lost their meaning stay until their time: a node that is retried every second within a `total` of a month
 * would leave millions. So from time to time the heap is built anew; it then has two items per open node at the most.
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

/** Builds the heap anew: after a snapshot was loaded, or when too many items mean nothing any more. */
export function armAll(state: RunState): void {
  state.timers.clear();
  if (isFinished(state.status)) return;
  armWorkflow(state);
  armStop(state);
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      armQueued(state, node);
      armAttempt(state, node);
      armRetry(state, node);
    }
  }
}

/** Whether the item still says something at its time, or its node has moved on. */
function isDue(state: RunState, item: TimerItem): boolean {
  const phase = item.node?.phase;
  // Once a run is being stopped, only its running attempts still have a time limit.
  if (state.stopping !== null && item.kind !== 'stop' && phase?.status !== 'running') return false;
  const timeouts = item.node?.plan.timeouts;
  switch (item.kind) {
    case 'workflow':
      return item.at === state.activeSince + (state.plan.timeoutMs ?? 0);
    case 'stop':
      return state.stopping !== null && state.running.size > 0;
    case 'retry':
      return phase?.status === 'waiting' && phase.until === item.at && item.node?.place === 'none';
    case 'queued':
      return phase?.status === 'queued' && phase.since + (timeouts?.queuedMs ?? 0) === item.at;
    case 'attempt':
      return phase?.status === 'running' && phase.since + (timeouts?.attemptMs ?? 0) + TIMEOUT_MARGIN_MS === item.at;
    case 'total':
      return isOverdue(item);
  }
}

function isOverdue({ node, at }: TimerItem): boolean {
  const status = node?.phase.status;
  if (status === 'running') return isPastTotal(node as NodeState, at - TIMEOUT_MARGIN_MS);
  return (status === 'queued' || status === 'waiting') && isPastTotal(node as NodeState, at);
}

/** Whether the node's time, over all attempts, is up. */
export function isPastTotal({ plan, queuedAt }: NodeState, now: number): boolean {
  const { totalMs } = plan.timeouts;
  return totalMs !== null && queuedAt !== null && queuedAt + totalMs <= now;
}

/** The earliest time at which a timer of the run may be due; undefined when there is none. */
export function nextTimer(state: RunState): number | undefined {
  for (;;) {
    const item = state.timers.peek();
    if (item === undefined) return undefined;
    if (isDue(state, item)) return item.at;
    state.timers.pop();
  }
}

/** Takes the next timer that is due at `now`. */
export function popDue(state: RunState, now: number): TimerItem | undefined {
  const at = nextTimer(state);
  return at !== undefined && at <= now ? state.timers.pop() : undefined;
}
