/** The outline of each kind of node. */
import type { NodeKind } from '../model/graph.ts';

type Path = Pick<CanvasRenderingContext2D, 'moveTo' | 'lineTo' | 'arcTo' | 'closePath' | 'roundRect'>;

/** Cut corners of branches and the like, and the radius of corners, in pixels. */
const CUT = 12;
const RADIUS = 8;
const SMALL_RADIUS = 5;

/** Corners as shares of the size, and how many cuts they are moved inwards: [x, cuts, y, cuts]. */
type Corner = readonly [x: number, cutsX: number, y: number, cutsY: number];

const POLYGONS: Readonly<Partial<Record<NodeKind, readonly Corner[]>>> = {
  branch: [
    [0, 1, 0, 0],
    [1, 0, 0, 0],
    [1, 0, 1, 0],
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
    [0, 0, 0, 0.7],
    [0, 1, 0, 0],
    [1, 0, 0, 0],
    [1, 0, 1, 0],
    [0, 1, 1, 0],
    [0, 0, 1, -0.7],
  ],
  merge: [
    [0, 0, 0, 0],
    [1, -1, 0, 0],
    [1, 0, 0, 0.7],
    [1, 0, 1, -0.7],
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
    path.roundRect(x, y, width, height, kind === 'wait' ? Math.min(28, height / 2) : RADIUS);
    return;
  }
  const points = corners.map(([shareX, cutsX, shareY, cutsY]): [number, number] => [
    x + shareX * width + cutsX * CUT,
    y + shareY * height + cutsY * CUT,
  ]);
  const [first, last] = [points[0]!, points.at(-1)!];
  path.moveTo((first[0] + last[0]) / 2, (first[1] + last[1]) / 2);
  points.forEach(([cornerX, cornerY], at) => {
    const [nextX, nextY] = points[(at + 1) % points.length]!;
    path.arcTo(cornerX, cornerY, nextX, nextY, SMALL_RADIUS);
  });
  path.closePath();
}
