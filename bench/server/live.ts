/** Clients that follow runs. */
import { readFileSync } from 'node:fs';
import { megabytes, quantile, round } from '../measure.ts';
import { cpuSecondsOf, openTarget, SCALE, type Target } from './load.ts';

const SECONDS = Math.max(3, 20 * SCALE);

/** Goes on for as long as somebody looks: a wait every two seconds. */
const LONG = {
  id: 'long',
  nodes: Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [`w${n}`, { wait: { for: '2s' }, ...(n > 0 && { needs: [`w${n - 1}`] }) }]),
  ),
};

/**
 * 450 clients follow a long run each, 50 follow all, while 200 runs per second are started and end. Lag: from the event's
 * time to here.
 */
export async function s3(): Promise<Record<string, number>> {
  const target = await openTarget();
  await target.client.call('registerWorkflow', { body: { definition: LONG } });
  const before = residentOf(target);
  const stop = new AbortController();
  const lags: number[] = [];
  let isMeasured = false;
  const follow = (events: AsyncIterable<{ readonly at: string }>): Promise<void> =>
    untilStopped(async () => {
      for await (const { at } of events) if (isMeasured) lags.push(Date.now() - Date.parse(at));
    });
  const clients: Promise<void>[] = [];
  const ones = Math.round(450 * SCALE) || 1;
  for (let n = 0; n < ones; n++) {
    clients.push(follow((await target.client.start('long')).events({ signal: stop.signal })));
  }
  const alls = Math.round(50 * SCALE) || 1;
  for (let n = 0; n < alls; n++) clients.push(follow(target.client.allEvents({ signal: stop.signal })));
  // The clients connect, and get the past events.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  isMeasured = true;
  const [cpu, own] = [cpuSecondsOf(target.server.pid), process.cpuUsage()];
  const started = await startAtPace(target);
  const spent = process.cpuUsage(own);
  const after = residentOf(target);
  stop.abort();
  await Promise.all(clients);
  const figures = {
    'clients of one run each': ones,
    'clients of all': alls,
    'runs per second': round(started / SECONDS),
    'events per second': round(lags.length / SECONDS),
    'lag p50 ms': round(quantile(lags, 0.5)),
    'lag p99 ms': round(quantile(lags, 0.99)),
    'server CPU share': round((cpuSecondsOf(target.server.pid) - cpu) / SECONDS, 2),
    'clients CPU share': round((spent.user + spent.system) / 1_000_000 / SECONDS, 2),
    'server MB before': before,
    'server MB after': after,
  };
  await target.close();
  return figures;
}

/** How many starts were accepted. */
async function startAtPace({ client }: Target): Promise<number> {
  const pace = 1_000 / Math.max(20, 200 * SCALE);
  const begun = performance.now();
  const starts: Promise<unknown>[] = [];
  while (performance.now() - begun < SECONDS * 1_000) {
    const due = begun + starts.length * pace - performance.now();
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
    starts.push(client.start('one'));
  }
  return (await Promise.all(starts)).length;
}

async function untilStopped(follow: () => Promise<void>): Promise<void> {
  await follow().catch((error: unknown) => {
    if ((error as Error).name !== 'AbortError') throw error;
  });
}

/** The resident memory by the system; 0 if it is not known. */
function residentOf({ server: { pid } }: Target): number {
  try {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return megabytes(Number(kilobytes) * 1_024);
  } catch {
    return 0;
  }
}
