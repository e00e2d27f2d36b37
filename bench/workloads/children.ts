/** W9: one run with 10,000 child executions of one node, 50 at a time. */
import { round } from '../measure.ts';
import { openSession } from '../session.ts';

const CHILDREN = 10_000;

export async function w9(): Promise<Record<string, number>> {
  const session = await openSession();
  await session.engine.register({ id: 'child', nodes: { a: { action: 'noop@1' } } });
  const parent = (count: number) => ({
    id: `parent-${count}`,
    nodes: {
      each: {
        forEach: { in: `range(0, ${count})`, parallel: true, maxConcurrency: 50 },
        do: { nodes: { sub: { workflow: { id: 'child', mode: 'child' } } } },
      },
    },
  });
  await (await session.workflow(parent(200)))();
  const run = await session.workflow(parent(CHILDREN));
  const started = performance.now();
  await run();
  const ms = performance.now() - started;
  await session.close();
  return { ms: round(ms), childrenPerSecond: round((CHILDREN * 1_000) / ms) };
}
