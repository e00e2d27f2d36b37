import { describe, expect, it } from 'vitest';
import { rangeStart, totalsOf, worstOf } from '../../src/pages/overview/figures.ts';
import { failedRuns } from '../../src/pages/overview/ranges.ts';
import { areaPath, barPaths, durationTicksOf, indexAt, linePath, ticksOf } from '../../src/ui/chart/scale.ts';

const bucket = (starts: number, completed: number, failed: number) => ({
  starts,
  ends: { completed, failed },
  failures: failed,
});

describe('figures of the overview', () => {
  it('[STU-48] add up over the buckets', () => {
    expect(totalsOf([bucket(3, 2, 0), bucket(1, 1, 1)])).toEqual({
      starts: 4,
      ends: 4,
      completed: 3,
      failures: 1,
      failureRate: 0.25,
    });
    expect(totalsOf([])).toEqual({ starts: 0, ends: 0, completed: 0, failures: 0, failureRate: null });
  });

  it('[STU-48] rank workflows by failures, then by their share, and leave out those without', () => {
    const of = (workflowId: string, completed: number, failed: number) => ({
      workflowId,
      totals: totalsOf([bucket(0, completed, failed)]),
      duration: null,
    });
    const worst = worstOf([of('fine', 9, 0), of('rare', 9, 1), of('often', 1, 1), of('most', 99, 5)], 3);
    expect(worst.map(({ workflowId }) => workflowId)).toEqual(['most', 'often', 'rare']);
  });

  it('[STU-48] have the same range for all moments of a bucket', () => {
    const minute = 60_000;
    expect(rangeStart(3 * minute, 60 * minute, minute)).toBe(-56 * minute);
    expect(rangeStart(3 * minute + 59_999, 60 * minute, minute)).toBe(-56 * minute);
  });

  it('[STU-48] lead to the failed runs of the range and the workflow', () => {
    expect(failedRuns('week', 'order')).toBe('/runs?status=failed%2Ctimed-out&since=week&workflow=order');
    expect(failedRuns('hour')).toBe('/runs?status=failed%2Ctimed-out&since=hour');
  });
});

describe('charts', () => {
  it('[STU-48] have round ticks from zero that cover the values', () => {
    expect(ticksOf(0, 3)).toEqual([0, 1]);
    expect(ticksOf(3, 3)).toEqual([0, 1, 2, 3]);
    expect(ticksOf(42, 3)).toEqual([0, 20, 40, 60]);
    expect(ticksOf(0.7, 3)).toEqual([0, 0.5, 1]);
    expect(durationTicksOf(0, 3)).toEqual([0, 1]);
    expect(durationTicksOf(170_000, 3)).toEqual([0, 60_000, 120_000, 180_000]);
    expect(durationTicksOf(10 * 86_400_000, 3).at(-1)).toBeGreaterThanOrEqual(10 * 86_400_000);
  });

  it('[STU-48] interrupt a line where there is no value', () => {
    const frame = { width: 40, height: 10, max: 10 };
    expect(linePath([0, 10, null, 5], frame)).toBe('M5 10L15 0M32 5H38');
    expect(linePath([], frame)).toBe('');
    expect(areaPath([0, 10], { ...frame, width: 20 })).toBe('M5 10L15 0L15 10L5 10Z');
    expect(areaPath([], frame)).toBe('');
  });

  it('[STU-48] put the bars of a bucket on each other, and show the smallest number', () => {
    const [lower, upper] = barPaths(
      [
        [5, 0],
        [5, 1],
      ],
      { width: 20, height: 100, max: 1_000 },
    );
    expect(lower).toBe('M1.5 100v-1h7v1z');
    expect(upper).toBe('M1.5 99v-1h7v1zM11.5 100v-1h7v1z');
  });

  it('[STU-48] find the bucket below the pointer', () => {
    expect([-5, 0, 39, 40, 500].map((x) => indexAt(x, 40, 4))).toEqual([0, 0, 3, 3, 3]);
  });
});
