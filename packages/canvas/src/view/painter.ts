/**
 * Draws a scene. Everything of one style is one path, so a frame has few strokes. From afar less is drawn: below `label`
 * no text, below `shape` rectangles and straight lines only.
 */
import { GROUP } from '../layout/layout.ts';
import { NODE_STATUSES, type NodeRunState } from '../model/run-state.ts';
import { seen } from './camera.ts';
import { EdgePainter } from './edge-painter.ts';
import { drawGlyph } from './glyphs.ts';
import { outline } from './outlines.ts';
import { LEVELS, type Painting } from './painting.ts';
import type { Box, Scene } from './scene.ts';
import { TextFit } from './text-fit.ts';
import { FONTS, type Theme } from './theme.ts';

const DOT_GAP = 24;
const DIMMED = 0.25;
const PADDING = 14;
const GLYPH_WIDTH = 26;

export class Painter {
  readonly #ink: CanvasRenderingContext2D;
  readonly #text: TextFit;
  readonly #edges: EdgePainter;

  constructor(ink: CanvasRenderingContext2D) {
    this.#ink = ink;
    this.#text = new TextFit(ink);
    this.#edges = new EdgePainter(ink, this.#text);
  }

  /** Forgets the widths of texts, because a font was loaded. */
  forgetText(): void {
    this.#text.forget();
  }

