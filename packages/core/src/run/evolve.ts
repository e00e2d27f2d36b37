/**
 * `evolve` folds one journal entry into the state. It evaluates nothing and decides nothing:
 * the same entries give the same state, for ever. Cost: the edges out of the node that the entry names.
 */
import { assert, NebulaError, unreachable } from '../error.ts';
import type { EdgePlan } from '../plan/plan.ts';
import {
  type Entry,
  JOURNAL_FORMAT,
  type NodeFailed,
  type NodeRetrying,
  type NodeSettled,
  type NodeSkipped,
  type NodeStarted,
  type RunFinished,
  type RunReopened,
} from './entry.ts';
import type { Held } from './held.ts';
import { isFinal, isFinished, type NodeState, nodeAt, type Phase, type RunState, resetNode } from './state.ts';
import { armAttempt, armQueued, armRetry, armStop, armWorkflow } from './timers.ts';

export function evolve(state: RunState, entry: Entry, at: number): void {
  switch (entry.type) {
    case 'run.started':
      if (entry.format > JOURNAL_FORMAT) tooNew(`is of format ${entry.format}`);
      state.status = 'running';
      state.startedAt = at;
      state.activeSince = at;
      state.input = entry.input;
      state.trigger = entry.trigger;
      countSpilled(state, entry.input);
      armWorkflow(state);
      return;
    case 'node.scheduled':
      for (const path of entry.nodes) enqueue(state, must(state, path), at);
      return;
    case 'node.started':
      return start(state, must(state, entry.node), entry, at);
    case 'node.completed':
      return complete(state, must(state, entry.node), entry.output, entry.dead, at);
    case 'node.retrying':
      return retry(state, must(state, entry.node), entry);
    case 'node.returned':
      return enqueue(state, must(state, entry.node), at);
    case 'node.failed':
      return fail(state, must(state, entry.node), entry, at);
    case 'node.skipped':
      for (const path of entry.nodes) skip(state, must(state, path), entry, at);
      return;
    case 'node.cancelled':
      return close(state, must(state, entry.node), { status: 'cancelled', at, error: entry.error });
    case 'node.unknown':
      return enter(state, must(state, entry.node), {
        status: 'unknown',
        at,
        error: entry.error,
        isVerified: false,
      });
    case 'node.settled':
      return settle(must(state, entry.node), entry);
    case 'run.stopping':
      state.stopping = { status: entry.status, error: entry.error, since: at };
      armStop(state);
      return;
    case 'run.finished':
      return finish(state, entry, at);
    case 'run.reopened':
      return reopen(state, entry, at);
    default:
      return refuse(entry);
  }
}

/** Folds whole frames, from the beginning or on top of a snapshot. */
export function replay(
  state: RunState,
  frames: Iterable<{ readonly seq: number; readonly at: number; readonly entries: readonly Entry[] }>,
): RunState {
  for (const frame of frames) {
    assert(frame.seq === state.seq + 1, `frame ${frame.seq} follows frame ${state.seq} of ${state.executionId}`);
    for (const entry of frame.entries) evolve(state, entry, frame.at);
    state.seq = frame.seq;
  }
  return state;
}

function refuse(entry: never): never {
  const type = (entry as { type?: unknown }).type;
  if (typeof type !== 'string') unreachable(entry);
  return tooNew(`has an entry '${type}'`);
}

function tooNew(what: string): never {
  throw new NebulaError('JOURNAL_TOO_NEW', `The journal ${what}, which this version does not know.`, {
    hint: 'It was written by a newer Nebula: upgrade this one.',
  });
}

function must(state: RunState, path: string): NodeState {
  const node = nodeAt(state, path);
  assert(node !== undefined, `the journal of ${state.executionId} names node '${path}', which its plan does not have`);
  return node;
}

/** Every change of phase goes through here: it keeps the indexes true. */
function enter(state: RunState, node: NodeState, phase: Phase): void {
  if (node.phase.status === 'running') state.running.delete(node);
  else if (node.phase.status === 'unknown') state.unknown.delete(node);
  node.phase = phase;
  if (phase.status === 'running') state.running.add(node);
  else if (phase.status === 'unknown') state.unknown.add(node);
}

function leaveQueue(state: RunState, node: NodeState): void {
  if (node.place === 'dispatched') state.dispatched--;
  node.place = 'none';
}

function enqueue(state: RunState, node: NodeState, at: number): void {
  node.queuedAt ??= at;
  enter(state, node, { status: 'queued', since: at });
  // A node that was found ready in this very turn has its place already.
  if (node.place === 'none') placeReady(state, node);
  armQueued(state, node);
}

/** Among those that wait for a slot of this run. */
export function placeReady(state: RunState, node: NodeState): void {
  node.place = 'ready';
  state.ready.push(node);
}

function start(state: RunState, node: NodeState, entry: NodeStarted, at: number): void {
  node.queuedAt ??= at;
  node.startedAt ??= at;
  node.attempts = entry.attempt;
  if (entry.input !== undefined) {
    node.input = entry.input;
    countSpilled(state, entry.input);
  }
  const { attempt, worker, effect } = entry;
  leaveQueue(state, node);
  enter(state, node, { status: 'running', since: at, attempt, worker, effect });
  armAttempt(state, node);
}

function complete(
  state: RunState,
  node: NodeState,
  output: Held | undefined,
  dead: readonly string[] | undefined,
  at: number,
): void {
  if (output !== undefined) {
    node.output = output;
    countSpilled(state, output);
  }
  close(state, node, { status: 'completed', at, dead });
}

