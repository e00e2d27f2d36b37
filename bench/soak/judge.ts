/**
 * Is a series of measurements flat?
 *
 * A series grows when two things come together: a trend that chance does not explain (Mann-Kendall), and a growth over the
 * measured time (Theil-Sen, the median of all slopes) beyond the tolerance. Both look at ranks and medians, so single
 * outliers do not matter. A late step, which a slope through everything would flatten, is found by comparing medians:
 * the last 40 % against the first 20 %, which with a sixth of warm-up are the last third against the second sixth.
 */
import { median } from '../measure.ts';

export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export interface Judgement {
  readonly verdict: 'flat' | 'grows' | 'too short';
  readonly early: number;
  readonly late: number;
  /** Over the measured time, as a share: 0.1 is ten per cent more. */
  readonly growth: number;
}

/** With fewer points even a perfect trend could be chance. */
const MIN_POINTS = 6;
/** One series in 160 without any trend gets so far by chance. */
const SIGNIFICANT_Z = 2.5;
/** How far beyond the tolerance a step alone must be. */
const STEP_FACTOR = 2;

export function judgeFlatness(points: readonly Point[], tolerance: number, warmUpMs: number): Judgement {
  const steady = points.filter(({ atMs, value }) => atMs >= warmUpMs && Number.isFinite(value));
  const values = steady.map(({ value }) => value);
  const early = median(values.slice(0, Math.max(1, Math.round(values.length * 0.2))));
  const late = median(values.slice(-Math.max(1, Math.round(values.length * 0.4))));
  if (steady.length < MIN_POINTS) return { verdict: 'too short', early, late, growth: Number.NaN };
  const spanMs = (steady.at(-1) as Point).atMs - (steady[0] as Point).atMs;
  const growth = (theilSen(steady) * spanMs) / median(values);
  const hasTrend = mannKendall(values) > SIGNIFICANT_Z && growth > tolerance;
  const hasStep = (late - early) / early > STEP_FACTOR * tolerance;
  return { verdict: hasTrend || hasStep ? 'grows' : 'flat', early, late, growth };
}

/** The highest point of each stretch of time: what goes up and down with a rhythm is compared by its peaks. */
export function peaks(points: readonly Point[], everyMs: number): Point[] {
  const highest = new Map<number, Point>();
  for (const point of points) {
    const stretch = Math.floor(point.atMs / everyMs);
    if (!(point.value <= (highest.get(stretch)?.value ?? Number.NEGATIVE_INFINITY))) highest.set(stretch, point);
  }
  return [...highest].map(([stretch, { value }]) => ({ atMs: stretch * everyMs, value }));
}

function theilSen(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [at, a] of points.entries()) {
    for (const b of points.slice(at + 1)) slopes.push((b.value - a.value) / (b.atMs - a.atMs));
  }
  return median(slopes);
}

/** How many standard deviations the rises outweigh the falls, over all pairs; ties are neither. */
function mannKendall(values: readonly number[]): number {
  const n = values.length;
  let rises = 0;
  for (const [at, a] of values.entries()) for (const b of values.slice(at + 1)) rises += Math.sign(b - a);
  return rises / Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
}
