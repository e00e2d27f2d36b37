/** Draws the edges of a scene, one path for each style. In a run, the edges that were taken are told from the others. */
import type { EdgeKind } from '../model/graph.ts';
import type { Mark } from '../model/marks.ts';
import { curve, middleOf } from './edge-curves.ts';
import { type EdgeState, LEVELS, type Painting } from './painting.ts';
import type { Box, Scene } from './scene.ts';
import { EDGE_LABEL, labelOf } from './scene-graph.ts';
import type { TextFit } from './text-fit.ts';
import { FONTS, type Theme } from './theme.ts';

type Ink = CanvasRenderingContext2D;

/** `active`: the run took the edge, and its end has not ended yet. */
type Weight = EdgeState | 'plain' | 'active';

interface Style {
  readonly weight: Weight;
  readonly kind: EdgeKind;
  readonly change: Mark['change'];
  readonly edges: number[];
}

const DASHES: Readonly<Record<EdgeKind, readonly number[]>> = {
  success: [],
  case: [],
  result: [],
  error: [7, 4],
  always: [2, 4],
};
const REMOVED_DASH = [6, 4];

const ARROW = 7;
/** The weights in the order in which they are drawn: what was taken lies above the rest. */
const ORDER: Readonly<Record<Weight, number>> = { untaken: 0, open: 1, plain: 2, taken: 3, active: 4 };

export class EdgePainter {
  readonly #ink: Ink;
  readonly #text: TextFit;

  constructor(ink: Ink, text: TextFit) {
    this.#ink = ink;
    this.#text = text;
  }

  paint(painting: Painting, view: Box): void {
    const { scene, camera } = painting;
    const ink = this.#ink;
    const isFar = camera.zoom < LEVELS.shape;
    ink.globalAlpha = 1;
    const styles = [...stylesOf(painting, view).values()].sort((a, b) => ORDER[a.weight] - ORDER[b.weight]);
    for (const style of styles) {
      const { weight, kind, change, edges } = style;
      ink.strokeStyle = colourOf(painting.theme, style);
      ink.lineWidth = isFar ? 1 / camera.zoom : lineWidth(painting, weight, change);
      ink.setLineDash(isFar ? [] : change === 'removed' ? REMOVED_DASH : [...DASHES[kind]]);
      ink.beginPath();
      for (const edge of edges) line(ink, scene, edge, isFar);
      ink.stroke();
      if (camera.zoom < LEVELS.label) continue;
      ink.setLineDash([]);
      ink.fillStyle = ink.strokeStyle;
      ink.beginPath();
      for (const edge of edges) arrow(ink, scene, edge);
      ink.fill();
    }
    ink.setLineDash([]);
    if (camera.zoom >= LEVELS.full) for (const { weight, edges } of styles) this.#labels(painting, edges, weight);
  }

  /** Labels lie in the middle of their lines, on the colour of the background. */
  #labels({ scene, theme, words }: Painting, edges: readonly number[], weight: Weight): void {
    const ink = this.#ink;
    ink.textBaseline = 'middle';
    ink.textAlign = 'center';
    for (const edge of edges) {
      const text = labelOf(scene.edges[edge]!, words.edgeKind);
      if (text === undefined) continue;
      const { x, y } = middleOf(scene, edge);
      const cut = this.#text.fit(text, FONTS.small, EDGE_LABEL.most);
      const half = this.#text.width(cut, FONTS.small) / 2 + 5;
      ink.fillStyle = theme.background;
      ink.beginPath();
      ink.roundRect(x - half, y - 9, 2 * half, 18, 9);
      ink.fill();
      ink.globalAlpha = weight === 'untaken' ? 0.6 : 1;
      ink.fillStyle = theme.mutedText;
      ink.font = FONTS.small;
      ink.fillText(cut, x, y + 0.5);
      ink.globalAlpha = 1;
    }
  }
}

function stylesOf({ scene, highlight, edgeStates }: Painting, { left, top, right, bottom }: Box): Map<string, Style> {
  const { edgeBox, edges } = scene;
  const styles = new Map<string, Style>();
  const isRun = scene.stateCount > 0 || edgeStates.size > 0;
  for (let edge = 0; edge < edges.length; edge++) {
    const box = 4 * edge;
    const isSeen =
      edgeBox[box]! <= right && edgeBox[box + 2]! >= left && edgeBox[box + 1]! <= bottom && edgeBox[box + 3]! >= top;
    if (!isSeen) continue;
    const { kind, id } = edges[edge]!;
    const change = scene.edgeMarks[edge]?.change;
    const weight =
      highlight !== undefined
        ? highlight.edges.has(id)
          ? 'taken'
          : 'untaken'
        : isRun
          ? weightOf(scene, edge, edgeStates.get(id))
          : 'plain';
    const key = `${weight} ${kind} ${change}`;
    const style = styles.get(key);
    if (style === undefined) styles.set(key, { weight, kind, change, edges: [edge] });
    else style.edges.push(edge);
  }
  return styles;
}

function colourOf(theme: Theme, { weight, kind, change }: Style): string {
  if (change !== undefined) return theme.change[change];
  switch (weight) {
    case 'untaken':
      return theme.dimEdge;
    case 'open':
    case 'plain':
      return theme.edge;
    case 'taken':
      return kind === 'error' ? theme.status.failed : theme.takenEdge;
    case 'active':
      return kind === 'error' ? theme.status.failed : theme.status.running;
  }
}

function lineWidth({ theme, camera, ratio, isMoving }: Painting, weight: Weight, change: Mark['change']): number {
  const isStrong = weight === 'taken' || weight === 'active' || change !== undefined;
  const hairline = 1 / (camera.zoom * ratio);
  const width = theme.lineScale * (isStrong ? 1.75 : 1.25);
  // From afar, a line is still as wide as a pixel.
  return isMoving && ratio < 1.5 && width < 2 ? hairline : Math.max(width, hairline);
}

/** Judges an edge by the states of its ends, unless the page knows better. */
function weightOf(scene: Scene, edge: number, known: EdgeState | undefined): Weight {
  const [from, to] = [scene.statusOf(scene.edgeFrom[edge]!), scene.statusOf(scene.edgeTo[edge]!)];
  const { kind } = scene.edges[edge]!;
  const state = known ?? judged(from, to, kind);
  return state === 'taken' && (to === 'running' || to === 'queued' || to === 'waiting') ? 'active' : state;
}

type Status = ReturnType<Scene['statusOf']>;

function judged(from: Status, to: Status, kind: EdgeKind): EdgeState {
  const leads =
    from === 'completed' ? kind !== 'error' : from === 'failed' ? kind !== 'success' && kind !== 'case' : undefined;
  if (leads === false || from === 'skipped' || from === 'cancelled' || to === 'skipped') return 'untaken';
  if (leads === undefined || to === undefined || to === 'pending') return 'open';
  return 'taken';
}

function line(ink: Ink, scene: Scene, edge: number, isFar: boolean): void {
  const [start, count] = [scene.pointStart[edge]!, scene.pointCount[edge]!];
  const points = scene.edgePoints;
  if (!isFar) {
    curve(ink, points, scene.direction === 'right', start, count);
    return;
  }
  const end = 2 * (start + count - 1);
  ink.moveTo(points[2 * start]!, points[2 * start + 1]!);
  ink.lineTo(points[end]!, points[end + 1]!);
}

function arrow(ink: Ink, scene: Scene, edge: number): void {
  const end = 2 * (scene.pointStart[edge]! + scene.pointCount[edge]! - 1);
  const [x, y] = [scene.edgePoints[end]!, scene.edgePoints[end + 1]!];
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
