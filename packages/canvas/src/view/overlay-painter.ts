/**
 * Draws what changes often: running nodes, selection, outlets, a connection or an insertion that is being made, hints, the
 * frame of the past and the minimap.
 */
import type { Point } from '../model/graph.ts';
import { NODE_STATUSES } from '../model/run-state.ts';
import { seen } from './camera.ts';
import { boxOf } from './card-painter.ts';
import { curve, middleOf } from './edge-curves.ts';
import { drawRunning } from './glyphs.ts';
import { Minimap } from './minimap.ts';
import { outline } from './outlines.ts';
import { LEVELS, type Painting } from './painting.ts';
import type { Box, Scene } from './scene.ts';
import { NODE_SIZE } from './scene-graph.ts';
import { FAR_GLYPH, statusPlace } from './status-place.ts';
import { FONTS } from './theme.ts';

type Ink = CanvasRenderingContext2D;

export interface Overlay {
  readonly selected: ReadonlySet<string>;
  readonly selectedEdges: ReadonlySet<string>;
  readonly hovered: number | undefined;
  readonly hoveredEdge: number | undefined;
  readonly focused: number | undefined;
  /** The element has the keyboard's focus, and no node has. */
  readonly isWholeFocused: boolean;
  /** The rectangle of a selection with the pointer, in the world. */
  readonly area: Box | undefined;
  readonly connection:
    | { readonly from: Point; readonly to: Point; readonly isAllowed: boolean | undefined }
    | undefined;
  /** Nodes that a connection may end at. */
  readonly targets: ReadonlySet<number> | undefined;
  /** Where a node would be dropped: on an edge, in a group, or at a point of the world. */
  readonly drop:
    | { readonly at: Point; readonly edge: number | undefined; readonly group: number | undefined }
    | undefined;
  /** Words beside a point of the screen. */
  readonly hint: { readonly text: string; readonly at: Point; readonly isBad: boolean } | undefined;
  readonly hasMinimap: boolean;
  readonly isStill: boolean;
  /** Changes with the states and places of nodes. */
  readonly version: number;
}

const RUNNING = 1 + NODE_STATUSES.indexOf('running');
const TURN_MS = 1_600;
/** More turning arcs tell nobody more. */
const MAX_TURNING = 400;
/** More rings of selected nodes tell nobody more, and cost a frame. */
const MAX_RINGS = 2_000;

export class OverlayPainter {
  readonly #ink: Ink;
  readonly #minimap = new Minimap();

  constructor(ink: Ink) {
    this.#ink = ink;
  }

  /** Returns whether something moves. */
  paint(painting: Painting, overlay: Overlay, now: number): boolean {
    const { camera, size, ratio, theme, scene } = painting;
    const ink = this.#ink;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, size.width, size.height);
    ink.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * camera.x, ratio * camera.y);
    const isNear = camera.zoom >= LEVELS.full;
    const moves =
      camera.zoom >= LEVELS.label && turnRunning(ink, painting, overlay.isStill ? 0 : now) && !overlay.isStill;
    const scale = theme.lineScale / Math.min(1, camera.zoom);
    edges(ink, painting, overlay, scale);
    ring(ink, scene, indexes(scene, overlay.selected), theme.selection, 2 * scale, 3 * scale);
    ring(ink, scene, [...(overlay.targets ?? [])], theme.status.completed, 1.5 * scale, 4 * scale, [4, 3]);
    if (overlay.hovered !== undefined) ring(ink, scene, [overlay.hovered], theme.strongBorder, scale, 0);
    if (overlay.focused !== undefined)
      ring(ink, scene, [overlay.focused], theme.selection, 2 * scale, 6 * scale, [5, 3]);
    if (isNear && painting.isEditable) outlets(ink, painting, overlay);
    if (overlay.connection !== undefined) connection(ink, painting, overlay.connection, scale);
    if (overlay.drop !== undefined) drop(ink, painting, overlay.drop, scale);
    if (overlay.area !== undefined) area(ink, painting, overlay.area, scale);
    const isMapStale = overlay.hasMinimap && this.#minimap.paint(ink, painting, overlay.version, now);
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (painting.isPast) frame(ink, painting, theme.past, 3);
    if (overlay.isWholeFocused) frame(ink, painting, theme.selection, 2);
    if (overlay.hint !== undefined) hint(ink, painting, overlay.hint);
    return moves || isMapStale;
  }
}

