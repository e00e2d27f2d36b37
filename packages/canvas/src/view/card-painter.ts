/**
 * Draws nodes as cards: an icon, the name, what it does, and in a run its status, time and attempts. Bodies of one style
 * are one path; texts and icons follow, node by node.
 */
import type { DrawnStatus } from '../model/run-state.ts';
import { drawBadges } from './badges.ts';
import { drawGlyph } from './glyphs.ts';
import { iconOf, letterOf } from './icons.ts';
import { outline } from './outlines.ts';
import { DIMMED, isDimmed, LEVELS, type Painting } from './painting.ts';
import { hasTime, timeText } from './run-words.ts';
import type { Scene } from './scene.ts';
import { NODE_SIZE } from './scene-graph.ts';
import { CARD_PADDING, FAR_GLYPH, farInset, hasSecondLine, LINES, rightInset } from './status-place.ts';
import type { TextFit } from './text-fit.ts';
import { FONTS, type Theme } from './theme.ts';

type Ink = CanvasRenderingContext2D;

/** How the body of a card is drawn. */
interface Style {
  readonly status: DrawnStatus | undefined;
  readonly isDim: boolean;
  readonly isDisabled: boolean;
  readonly isDynamic: boolean;
  readonly nodes: number[];
}

const TILE = 32;
const TEXT_LEFT = 54;
const GLYPH_ROOM = 24;
/** The opacity of the hatch of waiting nodes, of that of their tint. */
const HATCH = 0.5;

export class CardPainter {
  readonly #ink: Ink;
  readonly #text: TextFit;
  readonly #hatches = new Map<string, CanvasPattern | null>();

  constructor(ink: Ink, text: TextFit) {
    this.#ink = ink;
    this.#text = text;
  }

  paint(painting: Painting, nodes: readonly number[]): void {
    const { camera, scene, theme } = painting;
    const ink = this.#ink;
    const isNear = camera.zoom >= LEVELS.full;
    if (isNear && !painting.isMoving && theme.shadow !== 'transparent') this.#shadows(painting, nodes);
    for (const style of stylesOf(painting, nodes).values()) this.#bodies(painting, style);
    for (const node of nodes) {
      ink.globalAlpha = alphaOf(painting, node);
      if (isNear) this.#near(painting, node);
      else this.#far(painting, node);
      const mark = scene.marks[node];
      if (mark === undefined) continue;
      ink.globalAlpha = 1;
      drawMark(ink, this.#text, painting, node);
    }
    ink.globalAlpha = 1;
  }

  #shadows({ scene, theme }: Painting, nodes: readonly number[]): void {
    const ink = this.#ink;
    ink.fillStyle = theme.shadow;
    for (const node of nodes) {
      const [x, y, width, height] = boxOf(scene, node);
      ink.beginPath();
      outline(ink, scene.nodes[node]!.kind, x, y + 2, width, height);
      ink.fill();
    }
  }

