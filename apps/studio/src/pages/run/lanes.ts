/** The rows of the timeline: the nodes of the run and of the iterations that are looked at, in the order of the graph. */
import { type Graph, linksOf, pathInRun, type Scopes } from '@nebula/canvas/model';
import type { NodeHistory, RunHistory, Span } from '@nebula/core/view';

export interface TimelineLane {
  /** The path in the run: `items/3/pack`. */
  readonly path: string;
  /** The node in the graph: `items/pack`. */
  readonly node: string;
  readonly label: string;
  readonly depth: number;
  readonly history: NodeHistory | undefined;
}

/** `scopes`: the iteration that is looked at, by loop. */
export function lanesOf(graph: Graph, history: RunHistory, scopes: Scopes): TimelineLane[] {
  const { children } = linksOf(graph);
  const lanes: TimelineLane[] = [];
  const add = (group: string | undefined, depth: number): void => {
    for (const { id, label, kind } of children.get(group) ?? []) {
      const path = pathInRun(graph, id, scopes);
      lanes.push({ path, node: id, label, depth, history: history.node(path) });
      // The nodes of a loop have a state in one iteration only.
      if (children.has(id) && (kind !== 'loop' || scopes[id] !== undefined)) add(id, depth + 1);
    }
  };
  add(undefined, 0);
  return lanes;
}

export type EndedSpan = Span & { readonly to: number };

/** Spans up to a moment; one that lasts ends there. */
export function spansUntil(spans: readonly Span[], until: number): readonly EndedSpan[] {
  return spans
    .filter(({ from }) => from <= until)
    .map((span): EndedSpan => {
      if (span.to !== null && span.to <= until) return span as EndedSpan;
      const { end: _, error: __, ...rest } = span;
      return { ...rest, to: until };
    });
}
