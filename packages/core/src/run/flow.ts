/**
 * The flow of a run: what the joins of its nodes lead to, until nothing more follows. Every node passes here on its way
 * from its edges to its slot: join, condition, level, gates.
 */
import { isTrue } from '../expression/index.ts';
import { actionWork } from './action-work.ts';
import { failNode, follow, isUntouched } from './advance.ts';
import { settle } from './composite.ts';
import { decideOnward, expressionFailure } from './edges.ts';
import type { Gate } from './entry.ts';
import { type Held, hold } from './held.ts';
import { begin } from './instant.ts';
import { nextGate } from './next-gate.ts';
import { placeReady, takesSlot } from './phases.ts';
import { isStopped, pathOf } from './standing.ts';
import type { NodeState } from './state.ts';
import { emit, emitSkipped, type Turn } from './turn.ts';
import { RunScope } from './view.ts';

/** A loop whose body needs no worker could otherwise keep everybody waiting. */
const MAX_ROUNDS_PER_TURN = 1_000;

/** Works until nothing more follows. While a run is being stopped nothing does, except in what undoes something. */
export function drain(turn: Turn): void {
  const { state } = turn;
  for (;;) {
    for (let node = turn.work.pop(); node !== undefined; node = turn.work.pop()) {
      if (isUntouched(node) && !isStopped(state, node.scope)) consider(turn, node);
    }
    const [node] = state.released;
    if (node !== undefined) {
      state.released.delete(node);
      if (!isStopped(state, node.scope)) admitted(turn, node);
      continue;
    }
    const [settled] = state.settled;
    // What is left is in the state, and is gone on with in the next turn.
    if (settled === undefined || turn.rounds >= MAX_ROUNDS_PER_TURN) return;
    turn.rounds++;
    state.settled.delete(settled);
    settle(turn, settled);
  }
}

function consider(turn: Turn, node: NodeState): void {
  if (node.plan === turn.state.plan.failureNode) return;
  switch (joinOf(node)) {
    case 'open':
      return;
    case 'dead':
      emitSkipped(turn, node, 'dead');
      follow(turn, node, []);
      return;
    case 'satisfied':
      return admit(turn, node);
  }
}

function joinOf(node: NodeState): 'open' | 'satisfied' | 'dead' {
  const { join, incoming } = node.plan;
  const allDecided = node.decided >= incoming.length;
  if (join === 'all') {
    if (!allDecided) return 'open';
    return node.taken > 0 || incoming.length === 0 ? 'satisfied' : 'dead';
  }
  if (node.taken >= join) return 'satisfied';
  return allDecided && incoming.length > 0 ? 'dead' : incoming.length === 0 ? 'satisfied' : 'open';
}

/** Its join is satisfied: it is passed over, skipped by its condition, or ready. */
function admit(turn: Turn, node: NodeState): void {
  if (!node.plan.enabled) {
    const { dead, broken } = decideOnward(turn, { node, status: 'skipped', output: null, error: null });
    emitSkipped(turn, node, 'disabled', dead);
    follow(turn, node, broken);
    return;
  }
  const { when } = node.plan;
  if (when === undefined) {
    makeReady(turn, node);
    return;
  }
  let holds: boolean;
  try {
    const scope = new RunScope(turn.state, node.scope, turn.lookup).at(node, 'when');
    holds = isTrue(when.evaluate(scope, turn.state.plan.newBudget()));
  } catch (error) {
    failNode(turn, node, expressionFailure(error, 'when'));
    return;
  }
  if (holds) {
    makeReady(turn, node);
    return;
  }
  emitSkipped(turn, node, 'when');
  follow(turn, node, []);
}

/** Waits for a slot; what needs none begins as soon as its level has come and its gates are open. */
export function makeReady(turn: Turn, node: NodeState): void {
  placeReady(turn.state, node);
  if (node.place !== 'none') turn.readied.push(node);
}

/** Nothing in the run holds it back: it comes to its gates, and then begins. */
function admitted(turn: Turn, node: NodeState): void {
  let gate: Gate | undefined;
  let input: Held | undefined;
  try {
    const scope = new RunScope(turn.state, node.scope, turn.lookup).at(node, 'key');
    gate = nextGate(turn, node, scope);
    if (gate?.kind === 'cache' && node.input === undefined) {
      input = hold(actionWork(node).with.evaluate(scope.at(node, 'with'), turn.state.plan.newBudget()));
    }
  } catch (error) {
    return failNode(turn, node, expressionFailure(error, 'key'));
  }
  if (gate !== undefined) {
    const path = pathOf(node);
    emit(turn, { type: 'node.gated', node: path, gate, ...(input === undefined ? {} : { input }) });
    turn.asks.push({ node: path, gate });
  } else if (takesSlot(node)) makeReady(turn, node);
  else begin(turn, node);
}

/** A gate is open: the node goes on to the next one, or begins. */
export function pass(turn: Turn, node: NodeState): void {
  if (node.phase.status !== 'gated') return;
  node.passed++;
  makeReady(turn, node);
}