  #bodies({ scene, theme, camera, ratio }: Painting, { status, isDim, isDisabled, isDynamic, nodes }: Style): void {
    const ink = this.#ink;
    const isQuiet = status === 'pending' || status === 'skipped' || status === 'cancelled' || isDisabled;
    const needsEyes = status === 'failed' || status === 'running' || status === 'waiting' || status === 'unknown';
    ink.globalAlpha = isDim ? DIMMED : 1;
    ink.strokeStyle = needsEyes || status === 'queued' ? theme.status[status] : theme.border;
    ink.lineWidth = Math.max(
      theme.lineScale * (status === 'failed' ? 2 : needsEyes ? 1.5 : 1),
      1 / (camera.zoom * ratio),
    );
    ink.setLineDash(
      status === 'skipped' || isDisabled ? [5, 4] : isDynamic ? [8, 3] : status === 'queued' ? [2, 3] : [],
    );
    const hatch = status === 'waiting' && theme.tint > 0 ? this.#hatch(theme.status.waiting) : null;
    const alpha = ink.globalAlpha;
    // A path of one rounded rectangle is drawn faster than one of many (decision 016).
    for (const node of nodes) {
      const [x, y, width, height] = boxOf(scene, node);
      ink.beginPath();
      outline(ink, scene.nodes[node]!.kind, x, y, width, height);
      ink.fillStyle = isQuiet ? theme.background : theme.surface;
      ink.fill();
      if (needsEyes && theme.tint > 0) {
        ink.globalAlpha = alpha * theme.tint;
        ink.fillStyle = theme.status[status];
        ink.fill();
      }
      if (hatch !== null) {
        ink.globalAlpha = alpha * theme.tint * HATCH;
        ink.fillStyle = hatch;
        ink.fill();
      }
      ink.globalAlpha = alpha;
      ink.stroke();
    }
    ink.setLineDash([]);
  }

  /** Diagonal lines of a colour. */
  #hatch(colour: string): CanvasPattern | null {
    const known = this.#hatches.get(colour);
    if (known !== undefined) return known;
    const tile = document.createElement('canvas');
    tile.width = 8;
    tile.height = 8;
    const ink = tile.getContext('2d')!;
    ink.strokeStyle = colour;
    ink.lineWidth = 2;
    ink.beginPath();
    for (const from of [-8, 0, 8]) {
      ink.moveTo(from - 1, 9);
      ink.lineTo(from + 9, -1);
    }
    ink.stroke();
    const pattern = this.#ink.createPattern(tile, 'repeat');
    this.#hatches.set(colour, pattern);
    return pattern;
  }

  #near(painting: Painting, node: number): void {
    const { scene, theme, words } = painting;
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const { label, detail, kind, isDisabled } = scene.nodes[node]!;
    const status = scene.statusOf(node);
    const state = scene.states[node];
    // The chevron of a branch and the lines of a called workflow take some room.
    const inset = kind === 'branch' ? 5 : kind === 'workflow' || kind === 'wait' ? 4 : 0;
    if (kind === 'workflow') calledLines(ink, theme, x, y, width, height);
    this.#tile(theme, scene, node, x + CARD_PADDING + inset, y + CARD_PADDING);
    const left = x + TEXT_LEFT + inset;
    const right = x + width - rightInset(scene, node);
    const time = state === undefined || !hasTime(state) ? undefined : timeText(state, words);
    const hasSecond = hasSecondLine(scene, node);
    const firstLine = y + (hasSecond ? LINES.first : LINES.only);
    ink.textAlign = 'left';
    ink.textBaseline = 'middle';
    ink.fillStyle = isDisabled === true || status === 'skipped' ? theme.mutedText : theme.text;
    const room = right - left - (status === undefined ? 0 : GLYPH_ROOM);
    ink.fillText(this.#text.fit(label, FONTS.label, room), left, firstLine);
    if (status !== undefined) drawGlyph(ink, status, right - 8, firstLine, theme.status[status]);
    this.#ports(painting, node);
    if (!hasSecond) return;
    ink.textAlign = 'left';
    ink.fillStyle = theme.mutedText;
    // The font has one width, and times change with every frame: they are not measured.
    const timeWidth = time === undefined ? 0 : time.length * this.#text.width('0', FONTS.detail);
    if (detail !== undefined) {
      const rest = right - left - (time === undefined ? 0 : timeWidth + 10);
      ink.fillText(this.#text.fit(detail, FONTS.detail, rest), left, y + LINES.second);
    }
    if (time !== undefined) {
      ink.font = FONTS.detail;
      ink.textAlign = 'right';
      ink.fillText(time, right, y + LINES.second);
    }
  }

  #tile(theme: Theme, scene: Scene, node: number, x: number, y: number): void {
    const ink = this.#ink;
    const drawn = scene.nodes[node]!;
    ink.fillStyle = theme.tile;
    ink.beginPath();
    ink.roundRect(x, y, TILE, TILE, drawn.kind === 'wait' ? TILE / 2 : 7);
    ink.fill();
    const icon = iconOf(drawn);
    if (icon === null) {
      ink.fillStyle = theme.icon;
      ink.font = FONTS.letter;
      ink.textAlign = 'center';
      ink.textBaseline = 'middle';
      ink.fillText(letterOf(drawn), x + TILE / 2, y + TILE / 2 + 0.5);
      return;
    }
    ink.strokeStyle = theme.icon;
    ink.lineWidth = 1.5;
    ink.lineJoin = 'round';
    ink.lineCap = 'round';
    ink.translate(x + TILE / 2, y + TILE / 2);
    ink.stroke(icon);
    ink.translate(-x - TILE / 2, -y - TILE / 2);
    ink.lineCap = 'butt';
    ink.lineJoin = 'miter';
  }

  /** The cases of a branch, each beside its outlet. */
  #ports({ scene, theme }: Painting, node: number): void {
    const { ports } = scene.nodes[node]!;
    if (ports === undefined || ports.length === 0) return;
    const ink = this.#ink;
    const isRight = scene.direction === 'right';
    const [x, y, width] = boxOf(scene, node);
    ink.strokeStyle = theme.border;
    ink.lineWidth = 1;
    ink.beginPath();
    ink.moveTo(x + (isRight ? TEXT_LEFT + 5 : CARD_PADDING + 6), y + NODE_SIZE.height - 2);
    ink.lineTo(x + width - (isRight ? 0 : CARD_PADDING), y + NODE_SIZE.height - 2);
    ink.stroke();
    ink.fillStyle = theme.mutedText;
    ink.textAlign = isRight ? 'right' : 'center';
    ink.textBaseline = 'middle';
    const room = isRight ? width - TEXT_LEFT - 20 : width / ports.length - 10;
    for (const { id, label } of ports) {
      const outlet = scene.outlet(node, id, 'case');
      const text = this.#text.fit(label, FONTS.detail, room);
      if (isRight) ink.fillText(text, outlet.x - CARD_PADDING, outlet.y);
      else ink.fillText(text, outlet.x, outlet.y - NODE_SIZE.portFoot - NODE_SIZE.port / 2);
    }
  }

  #far({ scene, theme }: Painting, node: number): void {
    const ink = this.#ink;
    const [x, y, width, height] = boxOf(scene, node);
    const { label } = scene.nodes[node]!;
    const status = scene.statusOf(node);
    const inset = farInset(scene, node);
    if (status !== undefined) drawFarGlyph(ink, theme, status, x + 22 + inset, y + height / 2);
    const left = x + inset + (status === undefined ? 18 : 40);
    ink.textAlign = 'left';
    ink.textBaseline = 'middle';
    ink.fillStyle = theme.text;
    ink.fillText(this.#text.fit(label, FONTS.far, x + width - 12 - inset - left), left, y + height / 2);
  }
}

