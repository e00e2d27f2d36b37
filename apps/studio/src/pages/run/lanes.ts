/** The rows of the timeline: the nodes of the run and of the iterations that are looked at, in the order of the graph. */
import { type Graph, linksOf } from '@nebula/canvas/model';
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

/** The iteration that is looked at, by the path of its loop: `items` → 3. */
export type ShownIterations = Readonly<Record<string, number>>;

export function lanesOf(graph: Graph, history: RunHistory, shown: ShownIterations): TimelineLane[] {
  const { children } = linksOf(graph);
  const lanes: TimelineLane[] = [];
  const add = (group: string | undefined, scope: string, depth: number): void => {
    for (const { id, label, kind } of children.get(group) ?? []) {
      const path = inScope(scope, id);
      lanes.push({ path, node: id, label, depth, history: history.node(path) });
      const iteration = shown[path];
      // The nodes of a loop have a state in one iteration only.
      if (!children.has(id) || (kind === 'loop' && iteration === undefined)) continue;
      add(id, iteration === undefined ? path : `${path}/${iteration}`, depth + 1);
    }
  };
  add(undefined, '', 0);
  return lanes;
}

/** The path of a node of the graph in a run, where the iterations that are looked at are known. */
export function runPathOf(graph: Graph, node: string, shown: ShownIterations): string {
  const parent = graph.nodes.get(node)?.parent;
  if (parent === undefined) return node;
  const around = runPathOf(graph, parent, shown);
  const iteration = shown[around];
  return inScope(iteration === undefined ? around : `${around}/${iteration}`, node);
}

/** The node of the graph that a path of a run means: numbers are iterations, unless a node has that name. */
export function graphNodeOf(graph: Graph, path: string): string | undefined {
  let node = '';
  for (const step of path.split('/')) {
    const next = node === '' ? step : `${node}/${step}`;
    if (graph.nodes.has(next)) node = next;
    else if (node === '' || !/^\d+$/.test(step)) return undefined;
  }
  return node === '' ? undefined : node;
}

function inScope(scope: string, node: string): string {
  const name = node.slice(node.lastIndexOf('/') + 1);
  return scope === '' ? name : `${scope}/${name}`;
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
