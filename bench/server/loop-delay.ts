/** Loaded into a server before anything else: writes how late its event loop was to `BENCH_LOOP_FILE`, when it ends. */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const histogram = monitorEventLoopDelay({ resolution: 5 });
histogram.enable();
// Starting and the first compilations are not what is measured.
setTimeout(() => histogram.reset(), 3_000).unref();
const file = process.env.BENCH_LOOP_FILE;
process.on('exit', () => {
  if (file === undefined) return;
  const ms = (nanoseconds: number): number => Math.round(nanoseconds / 1e4) / 100;
  writeFileSync(file, JSON.stringify({ p99: ms(histogram.percentile(99)), max: ms(histogram.max) }));
});