  paint(painting: Painting): void {
    const { camera, size, ratio, theme, scene } = painting;
    const ink = this.#ink;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.globalAlpha = 1;
    ink.fillStyle = theme.background;
    ink.fillRect(0, 0, size.width, size.height);
    if (camera.zoom >= LEVELS.full) this.#dots(painting);
    ink.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * camera.x, ratio * camera.y);
    const visible = visibleNodes(scene, seen(camera, size));
    for (const node of visible) if (scene.isOpen[node] === 1) this.#group(painting, node);
    this.#edges.paint(painting);
    if (camera.zoom < LEVELS.shape) this.#farNodes(painting, visible);
    else for (const node of visible) if (scene.isOpen[node] !== 1) this.#node(painting, node);
    ink.globalAlpha = 1;
  }

  #dots({ camera, size, theme }: Painting): void {
    const ink = this.#ink;
    const gap = DOT_GAP * camera.zoom;
    ink.fillStyle = theme.dots;
    ink.beginPath();
    for (let x = camera.x % gap; x < size.width; x += gap) {
      for (let y = camera.y % gap; y < size.height; y += gap) ink.rect(x, y, 1.5, 1.5);
    }
    ink.fill();
  }

  /** One path for each colour. */
  #farNodes({ scene, theme, highlight }: Painting, visible: readonly number[]): void {
    const ink = this.#ink;
    const byStatus = new Map<number, number[]>();
    for (const node of visible) {
      if (scene.isOpen[node] === 1) continue;
      const isDim = highlight !== undefined && !highlight.nodes.has(scene.nodes[node]!.id);
      const key = isDim ? -1 : scene.status[node]!;
      const nodes = byStatus.get(key);
      if (nodes === undefined) byStatus.set(key, [node]);
      else nodes.push(node);
    }
    for (const [key, nodes] of byStatus) {
      ink.fillStyle = key < 0 ? theme.dimEdge : key === 0 ? theme.strongBorder : theme.status[NODE_STATUSES[key - 1]!];
      ink.beginPath();
      for (const node of nodes) ink.rect(scene.x[node]!, scene.y[node]!, scene.width[node]!, scene.height[node]!);
      ink.fill();
    }
  }

  #group({ scene, theme, camera, highlight }: Painting, node: number): void {
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const { label, id } = scene.nodes[node]!;
    const status = scene.statusOf(node);
    ink.globalAlpha = highlight !== undefined && !highlight.nodes.has(id) ? DIMMED : 1;
    ink.beginPath();
    ink.roundRect(x, y, width, height, 10);
    ink.fillStyle = theme.groupSurface;
    ink.fill();
    ink.setLineDash([]);
    ink.lineWidth = theme.lineScale * (status === 'failed' ? 2 : 1);
    ink.strokeStyle = status === 'failed' || status === 'running' ? theme.status[status] : theme.border;
    ink.stroke();
    if (camera.zoom < LEVELS.label) return;
    const left = x + PADDING + GLYPH_WIDTH - 4;
    const state = scene.states[node];
    const counts = state === undefined ? '' : countsOf(state);
    ink.textBaseline = 'middle';
    ink.textAlign = 'left';
    ink.fillStyle = theme.text;
    const countWidth = counts === '' ? 0 : 130;
    ink.fillText(
      this.#text.fit(label, FONTS.label, width - 2 * PADDING - GLYPH_WIDTH - countWidth),
      left,
      y + GROUP.header / 2,
    );
    if (counts !== '') {
      ink.fillStyle = theme.mutedText;
      ink.textAlign = 'right';
      ink.fillText(this.#text.fit(counts, FONTS.detail, countWidth), x + width - PADDING, y + GROUP.header / 2);
    }
    if (status !== undefined) drawGlyph(ink, status, x + PADDING + 4, y + GROUP.header / 2, theme.status[status]);
    else drawChevron(ink, x + PADDING + 4, y + GROUP.header / 2, theme.mutedText);
    if (state?.iterations !== undefined)
      this.#strip(theme, state, x + PADDING, y + GROUP.header - 7, width - 2 * PADDING);
  }

  #node(painting: Painting, node: number): void {
    const { scene, theme, camera, highlight } = painting;
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const { kind, id, isDisabled } = scene.nodes[node]!;
    const status = scene.statusOf(node);
    const isQuiet = status === 'pending' || status === 'skipped' || status === 'cancelled' || isDisabled === true;
    const isDim = highlight !== undefined && !highlight.nodes.has(id);
    ink.globalAlpha = isDim ? DIMMED : isQuiet ? 0.72 : 1;
    const needsEyes = status === 'failed' || status === 'running' || status === 'waiting' || status === 'unknown';
    ink.strokeStyle = needsEyes ? theme.status[status] : theme.border;
    ink.lineWidth = theme.lineScale * (status === 'failed' ? 2 : needsEyes ? 1.5 : 1);
    ink.setLineDash(
      status === 'skipped' || isDisabled === true || kind === 'dynamic' ? [5, 4] : status === 'queued' ? [2, 3] : [],
    );
    ink.fillStyle = theme.surface;
    if (kind === 'loop' || kind === 'group') {
      // Two more sheets behind it: the node stands for several.
      for (const offset of [6, 3]) {
        ink.beginPath();
        outline(ink, kind, x + offset, y + offset, width, height);
        ink.fill();
        ink.stroke();
      }
    }
    ink.beginPath();
    outline(ink, kind, x, y, width, height);
    ink.fill();
    if (needsEyes) {
      ink.globalAlpha *= 0.1;
      ink.fillStyle = theme.status[status];
      ink.fill();
      ink.globalAlpha = isDim ? DIMMED : 1;
    }
    ink.stroke();
    ink.setLineDash([]);
    if (kind === 'workflow') verticalLines(ink, x, y, width, height);
    if (camera.zoom >= LEVELS.full) this.#near(painting, node);
    else if (camera.zoom >= LEVELS.label) this.#far(painting, node);
    else if (status !== undefined) {
      ink.fillStyle = theme.status[status];
      ink.fillRect(x, y, 10, height);
    }
  }

  #near({ scene, theme }: Painting, node: number): void {
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const { label, detail } = scene.nodes[node]!;
    const status = scene.statusOf(node);
    const state = scene.states[node];
    const left = x + PADDING + (status === undefined ? 0 : GLYPH_WIDTH - 6);
    const room = x + width - PADDING - left;
    const middle = y + (state?.iterations === undefined ? height / 2 : height / 2 - 9);
    const second = state === undefined ? detail : (secondLine(state) ?? detail);
    ink.textAlign = 'left';
    ink.textBaseline = 'middle';
    ink.fillStyle = theme.text;
    ink.fillText(this.#text.fit(label, FONTS.label, room), left, second === undefined ? middle : middle - 8.5);
    if (second !== undefined) {
      ink.fillStyle = theme.mutedText;
      ink.fillText(this.#text.fit(second, FONTS.detail, room), left, middle + 9.5);
    }
    if (status !== undefined) drawGlyph(ink, status, x + PADDING + 4, middle, theme.status[status]);
    if (state?.iterations !== undefined) this.#strip(theme, state, x + PADDING, y + height - 14, width - 2 * PADDING);
  }

  #far({ scene, theme }: Painting, node: number): void {
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const status = scene.statusOf(node);
    if (status !== undefined) {
      ink.fillStyle = theme.status[status];
      ink.fillRect(x, y, 8, height);
    }
    ink.textAlign = 'left';
    ink.textBaseline = 'middle';
    ink.fillStyle = theme.text;
    ink.fillText(
      this.#text.fit(scene.nodes[node]!.label, FONTS.far, width - 2 * PADDING),
      x + PADDING + 4,
      y + height / 2,
    );
  }

  /** The share of iterations that succeeded, failed and run. A failure is at least two pixels wide. */
  #strip(theme: Theme, { iterations }: NodeRunState, x: number, y: number, width: number): void {
    if (iterations === undefined) return;
    const ink = this.#ink;
    const { open, succeeded, failed } = iterations;
    const total = Math.max(1, iterations.total ?? open + succeeded + failed);
    ink.fillStyle = theme.dimEdge;
    ink.fillRect(x, y, width, 4);
    let at = x;
    for (const [count, status] of [
      [failed, 'failed'],
      [succeeded, 'completed'],
      [open, 'running'],
    ] as const) {
      if (count === 0) continue;
      const part = Math.min(x + width - at, Math.max(2, (width * count) / total));
      ink.fillStyle = theme.status[status];
      ink.fillRect(at, y, part, 4);
      at += part;
    }
  }
}

