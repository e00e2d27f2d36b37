/** W1: 1,000 runs of a 10-node chain, 50 at a time. W2: the same one at a time. */
import { FEED_START } from '@nebula/ports';
import { rowsPerSecond } from '../limit.ts';
import { median, quantile, round } from '../measure.ts';
import { chain, openSession, repeat, type Session } from '../session.ts';

const NODES = 10;
const RUNS = 1_000;
const WIDTH = 50;
const ROUNDS = 5;
const ROUND_MS = 5_000;
const SINGLE_RUNS = 300;

export async function w1(): Promise<Record<string, number>> {
  const session = await openSession();
  const run = await session.workflow(chain(NODES));
  await repeat(run, 500, WIDTH);
  const rowBytes = await frameBytes(session);
  const before = await rowsPerSecond(rowBytes);
  const rates: number[] = [];
  for (let at = 0; at < ROUNDS; at++) {
    const started = performance.now();
    let nodes = 0;
    while (performance.now() - started < ROUND_MS) {
      await repeat(run, RUNS, WIDTH);
      nodes += RUNS * NODES;
    }
    rates.push((nodes * 1_000) / (performance.now() - started));
  }
  const after = await rowsPerSecond(rowBytes);
  await session.close();
  const limit = (before + after) / 2;
  const nodesPerSecond = median(rates);
  return {
    nodesPerSecond: round(nodesPerSecond),
    slowest: round(Math.min(...rates)),
    fastest: round(Math.max(...rates)),
    rowBytes: round(rowBytes),
    limitRowsPerSecond: round(limit),
    limitBefore: round(before),
    limitAfter: round(after),
    ratioToLimit: round(nodesPerSecond / limit, 2),
  };
}

/** The mean size of a frame, so that the limit is measured with rows of the same size. */
async function frameBytes({ store }: Session): Promise<number> {
  const frames = await store.feed({ after: FEED_START, limit: 5_000 });
  return Math.round(frames.reduce((sum, frame) => sum + frame.entries.length, 0) / frames.length);
}

export async function w2(): Promise<Record<string, number>> {
  const session = await openSession();
  const run = await session.workflow(chain(NODES));
  await repeat(run, 100, 1);
  const hops: number[] = [];
  for (let at = 0; at < SINGLE_RUNS; at++) {
    const started = performance.now();
    await run();
    hops.push((performance.now() - started) / NODES);
  }
  await session.close();
  return { p50MsPerHop: round(median(hops), 3), p99MsPerHop: round(quantile(hops, 0.99), 3), runs: SINGLE_RUNS };
}
