/** The outline of each kind of node. */
import type { NodeKind } from '../model/graph.ts';

type Path = Pick<CanvasRenderingContext2D, 'moveTo' | 'lineTo' | 'closePath' | 'roundRect'>;

/** Cut corners of branches and the like, in pixels. */
const CUT = 12;

/** Corners as shares of the size, and how many cuts they are moved inwards: [x, cuts, y, cuts]. */
type Corner = readonly [x: number, cutsX: number, y: number, cutsY: number];

const POLYGONS: Readonly<Partial<Record<NodeKind, readonly Corner[]>>> = {
  branch: [
    [0, 1, 0, 0],
    [1, -1, 0, 0],
    [1, 0, 0.5, 0],
    [1, -1, 1, 0],
    [0, 1, 1, 0],
    [0, 0, 0.5, 0],
  ],
  terminate: [
    [0, 1, 0, 0],
    [1, -1, 0, 0],
    [1, 0, 0, 1],
    [1, 0, 1, -1],
    [1, -1, 1, 0],
    [0, 1, 1, 0],
    [0, 0, 1, -1],
    [0, 0, 0, 1],
  ],
  split: [
    [0, 0, 0, 0.5],
    [0, 1, 0, 0],
    [1, 0, 0, 0],
    [1, 0, 1, 0],
    [0, 1, 1, 0],
    [0, 0, 1, -0.5],
  ],
  merge: [
    [0, 0, 0, 0],
    [1, -1, 0, 0],
    [1, 0, 0, 0.5],
    [1, 0, 1, -0.5],
    [1, -1, 1, 0],
    [0, 0, 1, 0],
  ],
  set: [
    [0, 0, 0, 0],
    [1, -1, 0, 0],
    [1, 0, 0, 1],
    [1, 0, 1, 0],
    [0, 0, 1, 0],
  ],
};

export function outline(path: Path, kind: NodeKind, x: number, y: number, width: number, height: number): void {
  const corners = POLYGONS[kind];
  if (corners === undefined) {
    path.roundRect(x, y, width, height, kind === 'wait' ? Math.min(26, height / 2) : 6);
    return;
  }
  for (const [at, [shareX, cutsX, shareY, cutsY]] of corners.entries()) {
    const [cornerX, cornerY] = [x + shareX * width + cutsX * CUT, y + shareY * height + cutsY * CUT];
    if (at === 0) path.moveTo(cornerX, cornerY);
    else path.lineTo(cornerX, cornerY);
  }
  path.closePath();
}
