/** Parts of a large run are read from one fold of its journal. */
import { expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

it('[ENG-403] parts of a large run share one read of its journal, until the run moves or time passes', async () => {
  const top = new BenchTop();
  let loads = 0;
  await top.open({
    wrapStore: (store) => ({
      ...store,
      load: (...given) => {
        loads++;
        return store.load(...given);
      },
    }),
  });
  const executionId = await top.start(
    {
      nodes: {
        each: {
          forEach: { in: '$input', parallel: true, maxConcurrency: 1_200 },
          do: {
            nodes: { hold: { wait: { signal: 'go', key: '{{ $item }}' } }, after: { needs: ['hold'], action: 'hand' } },
          },
        },
      },
    },
    Array.from({ length: 1_200 }, (_, index) => index),
  );
  const read = async (at?: number) => {
    loads = 0;
    const part = { limit: 3, after: 'each/5/after' };
    return { document: await top.engine.bareDocument(executionId, at, part), loads };
  };
  expect((await read()).loads).toBe(1);
  const again = await read();
  expect(again.loads).toBe(0);
  expect(Object.keys(again.document?.nodes ?? {})).toEqual(['each/6/hold', 'each/6/after', 'each/7/hold']);
  expect(again.document?.nodesNext).toBe('each/7/hold');
  const { seq = 0 } = again.document ?? {};
  expect((await read(seq)).loads).toBe(0);
  await top.engine.requestSignal(executionId, { signal: 'go', key: '6' });
  await top.untilIdle();
  const moved = await read();
  expect([moved.loads, moved.document?.nodes['each/6/hold']?.status]).toEqual([1, 'completed']);
  expect((await read(seq)).document?.nodes['each/6/hold']?.status).toBe('waiting');
  await top.clock.advance(61_000);
  expect((await read()).loads).toBe(1);
});
