/** Where something would be dropped: into an edge that is near, into a group, or at a point. */
import type { Graph, Point } from '../model/graph.ts';
import { type Camera, toWorld } from '../view/camera.ts';
import { edgeAt } from '../view/edge-curves.ts';
import type { Overlay } from '../view/overlay-painter.ts';
import type { Scene } from '../view/scene.ts';

/** Something is dropped into an edge that is this near, in pixels of the screen. */
const REACH = 28;

export interface DropPlace {
  readonly at: Point;
  readonly into: string | undefined;
  readonly edge: string | undefined;
}

export function dropAt(scene: Scene, camera: Camera, point: Point): NonNullable<Overlay['drop']> {
  const at = toWorld(camera, point);
  const edge = edgeAt(scene, at.x, at.y, REACH / camera.zoom);
  return { at, edge, group: edge === undefined ? scene.groupAt(at.x, at.y) : undefined };
}

/** The same in the words of the graph. A node that is inserted into an edge is in the group of its ends. */
export function dropPlace(graph: Graph, scene: Scene, camera: Camera, point: Point): DropPlace {
  const { at, edge, group } = dropAt(scene, camera, point);
  if (edge === undefined)
    return { at, into: group === undefined ? undefined : scene.nodes[group]!.id, edge: undefined };
  const { id, from } = scene.edges[edge]!;
  return { at, into: graph.nodes.get(from)?.parent, edge: id };
}
