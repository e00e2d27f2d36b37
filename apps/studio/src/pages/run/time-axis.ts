/**
 * The axis of the timeline. Times in which nothing runs can be long (an approval over night), so they are folded: a gap
 * has a fixed width, and the rest shares the room in proportion.
 */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export interface Segment extends Interval {
  /** Pixels. */
  readonly x: number;
  readonly width: number;
  readonly isFolded: boolean;
}

export interface TimeAxis {
  readonly from: number;
  readonly to: number;
  readonly width: number;
  readonly segments: readonly Segment[];
  xOf(time: number): number;
  timeOf(x: number): number;
}

export const FOLDED_PX = 28;
/** A gap is folded if it is longer than this share of the time that is busy, and than the least time. */
const FOLD_SHARE = 0.25;
const MIN_FOLD_MS = 2_000;
/** Room around busy times, as a share of them. */
const MARGIN_SHARE = 0.02;
const MIN_SPAN_MS = 1;

export function timeAxis(busy: readonly Interval[], whole: Interval, width: number): TimeAxis {
  const from = whole.from;
  const to = Math.max(whole.to, from + MIN_SPAN_MS);
  const merged = merge(busy, from, to);
  const busyMs = merged.reduce((sum, interval) => sum + interval.to - interval.from, 0);
  // A run that only waits is shown in full.
  const cuts = gaps(merged, from, to).filter(
    (gap) => busyMs > 0 && gap.to - gap.from > Math.max(MIN_FOLD_MS, FOLD_SHARE * busyMs),
  );
  const margin = MARGIN_SHARE * Math.max(busyMs, 50);
  const folded = cuts.map((gap) => ({
    from: gap.from === from ? from : gap.from + margin,
    to: gap.to === to ? to : gap.to - margin,
  }));
  return axisOf(folded, from, to, width);
}

function axisOf(folded: readonly Interval[], from: number, to: number, width: number): TimeAxis {
  const foldedMs = folded.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const room = Math.max(1, width - folded.length * FOLDED_PX);
  const scale = room / Math.max(MIN_SPAN_MS, to - from - foldedMs);
  const segments: Segment[] = [];
  let x = 0;
  let time = from;
  const add = (until: number, isFolded: boolean): void => {
    if (until <= time) return;
    const own = isFolded ? FOLDED_PX : (until - time) * scale;
    segments.push({ from: time, to: until, x, width: own, isFolded });
    x += own;
    time = until;
  };
  for (const gap of folded) {
    add(gap.from, false);
    add(gap.to, true);
  }
  add(to, false);
  return {
    from,
    to,
    width,
    segments,
    xOf: (at) => xIn(segments, at),
    timeOf: (at) => timeIn(segments, at),
  };
}

function xIn(segments: readonly Segment[], time: number): number {
  const first = segments[0];
  const last = segments.at(-1);
  if (first === undefined || last === undefined || time <= first.from) return 0;
  const segment = segments.find((one) => time <= one.to) ?? last;
  const share = Math.min(1, (time - segment.from) / (segment.to - segment.from));
  return segment.x + share * segment.width;
}

function timeIn(segments: readonly Segment[], x: number): number {
  const last = segments.at(-1);
  if (last === undefined) return 0;
  const segment = segments.find((one) => x <= one.x + one.width) ?? last;
  const share = Math.max(0, Math.min(1, (x - segment.x) / segment.width));
  return segment.from + share * (segment.to - segment.from);
}

function merge(intervals: readonly Interval[], from: number, to: number): Interval[] {
  const merged: { from: number; to: number }[] = [];
  for (const interval of [...intervals].sort((one, other) => one.from - other.from)) {
    const next = { from: Math.max(from, interval.from), to: Math.min(to, interval.to) };
    if (next.to < next.from) continue;
    const last = merged.at(-1);
    if (last !== undefined && next.from <= last.to) last.to = Math.max(last.to, next.to);
    else merged.push(next);
  }
  return merged;
}

function gaps(merged: readonly Interval[], from: number, to: number): Interval[] {
  const found: Interval[] = [];
  let time = from;
  for (const interval of merged) {
    if (interval.from > time) found.push({ from: time, to: interval.from });
    time = Math.max(time, interval.to);
  }
  if (time < to) found.push({ from: time, to });
  return found;
}

/** Round times at which the axis has marks: about one per `everyPx`. */
export function ticksOf(axis: TimeAxis, everyPx = 110): readonly number[] {
  return axis.segments.flatMap((segment) => {
    if (segment.isFolded) return [];
    const wanted = Math.floor(segment.width / everyPx);
    if (wanted < 1) return [];
    const step = roundStep((segment.to - segment.from) / wanted);
    const first = Math.ceil((segment.from - axis.from) / step) * step + axis.from;
    const ticks: number[] = [];
    for (let time = first; time < segment.to; time += step) ticks.push(time);
    return ticks;
  });
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 864e5,
];

function roundStep(ms: number): number {
  return STEPS.find((step) => step >= ms) ?? Math.ceil(ms / 864e5) * 864e5;
}
