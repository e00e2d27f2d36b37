/**
 * The worklist of a turn: processes nodes until nothing more follows. Every node passes here on its way from its edges
 * to its slot: join, condition, level, gates.
 */
import { isTrue } from '../../expression/index.ts';
import { acceptedSetting } from '../../plan/settings.ts';
import { canonicalJson } from '../../value.ts';
import { checkEnd, continueCheck } from '../composite/composite.ts';
import { decideOnward, expressionFailure } from '../joins/edges.ts';
import { joinOf } from '../joins/joins.ts';
import type { CacheMiss, Gate } from '../journal/entry.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import { RunScope } from '../state/expression-scope.ts';
import { addReady, takesSlot } from '../state/phases.ts';
import { actionWork, isOver, isStopped, pathOf } from '../state/selectors.ts';
import { gateLimits } from '../state/settings.ts';
import type { NodeState, ScopeState } from '../state/state.ts';
import { pinOf, takesNoPart } from '../state/test-parts.ts';
import { gatesOf } from '../waits/gates.ts';
import { endCancelled, failNode, follow, isUntouched, skip } from './advance.ts';
import { beginNode } from './begin-node.ts';
import { endPinned } from './pinned-node.ts';
import { emit, emitSkipped, type Turn } from './turn.ts';

/** The limit keeps a loop whose body needs no worker from blocking other runs. */
const MAX_ITERATIONS_PER_TURN = 1_000;

/** Steps until nothing more follows, or the turn must pause. While a scope ends early, only its finally runs. */
export function drain(turn: Turn): void {
  const { state, work } = turn;
  for (turn.isSuspended = false; !turn.isSuspended; turn.isSuspended = turn.mustPause()) {
    turn.budgets.renew();
    const check = turn.inputChecks.at(-1);
    if (check !== undefined) {
      continueCheck(turn, check);
      continue;
    }
    const changed = work.pop();
    if (changed !== undefined) {
      if (isUntouched(changed)) consider(turn, changed);
      continue;
    }
    const [node] = state.released;
    if (node !== undefined) {
      state.released.delete(node);
      if (!isStopped(state, node)) admitted(turn, node);
      continue;
    }
    const [ended] = state.endChecks;
    // The remaining checks stay in the state for the next turn.
    if (ended === undefined || turn.iterations >= MAX_ITERATIONS_PER_TURN) return;
    turn.iterations++;
    state.endChecks.delete(ended);
    checkEnd(turn, ended);
  }
}

function consider(turn: Turn, node: NodeState): void {
  const { state } = turn;
  if (node.plan === state.plan.failureNode || node.scope.isClosed || isOver(state, node)) return;
  if (node.scope.stopping !== null && !mayConsider(node.scope)) return;
  switch (joinOf(node)) {
    case 'open':
      return;
    case 'dead':
      return skip(turn, node, 'dead');
    case 'lost':
      return skip(turn, node, 'failure');
    case 'satisfied':
      if (!isStopped(state, node)) return admit(turn, node);
      // The scope ends early, and the node is not in its finally.
      if (node.decided >= node.plan.sources) endCancelled(turn, node);
  }
}

/**
 * A finally begins when the nodes that were under way have ended. An undo scope that was told to stop does not
 * continue.
 */
function mayConsider({ stopping, undoes, underWay }: ScopeState): boolean {
  return stopping?.finally === true && undoes === null && underWay === 0;
}

/** The join is satisfied: the node is disabled, skipped by its condition, or ready. */
export function admit(turn: Turn, node: NodeState): void {
  const { test } = turn.state.plan;
  if (test !== undefined && takesNoPart(test, node)) return skip(turn, node, 'test');
  if (!node.plan.enabled) {
    const { dead, broken } = decideOnward(turn, { node, status: 'skipped', output: null, error: null });
    emitSkipped(turn, node, 'disabled', dead);
    return follow(turn, node, broken);
  }
  const { when } = node.plan;
  let holds = true;
  try {
    if (when !== undefined) {
      const scope = new RunScope(turn.state, node.scope, turn.lookup).at(node, 'when');
      holds = isTrue(when.evaluate(scope, turn.budgets.next()));
    }
  } catch (error) {
    return failNode(turn, node, expressionFailure(error, 'when'));
  }
  if (holds) makeReady(turn, node);
  else skip(turn, node, 'when');
}