function retry(state: RunState, node: NodeState, entry: NodeRetrying): void {
  if (entry.error.kind === 'USER') node.userFailures++;
  else node.systemFailures++;
  state.totalRetries++;
  leaveQueue(state, node);
  enter(state, node, { status: 'waiting', until: entry.until, error: entry.error });
  armRetry(state, node);
}

function fail(state: RunState, node: NodeState, entry: NodeFailed, at: number): void {
  const { error, handling, taken, dead } = entry;
  if (handling === 'deferred') state.deferredError ??= error;
  close(state, node, { status: 'failed', at, error, handling, taken, dead });
}

function settle(node: NodeState, { outcome, by }: NodeSettled): void {
  if (outcome === 'unknown' && node.phase.status === 'unknown') node.phase = { ...node.phase, isVerified: true };
  // People take their time; what they want repeated gets its whole `total` again.
  if (outcome === 'retry' && by === 'person') node.queuedAt = null;
}

function skip(state: RunState, node: NodeState, entry: NodeSkipped, at: number): void {
  close(state, node, { status: 'skipped', at, why: entry.why, dead: entry.dead });
}

/** The node is final: its outgoing edges are decided. */
function close(state: RunState, node: NodeState, phase: Phase): void {
  assert(!isFinal(node.phase.status), `node '${node.plan.id}' of ${state.executionId} ends once`);
  end(state, node, phase);
  for (const edge of node.plan.outgoing) decideEdge(node.scope.nodes, edge, phase);
}

function end(state: RunState, node: NodeState, phase: Phase): void {
  leaveQueue(state, node);
  enter(state, node, phase);
  const { scope } = node;
  scope.open--;
  (scope.openPerLevel[node.plan.level] as number)--;
  while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
}

function decideEdge(nodes: readonly NodeState[], edge: EdgePlan, from: Phase): void {
  const target = nodes[edge.to.index] as NodeState;
  target.decided++;
  if (isTaken(edge, from)) target.taken++;
}

/** Whether an edge out of a final node was taken, from what the journal says of that node. */
export function isTaken(edge: EdgePlan, from: Phase): boolean {
  switch (from.status) {
    case 'completed':
      return edge.on !== 'error' && !has(from.dead, edge.key);
    case 'failed':
      if (from.handling === 'handled') return has(from.taken, edge.key);
      return from.handling === 'ignored' && edge.on !== 'error' && !has(from.dead, edge.key);
    case 'skipped':
      return from.why === 'disabled' && (edge.on === 'success' || edge.on === 'always') && !has(from.dead, edge.key);
    default:
      return false;
  }
}

/** Lists longer than this are looked up as sets: 100,000 dead edges out of one node took 12 s, and take 0.1. */
const SHORT_LIST = 32;
const longLists = new WeakMap<readonly string[], ReadonlySet<string>>();

function has(keys: readonly string[] | undefined, key: string): boolean {
  if (keys === undefined) return false;
  if (keys.length <= SHORT_LIST) return keys.includes(key);
  let set = longLists.get(keys);
  if (set === undefined) {
    set = new Set(keys);
    longLists.set(keys, set);
  }
  return set.has(key);
}

function finish(state: RunState, entry: RunFinished, at: number): void {
  assert(!isFinished(state.status), `run ${state.executionId} ends once`);
  for (const scope of state.scopes.values()) {
    if (scope.open === 0) continue;
    for (const node of scope.nodes) {
      if (isFinal(node.phase.status) || node.phase.status === 'unknown') continue;
      end(state, node, { status: 'cancelled', at, error: undefined });
    }
  }
  state.status = entry.status;
  state.finishedAt = at;
  state.output = entry.output;
  if (entry.output !== undefined) countSpilled(state, entry.output);
  state.error = entry.error ?? null;
  state.stopping = null;
  state.ready.clear();
  state.timers.clear();
}

function reopen(state: RunState, entry: RunReopened, at: number): void {
  state.activeSince = at;
  state.status = 'running';
  state.finishedAt = null;
  state.output = undefined;
  state.error = null;
  state.deferredError = null;
  state.totalRetries = 0;
  state.reopened++;
  const nodes = entry.nodes.map((path) => must(state, path));
  for (const node of nodes) {
    state.unknown.delete(node);
    resetNode(node);
  }
  for (const scope of state.scopes.values()) recount(scope.nodes);
  armWorkflow(state);
}

/** Counts edges and open nodes anew from the phases. */
function recount(nodes: readonly NodeState[]): void {
  const scope = nodes[0]?.scope;
  if (scope === undefined) return;
  scope.open = 0;
  scope.openPerLevel.fill(0);
  for (const node of nodes) {
    if (isFinal(node.phase.status)) continue;
    scope.open++;
    (scope.openPerLevel[node.plan.level] as number)++;
    node.decided = 0;
    node.taken = 0;
    for (const edge of node.plan.incoming) {
      const from = (nodes[edge.from.index] as NodeState).phase;
      if (!isFinal(from.status)) continue;
      node.decided++;
      if (isTaken(edge, from)) node.taken++;
    }
  }
  scope.level = scope.openPerLevel.findIndex((open) => open > 0);
  if (scope.level < 0) scope.level = scope.openPerLevel.length;
}

function countSpilled(state: RunState, held: Held): void {
  if (held.blob !== undefined) state.spilled++;
}
