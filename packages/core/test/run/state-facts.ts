/**
 * A state, field by field, as plain data: for comparing a restored or folded state with the decided one. A new field of
 * the state is compared unless it is named here.
 */

import { isFinal } from '../../src/run/state/selectors.ts';
import type { BodyState, ScopeState } from '../../src/run/state/state.ts';
import { bodyOf, type NodeState, pathOf, type RunState } from '../../src/run.ts';

/** Fields about this process, and heaps, whose order `wakeTime` checks. */
const OF_THE_PROCESS = [
  'dispatched',
  'dispatchedRemote',
  'ready',
  'readyRemote',
  'timers',
  'released',
  'dispatchState',
  'blockedByLevel',
];
/** Work lists: a fold leaves items that the decision has handled already, and handling them again has no effect. */
const WORK_LISTS = ['endChecks', 'hasOldStops'];
const GIVEN = ['plan', 'projectCeiling', 'graph'];
const LEFT_OUT: ReadonlySet<string> = new Set([...OF_THE_PROCESS, ...WORK_LISTS, ...GIVEN]);

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
  };
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
  const counts = isFinal(phase.status) ? ['decided', 'taken', 'failedEdges', 'inFinally'] : [];
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