/** Queues the node for a slot. A node that needs none begins as soon as its level and gates allow. */
export function makeReady(turn: Turn, node: NodeState, passed = node.passed): void {
  const { test } = turn.state.plan;
  const pin = test && pinOf(test, node);
  if (pin !== undefined) return endPinned(turn, node, pin);
  if (!configure(turn, node)) return;
  addReady(turn.state, node, passed);
  if (node.dispatchState !== 'none') turn.readied.push(node);
}

/** Sends the node, which nothing in the run holds back, through its gates; then it begins. */
function admitted(turn: Turn, node: NodeState, passed = node.passed, missed = node.missed): void {
  let gate: Gate | undefined;
  let input: StoredValue | undefined;
  try {
    const scope = new RunScope(turn.state, node.scope, turn.lookup).at(node, 'key');
    gate = nextGate(turn, node, scope, passed, missed);
    if (gate?.kind === 'cache' && node.input === undefined) {
      input = turn.store(actionWork(node).with.evaluate(scope.at(node, 'with'), turn.budgets.next()));
    }
  } catch (error) {
    return failNode(turn, node, expressionFailure(error, 'key'));
  }
  if (gate !== undefined) {
    const path = pathOf(node);
    emit(turn, { type: 'node.gated', node: path, gate, ...(input === undefined ? {} : { input }) });
    turn.gateRequests.push({ node: path, gate });
  } else if (takesSlot(node)) makeReady(turn, node, passed);
  else beginNode(turn, node);
}

/**
 * Passes an open gate: the node continues to the next one, or begins. The entry that follows records the gates it has
 * passed.
 */
export function passGate(turn: Turn, node: NodeState, missed = node.missed): void {
  if (node.phase.status !== 'gated' || !configure(turn, node)) return;
  admitted(turn, node, node.passed + 1, missed);
}

/**
 * Evaluates the settings that are expressions, once; retries use the journalled values. Returns false if the node has
 * failed.
 */
function configure(turn: Turn, node: NodeState): boolean {
  const { settings } = node.plan;
  if (settings === undefined || node.settings !== undefined) return true;
  const values: Record<string, number | string> = Object.create(null);
  for (const setting of settings) {
    try {
      const scope = new RunScope(turn.state, node.scope, turn.lookup).at(node, setting.key);
      values[setting.key] = acceptedSetting(setting, setting.value.evaluate(scope, turn.budgets.next()));
    } catch (error) {
      failNode(turn, node, expressionFailure(error, setting.key));
      return false;
    }
  }
  emit(turn, { type: 'node.configured', node: pathOf(node), values: { ...values } });
  return true;
}

/**
 * The gate after the first `passed` ones; `missed` is the result of the look at the cache. Throws the errors of
 * expressions.
 */
function nextGate(
  turn: Turn,
  node: NodeState,
  scope: RunScope,
  passed: number,
  missed: CacheMiss | undefined,
): Gate | undefined {
  const { plan } = node;
  const kind = gatesOf(plan)[passed];
  const { concurrency, rateLimit } = plan;
  const budget = turn.budgets.next();
  if (kind === 'concurrency' && concurrency !== undefined) {
    return { kind, key: keyOf(concurrency.key.evaluate(scope, budget)), limit: gateLimits(node).concurrency };
  }
  if (kind === 'rate' && rateLimit !== undefined) {
    const { rate: limit, perMs } = gateLimits(node);
    return { kind, key: keyOf(rateLimit.key.evaluate(scope, budget)), limit, perMs };
  }
  if (kind === 'reserve' && missed !== undefined) return { kind, ...missed };
  return kind === 'cache' ? { kind } : undefined;
}

function keyOf(value: Parameters<typeof canonicalJson>[0]): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
