import { graphOf, NODE_STATUSES } from '@nebula/canvas/model';
import { RunHistory, type TimelineEvent } from '@nebula/core/view';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { criticalPath } from '../src/pages/run/critical-path.ts';
import { stripsOf } from '../src/pages/run/iteration-strips.ts';
import { lanesOf, spansUntil } from '../src/pages/run/lanes.ts';
import { FOLDED_PX, ticksOf, timeAxis } from '../src/pages/run/time-axis.ts';

describe('the axis', () => {
  test('[STU-23] folds a night without work', () => {
    const night = 8 * 3_600_000;
    const axis = timeAxis(
      [
        { from: 0, to: 1_000 },
        { from: 1_000 + night, to: 2_000 + night },
      ],
      { from: 0, to: 2_000 + night },
      1_000,
    );
    const folded = axis.segments.filter(({ isFolded }) => isFolded);
    expect(folded).toHaveLength(1);
    expect(folded[0]?.width).toBe(FOLDED_PX);
    expect(axis.xOf(1_000)).toBeGreaterThan(400);
    expect(axis.xOf(1_000)).toBeLessThan(500);
  });

  test('[STU-23] keeps a short pause', () => {
    const axis = timeAxis(
      [
        { from: 0, to: 1_000 },
        { from: 1_200, to: 2_000 },
      ],
      { from: 0, to: 2_000 },
      1_000,
    );
    expect(axis.segments).toHaveLength(1);
    expect(axis.xOf(1_000)).toBe(500);
  });

  test('[STU-23] a time and its place are inverse, and places never go back', () => {
    const interval = fc.tuple(fc.nat(100_000), fc.nat(20_000)).map(([from, length]) => ({ from, to: from + length }));
    fc.assert(
      fc.property(fc.array(interval), fc.array(fc.nat(120_000), { minLength: 2 }), (busy, times) => {
        const axis = timeAxis(busy, { from: 0, to: 120_000 }, 800);
        const sorted = [...times].sort((one, other) => one - other);
        const places = sorted.map((time) => axis.xOf(time));
        for (let at = 1; at < places.length; at++) expect(places[at]).toBeGreaterThanOrEqual(places[at - 1] as number);
        for (const time of times) expect(axis.timeOf(axis.xOf(time))).toBeCloseTo(time, 3);
        expect(axis.xOf(120_000)).toBeCloseTo(800, 3);
      }),
    );
  });

  test('[STU-23] has marks at round times', () => {
    const axis = timeAxis([{ from: 0, to: 8_600 }], { from: 0, to: 8_600 }, 1_000);
    expect(ticksOf(axis)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000]);
  });
});

describe('the critical path', () => {
  test('[STU-24] follows the node that ended last', () => {
    const nodes = [
      { path: 'order', startedAt: 0, endedAt: 1 },
      { path: 'berlin', startedAt: 1, endedAt: 5 },
      { path: 'lyon', startedAt: 1, endedAt: 9 },
      { path: 'ship', startedAt: 9, endedAt: 12 },
      { path: 'other', startedAt: 0, endedAt: 3 },
    ];
    const before: Readonly<Record<string, readonly string[]>> = {
      berlin: ['order'],
      lyon: ['order'],
      ship: ['berlin', 'lyon'],
    };
    expect(criticalPath(nodes, (path) => before[path] ?? [])).toEqual(['order', 'lyon', 'ship']);
    expect(criticalPath([], () => [])).toEqual([]);
    expect(criticalPath(nodes, () => ['ship'])).toEqual(['ship']);
  });
});

describe('lanes', () => {
  const graph = graphOf(
    [
      { id: 'load', kind: 'action', label: 'load' },
      { id: 'items', kind: 'loop', label: 'items', isGroup: true },
      { id: 'items/pack', parent: 'items', kind: 'action', label: 'pack' },
      { id: 'both', kind: 'group', label: 'both', isGroup: true },
      { id: 'both/1', parent: 'both', kind: 'action', label: '1' },
    ],
    [],
  );

  test('[STU-25] show a loop in the iteration that is looked at', () => {
    const paths = (shown: Record<string, number>) => lanesOf(graph, new RunHistory(), shown).map(({ path }) => path);
    expect(paths({})).toEqual(['load', 'items', 'both', 'both/1']);
    expect(paths({ items: 3 })).toEqual(['load', 'items', 'items/3/pack', 'both', 'both/1']);
  });

  test('[STU-25] a loop is drawn with the state of each iteration at the moment that is looked at', () => {
    const history = new RunHistory();
    const note = (at: number, type: string, node: string) =>
      history.note({ at, type, node, details: {} } as unknown as TimelineEvent);
    note(1, 'NodeOpened', 'items');
    for (const iteration of [0, 1, 2]) note(iteration + 1, 'RoundStarted', `items/${iteration}`);
    note(10, 'RoundCompleted', 'items/0');
    const drawn = (until: number) =>
      Array.from(stripsOf(graph, history, {}, until).get('items') ?? [], (code) => NODE_STATUSES[code]);
    expect(drawn(20)).toEqual(['completed', 'running', 'running']);
    expect(drawn(2)).toEqual(['running', 'running', 'pending']);
  });

  test('[STU-25] cut what has not happened yet', () => {
    const spans = [
      { kind: 'queued', from: 0, to: 10 },
      { kind: 'running', from: 10, to: 30, attempt: 1, end: 'failed' },
      { kind: 'running', from: 40, to: null, attempt: 2 },
    ] as const;
    expect(spansUntil(spans, 20)).toEqual([
      { kind: 'queued', from: 0, to: 10 },
      { kind: 'running', from: 10, to: 20, attempt: 1 },
    ]);
    expect(spansUntil(spans, 50).at(-1)).toEqual({ kind: 'running', from: 40, to: 50, attempt: 2 });
  });
});
