/** The scopes of a run as the fold keeps them: opens and closes iterations, and counts the attempts under way below. */
import { assert } from '../../error.ts';
import type { GraphPlan, NodePlan, Work } from '../../plan/plan.ts';
import type { Json } from '../../value.ts';
import type { ScopeClosed } from '../journal/entry.ts';
import { NULL_VALUE, type StoredValue } from '../journal/stored-value.ts';
import { newScope } from './new-state.ts';
import { bodyOf, pathOf, requireBody } from './selectors.ts';
import type { BodyState, NodeState, Realm, RunState, ScopeState } from './state.ts';
import { assign, handUp, newAssignments, varsOf } from './variables.ts';

/** True for nodes that run their body once; the scope of the body has the path of the node. */
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

/** Opens the next iteration. */
export function openScope(state: RunState, node: NodeState, realm: Realm): ScopeState {
  const body = requireBody(node);
  const iteration = body.next++;
  // Where iterations replace each other, a failed one is not needed once the next one begins.
  if (node.plan.work.kind !== 'forEach') for (const old of [...body.scopes.values()]) dropScope(state, old);
  const scope = addScope(state, node, iteration, realm);
  body.open++;
  if (scope.open === 0) state.endChecks.add(scope);
  return scope;
}

/** Adds the scope of an iteration to the state. */
export function addScope(state: RunState, node: NodeState, iteration: number, realm: Realm): ScopeState {
  const body = requireBody(node);
  const graph = iteration === WHOLE ? NO_NODES : body.graph;
  const scope = newScope(graph, scopePath(node, iteration), node, iteration, realm);
  body.scopes.set(iteration, scope);
  state.scopes.set(scope.path, scope);
  return scope;
}

/** The iteration that stands for all iterations of a loop when they are undone together. */
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

/** The scope that covers everything a composite node did. For a loop it is an empty scope beside the iterations. */
export function wholeOf(state: RunState, node: NodeState): ScopeState {
  const body = requireBody(node);
  return body.scopes.get(runsOnce(node.plan) ? 0 : WHOLE) ?? addScope(state, node, WHOLE, node.scope.realm);
}

/** The scope stands for all iterations: nothing runs in it, and it has no result. */
export function isWhole({ iteration }: ScopeState): boolean {
  return iteration === WHOLE;
}

function scopePath(node: NodeState, iteration: number): string {
  return runsOnce(node.plan) || iteration === WHOLE ? pathOf(node) : `${pathOf(node)}/${iteration}`;
}

/** The realm of an inline workflow. With isolation `shared` it has the variables of the scope around the node. */
export function realmInside(node: NodeState, input: StoredValue): Realm {
  const { work } = node.plan;
  assert(work.kind === 'inline', 'a workflow inside');
  const { workflowId, version, onFailure, variables } = work.workflow;
  if (work.isolation !== 'shared') {
    const assigned = newAssignments(variables);
    return { input, vars: varsOf(variables), assigned, workflowId, version, onFailure };
  }
  const { realm } = node.scope;
  const { vars, assigned } = realm;
  for (const [name, stored] of varsOf(variables)) if (!vars.has(name)) assign(realm, node, name, stored);
  return { input, vars, assigned, workflowId, version, onFailure };
}

/** Records the result of an iteration. */
export function closeIteration(state: RunState, scope: ScopeState, { output, error }: ScopeClosed): void {
  const { parent: node } = scope;
  assert(node !== null, `'${scope.path}' is an iteration`);
  const body = requireBody(node);
  body.open--;
  state.endChecks.delete(scope);
  const isForEach = node.plan.work.kind === 'forEach';
  if (error !== undefined) {
    body.failed++;
    if (!isForEach || body.error === null) body.error = error;
    // The next iteration of a retryUntil sees that the previous one gave no result.
    if (node.plan.work.kind === 'retryUntil') body.results.length = 0;
    scope.isClosed = true;
    return;
  }
  body.succeeded++;
  body.results[isForEach ? scope.iteration : 0] = output ?? onlyOutput(scope);
  dropScope(state, scope);
}

/** The output of the only end node, if it completed. */
function onlyOutput({ graph, nodes }: ScopeState): StoredValue | undefined {
  const [end] = graph.ends;
  const node = end === undefined ? undefined : nodes[end.index];
  return node?.phase.status === 'completed' ? (node.output ?? NULL_VALUE) : NULL_VALUE;
}

/** Drops the iterations of a node that begins again as a whole, even those with unknown outcomes. */
export function forgetIterations(state: RunState, composite: NodeState): void {
  for (const scope of [...(bodyOf(composite)?.scopes.values() ?? [])]) {
    for (const node of scope.nodes) {
      state.unknown.delete(node);
      forgetIterations(state, node);
    }
    dropScope(state, scope);
  }
}

/** Drops a scope and all below it, except where an outcome is still unknown. Returns whether the scope is gone. */
export function dropScope(state: RunState, scope: ScopeState): boolean {
  let isKept = false;
  for (const node of scope.nodes) {
    if (state.unknown.has(node)) isKept = true;
    for (const inner of [...(bodyOf(node)?.scopes.values() ?? [])]) if (!dropScope(state, inner)) isKept = true;
  }
  scope.isClosed = true;
  scope.isDone = true;
  state.endChecks.delete(scope);
  if (isKept) return false;
  handUp(scope);
  state.scopes.delete(scope.path);
  if (scope.undoing !== null) state.scopes.delete(scope.undoing.path);
  if (scope.parent !== null) bodyOf(scope.parent)?.scopes.delete(scope.iteration);
  return true;
}

/** Counts an attempt that began (1) or ended (-1) in every scope and composite node around it. */
export function countBusy(state: RunState, node: NodeState, change: 1 | -1): void {
  for (let scope: ScopeState | undefined = node.scope; scope !== undefined; scope = scope.parent?.scope) {
    scope.busy += change;
    const { parent } = scope;
    if (parent !== null) parent.busy += change;
    if (change < 0) noticeStopped(state, scope);
  }
}

/** Asks for an end check of a stopped undo scope once none of its attempts runs. */
export function noticeStopped(state: RunState, scope: ScopeState): void {
  if (scope.undoes === null || scope.parent === null) return;
  if (scope.stopping !== null && scope.busy === 0 && !scope.isClosed) state.endChecks.add(scope);
}
