/**
 * Loaded into a server before anything else: looks at its event loop every millisecond, and writes what it saw to
 * `BENCH_LOOP_FILE` when the process ends. Of each gap between two looks it knows how long it was, and how much CPU time
 * the main thread used in it: a gap without CPU time is a thread that was not given a core.
 */
import { openSync, readSync, writeFileSync } from 'node:fs';
import { constants, PerformanceObserver, performance } from 'node:perf_hooks';

/** Gaps in which the thread used more are listed one by one. */
const TOLD_MS = 20;

const waited: number[] = [];
const used: number[] = [];
const blocks: { from: number; to: number; cpuMs: number; stolenMs: number }[] = [];
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
/**
 * How long the hypervisor kept cores from this machine: the guest counts it as CPU time of the thread that was running.
 * A tick is 10 ms; the first line of `/proc/stat` is the sum over all cores: user, nice, system, idle, iowait, irq, softirq, steal.
 */
const stat = process.platform === 'linux' ? openSync('/proc/stat', 'r') : undefined;
const line = Buffer.alloc(160);
const stolenMs = (): number => {
  if (stat === undefined) return 0;
  readSync(stat, line, 0, line.length, 0);
  return Number(line.toString('latin1').split(/ +/)[8]) * 10;
};
let at = Date.now();
let cpu = cpuMs();
let stolen = stolenMs();

function measure(): void {
  const now = Date.now();
  const cpuNow = cpuMs();
  waited.push(now - at);
  used.push(cpuNow - cpu);
  const stolenNow = stolenMs();
  if (cpuNow - cpu > TOLD_MS) {
    blocks.push({ from: at, to: now, cpuMs: cpuNow - cpu, stolenMs: stolenNow - stolen });
  }
  at = now;
  cpu = cpuNow;
  stolen = stolenNow;
  setTimeout(measure, 1).unref();
}
measure();

const file = process.env.BENCH_LOOP_FILE;
process.on('exit', () => {
  if (file !== undefined) writeFileSync(file, JSON.stringify({ waited, used, blocks, collections }));
});
