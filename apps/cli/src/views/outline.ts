/**
 * A graph as an indented list, in topological order. The indentation is the graph's dominator tree, flattened so
 * that it says something: a chain stays in its column, the branches of a fork are indented under it, and the node
 * where they meet again comes back to the fork's column.
 *
 *     fetch
 *     ├─ charge
 *     │  receipt
 *     ├─ reserve
 *     ship
 */
import type { WorkflowGraph } from './workflow-graph.ts';

export interface OutlineRow {
  readonly id: string;
  readonly name: string;
  /** Lines of the tree in front of the node. */
  readonly prefix: string;
  /** The body of a composite node. */
  readonly body?: readonly OutlineRow[];
}

/** Larger graphs are listed without indentation. */
const MAX_INDENTED_NODES = 500;
const MAX_DEPTH = 8;

export function outlineOf(graph: WorkflowGraph): OutlineRow[] {
  const row = (index: number, prefix: string): OutlineRow => {
    const node = graph.nodes[index] as WorkflowGraph['nodes'][number];
    return { id: node.id, name: node.name, prefix, ...(node.body !== undefined && { body: outlineOf(node.body) }) };
  };
  if (graph.nodes.length > MAX_INDENTED_NODES) return graph.order.map((index) => row(index, ''));
  const children = dominatorTree(graph);
  const rows: OutlineRow[] = [];
  const ROOT = graph.nodes.length;

  const visitAll = (parent: number, prefix: string, depth: number): void => {
    const all = children[parent] as number[];
    const branches = all.filter((child) => isBranch(graph, child, all.length, parent === ROOT, depth));
    const flat = all.filter((child) => !branches.includes(child));
    branches.forEach((child, at) => {
      const isLast = at === branches.length - 1 && flat.length === 0;
      rows.push(row(child, `${prefix}${isLast ? '└─ ' : '├─ '}`));
      visitAll(child, `${prefix}${isLast ? '   ' : '│  '}`, depth + 1);
    });
    for (const child of flat) {
      rows.push(row(child, prefix));
      visitAll(child, prefix, depth);
    }
  };
  visitAll(ROOT, '', 0);
  return rows;
}

/** A child is indented when it is one of several ways that leave its parent; entry nodes and joins are not. */
function isBranch(graph: WorkflowGraph, child: number, siblings: number, isEntry: boolean, depth: number): boolean {
  if (isEntry || siblings === 1 || depth >= MAX_DEPTH) return false;
  const sources = new Set(graph.incoming[child]?.map((edge) => edge.from));
  return sources.size === 1;
}

/** Children of every node, the imaginary root (index `nodes.length`) last; siblings in topological order. */
function dominatorTree(graph: WorkflowGraph): number[][] {
  const ROOT = graph.nodes.length;
  const dominator = new Array<number>(ROOT + 1).fill(ROOT);
  const indexOf = new Array<number>(ROOT + 1).fill(-1);
  graph.order.forEach((index, at) => {
    indexOf[index] = at;
  });
  const common = (a: number, b: number): number => {
    while (a !== b) {
      if ((indexOf[a] as number) > (indexOf[b] as number)) a = dominator[a] as number;
      else b = dominator[b] as number;
    }
    return a;
  };
  const children: number[][] = Array.from({ length: ROOT + 1 }, () => []);
  for (const index of graph.order) {
    // Edges that point backwards belong to a cycle of an invalid file.
    const sources = (graph.incoming[index] ?? [])
      .map((edge) => edge.from)
      .filter((from) => (indexOf[from] as number) < (indexOf[index] as number));
    const parent = sources.length === 0 ? ROOT : sources.reduce(common);
    dominator[index] = parent;
    children[parent]?.push(index);
  }
  return children;
}
