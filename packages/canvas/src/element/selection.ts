/** The selected nodes and edges of a graph. */
import type { Graph } from '../model/graph.ts';

export class Selection {
  #nodes: ReadonlySet<string> = new Set();
  #edges: ReadonlySet<string> = new Set();

  get nodes(): ReadonlySet<string> {
    return this.#nodes;
  }

  get edges(): ReadonlySet<string> {
    return this.#edges;
  }

  get isEmpty(): boolean {
    return this.#nodes.size + this.#edges.size === 0;
  }

  /** Returns the nodes that are selected now, or were; undefined: nothing has changed. What does not exist is left out. */
  set(graph: Graph, nodeIds: Iterable<string>, edgeIds: Iterable<string>): string[] | undefined {
    const nodes = new Set([...nodeIds].filter((id) => graph.nodes.has(id)));
    const edges = new Set([...edgeIds].filter((id) => graph.edges.has(id)));
    if (isSame(nodes, this.#nodes) && isSame(edges, this.#edges)) return undefined;
    const changed = [...nodes, ...this.#nodes].filter((id) => !nodes.has(id) || !this.#nodes.has(id));
    this.#nodes = nodes;
    this.#edges = edges;
    return changed;
  }

  /** Another graph is shown. */
  keep(graph: Graph): void {
    this.set(graph, this.#nodes, this.#edges);
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}
