/** Moves a drawing for some seconds, changes states 50 times a second, and counts the frames. */

export interface Drawing {
  /** Sets the zoom, at the middle of the graph. */
  zoomTo(zoom: number): void;
  panBy(dx: number, dy: number): void;
  zoomBy(factor: number): void;
  /** Changes the states of some nodes. */
  update(ids: readonly string[], step: number): void;
}

/** A graph whose nodes have places, for a drawing without a layout. */
export interface PlacedGraph {
  readonly nodes: readonly { readonly id: string; readonly x: number; readonly y: number }[];
  readonly edges: readonly (readonly [from: string, to: string])[];
  readonly onlyVisible: boolean;
}

export interface Figures {
  readonly frames: number;
  readonly fps: number;
  /** The time between two frames that one in twenty exceeds. */
  readonly p95Ms: number;
  readonly updates: number;
}

export interface Motion {
  readonly kind: 'pan' | 'zoom';
  readonly zoom: number;
  readonly isUpdated: boolean;
  readonly ms: number;
}

const UPDATES_PER_SECOND = 50;
const NODES_PER_UPDATE = 20;

export async function measure(drawing: Drawing, ids: readonly string[], motion: Motion): Promise<Figures> {
  drawing.zoomTo(motion.zoom);
  await frames(5);
  let [updates, step] = [0, 0];
  const timer = motion.isUpdated
    ? setInterval(() => {
        const from = (step * NODES_PER_UPDATE) % ids.length;
        drawing.update(ids.slice(from, from + NODES_PER_UPDATE), step++);
        updates++;
      }, 1_000 / UPDATES_PER_SECOND)
    : undefined;
  const gaps: number[] = [];
  const begin = performance.now();
  let before = begin;
  for (let frame = 0; before - begin < motion.ms; frame++) {
    const turn = frame / 60;
    if (motion.kind === 'pan') drawing.panBy(14 * Math.cos(turn * 2), 9 * Math.sin(turn * 3));
    else drawing.zoomBy(1 + 0.02 * Math.sin(turn * 3));
    const now = await nextFrame();
    gaps.push(now - before);
    before = now;
  }
  clearInterval(timer);
  gaps.sort((a, b) => a - b);
  const seconds = (before - begin) / 1_000;
  return {
    frames: gaps.length,
    fps: Math.round((gaps.length / seconds) * 10) / 10,
    p95Ms: Math.round(gaps[Math.floor(gaps.length * 0.95)]! * 10) / 10,
    updates: Math.round(updates / seconds),
  };
}

function nextFrame(): Promise<number> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve(performance.now()));
  });
}

async function frames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame++) await nextFrame();
}
