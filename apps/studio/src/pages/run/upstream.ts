/** Nodes that lead to a node, as paths of the run. */
import { type Graph, linksOf } from '@nebula/canvas/model';
import { graphNodeOf, runPathOf, type ShownIterations } from './lanes.ts';

export function incomingOf(graph: Graph, path: string, shown: ShownIterations): readonly string[] {
  const node = graphNodeOf(graph, path);
  if (node === undefined) return [];
  return (linksOf(graph).incoming.get(node) ?? []).map(({ from }) => runPathOf(graph, from, shown));
}
