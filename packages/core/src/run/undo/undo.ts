/**
 * Undo: a separate scope whose nodes are the compensations of completed nodes, last first, one after the other. A
 * compensation that fails does not keep the others from running.
 */
import { assert } from '../../error.ts';
import { ExpressionError } from '../../expression/index.ts';
import type { ActionWork, CompensationPlan, GraphPlan, Mutable, NodePlan } from '../../plan/plan.ts';
import type { Json } from '../../value.ts';
import { recount } from '../joins/joins.ts';
import { newNode, newScope } from '../state/new-state.ts';
import { isFinal } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState, UndoItem } from '../state/state.ts';

const UNDO = '~undo';

/** The items to undo in a scope, in the order of their compensations. */
export function toUndo(state: RunState, scope: ScopeState): UndoItem[] {
  const prefix = scope.path === '' ? '' : `${scope.path}/`;
  return state.undo.filter(({ path }) => path.startsWith(prefix)).reverse();
}

export function openUndo(state: RunState, scope: ScopeState, items: readonly UndoItem[]): ScopeState {
  const path = scope.path === '' ? UNDO : `${scope.path}/${UNDO}`;
  const undoing = newScope(undoGraph(state, items), path, scope.parent, scope.iteration, scope.realm, scope);
  for (const [at, node] of undoing.nodes.entries()) prepare(state, node, items[at]);
  undoing.undoItems = items;
  scope.undoing = undoing;
  state.scopes.set(path, undoing);
  return undoing;
}

/** Inserts a compensation after the one that is under way and before those that have not begun. */
export function insertUndo(state: RunState, undoing: ScopeState, item: UndoItem): void {
  const current = undoing.nodes.findIndex(({ phase }) => !isFinal(phase.status));
  const at = current < 0 ? undoing.nodes.length : current + 1;
  const graph = undoing.graph as UndoGraph;
  const plan = undoNode(state, item);
  graph.nodes.splice(at, 0, plan);
  chain(graph);
  const node = newNode(plan, undoing);
  prepare(state, node, item);
  undoing.nodes.splice(at, 0, node);
  undoing.undoItems = undoing.undoItems.toSpliced(at, 0, item);
  undoing.openPerLevel.push(0);
  undoing.isDone = false;
  recount(undoing);
}

function prepare(state: RunState, node: NodeState, item: UndoItem | undefined): void {
  if (item === undefined) return;
  const { input, generation } = item;
  node.input = input;
  node.generation = generation;
  // Compensations before a retry, of the run or of a composite node, have used these numbers under the same path.
  if (state.generations > 0) node.attempts = state.lastAttempt;
}

/** The graph of an undo scope. It grows while it runs if more nodes turn out to be completed. */
interface UndoGraph extends GraphPlan {
  readonly nodes: Mutable<NodePlan>[];
  readonly indexOf: Map<string, number>;
  readonly entries: NodePlan[];
  readonly ends: NodePlan[];
  readonly levels: NodePlan[][];
}

function undoGraph(state: RunState, items: readonly UndoItem[]): GraphPlan {
  const nodes = items.map((item) => undoNode(state, item));
  const graph: UndoGraph = {
    nodes,
    indexOf: new Map(),
    entries: [],
    ends: [],
    levels: [],
    output: undefined,
    outputReads: [],
  };
  chain(graph);
  return graph;
}

/** Chains the compensations: each follows the one before it. */
function chain({ nodes, indexOf, entries, ends, levels }: UndoGraph): void {
  let before: Mutable<NodePlan> | undefined;
  for (const [index, node] of nodes.entries()) {
    node.index = index;
    node.level = index;
    indexOf.set(node.id, index);
    levels[index] = [node];
    const edge = before && { ...PLAIN_EDGE, key: node.id, from: before, to: node };
    node.incoming = edge === undefined ? [] : [edge];
    node.sources = node.incoming.length;
    if (before !== undefined) before.outgoing = node.incoming;
    before = node;
  }
  if (before === undefined) return;
  before.outgoing = [];
  const [first] = nodes;
  if (first !== undefined) entries[0] = first;
  ends[0] = before;
}

const PLAIN_EDGE = {
  on: 'success',
  when: undefined,
  match: undefined,
  matchError: undefined,
  reads: [],
  twins: undefined,
  isTwin: false,
} as const;

function undoNode(state: RunState, item: UndoItem): Mutable<NodePlan> {
  const { action, effect, granted, credentials, retry, timeouts, route } = compensationAt(state, item);
  const work: ActionWork = { kind: 'action', action, effect, granted, credentials, with: withOf(item) };
  return {
    index: 0,
    // Ids have no colon, so no other node has this id.
    id: item.path.replaceAll('/', ':'),
    name: `undo ${item.path}`,
    incoming: [],
    outgoing: [],
    sources: 0,
    join: 'all',
    level: 0,
    rank: 0,
    estimateMs: 0,
    isEstimated: true,
    priority: 9,
    route,
    enabled: true,
    when: undefined,
    onError: 'ignore',
    retry,
    timeouts,
    settings: undefined,
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

/** Finds the compensation in the plan; the node itself may have left memory long ago. */
export function compensationAt(state: RunState, item: UndoItem): CompensationPlan {
  const compensation = findCompensation(state, item);
  assert(compensation !== undefined, `the plan can undo '${item.path}'`);
  return compensation;
}

/** Returns undefined if the plan has no such node, or the node no compensation. */
export function findCompensation({ plan, undoGraphs }: RunState, item: UndoItem): CompensationPlan | undefined {
  const { path, graphs } = item;
  const steps = path.split('/');
  const returned = graphs.map((key) => undoGraphs[key]);
  let graph = plan.root;
  for (let at = 0; ; at++) {
    const node = graph.nodes[graph.indexOf.get(steps[at] ?? '') ?? -1];
    if (node === undefined || at === steps.length - 1) return node?.compensate;
    const { work } = node;
    if (work.kind === 'inline') graph = work.workflow.root;
    else if (work.kind === 'dynamic') {
      const compiled = work.compile(returned.shift() ?? null);
      if (!('body' in compiled)) return undefined;
      graph = compiled.body;
    } else if ('body' in work) {
      graph = work.body;
      if (work.kind !== 'group') at++;
    } else return undefined;
  }
}
