/**
 * Draws a scene. Everything of one style is one path, so a frame has few strokes. From afar less is drawn: below `label`
 * no text, below `shape` rectangles and straight lines only.
 */
import { NODE_STATUSES } from '../model/run-state.ts';
import { seen } from './camera.ts';
import { boxOf, CardPainter, drawMark } from './card-painter.ts';
import { EdgePainter } from './edge-painter.ts';
import { GroupPainter } from './group-painter.ts';
import { isDimmed, LEVELS, type Painting } from './painting.ts';
import type { Box, Scene } from './scene.ts';
import { TextFit } from './text-fit.ts';

const DOT_GAP = 32;
const DOT_GAP_LEAST = 26;
/** Sheets, badges and rings reach over the box of a node. */
const OVERHANG = 14;
const PAST_TINT = 0.07;

export class Painter {
  readonly #ink: CanvasRenderingContext2D;
  readonly #text: TextFit;
  readonly #edges: EdgePainter;
  readonly #cards: CardPainter;
  readonly #groups: GroupPainter;

  constructor(ink: CanvasRenderingContext2D) {
    this.#ink = ink;
    this.#text = new TextFit(ink);
    this.#edges = new EdgePainter(ink, this.#text);
    this.#cards = new CardPainter(ink, this.#text);
    this.#groups = new GroupPainter(ink, this.#text);
  }

  /** Forgets the widths of texts, because a font was loaded. */
  forgetText(): void {
    this.#text.forget();
  }

  paint(painting: Painting): void {
    const { camera, size, ratio, theme, scene, isPast } = painting;
    const ink = this.#ink;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.globalAlpha = 1;
    ink.fillStyle = theme.background;
    ink.fillRect(0, 0, size.width, size.height);
    if (camera.zoom >= LEVELS.full) this.#dots(painting);
    ink.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * camera.x, ratio * camera.y);
    const view = seen(camera, size);
    const cards: number[] = [];
    const groups: number[] = [];
    for (const node of visibleNodes(scene, view)) {
      if (scene.isOpen[node] === 1) this.#groups.open(painting, node);
      else if (scene.nodes[node]!.isGroup === true && camera.zoom >= LEVELS.shape) groups.push(node);
      else cards.push(node);
    }
    this.#edges.paint(painting, view);
    if (camera.zoom < LEVELS.label) this.#farCards(painting, cards);
    else this.#cards.paint(painting, cards);
    for (const node of groups) this.#groups.collapsed(painting, node);
    ink.globalAlpha = 1;
    if (isPast) {
      ink.setTransform(ratio, 0, 0, ratio, 0, 0);
      ink.globalAlpha = PAST_TINT;
      ink.fillStyle = theme.past;
      ink.fillRect(0, 0, size.width, size.height);
      ink.globalAlpha = 1;
    }
  }

  /** Rectangles at whole pixels need no antialiasing; from afar there are fewer of them. */
  #dots({ camera, size, ratio, theme }: Painting): void {
    const ink = this.#ink;
    let gap = DOT_GAP * camera.zoom;
    while (gap < DOT_GAP_LEAST) gap *= 2;
    const dot = Math.max(1, Math.round(1.25 * ratio)) / ratio;
    ink.fillStyle = theme.dots;
    for (let x = camera.x % gap; x < size.width; x += gap) {
      for (let y = camera.y % gap; y < size.height; y += gap) ink.fillRect(Math.round(x), Math.round(y), dot, dot);
    }
  }

  /** One path for each colour. */
  #farCards(painting: Painting, cards: readonly number[]): void {
    const { scene, theme } = painting;
    const ink = this.#ink;
    const byStatus = new Map<number, number[]>();
    for (const node of cards) {
      const key = isDimmed(painting, node) ? -1 : scene.status[node]!;
      const nodes = byStatus.get(key);
      if (nodes === undefined) byStatus.set(key, [node]);
      else nodes.push(node);
    }
    for (const [key, nodes] of byStatus) {
      ink.fillStyle = theme.far[key < 0 ? 'dim' : key === 0 ? 'none' : NODE_STATUSES[key - 1]!];
      ink.beginPath();
      for (const node of nodes) {
        const [x, y, width, height] = boxOf(scene, node);
        ink.rect(x, y, width, height);
      }
      ink.fill();
    }
    for (const node of cards) if (scene.marks[node] !== undefined) drawMark(ink, this.#text, painting, node);
  }
}

function visibleNodes(scene: Scene, { left, top, right, bottom }: Box): number[] {
  const found: number[] = [];
  const { x, y, width, height } = scene;
  for (let node = 0; node < x.length; node++) {
    if (
      x[node]! - OVERHANG <= right &&
      y[node]! - OVERHANG <= bottom &&
      x[node]! + width[node]! + OVERHANG >= left &&
      y[node]! + height[node]! + OVERHANG >= top
    )
      found.push(node);
  }
  return found;
}