export function drawFarGlyph(ink: Ink, theme: Theme, status: DrawnStatus, x: number, y: number): void {
  ink.translate(x, y);
  ink.scale(FAR_GLYPH, FAR_GLYPH);
  drawGlyph(ink, status, 0, 0, theme.status[status]);
  ink.scale(1 / FAR_GLYPH, 1 / FAR_GLYPH);
  ink.translate(-x, -y);
}

/** Problems, pins and differences of a node. */
export function drawMark(ink: Ink, text: TextFit, { scene, theme, camera }: Painting, node: number): void {
  const mark = scene.marks[node]!;
  const [x, y, width, height] = boxOf(scene, node);
  const { change } = mark;
  if (change !== undefined) {
    ink.strokeStyle = theme.change[change];
    ink.lineWidth = 2 / Math.min(1, camera.zoom / LEVELS.full);
    ink.setLineDash(change === 'removed' ? [6, 4] : []);
    ink.beginPath();
    outline(ink, scene.isOpen[node] === 1 ? 'group' : scene.nodes[node]!.kind, x - 3, y - 3, width + 6, height + 6);
    ink.stroke();
    ink.setLineDash([]);
  }
  if (camera.zoom < LEVELS.label) return;
  // Badges are read from afar, too.
  const scale = camera.zoom < LEVELS.full ? FAR_GLYPH : 1;
  ink.translate(x + width, y);
  ink.scale(scale, scale);
  drawBadges(ink, text, theme, mark, 0, 0);
  ink.scale(1 / scale, 1 / scale);
  ink.translate(-x - width, -y);
}

export function boxOf(scene: Scene, node: number): [x: number, y: number, width: number, height: number] {
  return [scene.x[node]!, scene.y[node]!, scene.width[node]!, scene.height[node]!];
}

function stylesOf(painting: Painting, nodes: readonly number[]): Map<number, Style> {
  const { scene } = painting;
  const styles = new Map<number, Style>();
  for (const node of nodes) {
    const isDim = isDimmed(painting, node);
    const { isDisabled = false, kind } = scene.nodes[node]!;
    const isDynamic = kind === 'dynamic';
    const key = scene.status[node]! * 8 + (isDim ? 4 : 0) + (isDisabled ? 2 : 0) + (isDynamic ? 1 : 0);
    const style = styles.get(key);
    if (style !== undefined) style.nodes.push(node);
    else styles.set(key, { status: scene.statusOf(node), isDim, isDisabled, isDynamic, nodes: [node] });
  }
  return styles;
}

function alphaOf(painting: Painting, node: number): number {
  if (isDimmed(painting, node)) return DIMMED;
  const status = painting.scene.statusOf(node);
  const isOff = status === 'skipped' || status === 'cancelled' || painting.scene.nodes[node]!.isDisabled === true;
  return isOff ? painting.theme.off : status === 'pending' ? Math.max(0.85, painting.theme.off) : 1;
}

/** The mark of a called workflow: a line inside of each end. */
function calledLines(ink: Ink, theme: Theme, x: number, y: number, width: number, height: number): void {
  ink.strokeStyle = theme.strongBorder;
  ink.lineWidth = theme.lineScale;
  ink.beginPath();
  for (const at of [x + 6, x + width - 6]) {
    ink.moveTo(at, y);
    ink.lineTo(at, y + height);
  }
  ink.stroke();
}
