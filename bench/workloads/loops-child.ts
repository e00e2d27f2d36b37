/** Runs a forEach over so many items, and prints its time and the peak of its memory. */
import { openSession } from '../session.ts';

const size = Number(process.argv[2]);
const session = await openSession();
const run = await session.workflow({
  id: 'loop',
  nodes: {
    each: {
      forEach: { in: `range(0, ${size})`, parallel: true, maxConcurrency: 50 },
      do: { nodes: { item: { action: 'noop@1', with: { n: '{{ $item }}' } } } },
    },
  },
});
const started = performance.now();
await run();
const ms = performance.now() - started;
const peakMb = Math.round(process.resourceUsage().maxRSS / 1_024);
await session.close();
process.stdout.write(JSON.stringify({ ms, peakMb }));
