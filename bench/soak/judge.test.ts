import { describe, expect, test } from 'vitest';
import { chanceFrom } from '../../e2e/kill-plan.ts';
import { judgeFlatness, type Point, peaks } from './judge.ts';

const MINUTE = 60_000;
const WINDOW = 10_000;
const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);

/** Ten minutes of windows with noise of ± `noise`. */
function series(seed: number, noise: number, value: (minutes: number) => number): Point[] {
  const chance = chanceFrom(seed);
  return Array.from({ length: 60 }, (_, window) => ({
    atMs: window * WINDOW,
    value: value((window * WINDOW) / MINUTE) * (1 + noise * (2 * chance() - 1)),
  }));
}

function verdicts(seriesOf: (seed: number) => readonly Point[], tolerance: number, warmUpMs: number): Set<string> {
  return new Set(SEEDS.map((seed) => judgeFlatness(seriesOf(seed), tolerance, warmUpMs).verdict));
}

const only = (verdict: string) => new Set([verdict]);

describe('flatness', () => {
  test('noise alone is flat', () => {
    expect(verdicts((seed) => series(seed, 0.05, () => 20), 0.05, 100_000)).toEqual(only('flat'));
    expect(verdicts((seed) => series(seed, 0.6, () => 3), 0.5, 100_000)).toEqual(only('flat'));
  });

  test('a leak of one per cent a minute is found in noise of three per cent', () => {
    expect(verdicts((seed) => series(seed, 0.03, (minutes) => 20 * (1 + minutes / 100)), 0.05, 100_000)).toEqual(
      only('grows'),
    );
  });

  test('a series that grows only while it warms up is flat', () => {
    const warming = (minutes: number) => 20 * Math.min(1, 0.5 + minutes);
    expect(verdicts((seed) => series(seed, 0.03, warming), 0.05, 100_000)).toEqual(only('flat'));
  });

  test('a series that shrinks is flat', () => {
    expect(verdicts((seed) => series(seed, 0.03, (minutes) => 20 - minutes), 0.05, 100_000)).toEqual(only('flat'));
  });

  test('a late step is found, a single outlier is not', () => {
    expect(verdicts((seed) => series(seed, 0.03, (minutes) => (minutes < 6 ? 20 : 26)), 0.1, 100_000)).toEqual(
      only('grows'),
    );
    const outlier = (seed: number) => series(seed, 0.03, (minutes) => (minutes === 8 ? 200 : 20));
    expect(verdicts(outlier, 0.05, 100_000)).toEqual(only('flat'));
  });

  test('a database that is swept once a minute is flat, one of which a tenth stays is not', () => {
    const swept = (minutes: number) => 10 + 10 * (minutes % 1);
    const kept = (minutes: number) => swept(minutes) + Math.floor(minutes);
    expect(verdicts((seed) => peaks(series(seed, 0.02, swept), MINUTE), 0.1, 2 * MINUTE)).toEqual(only('flat'));
    expect(verdicts((seed) => peaks(series(seed, 0.02, kept), MINUTE), 0.1, 2 * MINUTE)).toEqual(only('grows'));
  });

  test('few points are no ground for a verdict', () => {
    expect(judgeFlatness(series(1, 0, (minutes) => minutes).slice(0, 5), 0.05, 0).verdict).toBe('too short');
    expect(judgeFlatness([], 0.05, 0).verdict).toBe('too short');
  });
});
