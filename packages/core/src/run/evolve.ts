/**
 * `evolve` folds one journal entry into the state. It evaluates nothing and decides nothing:
 * the same entries give the same state, for ever. Cost: the edges out of the node that the entry names.
 */
import { assert, NebulaError, unreachable } from '../error.ts';
import type { EdgePlan, NodePlan } from '../plan/plan.ts';
import type { Json } from '../value.ts';
import {
  type ChildRequested,
  type Entry,
  type ItemsAdded,
  JOURNAL_FORMAT,
  type NodeCompleted,
  type NodeFailed,
  type NodeGated,
  type NodeOpened,
  type NodeRetrying,
  type NodeSettled,
  type NodeSkipped,
  type NodeStarted,
  type NodeStopping,
  type NodeWaiting,
  type RunFinished,
  type RunReopened,
  type ScopeCompensating,
} from './entry.ts';
import { gatesOf, permitKey } from './gates.ts';
import type { Held } from './held.ts';
import {
  closeRound,
  countBusy,
  dropScope,
  forgetRounds,
  newBody,
  noticeNodeStopped,
  noticeStopped,
  openScope,
  realmInside,
  runsOnce,
} from './scopes.ts';
import {
  type BodyState,
  estimate,
  generationOf,
  isFinal,
  isFinished,
  isHeldByLevel,
  type NodeState,
  nodeAt,
  type Phase,
  pathOf,
  type RunState,
  resetNode,
  type ScopeState,
  startPermit,
  type UndoItem,
} from './state.ts';
import {
  armAttempt,
  armGate,
  armHeld,
  armOpen,
  armQueued,
  armRetry,
  armRound,
  armStop,
  armStopping,
  armWait,
  armWorkflow,
} from './timers.ts';
import { openUndo, toUndo } from './undo.ts';

