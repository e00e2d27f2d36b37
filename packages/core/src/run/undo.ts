/**
 * Undoing: a scope of its own whose nodes are the compensations of what has completed, last first, one after the other.
 * One that fails is ignored, as far as the others go, so every one of them gets its turn.
 */
import { assert } from '../error.ts';
import { ExpressionError } from '../expression/index.ts';
import type { ActionWork, CompensationPlan, EdgePlan, GraphPlan, NodePlan, Plan } from '../plan/plan.ts';
import type { Json } from '../value.ts';
import { type NodeState, newScope, type RunState, type ScopeState, type UndoItem } from './state.ts';

const UNDO = '~undo';

/** What would be undone in a scope, in the order in which that would happen. */
export function toUndo(state: RunState, scope: ScopeState): UndoItem[] {
  const prefix = scope.path === '' ? '' : `${scope.path}/`;
  return state.undo.filter(({ path }) => path.startsWith(prefix)).reverse();
}

export function openUndo(state: RunState, scope: ScopeState, items: readonly UndoItem[]): ScopeState {
  const path = scope.path === '' ? UNDO : `${scope.path}/${UNDO}`;
  const undoing = newScope(undoGraph(state.plan, items), path, scope.parent, scope.round, scope.realm, scope);
  for (const [at, { input, generation }] of items.entries()) {
    const node = undoing.nodes[at] as NodeState;
    node.input = input;
    node.generation = generation;
    // What was undone before a retry, under the same path, has used these numbers.
    if (state.reopened > 0) node.attempts = state.lastAttempt;
  }
  undoing.undoItems = items;
  scope.undoing = undoing;
  state.scopes.set(path, undoing);
  return undoing;
}

function undoGraph(plan: Plan, items: readonly UndoItem[]): GraphPlan {
  const nodes = items.map((item, index) => undoNode(plan, item, index));
  for (const [index, node] of nodes.entries()) {
    const next = nodes[index + 1];
    if (next === undefined) break;
    const edge: EdgePlan = { ...PLAIN_EDGE, key: next.id, from: node, to: next };
    (node.outgoing as EdgePlan[]).push(edge);
    (next.incoming as EdgePlan[]).push(edge);
  }
  return {
    nodes,
    indexOf: new Map(nodes.map(({ id, index }) => [id, index])),
    entries: nodes.slice(0, 1),
    ends: nodes.slice(-1),
    levels: nodes.map((node) => [node]),
    output: undefined,
    outputReads: [],
  };
}

const PLAIN_EDGE = { on: 'success', when: undefined, match: undefined, matchError: undefined, reads: [] } as const;

function undoNode(plan: Plan, item: UndoItem, index: number): NodePlan {
  const { action, effect, granted, retry, timeouts } = compensationAt(plan, item);
  const work: ActionWork = { kind: 'action', action, effect, granted, with: withOf(item) };
  return {
    index,
    // Ids have no colon, so this is nobody else's.
    id: item.path.replaceAll('/', ':'),
    name: `undo ${item.path}`,
    incoming: [],
    outgoing: [],
    join: 'all',
    level: index,
    rank: 0,
    estimateMs: 0,
    isEstimated: true,
    priority: 9,
    enabled: true,
    when: undefined,
    onError: 'ignore',
    retry,
    timeouts,
    work,
    compensate: undefined,
    cache: undefined,
    concurrency: undefined,
    rateLimit: undefined,
    breaks: false,
    emits: undefined,
    reads: [],
  };
}

/** The parameters were resolved when the node completed; where that failed, so does the compensation. */
function withOf({ error }: UndoItem): ActionWork['with'] {
  return {
    references: [],
    evaluate(): Json {
      if (error === undefined) return null;
      throw new ExpressionError('EXPRESSION_VALUE', error.message);
    },
  } as unknown as ActionWork['with'];
}

/** Finds the plan of a node that may be long gone from memory. */
function compensationAt(plan: Plan, { path, graphs }: UndoItem): CompensationPlan {
  const steps = path.split('/');
  const returned = [...graphs];
  let graph = plan.root;
  for (let at = 0; ; at++) {
    const node = graph.nodes[graph.indexOf.get(steps[at] as string) ?? -1];
    assert(node !== undefined, `the plan has the node '${path}'`);
    if (at === steps.length - 1) {
      assert(node.compensate !== undefined, `'${path}' can be undone`);
      return node.compensate;
    }
    const { work } = node;
    if (work.kind === 'inline') graph = work.workflow.root;
    else if (work.kind === 'dynamic') {
      const compiled = work.compile(returned.shift() ?? null);
      assert('body' in compiled, 'a graph that was accepted once is accepted again');
      graph = compiled.body;
    } else {
      assert('body' in work, `'${path}' is in a body`);
      graph = work.body;
      at++;
    }
  }
}
