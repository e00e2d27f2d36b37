/** The part of the world that is seen: a point of the world is drawn at `point * zoom + offset`. */
import type { Point } from '../model/graph.ts';
import type { Box } from './scene.ts';

export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const ZOOM = { least: 0.02, most: 3, fitMost: 1.25 } as const;

const MARGIN = 40;

export function toWorld({ x, y, zoom }: Camera, point: Point): Point {
  return { x: (point.x - x) / zoom, y: (point.y - y) / zoom };
}

/** Zooms, such that the point of the screen stays where it is. */
export function zoomAt(camera: Camera, point: Point, factor: number): Camera {
  const zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, camera.zoom * factor));
  const { x, y } = toWorld(camera, point);
  return { zoom, x: point.x - x * zoom, y: point.y - y * zoom };
}

/** The camera that shows a box in the middle. */
export function fitted(box: Box, { width, height }: Size, most: number = ZOOM.fitMost): Camera {
  const [boxWidth, boxHeight] = [Math.max(1, box.right - box.left), Math.max(1, box.bottom - box.top)];
  const wanted = Math.min((width - 2 * MARGIN) / boxWidth, (height - 2 * MARGIN) / boxHeight);
  const zoom = Math.min(most, Math.max(ZOOM.least, wanted));
  return {
    zoom,
    x: (width - boxWidth * zoom) / 2 - box.left * zoom,
    y: (height - boxHeight * zoom) / 2 - box.top * zoom,
  };
}

export function seen(camera: Camera, { width, height }: Size): Box {
  const { x: left, y: top } = toWorld(camera, { x: 0, y: 0 });
  const { x: right, y: bottom } = toWorld(camera, { x: width, y: height });
  return { left, top, right, bottom };
}
