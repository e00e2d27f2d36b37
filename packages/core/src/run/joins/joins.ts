/** The outcomes of the edges out of a node, derived from its phase, and the joins that they decide. */
import type { EdgePlan } from '../../plan/plan.ts';
import { countOpen, isFinal, stateIn } from '../state/selectors.ts';
import type { NodeState, Phase, ScopeState } from '../state/state.ts';

/** A decided edge that is not taken is dead by choice or by failure. */
type Verdict = 'taken' | 'choice' | 'failure';

/** The verdict on an edge out of a node in this phase. */
export function verdictOf(edge: EdgePlan, from: Phase): Verdict {
  switch (from.status) {
    case 'completed':
      return edge.on !== 'error' && !has(from.dead, edge.key) ? 'taken' : 'choice';
    case 'failed':
      if (from.handling === 'ignored' && from.taken === undefined)
        return edge.on !== 'error' && !has(from.dead, edge.key) ? 'taken' : 'choice';
      return has(from.taken, edge.key) ? 'taken' : byFailure(edge);
    case 'skipped':
      if (from.why === 'failure') return byFailure(edge);
      return from.why === 'disabled' && isForDisabled(edge) && !has(from.dead, edge.key) ? 'taken' : 'choice';
    case 'cancelled':
      return edge.on === 'always' && from.ran === true && !has(from.dead, edge.key) ? 'taken' : byFailure(edge);
    case 'pending':
    case 'queued':
    case 'running':
    case 'waiting':
    case 'open':
    case 'gated':
    case 'child':
    case 'listening':
    case 'unknown':
      return 'choice';
  }
}

export function isTaken(edge: EdgePlan, from: NodeState): boolean {
  return verdictOf(edge, from.decidedAs ?? from.phase) === 'taken';
}

/** Edges on error or always are never dead because of a failure. */
function byFailure({ on }: EdgePlan): Verdict {
  return on === 'error' || on === 'always' ? 'choice' : 'failure';
}

function isForDisabled({ on }: EdgePlan): boolean {
  return on === 'success' || on === 'always';
}

/**
 * Counts the ended node among the sources of its targets, or of those that are not final. Parallel edges between two nodes
 * count as one, taken if any of them is.
 */
export function decideEdges(node: NodeState, isForAll = true): void {
  const from = node.decidedAs ?? node.phase;
  for (const edge of node.plan.outgoing) {
    if (edge.isTwin) continue;
    const target = stateIn(node.scope, edge.to);
    if (!isForAll && isFinal(target.phase.status)) continue;
    let verdict = verdictOf(edge, from);
    let isAlways = verdict === 'taken' && edge.on === 'always';
    for (const twin of edge.twins ?? []) {
      const other = verdictOf(twin, from);
      if (other === 'taken' && twin.on === 'always') isAlways = true;
      if (verdict !== 'taken' && other !== 'choice') verdict = other;
    }
    if (node.isHolding && verdict === 'taken') target.heldSources++;
    else {
      target.decided++;
      if (verdict === 'failure') target.failedEdges++;
      else if (verdict === 'taken') target.taken++;
    }
    if (target.heldSources > 0) updateHeld(target);
    if (verdict !== 'taken') continue;
    // A node that has begun keeps its part; later edges are ignored.
    if ((isAlways || node.inFinally) && target.startedAt === null && !isFinal(target.phase.status))
      target.inFinally = true;
  }
}

/**
 * State of a join.
 *  - dead: it cannot be satisfied any more, by choice
 *  - lost: it cannot be satisfied any more, and one of its edges is dead by failure
 */
export type Join = 'open' | 'satisfied' | 'dead' | 'lost';

export function joinOf({ plan: { join, sources }, decided, taken, failedEdges }: NodeState): Join {
  if (sources === 0) return 'satisfied';
  if (join === 'ended') return decided < sources ? 'open' : 'satisfied';
  if (join === 'all') {
    if (failedEdges > 0) return 'lost';
    if (decided < sources) return 'open';
    return taken > 0 ? 'satisfied' : 'dead';
  }
  if (taken >= join) return 'satisfied';
  if (decided < sources) return 'open';
  return failedEdges > 0 ? 'lost' : 'dead';
}