export function evolve(state: RunState, entry: Entry, at: number): void {
  switch (entry.type) {
    case 'run.started':
      if (entry.format > JOURNAL_FORMAT) tooNew(`is of format ${entry.format}`);
      state.status = 'running';
      state.startedAt = at;
      state.activeSince = at;
      state.root.realm = { ...state.root.realm, input: entry.input };
      state.trigger = entry.trigger;
      state.parent = entry.parent ?? null;
      state.startKey = entry.key ?? null;
      if (entry.estimates !== undefined) estimate(state, entry.estimates);
      countSpilled(state, entry.input);
      armWorkflow(state);
      return;
    case 'node.scheduled':
      for (const path of entry.nodes) enqueue(state, must(state, path), at);
      return;
    case 'node.started':
      return start(state, must(state, entry.node), entry, at);
    case 'node.completed':
      return complete(state, must(state, entry.node), entry, at);
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
    case 'node.opened':
      return open(state, must(state, entry.node), entry, at);
    case 'node.stopping':
      return stopNode(state, must(state, entry.node), entry, at);
    case 'scopes.opened': {
      const node = must(state, entry.node);
      for (let round = entry.from; round < entry.to; round++) openScope(state, node, node.scope.realm);
      (node.body as BodyState).until = null;
      return;
    }
    case 'scope.stopping': {
      const scope = mustScope(state, entry.scope);
      scope.stopping = { error: entry.error, since: at };
      armStopping(state, null, scope);
      return noticeStopped(state, scope);
    }
    case 'scope.closed': {
      const scope = mustScope(state, entry.scope);
      if (entry.error !== undefined) cancelOpen(state, scope, at);
      if (entry.output !== undefined) countSpilled(state, entry.output);
      return closeRound(state, scope, entry);
    }
    case 'items.added':
      return addItems(state, must(state, entry.node), entry);
    case 'round.delayed': {
      const node = must(state, entry.node);
      (node.body as BodyState).until = entry.until;
      return armRound(state, node);
    }
    case 'child.requested':
      return request(state, must(state, entry.node), entry, at);
    case 'node.waiting':
      return listen(state, must(state, entry.node), entry, at);
    case 'node.answered':
    case 'signal.refused':
      return;
    case 'signal.kept': {
      const { signal, key, payload } = entry;
      state.kept.push({ signal, key, payload });
      return countSpilled(state, payload);
    }
    case 'signal.taken': {
      const at = state.kept.findIndex(({ signal, key }) => signal === entry.signal && key === entry.key);
      if (at >= 0) state.kept.splice(at, 1);
      return;
    }
    case 'node.gated':
      return gate(state, must(state, entry.node), entry, at);
    case 'node.granted': {
      const node = must(state, entry.node);
      if (node.phase.status === 'gated') node.phase = { ...node.phase, until: entry.until };
      return armGate(state, node);
    }
    case 'scope.compensating':
      return compensate(state, mustScope(state, entry.scope), entry, at);
    case 'run.held':
      state.heldUntil = entry.until;
      if (entry.input !== undefined) {
        state.root.realm = { ...state.root.realm, input: entry.input };
        countSpilled(state, entry.input);
      }
      return armHeld(state);
    case 'run.begun':
      state.heldUntil = null;
      freeStart(state);
      state.activeSince = at;
      return armWorkflow(state);
    case 'run.paused':
      state.status = 'paused';
      state.pausedAt = at;
      return recallDispatched(state);
    case 'run.resumed':
      return resume(state, at);
    case 'run.stopping':
      if (state.pausedAt !== null) resume(state, at);
      state.stopping = {
        status: entry.status,
        error: entry.error,
        output: entry.output,
        compensate: entry.compensate ?? true,
        since: at,
      };
      if (entry.output !== undefined) countSpilled(state, entry.output);
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
  // Given back by whoever wrote these frames.
  state.freed = [];
  state.deaf = [];
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

function mustScope(state: RunState, path: string): ScopeState {
  const scope = state.scopes.get(path);
  assert(scope !== undefined, `the journal of ${state.executionId} names scope '${path}', which is not open`);
  return scope;
}

/** Every change of phase goes through here: it keeps the indexes true. */
function enter(state: RunState, node: NodeState, phase: Phase): void {
  const before = node.phase.status;
  node.phase = phase;
  const busy = Number(isBusy(phase.status)) - Number(isBusy(before));
  if (busy !== 0) countBusy(state, node, busy > 0 ? 1 : -1);
  if (before === 'running') state.running.delete(node);
  else if (before === 'child') state.children.delete(node);
  else if (before === 'unknown') state.unknown.delete(node);
  else if (before === 'listening') {
    state.listening.delete(node);
    state.deaf.push(pathOf(node));
  } else if (before === 'gated') state.gated.delete(node);
  if (phase.status === 'running') state.running.add(node);
  else if (phase.status === 'child') state.children.add(node);
  else if (phase.status === 'unknown') state.unknown.add(node);
  else if (phase.status === 'listening') state.listening.add(node);
  else if (phase.status === 'gated') state.gated.add(node);
}

/** Something outside works for the node, and has to be waited for when it is stopped. */
function isBusy(status: Phase['status']): boolean {
  return status === 'running' || status === 'child';
}

function leaveQueue(state: RunState, node: NodeState): void {
  // Whatever it goes to now, it has passed.
  if (node.phase.status === 'gated' || node.phase.status === 'queued') node.passed = Number.MAX_SAFE_INTEGER;
  if (node.place === 'dispatched') state.dispatched--;
  else if (node.place === 'held') node.scope.held.delete(node);
  state.released.delete(node);
  node.place = 'none';
}

function enqueue(state: RunState, node: NodeState, at: number): void {
  node.queuedAt ??= at;
  if (node.phase.status === 'gated') node.passed = Number.MAX_SAFE_INTEGER;
  enter(state, node, { status: 'queued', since: at });
  // A node that was found ready in this very turn has its place already.
  if (node.place === 'none') placeReady(state, node);
  armQueued(state, node);
}

/** Everything that was handed to the queue is ready again: the queue may have lost it. */
export function recallDispatched(state: RunState): void {
  if (state.dispatched === 0) return;
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      if (node.place !== 'dispatched') continue;
      node.place = 'ready';
      state.ready.push(node);
    }
  }
  state.dispatched = 0;
}

export function takesSlot({ plan }: NodeState): boolean {
  return plan.work.kind === 'action' || plan.work.kind === 'dynamic';
}

/** Among those that wait for a slot of this run, or, in `mode: levels`, for their level. */
export function placeReady(state: RunState, node: NodeState): void {
  const isReady = takesSlot(node) && node.passed >= gatesOf(node.plan).length;
  if (isHeldByLevel(state, node) || (state.pausedAt !== null && !isReady)) {
    node.place = 'held';
    node.scope.held.add(node);
  } else if (isReady) {
    node.place = 'ready';
    state.ready.push(node);
  } else {
    // Needs no slot, or must be granted something first: whoever decides looks at it at once.
    state.released.add(node);
  }
}

