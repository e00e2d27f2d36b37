/** The scopes of a run as the fold keeps them: opening and closing rounds, and the counts of what is under way below. */
import { assert } from '../error.ts';
import type { GraphPlan, NodePlan, Work } from '../plan/plan.ts';
import type { Json } from '../value.ts';
import type { ScopeClosed } from './entry.ts';
import type { Held } from './held.ts';
import { newScope } from './new-state.ts';
import { pathOf } from './standing.ts';
import type { BodyState, NodeState, Realm, RunState, ScopeState } from './state.ts';
import { assign, handUp, newAssignments, varsOf } from './variables.ts';

/** True for nodes that run their body once; its scope has the path of the node. */
export function runsOnce({ work }: NodePlan): boolean {
  return work.kind === 'inline' || work.kind === 'dynamic' || work.kind === 'group';
}

/** `returned`: the graph that the action of a dynamic node returned. */
export function newBody({ work }: NodePlan, total: number, returned?: Json): BodyState {
  return {
    graph: graphOf(work, returned),
    returned,
    scopes: new Map(),
    items: [],
    total,
    next: 0,
    open: 0,
    succeeded: 0,
    failed: 0,
    results: [],
    error: null,
    isBroken: false,
    until: null,
    base: 0,
  };
}

function graphOf(work: Work, returned: Json | undefined): GraphPlan {
  if (work.kind === 'inline') return work.workflow.root;
  if (work.kind === 'dynamic') {
    const compiled = work.compile(returned ?? null);
    assert('body' in compiled, 'a graph that was accepted once is accepted again');
    return compiled.body;
  }
  assert('body' in work, `a node of kind ${work.kind} has a body`);
  return work.body;
}

/** Opens the next round. */
export function openScope(state: RunState, node: NodeState, realm: Realm): ScopeState {
  const body = node.body as BodyState;
  const round = body.next++;
  // Where rounds take each other's place, a failed one is of no use once the next one begins.
  if (node.plan.work.kind !== 'forEach') for (const old of [...body.scopes.values()]) dropScope(state, old);
  const scope = placeScope(state, node, round, realm);
  body.open++;
  if (scope.open === 0) state.settled.add(scope);
  return scope;
}

/** Puts a round where it is found. */
export function placeScope(state: RunState, node: NodeState, round: number, realm: Realm): ScopeState {
  const body = node.body as BodyState;
  const graph = round === WHOLE ? NO_NODES : body.graph;
  const scope = newScope(graph, scopePath(node, round), node, round, realm);
  body.scopes.set(round, scope);
  state.scopes.set(scope.path, scope);
  return scope;
}

/** The round of a loop that stands for all of them, when what was done in them is undone. */
const WHOLE = -1;

const NO_NODES: GraphPlan = {
  nodes: [],
  indexOf: new Map(),
  entries: [],
  ends: [],
  levels: [],
  output: undefined,
  outputReads: [],
};

/** The scope below which everything is that the node did. Of a loop it is an empty one beside the rounds. */
export function wholeOf(state: RunState, node: NodeState): ScopeState {
  const body = node.body as BodyState;
  return body.scopes.get(runsOnce(node.plan) ? 0 : WHOLE) ?? placeScope(state, node, WHOLE, node.scope.realm);
}

/** Not a round: nothing runs in the scope, and nothing comes of it. */
export function isWhole({ round }: ScopeState): boolean {
  return round === WHOLE;
}

function scopePath(node: NodeState, round: number): string {
  return runsOnce(node.plan) || round === WHOLE ? pathOf(node) : `${pathOf(node)}/${round}`;
}

/** `shared`: the variables are those around the node. */
export function realmInside(node: NodeState, input: Held): Realm {
  const { work } = node.plan;
  assert(work.kind === 'inline', 'a workflow inside');
  const { workflowId, version, onFailure, variables } = work.workflow;
  if (work.isolation !== 'shared') {
    const assigned = newAssignments(variables);
    return { input, vars: varsOf(variables), assigned, workflowId, version, onFailure };
  }
  const { realm } = node.scope;
  const { vars, assigned } = realm;
  for (const [name, held] of varsOf(variables)) if (!vars.has(name)) assign(realm, node, name, held);
  return { input, vars, assigned, workflowId, version, onFailure };
}

/** What a round came to. */
export function closeRound(state: RunState, scope: ScopeState, { output, error }: ScopeClosed): void {
  const node = scope.parent as NodeState;
  const body = node.body as BodyState;
  body.open--;
  state.settled.delete(scope);
  const isForEach = node.plan.work.kind === 'forEach';
  if (error !== undefined) {
    body.failed++;
    if (!isForEach || body.error === null) body.error = error;
    // The next round of a retryUntil sees that the one before it gave nothing.
    if (node.plan.work.kind === 'retryUntil') body.results.length = 0;
    scope.isClosed = true;
    return;
  }
  body.succeeded++;
  body.results[isForEach ? scope.round : 0] = output ?? onlyOutput(scope);
  dropScope(state, scope);
}

/** The output of the only end node, when it has completed. */
function onlyOutput({ graph, nodes }: ScopeState): Held | undefined {
  const [end] = graph.ends;
  const node = end === undefined ? undefined : (nodes[end.index] as NodeState);
  return node?.phase.status === 'completed' ? (node.output ?? { value: null }) : { value: null };
}

/** Forgets the rounds of a node that begins again as a whole, whatever is known of them. */
export function forgetRounds(state: RunState, { body }: NodeState): void {
  for (const scope of [...(body?.scopes.values() ?? [])]) {
    for (const node of scope.nodes) {
      state.unknown.delete(node);
      forgetRounds(state, node);
    }
    dropScope(state, scope);
  }
}

/** Forgets a scope and all below it, except where the outcome of something is still unknown. True: it is gone. */
export function dropScope(state: RunState, scope: ScopeState): boolean {
  let isKept = false;
  for (const node of scope.nodes) {
    if (state.unknown.has(node)) isKept = true;
    for (const inner of [...(node.body?.scopes.values() ?? [])]) if (!dropScope(state, inner)) isKept = true;
  }
  scope.isClosed = true;
  scope.isDone = true;
  state.settled.delete(scope);
  if (isKept) return false;
  handUp(scope);
  state.scopes.delete(scope.path);
  if (scope.undoing !== null) state.scopes.delete(scope.undoing.path);
  scope.parent?.body?.scopes.delete(scope.round);
  return true;
}

/** An attempt has begun (1) or ended (-1): everything around it knows. */
export function countBusy(state: RunState, node: NodeState, change: 1 | -1): void {
  for (let scope: ScopeState | undefined = node.scope; scope !== undefined; scope = scope.parent?.scope) {
    scope.busy += change;
    const { parent } = scope;
    if (parent !== null) parent.busy += change;
    if (change < 0) noticeStopped(state, scope);
  }
}

/** The decision must look at what undoes a scope, and was told to stop, once nothing of it runs. */
export function noticeStopped(state: RunState, scope: ScopeState): void {
  if (scope.undoes === null || scope.parent === null) return;
  if (scope.stopping !== null && scope.busy === 0 && !scope.isClosed) state.settled.add(scope);
}
