/**
 * Draws groups: open ones as a frame with a header, collapsed ones as a stack of cards. A loop has a ring of its progress,
 * its counts, and a strip of its iterations; an open one has a picker of the iteration that its nodes show.
 */
import { boxOf, drawFarGlyph, drawMark } from './card-painter.ts';
import { drawGlyph } from './glyphs.ts';
import { GROUP_PADDING, HEADER, PICKER_BUTTON, pickerRect, stripRect, TITLE_ROW } from './group-parts.ts';
import { iconOf } from './icons.ts';
import { outline } from './outlines.ts';
import { DIMMED, isDimmed, LEVELS, type Painting } from './painting.ts';
import { progressText } from './run-words.ts';
import { COLLAPSED_TITLE } from './status-place.ts';
import { drawProgressRing, drawShares, drawStrip, progressOf } from './strip.ts';
import type { TextFit } from './text-fit.ts';
import { FONTS } from './theme.ts';

type Ink = CanvasRenderingContext2D;

const RING = 15;

export class GroupPainter {
  readonly #ink: Ink;
  readonly #text: TextFit;

  constructor(ink: Ink, text: TextFit) {
    this.#ink = ink;
    this.#text = text;
  }

  open(painting: Painting, node: number): void {
    const { scene, theme, camera } = painting;
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const status = scene.statusOf(node);
    const needsEyes = status === 'failed' || status === 'running' || status === 'waiting' || status === 'unknown';
    ink.globalAlpha = isDimmed(painting, node) ? DIMMED : 1;
    ink.beginPath();
    ink.roundRect(x, y, width, height, 12);
    ink.fillStyle = theme.groupSurface;
    ink.fill();
    if (camera.zoom >= LEVELS.label) {
      ink.fillStyle = theme.groupHeader;
      ink.beginPath();
      ink.roundRect(x, y, width, HEADER, [12, 12, 0, 0]);
      ink.fill();
    }
    ink.beginPath();
    ink.roundRect(x, y, width, height, 12);
    ink.setLineDash(scene.nodes[node]!.isDisabled === true || status === 'skipped' ? [5, 4] : []);
    ink.lineWidth = theme.lineScale * (status === 'failed' ? 2 : 1);
    ink.strokeStyle = needsEyes ? theme.status[status] : theme.border;
    ink.stroke();
    ink.setLineDash([]);
    if (camera.zoom >= LEVELS.label) {
      this.#header(painting, node);
      this.#strip(painting, node);
    }
    if (scene.marks[node] !== undefined) drawMark(ink, this.#text, painting, node);
  }

  #header(painting: Painting, node: number): void {
    const { scene, theme, camera, words } = painting;
    const ink = this.#ink;
    const [x, y, width] = boxOf(scene, node);
    const { label, detail } = scene.nodes[node]!;
    const row = y + TITLE_ROW;
    const status = scene.statusOf(node);
    drawChevron(ink, x + GROUP_PADDING + 3, row, theme.mutedText, true);
    const picker = pickerRect(scene, node);
    const progress = progressOf(scene.states[node], scene.strips[node]);
    const counts = progress === undefined ? undefined : progressText(progress, words);
    const isNear = camera.zoom >= LEVELS.full;
    let left = x + GROUP_PADDING + 18;
    if (status !== undefined) {
      drawGlyph(ink, status, left + 6, row, theme.status[status]);
      left += 22;
    }
    let right = (picker === undefined || !isNear ? x + width : picker.x) - GROUP_PADDING;
    ink.textBaseline = 'middle';
    if (counts !== undefined && isNear) {
      const wide = this.#text.width(counts, FONTS.detail);
      if (right - wide - left > 60) {
        ink.font = FONTS.detail;
        ink.textAlign = 'right';
        ink.fillStyle = theme.mutedText;
        ink.fillText(counts, right, row);
        right -= wide + 12;
      }
    }
    ink.textAlign = 'left';
    ink.fillStyle = theme.text;
    const title = this.#text.fit(label, isNear ? FONTS.label : FONTS.far, right - left);
    ink.fillText(title, left, row);
    if (picker !== undefined && isNear) this.#picker(painting, node, picker.x, picker.y, picker.width, picker.height);
    left += this.#text.width(title, FONTS.label) + 10;
    if (detail === undefined || !isNear || right - left < 50) return;
    ink.textAlign = 'left';
    ink.fillStyle = theme.mutedText;
    ink.fillText(this.#text.fit(detail, FONTS.detail, right - left), left, row + 0.5);
  }

  #picker(painting: Painting, node: number, x: number, y: number, width: number, height: number): void {
    const { scene, theme, words } = painting;
    const ink = this.#ink;
    const { id } = scene.nodes[node]!;
    const iteration = painting.iterationOf(id);
    ink.fillStyle = theme.surface;
    ink.strokeStyle = theme.border;
    ink.lineWidth = theme.lineScale;
    ink.beginPath();
    ink.roundRect(x, y, width, height, 6);
    ink.fill();
    ink.stroke();
    ink.strokeStyle = theme.icon;
    ink.lineWidth = 1.5;
    ink.beginPath();
    const middle = y + height / 2;
    for (const [at, turn] of [
      [x + PICKER_BUTTON / 2, -1],
      [x + width - PICKER_BUTTON / 2, 1],
    ] as const) {
      ink.moveTo(at - 2 * turn, middle - 4);
      ink.lineTo(at + 2 * turn, middle);
      ink.lineTo(at - 2 * turn, middle + 4);
    }
    ink.stroke();
    ink.fillStyle = theme.text;
    ink.textAlign = 'center';
    const label = iteration === undefined ? words.anyIteration : words.iteration(iteration);
    ink.fillText(this.#text.fit(label, FONTS.small, width - 2 * PICKER_BUTTON), x + width / 2, middle + 0.5);
  }

  collapsed(painting: Painting, node: number): void {
    const { scene, theme, camera } = painting;
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const { kind, label, isDisabled } = scene.nodes[node]!;
    const status = scene.statusOf(node);
    const needsEyes = status === 'failed' || status === 'running' || status === 'waiting' || status === 'unknown';
    const alpha = isDimmed(painting, node) ? DIMMED : 1;
    ink.globalAlpha = alpha;
    ink.strokeStyle = needsEyes ? theme.status[status] : theme.border;
    ink.lineWidth = Math.max(theme.lineScale * (status === 'failed' ? 2 : needsEyes ? 1.5 : 1), 1 / camera.zoom);
    ink.setLineDash(isDisabled === true || status === 'skipped' ? [5, 4] : []);
    // Two more sheets behind it: the node stands for several.
    const own = ink.strokeStyle;
    for (const offset of [8, 4, 0]) {
      ink.beginPath();
      outline(ink, kind, x + offset, y + offset, width, height);
      ink.fillStyle = theme.surface;
      ink.fill();
      ink.strokeStyle = offset === 0 ? own : theme.border;
      ink.stroke();
    }
    ink.setLineDash([]);
    if (needsEyes && theme.tint > 0) {
      ink.globalAlpha = alpha * theme.tint;
      ink.fillStyle = theme.status[status];
      ink.fill();
      ink.globalAlpha = alpha;
    }
    if (camera.zoom >= LEVELS.full) this.#collapsedNear(painting, node);
    else if (camera.zoom >= LEVELS.label) {
      const middle = y + height / 2 - (scene.strips[node] === undefined ? 0 : 10);
      if (status !== undefined) drawFarGlyph(ink, theme, status, x + 22, middle);
      const left = x + (status === undefined ? 20 : 42);
      ink.textAlign = 'left';
      ink.textBaseline = 'middle';
      ink.fillStyle = theme.text;
      ink.fillText(this.#text.fit(label, FONTS.far, x + width - 14 - left), left, middle);
    }
    if (camera.zoom >= LEVELS.label) this.#strip(painting, node);
    if (scene.marks[node] !== undefined) drawMark(ink, this.#text, painting, node);
    ink.globalAlpha = 1;
  }

  #collapsedNear({ scene, theme, words }: Painting, node: number): void {
    const ink = this.#ink;
    const [x, y, width] = boxOf(scene, node);
    const drawn = scene.nodes[node]!;
    const status = scene.statusOf(node);
    const progress = progressOf(scene.states[node], scene.strips[node]);
    const [centerX, centerY] = [x + GROUP_PADDING + RING, y + 34];
    if (progress === undefined) {
      ink.fillStyle = theme.tile;
      ink.beginPath();
      ink.roundRect(centerX - 16, centerY - 16, 32, 32, 7);
      ink.fill();
    } else drawProgressRing(ink, theme, progress, centerX, centerY, RING);
    const icon = iconOf(drawn);
    if (icon !== null) {
      ink.strokeStyle = theme.icon;
      ink.lineWidth = 1.5;
      ink.translate(centerX, centerY);
      ink.stroke(icon);
      ink.translate(-centerX, -centerY);
    }
    const left = x + GROUP_PADDING + 2 * RING + 14;
    const right = x + width - GROUP_PADDING;
    ink.textAlign = 'left';
    ink.textBaseline = 'middle';
    ink.fillStyle = theme.text;
    const room = right - left - (status === undefined ? 0 : 24);
    const second = progress === undefined ? drawn.detail : progressText(progress, words);
    ink.fillText(
      this.#text.fit(drawn.label, FONTS.label, room),
      left,
      y + (second === undefined ? 32 : COLLAPSED_TITLE),
    );
    if (status !== undefined) drawGlyph(ink, status, right - 8, y + COLLAPSED_TITLE, theme.status[status]);
    if (second === undefined) return;
    ink.fillStyle = theme.mutedText;
    ink.fillText(this.#text.fit(second, FONTS.detail, right - left), left, y + 43);
  }

  #strip(painting: Painting, node: number): void {
    const { scene, theme } = painting;
    const ink = this.#ink;
    const rect = stripRect(scene, node);
    if (rect === undefined) return;
    const { x, y, width, height } = rect;
    const strip = scene.strips[node];
    const counts = scene.states[node]?.iterations;
    if (strip !== undefined) drawStrip(ink, theme, strip, x, y, width, height);
    else if (counts !== undefined) drawShares(ink, theme, counts, x, y, width, height);
    const shown = painting.iterationOf(scene.nodes[node]!.id);
    if (strip === undefined || shown === undefined || scene.isOpen[node] !== 1) return;
    const total = strip.counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return;
    // A hand below the iteration that the nodes show.
    const at = x + ((shown + 0.5) / total) * width;
    ink.fillStyle = theme.text;
    ink.beginPath();
    ink.moveTo(at, y + height + 1);
    ink.lineTo(at - 4, y + height + 7);
    ink.lineTo(at + 4, y + height + 7);
    ink.fill();
  }
}

function drawChevron(ink: Ink, x: number, y: number, colour: string, isOpen: boolean): void {
  ink.strokeStyle = colour;
  ink.lineWidth = 1.5;
  ink.beginPath();
  if (isOpen) {
    ink.moveTo(x - 4, y - 2);
    ink.lineTo(x, y + 2);
    ink.lineTo(x + 4, y - 2);
  } else {
    ink.moveTo(x - 2, y - 4);
    ink.lineTo(x + 2, y);
    ink.lineTo(x - 2, y + 4);
  }
  ink.stroke();
}
