/** Moves between nodes with the keyboard: along edges, and to neighbours in the same layer. */
import { linksOf } from '../model/graph.ts';
import type { Scene } from '../view/scene.ts';
import type { SceneGraph } from '../view/scene-graph.ts';

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

/** The node that an arrow key leads to. Without a current node, the first one. */
export function neighbour(
  { graph, direction }: SceneGraph,
  scene: Scene,
  current: string | undefined,
  key: Arrow,
): string | undefined {
  const at = current === undefined ? undefined : scene.indexOf.get(current);
  if (current === undefined || at === undefined) return scene.nodes[0]?.id;
  const isRight = direction === 'right';
  const { incoming, outgoing } = linksOf(graph);
  if (key === (isRight ? 'ArrowRight' : 'ArrowDown'))
    return nearest(scene, at, outgoing.get(current)?.map(({ to }) => to) ?? []) ?? firstInside(scene, at);
  if (key === (isRight ? 'ArrowLeft' : 'ArrowUp'))
    return (
      nearest(scene, at, incoming.get(current)?.map(({ from }) => from) ?? []) ?? scene.nodes[scene.parent[at]!]?.id
    );
  return beside(scene, at, key === 'ArrowDown' || key === 'ArrowRight', isRight);
}

function nearest(scene: Scene, at: number, ids: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const id of ids) {
    const node = scene.indexOf.get(id);
    if (node === undefined) continue;
    const far = Math.abs(scene.x[node]! - scene.x[at]!) + Math.abs(scene.y[node]! - scene.y[at]!);
    if (far < least) [best, least] = [id, far];
  }
  return best;
}

function firstInside(scene: Scene, group: number): string | undefined {
  const inside = scene.parent.indexOf(group);
  return inside < 0 ? undefined : scene.nodes[inside]!.id;
}

/** The nearest node of the same scope in a direction across the flow. */
function beside(scene: Scene, at: number, isAfter: boolean, isRight: boolean): string | undefined {
  const [along, across] = isRight ? [scene.x, scene.y] : [scene.y, scene.x];
  let best: string | undefined;
  let least = Infinity;
  for (let node = 0; node < scene.x.length; node++) {
    if (node === at || scene.parent[node] !== scene.parent[at]) continue;
    const ahead = (across[node]! - across[at]!) * (isAfter ? 1 : -1);
    // Nodes of the same layer come first.
    const far = ahead + 4 * Math.abs(along[node]! - along[at]!);
    if (ahead > 1 && far < least) [best, least] = [scene.nodes[node]!.id, far];
  }
  return best;
}
