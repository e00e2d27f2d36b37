/**
 * The graph of a workflow or body, by index. Node `i` is the i-th node of the definition. Edges are numbered; adjacency
 * lists contain edge numbers, packed: the edges of node `i` are `edges[start[i]]` to `edges[start[i + 1] - 1]`. 100,000
 * nodes and 500,000 edges take 11 MB, not counting the ids.
 */
import type { DocumentPath } from '../problem.ts';

export interface Graph {
  readonly ids: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly edgeFrom: Int32Array;
  readonly edgeTo: Int32Array;
  /** Index into the definition's `edges`; −1 − k for the k-th entry of the target's `needs`; `FROM_CASE`. */
  readonly edgeOrigin: Int32Array;
  /** Document paths of the edges that are cases of a branch. */
  readonly casePaths: ReadonlyMap<number, DocumentPath>;
  readonly outgoing: Adjacency;
  readonly incoming: Adjacency;
}

/** The origin of an edge that comes from a case of a branch. */
export const FROM_CASE = -0x7fffffff;

export interface Adjacency {
  readonly start: Int32Array;
  readonly edges: Int32Array;
}

/** The edge numbers of a node in definition order; a view, not a copy. */
export function edgesAt(adjacency: Adjacency, node: number): Int32Array {
  return adjacency.edges.subarray(adjacency.start[node], adjacency.start[node + 1]);
}

export function edgeCountAt(adjacency: Adjacency, node: number): number {
  return (adjacency.start[node + 1] ?? 0) - (adjacency.start[node] ?? 0);
}

/** Packs edges by one of their ends with a counting sort: linear and stable. */
export function packAdjacency(nodeCount: number, ends: Int32Array): Adjacency {
  const start = new Int32Array(nodeCount + 1);
  for (let edge = 0; edge < ends.length; edge++) {
    const node = ends[edge] ?? 0;
    start[node + 1] = (start[node + 1] ?? 0) + 1;
  }
  for (let node = 0; node < nodeCount; node++) start[node + 1] = (start[node + 1] ?? 0) + (start[node] ?? 0);
  const next = start.slice();
  const edges = new Int32Array(ends.length);
  for (let edge = 0; edge < ends.length; edge++) {
    const node = ends[edge] ?? 0;
    const slot = next[node] ?? 0;
    edges[slot] = edge;
    next[node] = slot + 1;
  }
  return { start, edges };
}

/** The nodes from which edges lead to a node, each once. */
export function predecessorsOf(graph: Graph, node: number): number[] {
  return [...new Set([...edgesAt(graph.incoming, node)].map((edge) => graph.edgeFrom[edge] ?? 0))];
}

export function edgePath(graph: Graph, edge: number): DocumentPath {
  const origin = graph.edgeOrigin[edge] ?? 0;
  if (origin >= 0) return ['edges', origin];
  if (origin === FROM_CASE) return graph.casePaths.get(edge) as DocumentPath;
  return ['nodes', graph.ids[graph.edgeTo[edge] ?? 0] as string, 'needs', -1 - origin];
}