export function boxOf(scene: Scene, node: number): [x: number, y: number, width: number, height: number] {
  return [scene.x[node]!, scene.y[node]!, scene.width[node]!, scene.height[node]!];
}

function visibleNodes(scene: Scene, { left, top, right, bottom }: Box): number[] {
  const found: number[] = [];
  const { x, y, width, height } = scene;
  for (let node = 0; node < x.length; node++) {
    if (
      x[node]! <= right &&
      y[node]! <= bottom &&
      x[node]! + width[node]! + 8 >= left &&
      y[node]! + height[node]! + 8 >= top
    )
      found.push(node);
  }
  return found;
}

function countsOf({ iterations }: NodeRunState): string {
  if (iterations === undefined) return '';
  const { total, succeeded, failed } = iterations;
  return `${succeeded + failed}${total === null ? '' : `/${total}`}${failed === 0 ? '' : ` · ${failed} failed`}`;
}

/** The second line of a node in a run; undefined: that of its definition. */
function secondLine(state: NodeRunState): string | undefined {
  if (state.iterations !== undefined) return countsOf(state);
  const { attempts = 0, durationMs } = state;
  const time = durationMs === null || durationMs === undefined ? undefined : durationText(durationMs);
  const tries = attempts > 1 ? `${attempts} attempts` : undefined;
  return [time, tries].filter((part) => part !== undefined).join(' · ') || undefined;
}

function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

function drawChevron(ink: CanvasRenderingContext2D, x: number, y: number, colour: string): void {
  ink.strokeStyle = colour;
  ink.lineWidth = 1.5;
  ink.beginPath();
  ink.moveTo(x - 4, y - 2);
  ink.lineTo(x, y + 2);
  ink.lineTo(x + 4, y - 2);
  ink.stroke();
}

/** The mark of a called workflow: a line inside of each end. */
function verticalLines(ink: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  ink.beginPath();
  for (const at of [x + 6, x + width - 6]) {
    ink.moveTo(at, y);
    ink.lineTo(at, y + height);
  }
  ink.stroke();
}
