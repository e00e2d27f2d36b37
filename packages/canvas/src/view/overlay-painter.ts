/** Draws what changes often: running nodes, selection, a connection that is being drawn, the minimap. */

import { GROUP } from '../layout/layout.ts';
import type { Point } from '../model/graph.ts';
import { NODE_STATUSES } from '../model/run-state.ts';
import { type Camera, type Size, seen } from './camera.ts';
import { curve } from './edge-painter.ts';
import { drawRunning } from './glyphs.ts';
import { outline } from './outlines.ts';
import { boxOf } from './painter.ts';
import { LEVELS, type Painting } from './painting.ts';
import type { Box, Scene } from './scene.ts';

type Ink = CanvasRenderingContext2D;

export interface Overlay {
  readonly selected: ReadonlySet<string>;
  readonly hovered: number | undefined;
  readonly focused: number | undefined;
  /** The rectangle of a selection with the pointer, in the world. */
  readonly area: Box | undefined;
  readonly connection:
    | { readonly from: Point; readonly to: Point; readonly isAllowed: boolean | undefined }
    | undefined;
  /** Nodes that a connection may end at. */
  readonly targets: ReadonlySet<number> | undefined;
  readonly hasMinimap: boolean;
  readonly isStill: boolean;
}

export const MINIMAP = { width: 168, height: 104, margin: 12 } as const;

const RUNNING = 1 + NODE_STATUSES.indexOf('running');
const TURN_MS = 1_600;
/** More turning arcs tell nobody more. */
const MAX_TURNING = 400;

/** Returns whether something moves. */
export function paintOverlay(ink: Ink, painting: Painting, overlay: Overlay, now: number): boolean {
  const { camera, size, ratio, theme, scene } = painting;
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.clearRect(0, 0, size.width, size.height);
  ink.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * camera.x, ratio * camera.y);
  const moves = camera.zoom >= LEVELS.full && turnRunning(ink, painting, overlay.isStill ? 0 : now) && !overlay.isStill;
  const scale = theme.lineScale / Math.min(1, camera.zoom);
  for (const id of overlay.selected) {
    const node = scene.indexOf.get(id);
    if (node !== undefined) ring(ink, scene, node, theme.selection, 2 * scale, 3 * scale);
  }
  for (const node of overlay.targets ?? [])
    ring(ink, scene, node, theme.status.completed, 1.5 * scale, 4 * scale, [4, 3]);
  if (overlay.hovered !== undefined) ring(ink, scene, overlay.hovered, theme.strongBorder, scale, 0);
  if (overlay.focused !== undefined) ring(ink, scene, overlay.focused, theme.selection, 2 * scale, 6 * scale, [5, 3]);
  if (overlay.connection !== undefined) connection(ink, painting, overlay.connection, scale);
  if (overlay.area !== undefined) {
    const { left, top, right, bottom } = overlay.area;
    ink.fillStyle = theme.selection;
    ink.strokeStyle = theme.selection;
    ink.lineWidth = scale;
    ink.setLineDash([]);
    ink.globalAlpha = 0.12;
    ink.fillRect(left, top, right - left, bottom - top);
    ink.globalAlpha = 1;
    ink.strokeRect(left, top, right - left, bottom - top);
  }
  if (overlay.hasMinimap) minimap(ink, painting);
  return moves;
}

function turnRunning(ink: Ink, { scene, camera, size, theme }: Painting, now: number): boolean {
  const { left, top, right, bottom } = seen(camera, size);
  let count = 0;
  const turned = (now % TURN_MS) / TURN_MS;
  for (let node = 0; node < scene.status.length && count < MAX_TURNING; node++) {
    if (scene.status[node] !== RUNNING) continue;
    const [x, y, width, height] = boxOf(scene, node);
    if (x > right || y > bottom || x + width < left || y + height < top) continue;
    count++;
    const isOpen = scene.isOpen[node] === 1;
    const middle = isOpen
      ? y + GROUP.header / 2
      : y + height / 2 - (scene.states[node]?.iterations === undefined ? 0 : 9);
    drawRunning(ink, x + 18, middle, theme.status.running, turned);
  }
  return count > 0;
}

