/** The outline of each kind of node. */
import type { NodeKind } from '../model/graph.ts';

type Path = Pick<CanvasRenderingContext2D, 'moveTo' | 'lineTo' | 'closePath' | 'roundRect' | 'rect'>;

/** Cut corners of branches and the like, in pixels. */
const CUT = 12;

export function outline(path: Path, kind: NodeKind, x: number, y: number, width: number, height: number): void {
  switch (kind) {
    case 'wait':
      path.roundRect(x, y, width, height, Math.min(26, height / 2));
      break;
    case 'branch':
      polygon(path, [
        x + CUT,
        y,
        x + width - CUT,
        y,
        x + width,
        y + height / 2,
        x + width - CUT,
        y + height,
        x + CUT,
        y + height,
        x,
        y + height / 2,
      ]);
      break;
    case 'terminate':
      polygon(path, [
        x + CUT,
        y,
        x + width - CUT,
        y,
        x + width,
        y + CUT,
        x + width,
        y + height - CUT,
        x + width - CUT,
        y + height,
        x + CUT,
        y + height,
        x,
        y + height - CUT,
        x,
        y + CUT,
      ]);
      break;
    case 'split':
      polygon(path, [
        x,
        y + CUT / 2,
        x + CUT,
        y,
        x + width,
        y,
        x + width,
        y + height,
        x + CUT,
        y + height,
        x,
        y + height - CUT / 2,
      ]);
      break;
    case 'merge':
      polygon(path, [
        x,
        y,
        x + width - CUT,
        y,
        x + width,
        y + CUT / 2,
        x + width,
        y + height - CUT / 2,
        x + width - CUT,
        y + height,
        x,
        y + height,
      ]);
      break;
    case 'set':
      polygon(path, [x, y, x + width - CUT, y, x + width, y + CUT, x + width, y + height, x, y + height]);
      break;
    case 'action':
    case 'loop':
    case 'group':
    case 'workflow':
    case 'dynamic':
      path.roundRect(x, y, width, height, 6);
      break;
  }
}

function polygon(path: Path, points: readonly number[]): void {
  path.moveTo(points[0]!, points[1]!);
  for (let at = 2; at < points.length; at += 2) path.lineTo(points[at]!, points[at + 1]!);
  path.closePath();
}
