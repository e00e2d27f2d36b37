/**
 * Loaded into a server before anything else: looks at its event loop every millisecond, and writes what it saw to
 * `BENCH_LOOP_FILE` when the process ends. Of each gap between two looks it knows how long it was, and how much CPU time
 * the main thread used in it: a gap without CPU time is a thread that was not given a core.
 */
import { writeFileSync } from 'node:fs';
import { constants, PerformanceObserver, performance } from 'node:perf_hooks';

/** Gaps in which the thread used more are listed one by one. */
const TOLD_MS = 20;

const waited: number[] = [];
const used: number[] = [];
const blocks: { from: number; to: number; cpuMs: number }[] = [];
/** Garbage collections, by the clock: they are part of the gaps they fall into. */
const collections: { at: number; ms: number; kind: string }[] = [];
const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'scavenge',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'mark-compact',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { startTime, duration, detail } = entry as typeof entry & { readonly detail: { readonly kind: number } };
    const { kind } = detail;
    collections.push({ at: performance.timeOrigin + startTime, ms: duration, kind: KINDS[kind] ?? String(kind) });
  }
}).observe({ entryTypes: ['gc'] });
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
let at = Date.now();
let cpu = cpuMs();

function measure(): void {
  const now = Date.now();
  const cpuNow = cpuMs();
  waited.push(now - at);
  used.push(cpuNow - cpu);
  if (cpuNow - cpu > TOLD_MS) blocks.push({ from: at, to: now, cpuMs: cpuNow - cpu });
  at = now;
  cpu = cpuNow;
  setTimeout(measure, 1).unref();
}
measure();

const file = process.env.BENCH_LOOP_FILE;
process.on('exit', () => {
  if (file !== undefined) writeFileSync(file, JSON.stringify({ waited, used, blocks, collections }));
});