function indexes({ indexOf }: Scene, ids: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (const id of ids) {
    const node = indexOf.get(id);
    if (node !== undefined && found.length < MAX_RINGS) found.push(node);
  }
  return found;
}

function turnRunning(ink: Ink, { scene, camera, size, theme }: Painting, now: number): boolean {
  const { left, top, right, bottom } = seen(camera, size);
  let count = 0;
  const isFar = camera.zoom < LEVELS.full;
  const turned = (now % TURN_MS) / TURN_MS;
  for (let node = 0; node < scene.status.length && count < MAX_TURNING; node++) {
    if (scene.status[node] !== RUNNING) continue;
    const [x, y, width, height] = boxOf(scene, node);
    if (x > right || y > bottom || x + width < left || y + height < top) continue;
    count++;
    const { x: centerX, y: centerY } = statusPlace(scene, node, isFar);
    drawRunning(ink, centerX, centerY, theme.status.running, turned, isFar && scene.isOpen[node] !== 1 ? FAR_GLYPH : 1);
  }
  return count > 0;
}

/** One path around all of the nodes. */
function ring(
  ink: Ink,
  scene: Scene,
  nodes: readonly number[],
  colour: string,
  lineWidth: number,
  distance: number,
  dash: readonly number[] = [],
): void {
  if (nodes.length === 0) return;
  ink.strokeStyle = colour;
  ink.lineWidth = lineWidth;
  ink.setLineDash([...dash]);
  ink.beginPath();
  for (const node of nodes) {
    const [x, y, width, height] = boxOf(scene, node);
    const kind = scene.isOpen[node] === 1 ? 'group' : scene.nodes[node]!.kind;
    outline(ink, kind, x - distance, y - distance, width + 2 * distance, height + 2 * distance);
  }
  ink.stroke();
  ink.setLineDash([]);
}

/** The edge under the pointer, and those that are selected; in an editable graph with a handle to insert a node. */
function edges(ink: Ink, painting: Painting, { selectedEdges, hoveredEdge }: Overlay, scale: number): void {
  const { scene, theme } = painting;
  const stroke = (edge: number, colour: string, width: number): void => {
    ink.strokeStyle = colour;
    ink.lineWidth = width;
    ink.setLineDash([]);
    ink.beginPath();
    curve(ink, scene.pointsOf(edge), scene.direction === 'right');
    ink.stroke();
  };
  if (selectedEdges.size > 0)
    scene.edges.forEach(({ id }, edge) => {
      if (selectedEdges.has(id)) stroke(edge, theme.selection, 3 * scale);
    });
  if (hoveredEdge === undefined || hoveredEdge >= scene.edges.length) return;
  stroke(hoveredEdge, theme.strongBorder, 2.5 * scale);
  if (painting.isEditable && painting.camera.zoom >= LEVELS.full) plus(ink, painting, middleOf(scene, hoveredEdge));
}

function plus(ink: Ink, { theme }: Painting, { x, y }: Point): void {
  ink.fillStyle = theme.selection;
  ink.beginPath();
  ink.arc(x, y, 9, 0, 2 * Math.PI);
  ink.fill();
  ink.strokeStyle = theme.badgeText;
  ink.lineWidth = 1.75;
  ink.beginPath();
  ink.moveTo(x - 4, y);
  ink.lineTo(x + 4, y);
  ink.moveTo(x, y - 4);
  ink.lineTo(x, y + 4);
  ink.stroke();
}

