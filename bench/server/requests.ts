/** Starts, and reads of what is stored. */
import { round } from '../measure.ts';
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

/** Goal: whatever is stored, within 20 %. */
export async function s2(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const reads = [
    ['get', '/executions/exe_fill500'],
    ['result', '/executions/exe_fill500/result'],
    ['list', '/executions?limit=50'],
    ['list of a workflow', '/executions?workflowId=one&status=completed&limit=50'],
  ] as const;
  const found = new Map<string, Figures[]>();
  for (const stored of [1_000, Math.max(2_000, 100_000 * SCALE)]) {
    const target = await openTarget({ stored });
    try {
      for (const [name, path] of reads) {
        const now = await load(target, { path, connections: 16 });
        Object.assign(figures, named(`${name} at ${stored}`, now));
        found.set(name, [...(found.get(name) ?? []), now]);
      }
    } finally {
      await target.close();
    }
  }
  for (const [name, [few, many]] of found) {
    if (few === undefined || many === undefined) continue;
    figures[`${name}, many to few: per second`] = round(many.perSecond / few.perSecond, 2);
    figures[`${name}, many to few: p50`] = round(many.p50 / few.p50, 2);
  }
  return figures;
}
