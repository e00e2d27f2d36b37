/**
 * Where the camera is. It follows the graph until a person moves it. While it moves, less is drawn; when it has come to
 * rest, everything is drawn once more.
 */
import type { Point } from '../model/graph.ts';
import { type Camera, fitted, type Size, zoomAt } from '../view/camera.ts';
import type { Box, Scene } from '../view/scene.ts';

/** The camera rests when it has not moved for this long. */
const REST_MS = 140;
/** The distance of a revealed node from the border. */
const BORDER = 24;

export interface ViewpointParts {
  readonly scene: Scene;
  readonly size: Size;
  redraw(): void;
}

export class Viewpoint {
  readonly #parts: ViewpointParts;
  #camera: Camera = { x: 0, y: 0, zoom: 1 };
  #isFitted = true;
  #movedAt = 0;
  #restTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: ViewpointParts) {
    this.#parts = parts;
  }

  close(): void {
    clearTimeout(this.#restTimer);
    this.#restTimer = undefined;
  }

  get camera(): Camera {
    return this.#camera;
  }

  get isMoving(): boolean {
    return this.#restTimer !== undefined;
  }

  /** A graph that is seen whole needs no map. */
  get seesAll(): boolean {
    const box = this.#parts.scene.bounds();
    if (box === undefined) return true;
    const { x, y, zoom } = this.#camera;
    const { width, height } = this.#parts.size;
    return (
      box.left * zoom + x >= 0 &&
      box.top * zoom + y >= 0 &&
      box.right * zoom + x <= width &&
      box.bottom * zoom + y <= height
    );
  }

  /** A person moves nodes, so the view stays. */
  hold(): void {
    this.#isFitted = false;
  }

  move(camera: Camera): void {
    this.#isFitted = false;
    this.#camera = camera;
    this.#parts.redraw();
    this.#movedAt = performance.now();
    this.#restTimer ??= setTimeout(() => this.#rest(), REST_MS);
  }

  #rest(): void {
    const left = REST_MS - (performance.now() - this.#movedAt);
    this.#restTimer = left > 1 ? setTimeout(() => this.#rest(), left) : undefined;
    if (this.#restTimer === undefined) this.#parts.redraw();
  }

  panBy(dx: number, dy: number): void {
    this.move({ ...this.#camera, x: this.#camera.x + dx, y: this.#camera.y + dy });
  }

  zoomAt(point: Point, factor: number): void {
    this.move(zoomAt(this.#camera, point, factor));
  }

  zoomBy(factor: number): void {
    const { width, height } = this.#parts.size;
    this.zoomAt({ x: width / 2, y: height / 2 }, factor);
  }

  /** Shows everything, or some nodes. */
  fit(nodes?: Iterable<number>): void {
    this.#isFitted = nodes === undefined;
    if (nodes === undefined) this.follow();
    else this.#show(this.#parts.scene.bounds(nodes), 1);
    this.#parts.redraw();
  }

  /** The graph or the size of the element has changed. */
  follow(): void {
    if (this.#isFitted) this.#show(this.#parts.scene.bounds());
  }

  #show(box: Box | undefined, most?: number): void {
    // An empty graph has no box; the first size comes before there is one.
    if (box === undefined || this.#parts.size.width === 0) return;
    this.#camera = fitted(box, this.#parts.size, most);
  }

  /** Moves the view as little as needed to see a box of the screen. */
  reveal(box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }): void {
    const { width, height } = this.#parts.size;
    const dx = box.x < 0 ? BORDER - box.x : box.x + box.width > width ? width - BORDER - box.x - box.width : 0;
    const dy = box.y < 0 ? BORDER - box.y : box.y + box.height > height ? height - BORDER - box.y - box.height : 0;
    if (dx !== 0 || dy !== 0) this.panBy(dx, dy);
  }
}