/** The outlets of the nodes that edges could be drawn from now. */
function outlets(ink: Ink, { scene, theme }: Painting, { hovered, focused, selected }: Overlay): void {
  const nodes = new Set([hovered, focused, ...(selected.size === 1 ? indexes(scene, selected) : [])]);
  ink.lineWidth = 1.5;
  for (const node of nodes) {
    if (node === undefined) continue;
    const { ports } = scene.nodes[node]!;
    const places =
      ports === undefined || ports.length === 0
        ? [
            [scene.outlet(node, undefined, 'success'), theme.selection] as const,
            [scene.outlet(node, undefined, 'error'), theme.status.failed] as const,
          ]
        : ports.map(({ id }) => [scene.outlet(node, id, 'case'), theme.selection] as const);
    for (const [{ x, y }, colour] of places) {
      ink.fillStyle = theme.surface;
      ink.strokeStyle = colour;
      ink.beginPath();
      ink.arc(x, y, 5, 0, 2 * Math.PI);
      ink.fill();
      ink.stroke();
    }
  }
}

function connection(
  ink: Ink,
  { scene, theme }: Painting,
  line: NonNullable<Overlay['connection']>,
  scale: number,
): void {
  const { from, to, isAllowed } = line;
  const colour = isAllowed === undefined ? theme.selection : isAllowed ? theme.status.completed : theme.status.failed;
  ink.strokeStyle = colour;
  ink.fillStyle = colour;
  ink.lineWidth = 2 * scale;
  ink.setLineDash(isAllowed === false ? [6, 4] : []);
  ink.beginPath();
  curve(ink, [from.x, from.y, to.x, to.y], scene.direction === 'right');
  ink.stroke();
  ink.setLineDash([]);
  ink.beginPath();
  ink.arc(to.x, to.y, 4 * scale, 0, 2 * Math.PI);
  ink.fill();
}

/** A ghost of the new node; the edge or the group that takes it. */
function drop(ink: Ink, painting: Painting, { at, edge, group }: NonNullable<Overlay['drop']>, scale: number): void {
  const { scene, theme } = painting;
  if (group !== undefined) ring(ink, scene, [group], theme.selection, 2 * scale, 2 * scale);
  if (edge !== undefined) {
    ink.strokeStyle = theme.selection;
    ink.lineWidth = 3 * scale;
    ink.beginPath();
    curve(ink, scene.pointsOf(edge), scene.direction === 'right');
    ink.stroke();
  }
  const place = edge === undefined ? at : middleOf(scene, edge);
  ink.beginPath();
  ink.roundRect(place.x - NODE_SIZE.width / 2, place.y - NODE_SIZE.height / 2, NODE_SIZE.width, NODE_SIZE.height, 8);
  ink.fillStyle = theme.selection;
  ink.globalAlpha = 0.14;
  ink.fill();
  ink.globalAlpha = 1;
  ink.strokeStyle = theme.selection;
  ink.lineWidth = 1.5 * scale;
  ink.setLineDash([6, 4]);
  ink.stroke();
  ink.setLineDash([]);
}

function area(ink: Ink, { theme }: Painting, { left, top, right, bottom }: Box, scale: number): void {
  ink.fillStyle = theme.selection;
  ink.strokeStyle = theme.selection;
  ink.lineWidth = scale;
  ink.setLineDash([]);
  ink.globalAlpha = 0.12;
  ink.fillRect(left, top, right - left, bottom - top);
  ink.globalAlpha = 1;
  ink.strokeRect(left, top, right - left, bottom - top);
}

function frame(ink: Ink, { size }: Painting, colour: string, width: number): void {
  ink.strokeStyle = colour;
  ink.lineWidth = width;
  ink.setLineDash([]);
  ink.strokeRect(width / 2, width / 2, size.width - width, size.height - width);
}

function hint(ink: Ink, { theme, size }: Painting, { text, at, isBad }: NonNullable<Overlay['hint']>): void {
  ink.font = FONTS.small;
  const width = ink.measureText(text).width + 16;
  const x = Math.max(4, Math.min(size.width - width - 4, at.x + 14));
  const y = Math.max(4, Math.min(size.height - 28, at.y + 16));
  ink.fillStyle = isBad ? theme.error : theme.text;
  ink.beginPath();
  ink.roundRect(x, y, width, 24, 6);
  ink.fill();
  ink.fillStyle = isBad ? theme.badgeText : theme.background;
  ink.textAlign = 'left';
  ink.textBaseline = 'middle';
  ink.fillText(text, x + 8, y + 12.5);
}
