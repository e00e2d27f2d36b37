/** The curves of edges: how they are drawn, and which one is at a point. */
import type { Point } from '../model/graph.ts';
import type { Scene } from './scene.ts';

type Path = Pick<CanvasRenderingContext2D, 'moveTo' | 'lineTo' | 'bezierCurveTo'>;

/** How far a curve that leads back goes before it turns. */
const BACK = 60;
/** Points of a segment at which the distance to the pointer is measured. */
const SAMPLES = 16;

function bowOf(x0: number, y0: number, x1: number, y1: number, isRight: boolean): number {
  const ahead = isRight ? x1 - x0 : y1 - y0;
  return Math.max(Math.abs(ahead) / 2, ahead < 0 ? BACK : 0);
}

/** Curves that leave and arrive in the direction of the flow. */
export function curve(
  path: Path,
  points: ArrayLike<number>,
  isRight: boolean,
  from = 0,
  count = points.length / 2,
): void {
  let [x0, y0] = [points[2 * from]!, points[2 * from + 1]!];
  path.moveTo(x0, y0);
  for (let at = from + 1; at < from + count; at++) {
    const [x1, y1] = [points[2 * at]!, points[2 * at + 1]!];
    if (isRight ? y0 === y1 && x1 >= x0 : x0 === x1 && y1 >= y0) path.lineTo(x1, y1);
    else {
      const bow = bowOf(x0, y0, x1, y1, isRight);
      if (isRight) path.bezierCurveTo(x0 + bow, y0, x1 - bow, y1, x1, y1);
      else path.bezierCurveTo(x0, y0 + bow, x1, y1 - bow, x1, y1);
    }
    x0 = x1;
    y0 = y1;
  }
}

/** The point of a segment at a share of its curve. */
function pointOn(x0: number, y0: number, x1: number, y1: number, isRight: boolean, share: number): Point {
  const bow = bowOf(x0, y0, x1, y1, isRight);
  const [ax, ay, bx, by] = isRight ? [x0 + bow, y0, x1 - bow, y1] : [x0, y0 + bow, x1, y1 - bow];
  const rest = 1 - share;
  const [w0, w1, w2, w3] = [rest ** 3, 3 * rest * rest * share, 3 * rest * share * share, share ** 3];
  return { x: w0 * x0 + w1 * ax + w2 * bx + w3 * x1, y: w0 * y0 + w1 * ay + w2 * by + w3 * y1 };
}

/** The middle of the last segment of an edge: its label and its handle are there. */
export function middleOf(scene: Scene, edge: number): Point {
  const points = scene.pointsOf(edge);
  const at = points.length - 4;
  return pointOn(points[at]!, points[at + 1]!, points[at + 2]!, points[at + 3]!, scene.direction === 'right', 0.5);
}

/** The edge whose curve is nearest to a point, within a distance. */
export function edgeAt(scene: Scene, x: number, y: number, reach: number): number | undefined {
  const { edgeBox } = scene;
  let best: number | undefined;
  let least = reach;
  for (let edge = 0; edge < scene.edges.length; edge++) {
    const box = 4 * edge;
    const isNear =
      x >= edgeBox[box]! - reach &&
      y >= edgeBox[box + 1]! - reach &&
      x <= edgeBox[box + 2]! + reach &&
      y <= edgeBox[box + 3]! + reach;
    if (!isNear) continue;
    const far = distanceTo(scene, edge, x, y);
    if (far <= least) [best, least] = [edge, far];
  }
  return best;
}

function distanceTo(scene: Scene, edge: number, x: number, y: number): number {
  const points = scene.pointsOf(edge);
  const isRight = scene.direction === 'right';
  let least = Infinity;
  for (let at = 2; at < points.length; at += 2) {
    let before: Point = { x: points[at - 2]!, y: points[at - 1]! };
    for (let sample = 1; sample <= SAMPLES; sample++) {
      const next = pointOn(points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!, isRight, sample / SAMPLES);
      least = Math.min(least, toLine(x, y, before, next));
      before = next;
    }
  }
  return least;
}

function toLine(x: number, y: number, a: Point, b: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / length));
  return Math.hypot(x - a.x - share * dx, y - a.y - share * dy);
}
