/** The connected components of a scope, in the order of their first nodes. */
import type { ScopeInput } from './scope-input.ts';

export interface Component {
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly input: ScopeInput;
}

export function componentsOf({ length, breadth, from, to, space }: ScopeInput): Component[] {
  const root = Int32Array.from(length, (_, node) => node);
  const find = (node: number): number => {
    let top = node;
    while (root[top] !== top) {
      root[top] = root[root[top]!]!;
      top = root[top]!;
    }
    return top;
  };
  for (let edge = 0; edge < from.length; edge++) {
    const [a, b] = [find(from[edge]!), find(to[edge]!)];
    root[Math.max(a, b)] = Math.min(a, b);
  }
  const found = new Map<number, { nodes: number[]; edges: number[] }>();
  const indexIn = new Int32Array(length.length);
  for (let node = 0; node < length.length; node++) {
    const top = find(node);
    const component = found.get(top) ?? { nodes: [], edges: [] };
    if (component.nodes.length === 0) found.set(top, component);
    indexIn[node] = component.nodes.length;
    component.nodes.push(node);
  }
  for (let edge = 0; edge < from.length; edge++) found.get(find(from[edge]!))!.edges.push(edge);
  return [...found.values()].map(({ nodes, edges }) => ({
    nodes,
    edges,
    input: {
      length: Float64Array.from(nodes, (node) => length[node]!),
      breadth: Float64Array.from(nodes, (node) => breadth[node]!),
      from: Int32Array.from(edges, (edge) => indexIn[from[edge]!]!),
      to: Int32Array.from(edges, (edge) => indexIn[to[edge]!]!),
      space: Float64Array.from(edges, (edge) => space[edge]!),
    },
  }));
}