function ring(
  ink: Ink,
  scene: Scene,
  node: number,
  colour: string,
  lineWidth: number,
  distance: number,
  dash: readonly number[] = [],
): void {
  const [x, y, width, height] = boxOf(scene, node);
  ink.strokeStyle = colour;
  ink.lineWidth = lineWidth;
  ink.setLineDash([...dash]);
  ink.beginPath();
  const kind = scene.isOpen[node] === 1 ? 'group' : scene.nodes[node]!.kind;
  outline(ink, kind, x - distance, y - distance, width + 2 * distance, height + 2 * distance);
  ink.stroke();
  ink.setLineDash([]);
}

function connection(
  ink: Ink,
  { scene, theme }: Painting,
  line: NonNullable<Overlay['connection']>,
  scale: number,
): void {
  const { from, to, isAllowed } = line;
  ink.strokeStyle =
    isAllowed === undefined ? theme.selection : isAllowed ? theme.status.completed : theme.status.failed;
  ink.lineWidth = 2 * scale;
  ink.setLineDash(isAllowed === false ? [6, 4] : []);
  ink.beginPath();
  curve(ink, [from.x, from.y, to.x, to.y], scene.direction === 'right');
  ink.stroke();
  ink.setLineDash([]);
}

/** The camera of the minimap: the whole graph in its corner. */
export function minimapCamera(scene: Scene, size: Size): Camera | undefined {
  const box = scene.bounds();
  if (box === undefined) return undefined;
  const zoom = Math.min((MINIMAP.width - 12) / (box.right - box.left), (MINIMAP.height - 12) / (box.bottom - box.top));
  const left = size.width - MINIMAP.width - MINIMAP.margin + (MINIMAP.width - (box.right - box.left) * zoom) / 2;
  const top = size.height - MINIMAP.height - MINIMAP.margin + (MINIMAP.height - (box.bottom - box.top) * zoom) / 2;
  return { zoom, x: left - box.left * zoom, y: top - box.top * zoom };
}

/** Nodes from which the minimap draws every k-th only: it has fewer pixels than they are many. */
const MINIMAP_NODES = 4_000;

function minimap(ink: Ink, { scene, camera, size, ratio, theme }: Painting): void {
  const own = minimapCamera(scene, size);
  if (own === undefined) return;
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.globalAlpha = 0.92;
  ink.fillStyle = theme.surface;
  ink.strokeStyle = theme.border;
  ink.lineWidth = 1;
  ink.beginPath();
  const [left, top] = [size.width - MINIMAP.width - MINIMAP.margin, size.height - MINIMAP.height - MINIMAP.margin];
  ink.roundRect(left, top, MINIMAP.width, MINIMAP.height, 6);
  ink.fill();
  ink.stroke();
  ink.globalAlpha = 1;
  const byStatus = new Map<number, Path2D>();
  const step = Math.ceil(scene.x.length / MINIMAP_NODES);
  for (let node = 0; node < scene.x.length; node += step) {
    if (scene.isOpen[node] === 1) continue;
    const status = scene.status[node]!;
    const path = byStatus.get(status) ?? new Path2D();
    byStatus.set(status, path);
    const [x, y, width, height] = boxOf(scene, node);
    path.rect(
      x * own.zoom + own.x,
      y * own.zoom + own.y,
      Math.max(1, width * own.zoom),
      Math.max(1, height * own.zoom),
    );
  }
  for (const [status, path] of byStatus) {
    ink.fillStyle = status === 0 ? theme.strongBorder : theme.status[NODE_STATUSES[status - 1]!];
    ink.fill(path);
  }
  const view = seen(camera, size);
  const x = Math.max(left, view.left * own.zoom + own.x);
  const y = Math.max(top, view.top * own.zoom + own.y);
  const right = Math.min(left + MINIMAP.width, view.right * own.zoom + own.x);
  const bottom = Math.min(top + MINIMAP.height, view.bottom * own.zoom + own.y);
  if (right > x && bottom > y) {
    ink.strokeStyle = theme.selection;
    ink.lineWidth = 1.5;
    ink.strokeRect(x, y, right - x, bottom - y);
  }
}
