/** Two canvases over each other: the graph, and above it what changes often. A frame draws only what is out of date. */
import type { Size } from './camera.ts';

type Ink = CanvasRenderingContext2D;

export interface StageParts {
  paintGraph(): void;
  /** Returns whether the next frame must paint it again. */
  paintOverlay(now: number): boolean;
  resized(): void;
}

export class Stage {
  readonly graph: Ink;
  readonly overlay: Ink;
  readonly #parts: StageParts;
  readonly #host: HTMLElement;
  readonly #observer: ResizeObserver;
  #size: Size = { width: 0, height: 0 };
  #ratio = 1;
  #isGraphStale = false;
  #isOverlayStale = false;
  #frame = 0;

  constructor(host: HTMLElement, parts: StageParts) {
    this.#host = host;
    this.#parts = parts;
    this.graph = newInk(host, { alpha: false });
    this.overlay = newInk(host, {});
    this.#observer = new ResizeObserver(() => this.#resize());
    this.#observer.observe(host);
    this.#resize();
  }

  get size(): Size {
    return this.#size;
  }

  get ratio(): number {
    return this.#ratio;
  }

  close(): void {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  /** The graph and the overlay are out of date. */
  redraw(): void {
    this.#isGraphStale = true;
    this.redrawOverlay();
  }

  redrawOverlay(): void {
    this.#isOverlayStale = true;
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#frame = 0;
    const isGraphStale = this.#isGraphStale;
    this.#isGraphStale = false;
    this.#isOverlayStale = false;
    if (this.#size.width === 0 || this.#size.height === 0) return;
    if (isGraphStale) this.#parts.paintGraph();
    if (this.#parts.paintOverlay(now) || this.#isOverlayStale) this.redrawOverlay();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    this.#ratio = globalThis.devicePixelRatio;
    this.#size = { width, height };
    for (const { canvas } of [this.graph, this.overlay]) {
      canvas.width = Math.max(1, Math.round(width * this.#ratio));
      canvas.height = Math.max(1, Math.round(height * this.#ratio));
    }
    this.#parts.resized();
    this.redraw();
  }
}

function newInk(host: HTMLElement, settings: CanvasRenderingContext2DSettings): Ink {
  const canvas = document.createElement('canvas');
  canvas.setAttribute('aria-hidden', 'true');
  host.append(canvas);
  return canvas.getContext('2d', settings)!;
}
