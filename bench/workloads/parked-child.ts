/** Parks many runs, and prints what each costs in memory and how fast one of them continues. */
import { setTimeout as pause } from 'node:timers/promises';
import { quantile, residentBytes } from '../measure.ts';
import { openSession, repeat } from '../session.ts';

const RUNS = 100_000;
const PROBES = 50;

const session = await openSession();
const { engine } = session;
const waiting = await engine.register({ id: 'waiting', nodes: { w: { wait: { signal: 'go' } } } });
const sleeping = await engine.register({ id: 'sleeping', nodes: { w: { wait: { for: '300ms' } } } });
const start = async (): Promise<void> => void (await engine.start(waiting.workflowId, waiting.version));
await repeat(start, 2_000, 50);
await pause(500);
residentBytes();
const heap = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
const before = heap();
const started = performance.now();
await repeat(start, RUNS, 50);
const parkMs = performance.now() - started;
await pause(1_000);
residentBytes();
const bytesPerRun = Math.max(0, heap() - before) / RUNS;

const { rows } = await engine.list({ limit: PROBES });
const signalMs: number[] = [];
for (const { executionId } of rows) {
  const ended = new Promise<void>((resolve) => {
    const stop = engine.on((event) => {
      if (event.type !== 'finished' || event.executionId !== executionId) return;
      stop();
      resolve();
    });
  });
  const sent = performance.now();
  await engine.requestSignal(executionId, { signal: 'go' });
  await ended;
  signalMs.push(performance.now() - sent);
}
const timerMs: number[] = [];
for (let at = 0; at < PROBES; at++) {
  const executionId = await engine.start(sleeping.workflowId, sleeping.version);
  const { document } = await engine.waitFor(executionId);
  const tookMs = Date.parse(String(document.finishedAt)) - Date.parse(String(document.startedAt));
  timerMs.push(Math.max(0, tookMs - 300));
}
await session.close();
process.stdout.write(
  JSON.stringify({
    parkedPerSecond: Math.round((RUNS * 1_000) / parkMs),
    bytesPerParkedRun: Math.round(bytesPerRun),
    signalP50Ms: Number(quantile(signalMs, 0.5).toFixed(2)),
    signalP99Ms: Number(quantile(signalMs, 0.99).toFixed(2)),
    timerP50Ms: Number(quantile(timerMs, 0.5).toFixed(2)),
    timerP99Ms: Number(quantile(timerMs, 0.99).toFixed(2)),
  }),
);
