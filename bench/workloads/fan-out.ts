/** W3: one run with 1,000 parallel nodes and a join. */
import { median, round } from '../measure.ts';
import { openSession } from '../session.ts';

const WIDTH = 1_000;

export async function w3(): Promise<Record<string, number>> {
  const session = await openSession();
  const nodes: Record<string, unknown> = {};
  for (let n = 0; n < WIDTH; n++) nodes[`p${n}`] = { action: 'noop@1' };
  nodes.join = { action: 'noop@1', needs: Object.keys(nodes) };
  const run = await session.workflow({ id: 'fan-out', config: { maxParallelism: WIDTH }, nodes });
  for (let warm = 0; warm < 5; warm++) await run();
  const times: number[] = [];
  for (let at = 0; at < 9; at++) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  await session.close();
  return { ms: round(median(times), 1), slowestMs: round(Math.max(...times), 1) };
}
