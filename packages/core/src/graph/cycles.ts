/** Strongly connected components and a short cycle in each. */
import { edgesAt, type Graph } from './graph.ts';

/** The edges along a cycle; the last one leads back to the source of the first. */
export type Cycle = readonly number[];

export interface Cycles {
  /** One cycle for every strongly connected component. */
  readonly cycles: readonly Cycle[];
  /** 1 for every node of such a component. */
  readonly cyclic: Uint8Array;
}

export function findCycles(graph: Graph): Cycles {
  const component = stronglyConnected(graph);
  const sizes = new Int32Array(graph.ids.length);
  for (const id of component) sizes[id] = (sizes[id] ?? 0) + 1;
  const cyclic = new Uint8Array(graph.ids.length);
  const cycles: Cycle[] = [];
  const done = new Uint8Array(graph.ids.length);
  component.forEach((id, node) => {
    if ((sizes[id] ?? 0) < 2) return;
    cyclic[node] = 1;
    if (done[id] === 1) return;
    done[id] = 1;
    cycles.push(shortestCycle(graph, node, component));
  });
  return { cycles, cyclic };
}

/** Breadth-first search from `start` inside its component, until an edge leads back. */
function shortestCycle(graph: Graph, start: number, component: Int32Array): Cycle {
  const reachedBy = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const edge of edgesAt(graph.outgoing, node)) {
      const next = graph.edgeTo[edge] ?? 0;
      if (next === start) return pathTo(graph, node, reachedBy, edge);
      if (component[next] !== component[start] || reachedBy.has(next)) continue;
      reachedBy.set(next, edge);
      queue.push(next);
    }
  }
  return [];
}

function pathTo(graph: Graph, node: number, reachedBy: ReadonlyMap<number, number>, last: number): Cycle {
  const edges = [last];
  for (let edge = reachedBy.get(node); edge !== undefined; edge = reachedBy.get(graph.edgeFrom[edge] ?? 0)) {
    edges.push(edge);
  }
  return edges.reverse();
}

/**
 * Tarjan's algorithm with an explicit stack, so that a chain of 100,000 nodes is safe. Returns the component of every
 * node.
 */
function stronglyConnected(graph: Graph): Int32Array {
  const count = graph.ids.length;
  const component = new Int32Array(count).fill(-1);
  // `visited` counts from 1; 0 means not visited.
  const visited = new Int32Array(count);
  const lowest = new Int32Array(count);
  const nextEdge = graph.outgoing.start.slice(0, count);
  const open: number[] = [];
  const path: number[] = [];
  let clock = 0;
  let components = 0;
  const enter = (node: number): void => {
    clock++;
    visited[node] = clock;
    lowest[node] = clock;
    open.push(node);
    path.push(node);
  };
  const leave = (node: number): void => {
    path.pop();
    const parent = path.at(-1);
    if (parent !== undefined) lowest[parent] = Math.min(lowest[parent] ?? 0, lowest[node] ?? 0);
    if (lowest[node] !== visited[node]) return;
    let member: number;
    do {
      member = open.pop() as number;
      component[member] = components;
    } while (member !== node);
    components++;
  };
  for (let root = 0; root < count; root++) {
    if (visited[root] !== 0) continue;
    enter(root);
    while (path.length > 0) {
      const node = path.at(-1) as number;
      const position = nextEdge[node] ?? 0;
      if (position >= (graph.outgoing.start[node + 1] ?? 0)) {
        leave(node);
        continue;
      }
      nextEdge[node] = position + 1;
      const next = graph.edgeTo[graph.outgoing.edges[position] ?? 0] ?? 0;
      if (visited[next] === 0) enter(next);
      else if (component[next] === -1) lowest[node] = Math.min(lowest[node] ?? 0, visited[next] ?? 0);
    }
  }
  return component;
}
