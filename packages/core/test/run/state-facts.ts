/**
 * A state, field by field, as plain data: for comparing a restored or folded state with the decided one. A new field of
 * the state is compared unless it is named here.
 */

import { expect } from 'vitest';
import { isFinal, isStopped } from '../../src/run/state/selectors.ts';
import type { BodyState, ScopeState } from '../../src/run/state/state.ts';
import { isDue } from '../../src/run/timers/timers.ts';
import { needsEndCheck } from '../../src/run/undo/transactions.ts';
import { bodyOf, type NodeState, pathOf, type RunState } from '../../src/run.ts';

/** The working sets of a state (I3 in `state.ts`): `workFacts` has what they say. */
const WORKING_SETS = [
  'dispatched',
  'dispatchedRemote',
  'ready',
  'readyRemote',
  'timers',
  'released',
  'endChecks',
  'hasOldStops',
  'dispatchState',
  'blockedByLevel',
];
const GIVEN = ['plan', 'projectCeiling', 'graph'];
const LEFT_OUT: ReadonlySet<string> = new Set([...WORKING_SETS, ...GIVEN]);

export function stateFacts(state: RunState): unknown {
  return {
    ...plainFields(state, ['root', 'scopes', 'running', 'unknown', 'gated', 'children', 'listening']),
    running: pathsOf(state.running),
    unknown: pathsOf(state.unknown),
    gated: pathsOf(state.gated),
    children: pathsOf(state.children),
    // Waits in the order in which they take signals.
    listening: Array.from(state.listening, pathOf),
    scopes: Array.from(state.scopes.values(), scopeFacts),
    work: workFacts(state),
  };
}

/**
 * The items of the working sets that still apply. Others may be in one state and not in another one: a fold leaves
 * items that the decision has handled already. A node that is handed to the queue is ready for everyone else.
 */
function workFacts(state: RunState): unknown {
  const nodes = [...state.scopes.values()].flatMap((scope) => scope.nodes);
  return {
    queued: nodes
      .filter((node) => node.dispatchState !== 'none' && !isStopped(state, node))
      .map((node) => `${pathOf(node)} ${node.dispatchState === 'blocked' ? 'blocked' : 'ready'}`),
    released: pathsOf([...state.released].filter((node) => !isStopped(state, node))),
    endChecks: [...state.endChecks]
      .filter((ended) => needsEndCheck(state, ended))
      .map(nameOf)
      .sort(),
    timers: timerFacts(state),
    hasOldStops: state.hasOldStops && [...state.scopes.values()].some(isOldStop),
  };
}

/**
 * The first time of each kind and node: a later one comes when the node has moved on. The grace time of a scope is also
 * that of the run or node which is stopped around it, so only its times are compared.
 */
function timerFacts(state: RunState): readonly string[] {
  const first = new Map<string, number>();
  for (const item of state.timers) {
    if (!isDue(state, item)) continue;
    const { at, kind, node } = item;
    const what = kind === 'stop' ? `stop ${at}` : `${kind} ${nameOf(node ?? state.root)}`;
    first.set(what, Math.min(at, first.get(what) ?? at));
  }
  return Array.from(first, ([what, at]) => `${what} at ${at}`).sort();
}

function nameOf(what: ScopeState | NodeState): string {
  return 'nodes' in what ? `scope '${what.path}'` : pathOf(what);
}

function isOldStop({ stopping, undoes, isClosed }: ScopeState): boolean {
  return stopping !== null && stopping.finally === undefined && undoes === null && !isClosed;
}

/** The working sets agree with each other: a missing item would stop the run. */
export function checkWorkingSets(state: RunState): void {
  const nodes = [...state.scopes.values()].flatMap((scope) => scope.nodes);
  const dispatched = nodes.filter((node) => node.dispatchState === 'dispatched');
  const isRemote = (node: NodeState): boolean => node.plan.route !== '';
  if (state.dispatched !== dispatched.length) expect(state.dispatched).toBe(dispatched.length);
  if (state.dispatchedRemote !== dispatched.filter(isRemote).length)
    expect(state.dispatchedRemote).toBe(dispatched.filter(isRemote).length);
  const [here, there] = [new Set(state.ready), new Set(state.readyRemote)];
  for (const node of nodes) {
    const dispatchState = node.dispatchState;
    if (dispatchState === 'ready' && !(isRemote(node) ? there : here).has(node))
      expect.fail(`${pathOf(node)} is in no heap`);
    if (node.scope.blockedByLevel.has(node) !== (dispatchState === 'blocked'))
      expect.fail(`${pathOf(node)} is ${dispatchState}, and is among the blocked or not`);
  }
}

function scopeFacts(scope: ScopeState): unknown {
  const { parent, undoing, undoes, realm, nodes } = scope;
  return {
    ...plainFields(scope, ['nodes', 'parent', 'undoing', 'undoes', 'realm']),
    parent: parent === null ? null : pathOf(parent),
    undoing: undoing?.path,
    undoes: undoes?.path,
    realm: {
      ...plainFields(realm, ['vars', 'assigned']),
      vars: Object.fromEntries(realm.vars),
      assigned: {
        count: realm.assigned.count,
        byNode: Array.from(realm.assigned.byNode, ([node, own]) => [pathOf(node), Object.fromEntries(own)]),
      },
    },
    nodes: nodes.map(nodeFacts),
  };
}

function nodeFacts(node: NodeState): unknown {
  const { phase, plan } = node;
  const body = bodyOf(node);
  // The counts of a final node are no longer kept in step with its sources.
  const counts = isFinal(phase.status) ? ['decided', 'taken', 'failedEdges', 'heldSources', 'inFinally'] : [];
  return {
    id: plan.id,
    ...plainFields(node, ['scope', 'phase', ...counts]),
    phase: plainFields(phase, ['body']),
    body: body && bodyFacts(body),
  };
}

function bodyFacts(body: BodyState): unknown {
  return { ...plainFields(body, ['scopes', 'results']), rounds: [...body.scopes.keys()], results: [...body.results] };
}

function pathsOf(nodes: Iterable<NodeState>): string[] {
  return Array.from(nodes, pathOf).sort();
}

function plainFields(object: object, elsewhere: readonly string[]): Record<string, unknown> {
  const fields = Object.entries(object).filter(([key]) => !LEFT_OUT.has(key) && !elsewhere.includes(key));
  return Object.fromEntries(fields);
}
