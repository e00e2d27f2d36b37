/** Nodes that lead to a node, as paths of the run. */
import { type Graph, linksOf, locate, pathInRun, type Scopes } from '@nebula/canvas/model';

export function incomingOf(graph: Graph, path: string, scopes: Scopes): readonly string[] {
  const node = locate(graph, path)?.node;
  if (node === undefined) return [];
  return (linksOf(graph).incoming.get(node) ?? []).map(({ from }) => pathInRun(graph, from, scopes));
}
