import { describe, expect, it } from 'vitest';
import { type ComparedRun, compareRuns, isSameValue, slowest } from '../../src/pages/compare/differences.ts';

type Node = ComparedRun['nodes'][string];

const BASE: Node = {
  status: 'completed',
  attempts: 1,
  error: null,
  queuedAt: null,
  startedAt: null,
  finishedAt: null,
  durationMs: null,
};

const at = (second: number, more: Partial<Node> = {}): Node => ({
  ...BASE,
  startedAt: new Date(second * 1_000).toISOString(),
  ...more,
});
const failed = (code: string, message = code): Partial<Node> => ({
  status: 'failed',
  error: { code, message, kind: 'USER' } as Node['error'],
});

describe('two runs', () => {
  it('[STU-55] are compared in the order in which their nodes began, each from its own start', () => {
    const a = { nodes: { later: at(9), first: at(5), never: BASE } };
    const b = { nodes: { first: at(100), later: at(200), extra: at(101) } };
    expect(compareRuns(a, b).map(({ path }) => path)).toEqual(['first', 'extra', 'later', 'never']);
  });

  it('[STU-55] differ first by status, then by error, then by attempts', () => {
    const a = {
      nodes: {
        s: at(1),
        e: at(2, failed('X')),
        m: at(3, failed('X')),
        n: at(4, { attempts: 2 }),
        same: at(5),
        gone: at(6),
      },
    };
    const b = {
      nodes: { s: at(1, failed('X')), e: at(2, failed('Y')), m: at(3, failed('X', 'other')), n: at(4), same: at(5) },
    };
    const found = Object.fromEntries(compareRuns(a, b).map(({ path, differs }) => [path, differs]));
    expect(found).toEqual({ s: 'status', e: 'error', m: 'error', n: 'attempts', same: undefined, gone: 'status' });
  });

  it('[STU-55] show where the time went, the largest difference first', () => {
    const a = {
      nodes: {
        slow: at(1, { durationMs: 100 }),
        quick: at(2, { durationMs: 900 }),
        same: at(3, { durationMs: 5 }),
        zero: at(4, { durationMs: 0 }),
      },
    };
    const b = {
      nodes: {
        slow: at(1, { durationMs: 400 }),
        quick: at(2, { durationMs: 100 }),
        same: at(3, { durationMs: 5 }),
        zero: at(4, { durationMs: 7 }),
      },
    };
    const rows = slowest(compareRuns(a, b), 10);
    expect(rows.map(({ path, ratio, extraMs }) => [path, ratio, extraMs])).toEqual([
      ['quick', 100 / 900, -800],
      ['slow', 4, 300],
      ['zero', undefined, 7],
    ]);
    expect(slowest(compareRuns(a, b), 1)).toHaveLength(1);
  });

  it('[STU-55] have the same output if their previews are the same', () => {
    expect(isSameValue({ bytes: 1, value: { a: 1 } }, { bytes: 1, value: { a: 1 } })).toBe(true);
    expect(isSameValue({ bytes: 1, value: { a: 1 } }, { bytes: 1, value: { a: 2 } })).toBe(false);
    expect(isSameValue(null, { bytes: 1, value: null })).toBe(false);
  });
});
