/** Starts, and reads of what is stored. */
import { round } from '../measure.ts';
import { load, named, openTarget, SCALE } from './load.ts';

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

/** Goal: whatever is stored, within 20 %. */
export async function s2(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const reads = [
    ['get', '/executions/exe_fill500'],
    ['result', '/executions/exe_fill500/result'],
    ['list', '/executions?limit=50'],
    ['list of a workflow', '/executions?workflowId=one&status=completed&limit=50'],
  ] as const;
  const rates = new Map<string, number[]>();
  for (const stored of [1_000, Math.max(2_000, 100_000 * SCALE)]) {
    const target = await openTarget({ stored });
    try {
      for (const [name, path] of reads) {
        const found = await load(target, { path, connections: 16 });
        Object.assign(figures, named(`${name} at ${stored}`, found));
        rates.set(name, [...(rates.get(name) ?? []), found.perSecond]);
      }
    } finally {
      await target.close();
    }
  }
  for (const [name, [few = 1, many = 0]] of rates) figures[`${name}: many to few`] = round(many / few, 2);
  return figures;
}