function start(state: RunState, node: NodeState, entry: NodeStarted, at: number): void {
  node.queuedAt ??= at;
  node.startedAt ??= at;
  node.attempts = entry.attempt;
  state.lastAttempt = Math.max(state.lastAttempt, entry.attempt);
  if (entry.input !== undefined) {
    node.input = entry.input;
    countSpilled(state, entry.input);
  }
  const { attempt, worker, effect } = entry;
  leaveQueue(state, node);
  enter(state, node, { status: 'running', since: at, attempt, worker, effect });
  armAttempt(state, node);
}

function complete(state: RunState, node: NodeState, entry: NodeCompleted, at: number): void {
  const { output, dead, vars } = entry;
  node.startedAt ??= at;
  if (output !== undefined) {
    node.output = output;
    countSpilled(state, output);
  }
  for (const [name, held] of Object.entries(vars ?? {})) {
    node.scope.realm.vars.set(name, held);
    countSpilled(state, held);
  }
  if (node.plan.breaks) breakLoop(node);
  if (entry.undo !== undefined || entry.undoError !== undefined) remember(state, node, entry);
  close(state, node, {
    status: 'completed',
    at,
    dead,
    ...(entry.cached === undefined ? {} : { cached: entry.cached }),
  });
}

/** What it takes to undo the node, should the run fail later. */
function remember(state: RunState, node: NodeState, { undo, undoError }: NodeCompleted): void {
  const graphs: Json[] = [];
  for (let at = node.scope.parent; at !== null; at = at.scope.parent) {
    if (at.body?.returned !== undefined) graphs.unshift(at.body.returned);
  }
  const path = pathOf(node);
  // Done a second time, it is still one thing to undo.
  if (state.reopened > 0) forgetUndo(state, path);
  state.undo.push({ path, input: undo, error: undoError, graphs, generation: generationOf(node) });
  if (undo !== undefined) countSpilled(state, undo);
}

const undoPaths = new WeakMap<readonly UndoItem[], Set<string>>();

/** Looked up in a set: a loop of 100,000 rounds that is gone on with would else look through all of them every time. */
function forgetUndo(state: RunState, path: string): void {
  let paths = undoPaths.get(state.undo);
  if (paths?.has(path) === false) {
    paths.add(path);
    return;
  }
  state.undo = state.undo.filter((item) => item.path !== path);
  paths = new Set(state.undo.map((item) => item.path));
  undoPaths.set(state.undo, paths.add(path));
}

/** Everything else in the scope is over; what is left to do is undoing. */
function compensate(state: RunState, scope: ScopeState, { status, error }: ScopeCompensating, at: number): void {
  const output = undefined;
  if (scope === state.root) {
    if (state.pausedAt !== null) resume(state, at);
    state.ending = { status, error, output, compensate: true };
    state.stopping = null;
    state.status = 'compensating';
    state.ready.clear();
    state.timers.clear();
    state.settled.clear();
    state.released.clear();
  } else if (error !== null) {
    scope.stopping ??= { error, since: at };
  }
  cancelOpen(state, scope, at, state.plan.failureNode);
  scope.isClosed = scope !== state.root;
  openUndo(state, scope, toUndo(state, scope));
}

/** The innermost loop around the node opens no further round. */
function breakLoop(node: NodeState): void {
  const { parent } = node.scope;
  if (parent?.body !== undefined) parent.body.isBroken = true;
}

function request(state: RunState, node: NodeState, entry: ChildRequested, at: number): void {
  const { executionId, attempt, input } = entry;
  node.queuedAt ??= at;
  node.startedAt ??= at;
  node.attempts = attempt;
  state.lastAttempt = Math.max(state.lastAttempt, attempt);
  state.lastChildAt = at;
  node.input = input;
  countSpilled(state, input);
  leaveQueue(state, node);
  enter(state, node, { status: 'child', since: at, attempt, executionId });
  armAttempt(state, node);
}

function gate(state: RunState, node: NodeState, { gate: at, input }: NodeGated, now: number): void {
  node.queuedAt ??= now;
  leaveQueue(state, node);
  node.passed = gatesOf(node.plan).indexOf(at.kind);
  const permit = permitKey(at);
  if (permit !== undefined) node.permits = [...node.permits, permit];
  if (at.kind === 'reserve') {
    const { kind: _, ...miss } = at;
    node.missed = miss;
  }
  if (input !== undefined) {
    node.input = input;
    countSpilled(state, input);
  }
  enter(state, node, { status: 'gated', since: now, gate: at, until: null });
  armGate(state, node);
}

