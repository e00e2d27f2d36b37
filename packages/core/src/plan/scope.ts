/** What is known, when an expression is checked, about the graph it stands in and the graphs around that. */
import type { Graph, Reachability } from '../graph/index.ts';
import type { JsonSchema } from '../value.ts';

/** `rounds`: a loop that has no items. `any`: a draft that does not say what kind it is. */
export type LoopKind = 'forEach' | 'rounds' | 'any';

/** What has a node inside, and the node that gives what comes of it: a split has its merge for that. */
export interface Holder {
  readonly id: string;
  readonly result: string;
}

export interface GraphScope {
  readonly graph: Graph;
  /** Undefined when the graph has cycles, or edges are missing: what is upstream is then not known. */
  readonly reach: Reachability | undefined;
  /** Per node, what is known of its output; of composite nodes, once they are compiled. */
  readonly outputs: (JsonSchema | undefined)[];
  /** The scope around it, and the node there that runs this graph. */
  readonly outer: { readonly scope: GraphScope; readonly node: number } | undefined;
  /** The loop whose body this is. */
  readonly loop: LoopKind | undefined;
  /** What is known of its items. */
  readonly item: JsonSchema | undefined;
  readonly isParallel: boolean;
  /** The node of this graph whose body, at any depth, has a node of this id. */
  holderOf(id: string): Holder | undefined;
}

/** The loops around, the innermost first. */
export function loopsAround(scope: GraphScope): LoopKind[] {
  const loops: LoopKind[] = [];
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.loop) loops.push(at.loop);
  return loops;
}

/** The graph that is the body of the innermost loop around. */
export function loopAround(scope: GraphScope): GraphScope | undefined {
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.loop) return at;
  return undefined;
}

/** What is known of the items of a loop around; 0 is the innermost. */
export function itemAround(scope: GraphScope, level: number): JsonSchema | undefined {
  let left = level;
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) {
    if (at.loop === undefined) continue;
    if (left === 0) return at.item;
    left--;
  }
  return undefined;
}

/** Whether the node of this id is outside every parallel loop around, so that all their rounds see the same of it. */
export function isAroundParallelLoops(scope: GraphScope, id: string): boolean {
  let at: GraphScope | undefined = scope;
  while (at !== undefined && !at.graph.indexOf.has(id)) at = at.outer?.scope;
  return at !== undefined && !isInParallelLoop(at);
}

export function isInParallelLoop(scope: GraphScope): boolean {
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.isParallel) return true;
  return false;
}
