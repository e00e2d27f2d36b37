/** The geometry of charts: ticks that people read, and lines through points. */

/** Up to `count` round steps that cover 0 to `max`. The last tick is at least `max`. */
export function ticksOf(max: number, count: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power;
  const ticks = [0];
  for (let tick = step; ticks.length === 1 || (ticks.at(-1) as number) < max; tick += step) ticks.push(round(tick));
  return ticks;
}

/** Steps of durations are seconds, minutes and hours, not powers of ten. */
const DURATION_STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000,
];

export function durationTicksOf(maxMs: number, count: number): number[] {
  const step = DURATION_STEPS_MS.find((size) => size * count >= maxMs);
  if (step === undefined) return ticksOf(maxMs, count);
  const ticks = [0];
  while (ticks.length === 1 || (ticks.at(-1) as number) < maxMs) ticks.push(ticks.length * step);
  return ticks;
}

function round(value: number): number {
  return Number(value.toPrecision(12));
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** The value at the upper edge. */
  readonly max: number;
}

/** The middle of the place of a bucket. */
export function middleOf(index: number, count: number, width: number): number {
  return ((index + 0.5) * width) / count;
}

/** A line through the values. A bucket without a value interrupts it; one alone is a short dash. */
export function linePath(values: readonly (number | null)[], { width, height, max }: Frame): string {
  const parts: string[] = [];
  let isDrawing = false;
  values.forEach((value, index) => {
    if (value === null) {
      isDrawing = false;
      return;
    }
    const x = middleOf(index, values.length, width);
    const y = height - (value / max) * height;
    const isAlone = !isDrawing && (values[index + 1] ?? null) === null;
    parts.push(isAlone ? `M${one(x - 3)} ${one(y)}H${one(x + 3)}` : `${isDrawing ? 'L' : 'M'}${one(x)} ${one(y)}`);
    isDrawing = true;
  });
  return parts.join('');
}

/** The area below a line without gaps. */
export function areaPath(values: readonly number[], frame: Frame): string {
  if (values.length === 0) return '';
  const { width, height } = frame;
  const first = one(middleOf(0, values.length, width));
  const last = one(middleOf(values.length - 1, values.length, width));
  return `${linePath(values, frame)}L${last} ${height}L${first} ${height}Z`;
}

const MAX_BAR_GAP = 3;

/** Bars that stand on each other, as one path for each series. The smallest number is a pixel high. */
export function barPaths(series: readonly (readonly (number | null)[])[], { width, height, max }: Frame): string[] {
  const count = series[0]?.length ?? 0;
  const place = width / Math.max(1, count);
  const bar = Math.max(1, place - Math.min(MAX_BAR_GAP, place * 0.3));
  const below: number[] = Array(count).fill(0);
  return series.map((values) =>
    values
      .map((value, index) => {
        if (value === null || value === 0) return '';
        const tall = Math.max(1, (value / max) * height);
        const base = height - (below[index] ?? 0);
        below[index] = (below[index] ?? 0) + tall;
        return `M${one(index * place + (place - bar) / 2)} ${one(base)}v${one(-tall)}h${one(bar)}v${one(tall)}z`;
      })
      .join(''),
  );
}

function one(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The bucket at a place in the chart. */
export function indexAt(x: number, width: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor((x / width) * count)));
}
