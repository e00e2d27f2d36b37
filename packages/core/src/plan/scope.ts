/** Compile-time knowledge about the graph of an expression and the graphs that enclose it. */
import type { Graph, Reachability } from '../graph/index.ts';
import type { JsonSchema } from '../value.ts';

/** `iterations`: a loop without items. `any`: a draft whose kind of loop is unknown. */
export type LoopKind = 'forEach' | 'iterations' | 'any';

/** A composite node that contains other nodes, and the node that has its result: for a split, its merge. */
export interface Holder {
  readonly id: string;
  readonly result: string;
}

export interface GraphScope {
  readonly graph: Graph;
  /** Undefined when the graph has cycles or missing edges; upstream relations are then unknown. */
  readonly reach: Reachability | undefined;
  /** The output schema of each node, as far as known; for composite nodes, once they are compiled. */
  readonly outputs: (JsonSchema | undefined)[];
  /** The enclosing scope, and its node that runs this graph. */
  readonly outer: { readonly scope: GraphScope; readonly node: number } | undefined;
  /** The loop whose body this graph is. */
  readonly loop: LoopKind | undefined;
  /** The schema of the loop's items, as far as known. */
  readonly item: JsonSchema | undefined;
  readonly isParallel: boolean;
  /** The graph is the region of a split, in which the output of the split is the item. */
  readonly isSplit: boolean;
  /** The node of this graph whose body, at any depth, contains a node with this id. */
  holderOf(id: string): Holder | undefined;
}

/** The enclosing loops, innermost first. */
export function loopsAround(scope: GraphScope): LoopKind[] {
  const loops: LoopKind[] = [];
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.loop) loops.push(at.loop);
  return loops;
}

/** The graph that is the body of the innermost enclosing loop. */
export function loopAround(scope: GraphScope): GraphScope | undefined {
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.loop) return at;
  return undefined;
}

/** The item schema of an enclosing loop, as far as known; 0 is the innermost. */
export function itemAround(scope: GraphScope, level: number): JsonSchema | undefined {
  let left = level;
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) {
    if (at.loop === undefined) continue;
    if (left === 0) return at.item;
    left--;
  }
  return undefined;
}

/** The region of a split that encloses the expression, if the node with this id is that split. */
export function regionOf(scope: GraphScope, id: string): GraphScope | undefined {
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) {
    if (at.graph.indexOf.has(id)) return undefined;
    if (at.isSplit && at.outer?.scope.graph.indexOf.get(id) === at.outer?.node) return at;
  }
  return undefined;
}

/**
 * Whether the node with this id is outside all enclosing parallel loops, so that all their iterations see the same
 * output.
 */
export function isAroundParallelLoops(scope: GraphScope, id: string): boolean {
  let at: GraphScope | undefined = scope;
  while (at !== undefined && !at.graph.indexOf.has(id)) at = at.outer?.scope;
  return at !== undefined && !isInParallelLoop(at);
}

export function isInParallelLoop(scope: GraphScope): boolean {
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.isParallel) return true;
  return false;
}