/** Others with the same key may start. */
function freeStart(state: RunState): void {
  if (state.startKey === null) return;
  state.freed.push({ key: startPermit(state.plan.workflowId, state.startKey), node: '' });
  state.startKey = null;
}

/** Others need not wait until somebody says what became of it; if it is done again, it stands in line again. */
function letGo(state: RunState, node: NodeState): void {
  free(state, node);
  node.passed = 0;
}

/** What it held, or waited for, is for others. */
function free(state: RunState, node: NodeState): void {
  if (node.permits.length === 0) return;
  const path = pathOf(node);
  for (const key of node.permits) state.freed.push({ key, node: path });
  node.permits = [];
}

function listen(state: RunState, node: NodeState, { waits, deadline }: NodeWaiting, at: number): void {
  node.queuedAt ??= at;
  node.startedAt ??= at;
  leaveQueue(state, node);
  enter(state, node, { status: 'listening', since: at, waits, deadline: deadline ?? null });
  armWait(state, node);
}

/** The workflow's timeout stood still. */
function resume(state: RunState, at: number): void {
  state.status = 'running';
  state.activeSince += at - (state.pausedAt ?? at);
  state.pausedAt = null;
  armWorkflow(state);
  for (const scope of state.scopes.values()) releaseHeld(state, scope);
}

/** A composite node begins; one that runs its body once opens it now. */
function open(state: RunState, node: NodeState, { items, count, input, graph }: NodeOpened, at: number): void {
  node.queuedAt ??= at;
  node.startedAt ??= at;
  leaveQueue(state, node);
  enter(state, node, { status: 'open', since: at, stopping: null });
  if (items !== undefined) countSpilled(state, items);
  if (input !== undefined) countSpilled(state, input);
  const isOnce = runsOnce(node.plan);
  node.body = newBody(node.plan, isOnce ? 1 : (count ?? Number.POSITIVE_INFINITY), graph?.value);
  if (items !== undefined) node.body.items.push({ from: 0, count: count as number, items });
  if (isOnce) openScope(state, node, input === undefined ? node.scope.realm : realmInside(node, input));
  armOpen(state, node);
}

function stopNode(state: RunState, node: NodeState, { error }: NodeStopping, at: number): void {
  assert(node.phase.status === 'open', `node '${node.plan.id}' of ${state.executionId} is open`);
  node.phase = { ...node.phase, stopping: { error, since: at } };
  armStopping(state, node);
  noticeNodeStopped(state, node);
}

function addItems(state: RunState, { body }: NodeState, { items, count }: ItemsAdded): void {
  if (body === undefined) return;
  body.items.push({ from: body.total, count, items });
  body.total += count;
  countSpilled(state, items);
}

/** What was under way, or waited, in a scope that has failed never ends. */
function cancelOpen(state: RunState, scope: ScopeState, at: number, except?: NodePlan): void {
  for (const node of scope.nodes) {
    if (node.plan === except) continue;
    for (const inner of node.body?.scopes.values() ?? []) if (!inner.isClosed) cancelOpen(state, inner, at);
    if (isFinal(node.phase.status) || node.phase.status === 'unknown') continue;
    end(state, node, { status: 'cancelled', at, error: undefined });
  }
  scope.isClosed = true;
  state.settled.delete(scope);
}

function retry(state: RunState, node: NodeState, entry: NodeRetrying): void {
  if (entry.error.kind === 'USER') node.userFailures++;
  else node.systemFailures++;
  state.totalRetries++;
  leaveQueue(state, node);
  free(state, node);
  node.passed = 0;
  enter(state, node, { status: 'waiting', until: entry.until, error: entry.error });
  armRetry(state, node);
}

function fail(state: RunState, node: NodeState, entry: NodeFailed, at: number): void {
  const { error, handling, taken, dead } = entry;
  if (handling === 'deferred') node.scope.deferredError ??= error;
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
  if (node.body !== undefined) closeBody(state, node, phase);
  end(state, node, phase);
  for (const edge of node.plan.outgoing) decideEdge(node.scope.nodes, edge, phase);
}

function end(state: RunState, node: NodeState, phase: Phase): void {
  leaveQueue(state, node);
  state.released.delete(node);
  free(state, node);
  enter(state, node, phase);
  const { scope } = node;
  scope.open--;
  (scope.openPerLevel[node.plan.level] as number)--;
  const { level } = scope;
  while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
  if (scope.level > level && scope.held.size > 0) releaseHeld(state, scope);
  if (scope.open === 0 && scope.parent !== null && !scope.isClosed) state.settled.add(scope);
}

