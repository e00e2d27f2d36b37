/**
 * Finds the splits that enclose each node, by following the edges, and reports splits and merges that do not pair up.
 */

import type { NodeDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import { edgesAt, predecessorsOf, topologicalOrder } from '../graph/index.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import type { GraphSource } from './context.ts';

export interface SplitNesting {
  /** Merge → split. */
  readonly splitOf: ReadonlyMap<number, number>;
  outermostSplit(node: number): number | undefined;
  /** The predecessors of a node. */
  before(node: number): readonly number[];
}

/** The inside of a split. Each split has one object, so that positions are compared by identity. */
interface Inside {
  readonly split: number;
  readonly around: Inside | undefined;
  readonly depth: number;
  merge: number | undefined;
}

/** Returns undefined when splits and merges do not pair up, which is reported, or when there is a cycle. */
export function nestSplits(source: GraphSource, problems: ProblemList): SplitNesting | undefined {
  const order = topologicalOrder(source.graph);
  return order.length === source.graph.ids.length ? new NestingSearch(source, problems).find(order) : undefined;
}

class NestingSearch {
  private readonly source: GraphSource;
  private readonly problems: ProblemList;
  private readonly insideOf: (Inside | undefined)[];
  private readonly opened = new Map<number, Inside>();
  private readonly splitOf = new Map<number, number>();
  private isSound = true;

  constructor(source: GraphSource, problems: ProblemList) {
    this.source = source;
    this.problems = problems;
    this.insideOf = new Array<Inside | undefined>(source.graph.ids.length).fill(undefined);
  }

  find(order: Int32Array): SplitNesting | undefined {
    for (const node of order) this.enterNode(node);
    for (const { split, merge } of this.opened.values()) {
      if (merge !== undefined) continue;
      const message = `no merge follows the split '${this.idOf(split)}'`;
      this.report(
        'SPLIT_WITHOUT_MERGE',
        message,
        'add a node with merge: {} that collects the results',
        split,
        'split',
      );
    }
    if (!this.isSound) return undefined;
    return {
      splitOf: this.splitOf,
      outermostSplit: (node) => outermost(this.insideOf[node])?.split,
      before: (node) => predecessorsOf(this.source.graph, node),
    };
  }

  private enterNode(node: number): void {
    const definition = this.definitionOf(node);
    const insides = new Set([...edgesAt(this.source.graph.incoming, node)].map((edge) => this.insideAfter(edge, node)));
    const [inside] = insides;
    if (insides.size > 1) {
      const message = `'${this.idOf(node)}' has incoming edges from inside and from outside a split`;
      this.report('CROSSING_SPLIT', message, 'leave a split only through its merge', node, 'needs');
    }
    this.insideOf[node] = definition.merge === undefined ? inside : this.close(node, inside);
    if (definition.split !== undefined) this.open(node);
  }

  private open(split: number): void {
    const around = this.insideOf[split];
    const depth = (around?.depth ?? this.source.depth) + 1;
    this.opened.set(split, { split, around, depth, merge: undefined });
    if (depth <= DEFINITION_LIMITS.maxBodyDepth) return;
    const message = `splits are nested deeper than ${DEFINITION_LIMITS.maxBodyDepth} levels`;
    this.report('TOO_DEEP', message, 'move the inner splits to a separate workflow', split, 'split');
  }

  private close(merge: number, inside: Inside | undefined): Inside | undefined {
    const id = this.idOf(merge);
    if (inside === undefined) {
      this.report('MERGE_WITHOUT_SPLIT', `no split leads to the merge '${id}'`, 'add one, or use join', merge, 'merge');
      return undefined;
    }
    if (inside.merge !== undefined) {
      const message = `'${id}' and '${this.idOf(inside.merge)}' both merge the split '${this.idOf(inside.split)}'`;
      this.report('SEVERAL_MERGES', message, 'a split has one merge', merge, 'merge');
      return inside.around;
    }
    inside.merge = merge;
    this.splitOf.set(merge, inside.split);
    if (this.definitionOf(merge).join !== undefined) {
      this.report('MISPLACED_KEY', "'join' has no meaning on a merge", 'use merge: { wait: any }', merge, 'join');
    }
    return inside.around;
  }

  /** The position after an edge: an edge that leaves a split leads into it, but its error edges stay outside. */
  private insideAfter(edge: number, to: number): Inside | undefined {
    const { graph, body } = this.source;
    const from = graph.edgeFrom[edge] ?? 0;
    const inside = this.opened.get(from);
    const definition = this.source.body.edges?.[graph.edgeOrigin[edge] ?? 0];
    if (inside !== undefined && definition?.on === 'error') return this.insideOf[from];
    const isMerge = body.nodes?.[this.idOf(to)]?.merge !== undefined;
    if (inside !== undefined || isMerge) this.checkPlain(edge, to, inside !== undefined);
    return inside ?? this.insideOf[from];
  }

  private checkPlain(edge: number, to: number, isEntry: boolean): void {
    const { graph, body, path, edgeIndexes } = this.source;
    const origin = graph.edgeOrigin[edge] ?? 0;
    const definition = origin < 0 ? undefined : body.edges?.[origin];
    const { on = 'success', when, match } = definition ?? {};
    if (definition !== undefined && (on !== 'success' || when !== undefined || match !== undefined)) {
      this.isSound = false;
      this.problems.error({
        code: 'SPLIT_EDGE',
        message: `an edge ${isEntry ? 'out of a split' : 'into a merge'} cannot have conditions`,
        hint: "put 'when' on a node between them",
        path: [...path, 'edges', edgeIndexes?.[origin] ?? origin],
      });
    }
    const join = this.definitionOf(to).join ?? 'all';
    if (isEntry && join !== 'all' && predecessorsOf(graph, to).length > 1) {
      this.report(
        'SPLIT_JOIN',
        'a node directly after a split must have join: all',
        "remove 'join', or insert a node in between",
        to,
        'join',
      );
    }
  }

  private idOf(node: number): string {
    return this.source.graph.ids[node] as string;
  }

  private definitionOf(node: number): NodeDefinition {
    return this.source.body.nodes?.[this.idOf(node)] ?? {};
  }

  private report(code: string, message: string, hint: string, node: number, key: string): void {
    this.isSound = false;
    const path = [...this.source.path, 'nodes', this.idOf(node), key];
    this.problems.error({ code, message, hint, path, at: 'key' });
  }
}

function outermost(inside: Inside | undefined): Inside | undefined {
  let at = inside;
  while (at?.around !== undefined) at = at.around;
  return at;
}
