/** A small map of the whole graph in a corner, with the part that is seen. */
import { NODE_STATUSES } from '../model/run-state.ts';
import { type Camera, type Size, seen } from './camera.ts';
import type { Painting } from './painting.ts';
import type { Scene } from './scene.ts';
import type { Theme } from './theme.ts';

type Ink = CanvasRenderingContext2D;

export const MINIMAP = { width: 168, height: 104, margin: 12 } as const;
/** Nodes from which the minimap draws every k-th only: it has fewer pixels than they are many. */
const MINIMAP_NODES = 4_000;
/** A run that changes 50 times a second changes its map five times. */
const REDRAW_MS = 200;
/** Statuses that are seen however small the map is. */
const LOUD = new Set(['failed', 'running', 'waiting', 'unknown']);

/** The camera of the minimap: the whole graph in its corner. */
export function minimapCamera(scene: Scene, size: Size): Camera | undefined {
  const box = scene.bounds();
  if (box === undefined) return undefined;
  const zoom = Math.min((MINIMAP.width - 12) / (box.right - box.left), (MINIMAP.height - 12) / (box.bottom - box.top));
  const left = size.width - MINIMAP.width - MINIMAP.margin + (MINIMAP.width - (box.right - box.left) * zoom) / 2;
  const top = size.height - MINIMAP.height - MINIMAP.margin + (MINIMAP.height - (box.bottom - box.top) * zoom) / 2;
  return { zoom, x: left - box.left * zoom, y: top - box.top * zoom };
}

/** The nodes of the map are drawn once for a scene, a theme and a set of states, and copied after that. */
export class Minimap {
  #picture: HTMLCanvasElement | undefined;
  #of: { scene: Scene; theme: Theme; version: number; ratio: number; at: number } | undefined;

  /** `version` changes with the states and places of nodes. Returns whether the map is out of date. */
  paint(ink: Ink, painting: Painting, version: number, now: number): boolean {
    const { scene, camera, size, ratio, theme } = painting;
    const own = minimapCamera(scene, size);
    if (own === undefined) return false;
    const [left, top] = [size.width - MINIMAP.width - MINIMAP.margin, size.height - MINIMAP.height - MINIMAP.margin];
    const of = this.#of;
    const isOther = of?.scene !== scene || of.theme !== theme || of.ratio !== ratio;
    if (isOther || (of.version !== version && now - of.at >= REDRAW_MS)) {
      this.#of = { scene, theme, version, ratio, at: now };
      this.#picture ??= document.createElement('canvas');
      draw(this.#picture, painting, { ...own, x: own.x - left, y: own.y - top });
    }
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.drawImage(this.#picture!, left, top, MINIMAP.width, MINIMAP.height);
    const view = seen(camera, size);
    const x = Math.max(left + 1, view.left * own.zoom + own.x);
    const y = Math.max(top + 1, view.top * own.zoom + own.y);
    const right = Math.min(left + MINIMAP.width - 1, view.right * own.zoom + own.x);
    const bottom = Math.min(top + MINIMAP.height - 1, view.bottom * own.zoom + own.y);
    if (right <= x || bottom <= y) return this.#of?.version !== version;
    ink.strokeStyle = theme.selection;
    ink.fillStyle = theme.selection;
    ink.lineWidth = 1.5;
    ink.setLineDash([]);
    ink.globalAlpha = 0.08;
    ink.fillRect(x, y, right - x, bottom - y);
    ink.globalAlpha = 1;
    ink.strokeRect(x, y, right - x, bottom - y);
    return this.#of?.version !== version;
  }
}

function draw(picture: HTMLCanvasElement, { scene, ratio, theme }: Painting, own: Camera): void {
  picture.width = Math.round(MINIMAP.width * ratio);
  picture.height = Math.round(MINIMAP.height * ratio);
  const ink = picture.getContext('2d')!;
  ink.scale(ratio, ratio);
  ink.globalAlpha = 0.94;
  ink.fillStyle = theme.surface;
  ink.strokeStyle = theme.border;
  ink.lineWidth = 1;
  ink.beginPath();
  ink.roundRect(0.5, 0.5, MINIMAP.width - 1, MINIMAP.height - 1, 8);
  ink.fill();
  ink.stroke();
  ink.globalAlpha = 1;
  const step = Math.ceil(scene.x.length / MINIMAP_NODES);
  const byStatus = new Map<number, number[]>();
  for (let node = 0; node < scene.x.length; node++) {
    if (scene.isOpen[node] === 1) continue;
    const status = scene.status[node]!;
    if (node % step !== 0 && !LOUD.has(NODE_STATUSES[status - 1] ?? '')) continue;
    const nodes = byStatus.get(status);
    if (nodes === undefined) byStatus.set(status, [node]);
    else nodes.push(node);
  }
  // Failures are drawn last, above the others.
  for (const [status, nodes] of [...byStatus].sort(([a], [b]) => rankOf(a) - rankOf(b))) {
    ink.fillStyle = theme.far[status === 0 ? 'none' : NODE_STATUSES[status - 1]!];
    ink.beginPath();
    for (const node of nodes) {
      const [width, height] = [
        Math.max(1.5, scene.width[node]! * own.zoom),
        Math.max(1.5, scene.height[node]! * own.zoom),
      ];
      ink.rect(scene.x[node]! * own.zoom + own.x, scene.y[node]! * own.zoom + own.y, width, height);
    }
    ink.fill();
  }
}

function rankOf(status: number): number {
  const name = NODE_STATUSES[status - 1];
  return name === 'failed' ? 2 : LOUD.has(name ?? '') ? 1 : 0;
}