/** The targets of the taken edges of a node. */
function targetsOf(node: NodeState): NodeState[] {
  const edges = node.plan.outgoing.filter((edge) => !edge.isTwin);
  const taken = edges.filter((edge) => [edge, ...(edge.twins ?? [])].some((one) => isTaken(one, node)));
  return taken.map(({ to }) => stateIn(node.scope, to));
}

/** Holds the taken edges of a node, which were counted while its failure was handled. Returns their targets. */
export function holdEdges(node: NodeState): NodeState[] {
  const targets = targetsOf(node).filter(({ phase }) => !isFinal(phase.status));
  node.isHolding = targets.length > 0;
  for (const target of targets) {
    target.decided--;
    target.taken--;
    target.heldSources++;
    updateHeld(target);
  }
  return targets;
}

/** Counts the held edges of a scope that ends early. */
export function releaseHeld(scope: ScopeState): void {
  const sources = scope.nodes.filter(({ isHolding }) => isHolding);
  if (sources.length === 0) return;
  for (const node of scope.nodes) {
    if (node.isHeld) countOpen(scope, node.plan, 1);
    forgetHeld(node);
  }
  scope.held = 0;
  for (const target of sources.flatMap(targetsOf)) {
    target.decided++;
    target.taken++;
  }
  setLevel(scope);
}

function forgetHeld(node: NodeState): void {
  node.isHolding = false;
  node.isHeld = false;
  node.heldSources = 0;
}

/** Marks the node as held or not, after its phase or its sources have changed, and then the nodes that wait for it. */
export function updateHeld(changed: NodeState): void {
  const { scope } = changed;
  const stack = [changed];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const { plan, phase, decided, heldSources } = node;
    const isOpen = phase.status === 'pending' && joinOf(node) === 'open';
    const isHeld = isOpen && heldSources > 0 && decided + heldSources >= plan.sources;
    if (isHeld === node.isHeld) continue;
    const change = isHeld ? 1 : -1;
    node.isHeld = isHeld;
    scope.held += change;
    countOpen(scope, plan, isHeld ? -1 : 1);
    if (!isHeld) scope.level = Math.min(scope.level, plan.level);
    for (const edge of plan.outgoing) {
      if (edge.isTwin) continue;
      const target = stateIn(scope, edge.to);
      target.heldSources += change;
      stack.push(target);
    }
  }
}

/** Longer lists are looked up as sets: 100,000 dead edges out of one node took 12 s, and now take 0.1 s. */
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

/** Recounts edges and open nodes from the phases. */
export function recount(scope: ScopeState): void {
  const { nodes } = scope;
  scope.open = 0;
  scope.unknowns = 0;
  scope.held = 0;
  scope.openPerLevel.fill(0);
  for (const node of nodes) {
    forgetHeld(node);
    node.decidedAs = undefined;
    node.endings = 0;
    if (isFinal(node.phase.status)) continue;
    scope.open++;
    if (node.phase.status === 'unknown') scope.unknowns++;
    countOpen(scope, node.plan, 1);
    node.decided = 0;
    node.taken = 0;
    node.failedEdges = 0;
    if (node.startedAt === null) node.inFinally = false;
  }
  countSources(scope, false);
  setLevel(scope);
}

function setLevel(scope: ScopeState): void {
  scope.level = scope.openPerLevel.findIndex((open) => open > 0);
  if (scope.level < 0) scope.level = scope.openPerLevel.length;
}

/** Counts the edges from decided sources, for all target nodes or only for those that are not final. */
export function countSources(scope: ScopeState, isForAll: boolean): void {
  for (const node of scope.nodes) {
    if (isFinal(node.phase.status) || node.decidedAs !== undefined) decideEdges(node, isForAll);
  }
}
