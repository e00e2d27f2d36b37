/** Checks a graph as a whole: cycles, unreachable nodes, joins that cannot be satisfied. */
import type { Problem } from '../problem.ts';
import { type Cycle, findCycles } from './cycles.ts';
import { edgeCountAt, edgePath, edgesAt, type Graph } from './graph.ts';
import { entryNodes, topologicalOrder } from './order.ts';

/** Maximum number of ids shown for a cycle or a list of nodes. */
const MAX_IDS_SHOWN = 10;

/** `isTightened`: earlier versions accepted the graph. */
export type GraphProblem = Problem & { readonly isTightened?: boolean };

export interface JoinDefinition {
  readonly join?: 'all' | 'any' | 'ended' | number;
}

export function checkGraph(graph: Graph, nodes: Readonly<Record<string, JoinDefinition>>): GraphProblem[] {
  const problems = checkJoins(graph, nodes);
  if (topologicalOrder(graph).length === graph.ids.length) return problems;
  const { cycles, cyclic } = findCycles(graph);
  for (const cycle of cycles) problems.push(cycleProblem(graph, cycle));
  const unreachable = unreachableProblem(graph, cyclic);
  if (unreachable) problems.push(unreachable);
  return problems;
}

function checkJoins(graph: Graph, nodes: Readonly<Record<string, JoinDefinition>>): GraphProblem[] {
  const problems: GraphProblem[] = [];
  graph.ids.forEach((id, node) => {
    const join = nodes[id]?.join;
    if (typeof join !== 'number') return;
    const sources = new Set(Array.from(edgesAt(graph.incoming, node), (edge) => graph.edgeFrom[edge])).size;
    if (join <= sources) return;
    const others = sources === 1 ? '1 node' : `${sources} nodes`;
    problems.push({
      severity: 'error',
      code: 'JOIN_TOO_HIGH',
      message: `the node '${id}' waits for ${join} nodes but has edges from ${others}`,
      hint: sources === 0 ? 'remove the join' : `use a join of at most ${sources}, or all`,
      path: ['nodes', id, 'join'],
      // Joins counted edges once, and two edges may have one source.
      isTightened: join <= edgeCountAt(graph.incoming, node),
    });
  });
  return problems;
}

function cycleProblem(graph: Graph, cycle: Cycle): Problem {
  const ids = cycle.map((edge) => graph.ids[graph.edgeFrom[edge] ?? 0] as string);
  return {
    severity: 'error',
    code: 'CYCLE',
    message: `the nodes wait for each other: ${showCycle(ids)}`,
    hint: 'remove one of these edges',
    path: edgePath(graph, cycle.at(-1) as number),
  };
}

/** Formats a cycle as `a → b → c → a`; the middle of a long one is omitted. */
function showCycle(ids: readonly string[]): string {
  const first = ids[0] as string;
  if (ids.length <= MAX_IDS_SHOWN) return [...ids, first].join(' → ');
  const half = MAX_IDS_SHOWN / 2;
  const hidden = `… (${ids.length - MAX_IDS_SHOWN} more)`;
  return [...ids.slice(0, half), hidden, ...ids.slice(-half), first].join(' → ');
}

/** Nodes outside all cycles that no path from an entry node reaches. */
function unreachableProblem(graph: Graph, cyclic: Uint8Array): Problem | undefined {
  const reached = new Uint8Array(graph.ids.length);
  const queue = entryNodes(graph);
  for (const node of queue) reached[node] = 1;
  for (const node of queue) {
    for (const edge of edgesAt(graph.outgoing, node)) {
      const next = graph.edgeTo[edge] ?? 0;
      if (reached[next] === 1) continue;
      reached[next] = 1;
      queue.push(next);
    }
  }
  const lost = graph.ids.filter((_, node) => reached[node] === 0 && cyclic[node] === 0);
  const [first] = lost;
  if (first === undefined) return undefined;
  const more = lost.length > MAX_IDS_SHOWN ? ` and ${lost.length - MAX_IDS_SHOWN} more` : '';
  return {
    severity: 'warning',
    code: 'UNREACHABLE',
    message: `reachable only through a cycle: ${lost.slice(0, MAX_IDS_SHOWN).join(', ')}${more}`,
    hint: 'they become reachable when the cycle is broken',
    path: ['nodes', first],
  };
}
