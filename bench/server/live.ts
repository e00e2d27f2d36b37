/** Clients that follow runs while these go on. */
import { readFileSync } from 'node:fs';
import { megabytes, quantile, round } from '../measure.ts';
import { openTarget, SCALE, type Target } from './load.ts';

const SECONDS = Math.max(3, 20 * SCALE);

/** 450 clients follow one run each, 50 follow all, while 200 runs per second go on. Lag: from the event's time to here. */
export async function s3(): Promise<Record<string, number>> {
  const target = await openTarget();
  const before = residentOf(target);
  const stop = new AbortController();
  const lags: number[] = [];
  let events = 0;
  let started = 0;
  const heard = (at: string): void => {
    events++;
    lags.push(Date.now() - Date.parse(at));
  };
  const all = Array.from({ length: Math.round(50 * SCALE) || 1 }, () =>
    untilStopped(async () => {
      for await (const { at } of target.client.allEvents({ signal: stop.signal })) heard(at);
    }),
  );
  const pace = 1_000 / Math.max(20, 200 * SCALE);
  const wanted = Math.round(450 * SCALE) || 1;
  const ones: Promise<void>[] = [];
  const begun = performance.now();
  while (performance.now() - begun < SECONDS * 1_000) {
    const due = begun + started++ * pace - performance.now();
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
    const starting = target.client.start('one');
    if (ones.length < wanted) {
      ones.push(
        untilStopped(async () => {
          for await (const { at } of (await starting).events({ signal: stop.signal })) heard(at);
        }),
      );
    } else void starting.catch(() => undefined);
  }
  const after = residentOf(target);
  stop.abort();
  await Promise.all([...all, ...ones]);
  await target.close();
  return {
    'clients of all': all.length,
    'clients of one': ones.length,
    'runs per second': round(started / SECONDS),
    'events per second': round(events / SECONDS),
    'lag p50 ms': round(quantile(lags, 0.5)),
    'lag p99 ms': round(quantile(lags, 0.99)),
    'server MB before': before,
    'server MB after': after,
  };
}

async function untilStopped(follow: () => Promise<void>): Promise<void> {
  await follow().catch((error: unknown) => {
    if ((error as Error).name !== 'AbortError') throw error;
  });
}

/** As the system sees it; 0 where it does not say. */
function residentOf({ server: { pid } }: Target): number {
  try {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return megabytes(Number(kilobytes) * 1_024);
  } catch {
    return 0;
  }
}
