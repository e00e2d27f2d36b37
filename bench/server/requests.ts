/** Starts, and reads of what is stored. */
import { quantile, round } from '../measure.ts';
import { type Figures, load, named, openTarget, SCALE } from './load.ts';

const START = { method: 'POST', body: { workflowId: 'one', input: { n: 1 } } } as const;

/** Goals: 2,000 durable starts per second; a run of one node is answered in under 5 ms. */
export async function s1(): Promise<Record<string, number>> {
  const target = await openTarget();
  try {
    return {
      ...named('start, 1 connection', await load(target, { ...START, path: '/executions', connections: 1 })),
      ...named('start, 64 connections', await load(target, { ...START, path: '/executions', connections: 64 })),
      ...named('start and wait, 1', await load(target, { ...START, path: '/executions?wait=10s', connections: 1 })),
      ...named('start and wait, 64', await load(target, { ...START, path: '/executions?wait=10s', connections: 64 })),
    };
  } finally {
    await target.close();
  }
}

const READS = [
  ['get', '/executions/exe_fill500'],
  ['result', '/executions/exe_fill500/result'],
  ['list', '/executions?limit=50'],
  ['list of a workflow', '/executions?workflowId=one&status=completed&limit=50'],
] as const;

const ROUNDS = 5;

/**
 * Goal: whatever is stored, within 20 %. Both servers are asked in turns, and the median round counts: a machine that has
 * other things to do for a while has them for both.
 */
export async function s2(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const [few, many] = [1_000, Math.max(2_000, 100_000 * SCALE)];
  const targets = [await openTarget({ stored: few }), await openTarget({ stored: many })] as const;
  try {
    for (const [name, path] of READS) {
      const rounds: [Figures[], Figures[]] = [[], []];
      for (let turn = 0; turn < ROUNDS; turn++) {
        for (const at of [0, 1] as const) {
          rounds[at].push(await load(targets[at], { path, connections: 16, seconds: Math.max(1, 3 * SCALE) }));
        }
      }
      const [small, large] = [medianOf(rounds[0]), medianOf(rounds[1])];
      Object.assign(figures, named(`${name} at ${few}`, small), named(`${name} at ${many}`, large));
      figures[`${name}, many to few: per second`] = round(large.perSecond / small.perSecond, 2);
      figures[`${name}, many to few: p50`] = round(large.p50 / small.p50, 2);
    }
  } finally {
    for (const target of targets) await target.close();
  }
  return figures;
}

function medianOf(rounds: readonly Figures[]): Figures {
  const middle = (key: keyof Figures): number =>
    quantile(
      rounds.map((one) => one[key]),
      0.5,
    );
  return { cpuMs: middle('cpuMs'), perSecond: middle('perSecond'), p50: middle('p50'), p99: middle('p99') };
}
