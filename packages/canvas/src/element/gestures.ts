/**
 * Mouse, pen and touch as gestures. A drag of the background moves the view, with Shift it selects; two fingers zoom and
 * move the view; a finger that stays is a long press. The wheel moves the view, with Ctrl it zooms, as the pinch of a
 * trackpad does.
 */
import type { Point } from '../model/graph.ts';

export interface GestureTarget {
  /** Returns the drag that a press at this point begins. */
  pressAt(point: Point, event: PointerEvent): Drag | undefined;
  /** A finger stays: returns the drag that it goes on with, if any. */
  longPressAt(point: Point): Drag | undefined;
  hoverAt(point: Point | undefined): void;
  panBy(dx: number, dy: number): void;
  zoomAt(point: Point, factor: number): void;
  doubleAt(point: Point): void;
  menuAt(point: Point): boolean;
}

/** A press that moves. A press that does not is a click. */
export interface Drag {
  move(point: Point, delta: Point): void;
  /** `point` is undefined if the gesture was interrupted. */
  end(point: Point | undefined): void;
  click(event: PointerEvent): void;
}

/** Movement below this is the tremble of a hand; that of a finger is larger. */
const CLICK_SLOP = { mouse: 4, touch: 9 } as const;
const LONG_PRESS_MS = 450;
const WHEEL_LINE = 16;
const ZOOM_PER_PIXEL = 0.0022;

export class Gestures {
  readonly #host: HTMLElement;
  readonly #target: GestureTarget;
  readonly #pointers = new Map<number, Point>();
  #drag: Drag | undefined;
  #start: Point = { x: 0, y: 0 };
  #isMoving = false;
  #longPress: ReturnType<typeof setTimeout> | undefined;
  /** A long press is no click, and opens no menu of the browser. */
  #isLong = false;
  readonly #listening = new AbortController();

  constructor(host: HTMLElement, target: GestureTarget) {
    this.#host = host;
    this.#target = target;
    const { signal } = this.#listening;
    host.addEventListener('pointerdown', (event) => this.#down(event), { signal });
    host.addEventListener('pointermove', (event) => this.#move(event), { signal });
    host.addEventListener('pointerup', (event) => this.#up(event), { signal });
    host.addEventListener('pointercancel', (event) => this.#cancel(event), { signal });
    host.addEventListener('pointerleave', () => this.#target.hoverAt(undefined), { signal });
    host.addEventListener('wheel', (event) => this.#wheel(event), { signal, passive: false });
    host.addEventListener('dblclick', (event) => this.#target.doubleAt(this.#pointOf(event)), { signal });
    host.addEventListener('contextmenu', (event) => this.#menu(event), { signal });
  }

  close(): void {
    clearTimeout(this.#longPress);
    this.#listening.abort();
  }

  /** Ends a drag without effect. */
  interrupt(): void {
    clearTimeout(this.#longPress);
    this.#drag?.end(undefined);
    this.#drag = undefined;
  }

  #pointOf({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): Point {
    const { left, top } = this.#host.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  #down(event: PointerEvent): void {
    if (event.button > 1) return;
    const point = this.#pointOf(event);
    this.#pointers.set(event.pointerId, point);
    this.#host.setPointerCapture(event.pointerId);
    if (this.#pointers.size > 1) {
      this.interrupt();
      return;
    }
    this.#start = point;
    this.#isMoving = false;
    this.#isLong = false;
    this.#drag = this.#target.pressAt(point, event);
    clearTimeout(this.#longPress);
    if (event.pointerType === 'touch') this.#longPress = setTimeout(() => this.#pressLong(point), LONG_PRESS_MS);
  }

  #pressLong(point: Point): void {
    if (this.#isMoving || this.#pointers.size !== 1) return;
    this.#isLong = true;
    this.#drag?.end(undefined);
    this.#drag = this.#target.longPressAt(point);
  }

  #move(event: PointerEvent): void {
    const point = this.#pointOf(event);
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) {
      this.#target.hoverAt(point);
      return;
    }
    if (this.#pointers.size === 2) this.#pinch(event.pointerId, before, point);
    else if (this.#drag !== undefined) {
      const slop = event.pointerType === 'touch' ? CLICK_SLOP.touch : CLICK_SLOP.mouse;
      if (!this.#isMoving && distance(point, this.#start) < slop) return;
      clearTimeout(this.#longPress);
      const last = this.#isMoving ? before : this.#start;
      this.#isMoving = true;
      this.#drag.move(point, { x: point.x - last.x, y: point.y - last.y });
    }
    this.#pointers.set(event.pointerId, point);
  }

  #pinch(moved: number, before: Point, after: Point): void {
    for (const [id, other] of this.#pointers) {
      if (id === moved) continue;
      const [far, near] = [distance(other, after), distance(other, before)];
      this.#target.panBy((after.x - before.x) / 2, (after.y - before.y) / 2);
      if (near > 0) this.#target.zoomAt({ x: (other.x + after.x) / 2, y: (other.y + after.y) / 2 }, far / near);
    }
  }

  #up(event: PointerEvent): void {
    clearTimeout(this.#longPress);
    if (!this.#pointers.delete(event.pointerId)) return;
    const drag = this.#drag;
    this.#drag = undefined;
    if (drag === undefined) return;
    if (this.#isMoving) drag.end(this.#pointOf(event));
    else if (this.#isLong) drag.end(undefined);
    else drag.click(event);
  }

  #cancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.interrupt();
  }

  /** After a long press, the menu was asked for already. */
  #menu(event: MouseEvent): void {
    if (this.#isLong || this.#target.menuAt(this.#pointOf(event))) event.preventDefault();
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_LINE : 1;
    const [dx, dy] = [event.deltaX * scale, event.deltaY * scale];
    if (event.ctrlKey || event.metaKey) {
      // A notch of a mouse wheel is 100 to 120 pixels, a step of a pinch a few: both feel alike.
      const pixels = Math.abs(dy) < 50 ? dy * 4 : dy;
      this.#target.zoomAt(this.#pointOf(event), Math.exp(-pixels * ZOOM_PER_PIXEL));
    } else if (event.shiftKey && dx === 0) this.#target.panBy(-dy, 0);
    else this.#target.panBy(-dx, -dy);
  }
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
