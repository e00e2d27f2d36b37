/**
 * Converts a split and its merge to the equivalent loop: the nodes between them are the body, and the merge follows.
 */
import type { BodyKeys, Keys } from './graph.ts';

export function splitBodies(body: BodyKeys): BodyKeys {
  const nodes: Record<string, Keys> = { ...body.nodes };
  const edges = [...(body.edges ?? [])];
  const splits = Object.keys(nodes).filter((id) => nodes[id]?.split !== undefined);
  for (const split of splits) {
    const merge = Object.keys(nodes).find((id) => nodes[id]?.merge !== undefined) as string;
    const inside = new Set([split]);
    for (const from of inside) {
      for (const [id, { needs = [] }] of Object.entries(nodes))
        if (id !== merge && (needs as string[]).includes(from)) inside.add(id);
    }
    inside.delete(split);
    const within = Object.entries(nodes).filter(([id]) => inside.has(id));
    for (const id of inside) delete nodes[id];
    const freed = within.map(([id, keys]) => [id, { ...keys, needs: others(keys.needs, split) }]);
    nodes[split] = { ...nodes[split], do: { nodes: Object.fromEntries(freed) } };
    nodes[merge] = { ...nodes[merge], needs: [split] };
    // The merge fails instead of the split.
    edges.push({ from: split, to: merge, on: 'error' });
  }
  return { ...body, nodes, edges };
}

function others(needs: unknown, split: string): string[] {
  return ((needs ?? []) as string[]).filter((id) => id !== split);
}