/** A level has come: its nodes wait for a slot now. */
function releaseHeld(state: RunState, scope: ScopeState): void {
  for (const node of [...scope.held]) {
    if (isHeldByLevel(state, node)) continue;
    scope.held.delete(node);
    node.place = 'none';
    placeReady(state, node);
  }
}

/** Of a body that went well only its result is left; of one that did not, what a retry begins with again. */
function closeBody(state: RunState, node: NodeState, phase: Phase): void {
  state.settled.delete(node);
  const at = 'at' in phase ? phase.at : 0;
  for (const scope of [...(node.body?.scopes.values() ?? [])]) {
    noteUndone(state, scope);
    if (!scope.isClosed) cancelOpen(state, scope, at);
    if (phase.status === 'completed') dropScope(state, scope);
  }
  if (phase.status === 'completed' && node.body?.scopes.size === 0) node.body = undefined;
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
  for (const node of state.unknown) letGo(state, node);
  state.status = entry.status;
  state.finishedAt = at;
  state.output = entry.output;
  if (entry.output !== undefined) countSpilled(state, entry.output);
  state.error = entry.error ?? null;
  noteUndone(state, state.root);
  freeStart(state);
  state.stopping = null;
  state.ending = null;
  state.heldUntil = null;
  state.pausedAt = null;
  state.ready.clear();
  state.timers.clear();
  state.settled.clear();
  state.released.clear();
}

function reopen(state: RunState, entry: RunReopened, at: number): void {
  state.activeSince = at;
  state.status = 'running';
  state.finishedAt = null;
  state.output = undefined;
  state.error = null;
  state.totalRetries = 0;
  state.reopened++;
  forgetUndoing(state);
  for (const path of entry.nodes) {
    const node = must(state, path);
    state.unknown.delete(node);
    forgetRounds(state, node);
    resetNode(node);
    node.attemptsBefore = state.lastAttempt;
  }
  renew(state, entry);
  for (const path of entry.open ?? []) {
    const node = must(state, path);
    node.phase = { status: 'open', since: at, stopping: null };
    node.queuedAt = at;
  }
  for (const scope of state.scopes.values()) {
    recount(scope.nodes);
    scope.stopping = null;
    scope.deferredError = null;
  }
  for (const path of entry.open ?? []) reopenBody(state, must(state, path));
  armWorkflow(state);
}

/** What begins as something new has nothing to undo yet. */
function renew(state: RunState, { renewed = [], input, nodes }: RunReopened): void {
  for (const path of renewed) must(state, path).generation = state.reopened;
  const gone = new Set(renewed);
  if (gone.size > 0) state.undo = state.undo.filter((item) => !isWithin(item.path, gone));
  if (input === undefined) return;
  must(state, nodes[0] as string).input = input;
  countSpilled(state, input);
}

/** Whether the path is one of these, or below one. */
function isWithin(path: string, paths: ReadonlySet<string>): boolean {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) if (paths.has(at)) return true;
  return false;
}

function forgetUndoing(state: RunState): void {
  state.undone = [];
  for (const scope of [...state.scopes.values()]) {
    if (scope.undoes === null) continue;
    scope.undoes.undoing = null;
    state.scopes.delete(scope.path);
  }
}

/** What was undone need not be undone again, and a retry does it anew. */
function noteUndone(state: RunState, { undoing }: ScopeState): void {
  if (undoing === null) return;
  const done = new Set<string>();
  for (const [at, { path }] of undoing.undoItems.entries()) {
    if (undoing.nodes[at]?.phase.status === 'completed') done.add(path);
  }
  // Not spread: an engine has room for about 100,000 arguments.
  for (const path of done) state.undone.push(path);
  state.undo = state.undo.filter(({ path }) => !done.has(path));
  undoing.isClosed = true;
}

/** Rounds in which something begins again are under way again. */
function reopenBody(state: RunState, node: NodeState): void {
  const body = node.body as BodyState;
  body.failed = 0;
  body.error = null;
  body.base = body.next;
  body.open = 0;
  body.until = null;
  for (const scope of body.scopes.values()) {
    if (scope.isDone) continue;
    scope.isClosed = false;
    body.open++;
    // Nothing in it begins again: what it comes to is looked at again.
    if (scope.open === 0) state.settled.add(scope);
  }
  armOpen(state, node);
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
