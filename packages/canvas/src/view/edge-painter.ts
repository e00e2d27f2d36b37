/** Draws the edges of a scene, one path for each style. */
import type { EdgeKind } from '../model/graph.ts';
import { seen } from './camera.ts';
import { LEVELS, type Painting } from './painting.ts';
import type { Box, Scene } from './scene.ts';
import type { TextFit } from './text-fit.ts';
import { FONTS } from './theme.ts';

type Ink = CanvasRenderingContext2D;
type Weight = 'plain' | 'taken' | 'dim';

const DASHES: Readonly<Record<EdgeKind, readonly number[]>> = {
  success: [],
  case: [],
  result: [],
  error: [7, 4],
  always: [2, 4],
};

const ARROW = 7;

export class EdgePainter {
  readonly #ink: Ink;
  readonly #text: TextFit;

  constructor(ink: Ink, text: TextFit) {
    this.#ink = ink;
    this.#text = text;
  }

  paint(painting: Painting): void {
    const { scene, camera, size, theme, highlight } = painting;
    const ink = this.#ink;
    const styles = new Map<string, { weight: Weight; kind: EdgeKind; edges: number[] }>();
    const isRun = scene.status.some((status) => status > 0);
    for (const edge of visibleEdges(scene, seen(camera, size))) {
      const { kind, id } = scene.edges[edge]!;
      const weight =
        highlight !== undefined ? (highlight.edges.has(id) ? 'taken' : 'dim') : isRun ? weightOf(scene, edge) : 'plain';
      const key = `${weight} ${kind}`;
      const style = styles.get(key);
      if (style === undefined) styles.set(key, { weight, kind, edges: [edge] });
      else style.edges.push(edge);
    }
    const isFar = camera.zoom < LEVELS.shape;
    for (const { weight, kind, edges } of styles.values()) {
      const colour =
        weight === 'dim' ? theme.dimEdge : kind === 'error' && weight === 'taken' ? theme.status.failed : theme.edge;
      ink.globalAlpha = 1;
      ink.strokeStyle = colour;
      ink.lineWidth = isFar ? 1 / camera.zoom : theme.lineScale * (weight === 'taken' ? 1.75 : 1.25);
      ink.setLineDash(isFar ? [] : [...DASHES[kind]]);
      ink.beginPath();
      for (const edge of edges)
        if (isFar) straight(ink, scene, edge);
        else curve(ink, scene.pointsOf(edge), scene.direction === 'right');
      ink.stroke();
      if (camera.zoom < LEVELS.label) continue;
      ink.setLineDash([]);
      ink.fillStyle = colour;
      ink.beginPath();
      for (const edge of edges) arrow(ink, scene, edge);
      ink.fill();
      if (camera.zoom >= LEVELS.full) this.#labels(painting, edges);
    }
    ink.setLineDash([]);
  }

  #labels({ scene, theme }: Painting, edges: readonly number[]): void {
    const ink = this.#ink;
    ink.fillStyle = theme.mutedText;
    ink.textBaseline = 'alphabetic';
    const isRight = scene.direction === 'right';
    for (const edge of edges) {
      const { port, label, kind } = scene.edges[edge]!;
      const [from, to] = [scene.edgeFrom[edge]!, scene.edgeTo[edge]!];
      // A case is named where it leaves its branch, a condition where it arrives: several may leave one node.
      const caseLabel = scene.nodes[from]!.ports?.find(({ id }) => id === port)?.label;
      const text = caseLabel ?? label ?? (kind === 'error' || kind === 'always' ? kind : undefined);
      if (text === undefined) continue;
      const { x, y } = caseLabel === undefined ? scene.inlet(to) : scene.outlet(from, port, kind);
      const isLeft = isRight && caseLabel === undefined;
      ink.textAlign = isLeft ? 'right' : 'left';
      const cut = this.#text.fit(text, FONTS.detail, 64);
      ink.fillText(cut, isLeft ? x - 9 : x + 6, isRight ? y - 6 : caseLabel === undefined ? y - 10 : y + 14);
    }
  }
}

/** An edge was taken when its start is completed and its end has begun. */
function weightOf(scene: Scene, edge: number): Weight {
  const [from, to] = [scene.statusOf(scene.edgeFrom[edge]!), scene.statusOf(scene.edgeTo[edge]!)];
  const hasEnded = from === 'completed' || (from === 'failed' && scene.edges[edge]!.kind !== 'success');
  return hasEnded && to !== 'pending' && to !== 'skipped' ? 'taken' : 'dim';
}

function visibleEdges(scene: Scene, { left, top, right, bottom }: Box): number[] {
  const { edgeFrom, edgeTo, bendStart, bends, x, y, width, height } = scene;
  const found: number[] = [];
  for (let edge = 0; edge < edgeFrom.length; edge++) {
    const [a, b] = [edgeFrom[edge]!, edgeTo[edge]!];
    let [least, most] = [Math.min(x[a]!, x[b]!), Math.max(x[a]! + width[a]!, x[b]! + width[b]!)];
    if (most < left || least > right) continue;
    [least, most] = [Math.min(y[a]!, y[b]!), Math.max(y[a]! + height[a]!, y[b]! + height[b]!)];
    for (let at = bendStart[edge]!; at < bendStart[edge + 1]!; at++) {
      const bend = bends[2 * at + 1]!;
      if (bend < least) least = bend;
      if (bend > most) most = bend;
    }
    if (most >= top && least <= bottom) found.push(edge);
  }
  return found;
}

function straight(ink: Ink, scene: Scene, edge: number): void {
  const { port, kind } = scene.edges[edge]!;
  const start = scene.outlet(scene.edgeFrom[edge]!, port, kind);
  const end = scene.inlet(scene.edgeTo[edge]!);
  ink.moveTo(start.x, start.y);
  ink.lineTo(end.x, end.y);
}

/** Curves that leave and arrive in the direction of the flow. */
export function curve(ink: Pick<Ink, 'moveTo' | 'bezierCurveTo'>, points: readonly number[], isRight: boolean): void {
  ink.moveTo(points[0]!, points[1]!);
  for (let at = 2; at < points.length; at += 2) {
    const [x0, y0, x1, y1] = [points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!];
    const bow = Math.max(Math.abs(isRight ? x1 - x0 : y1 - y0) / 2, isRight ? (x1 < x0 ? 60 : 0) : y1 < y0 ? 60 : 0);
    if (isRight) ink.bezierCurveTo(x0 + bow, y0, x1 - bow, y1, x1, y1);
    else ink.bezierCurveTo(x0, y0 + bow, x1, y1 - bow, x1, y1);
  }
}

function arrow(ink: Ink, scene: Scene, edge: number): void {
  const { x, y } = scene.inlet(scene.edgeTo[edge]!);
  const half = ARROW / 2;
  ink.moveTo(x, y);
  if (scene.direction === 'right') {
    ink.lineTo(x - ARROW, y - half);
    ink.lineTo(x - ARROW, y + half);
  } else {
    ink.lineTo(x - half, y - ARROW);
    ink.lineTo(x + half, y - ARROW);
  }
}
