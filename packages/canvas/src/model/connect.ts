/** Whether two nodes may be connected, and why not. */
import { type Graph, type GraphEdge, linksOf } from './graph.ts';

export type Refusal = 'itself' | 'other-scope' | 'exists' | 'cycle';

/** Undefined: the edge may be added. */
export function refusalOf(graph: Graph, { from, to, kind, port }: Omit<GraphEdge, 'id'>): Refusal | undefined {
  if (from === to) return 'itself';
  if (graph.nodes.get(from)?.parent !== graph.nodes.get(to)?.parent) return 'other-scope';
  const { outgoing } = linksOf(graph);
  const isSame = (edge: GraphEdge): boolean => edge.to === to && edge.kind === kind && edge.port === port;
  if (outgoing.get(from)?.some(isSame) === true) return 'exists';
  return leadsTo(graph, to, from) ? 'cycle' : undefined;
}

function leadsTo(graph: Graph, start: string, end: string): boolean {
  const { outgoing } = linksOf(graph);
  const queue = [start];
  const seen = new Set(queue);
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (node === end) return true;
    for (const { to } of outgoing.get(node) ?? []) {
      if (!seen.has(to)) {
        seen.add(to);
        queue.push(to);
      }
    }
  }
  return false;
}
