/** Runs one layered DAG and prints its times and the peak of its memory. */
import { openSession } from '../session.ts';

const size = Number(process.argv[2]);
const WIDTH = 100;
const nodes: Record<string, unknown> = {};
for (let n = 0; n < size; n++) {
  const layer = Math.floor(n / WIDTH);
  const above = (layer - 1) * WIDTH;
  const needs = layer === 0 ? undefined : [`n${above + (n % WIDTH)}`, `n${above + ((n + 1) % WIDTH)}`];
  nodes[`n${n}`] = { action: 'noop@1', ...(needs && { needs }) };
}
const session = await openSession();
const started = performance.now();
const run = await session.workflow({ id: 'layers', config: { maxParallelism: WIDTH }, nodes });
const registered = performance.now();
await run();
const ended = performance.now();
const peakMb = Math.round(process.resourceUsage().maxRSS / 1_024);
await session.close();
process.stdout.write(JSON.stringify({ compileMs: registered - started, runMs: ended - registered, peakMb }));
