/** The stored human tasks of a run are those of its state, after every frame. */
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

/** `node event kind`, from the store. */
async function stored(top: BenchTop): Promise<string[]> {
  const { rows } = await top.store.humanTasks({ limit: 1_000 });
  return rows.map(({ node, event, kind, deadline }) => `${node} ${event} ${kind} ${deadline}`).sort();
}

/** The same, from the document of the run. */
async function expected(top: BenchTop, executionId: string): Promise<string[]> {
  const document = await top.engine.bareDocument(executionId);
  if (document === undefined || document.finishedAt !== null) return [];
  return Object.entries(document.nodes)
    .flatMap(([path, { status, waitsFor }]) => {
      if (status === 'unknown') return [`${path}  unknown null`];
      if (waitsFor?.kind !== 'event') return [];
      const deadline = waitsFor.deadline === null ? null : Date.parse(waitsFor.deadline);
      return waitsFor.events
        .filter(({ kind }) => kind !== 'time')
        .map(({ kind, name }) => `${path} ${name} ${kind} ${deadline}`);
    })
    .sort();
}

async function check(top: BenchTop, executionId: string, count: number): Promise<void> {
  await top.untilIdle();
  const tasks = await stored(top);
  expect(tasks).toEqual(await expected(top, executionId));
  expect(tasks).toHaveLength(count);
}

describe('human tasks', () => {
  it('[ENG-400] follow waits of loops through answers, pauses, migrations, crashes and cancels', async () => {
    const top = new BenchTop();
    await top.open();
    const ask = {
      wait: {
        any: [{ approval: { title: 'Item {{ $item }}' } }, { signal: 'skip', key: '{{ $item }}' }],
        deadline: '1h',
      },
    };
    const definition = {
      nodes: {
        each: {
          forEach: { in: '$input', parallel: true },
          do: { nodes: { ask, pay: { needs: ['ask'], action: 'pay' } } },
        },
      },
    };
    const executionId = await top.start(definition, [1, 2, 3]);
    await check(top, executionId, 6);
    await top.engine.requestAnswer(executionId, 'each/0/ask', { approved: true, by: 'ada' });
    await check(top, executionId, 4);
    await top.engine.requestSignal(executionId, { signal: 'skip', key: '2' });
    await check(top, executionId, 2);
    await top.engine.requestPause(executionId);
    await top.clock.advance(60_000);
    await check(top, executionId, 2);
    await top.engine.requestResume(executionId);
    await check(top, executionId, 2);
    // The payments are cut off: their outcome is unknown.
    top.crash();
    await top.open();
    await check(top, executionId, 4);
    await top.engine.requestSettle(executionId, 'each/0/pay', { happened: true, output: null });
    await check(top, executionId, 3);
    await top.engine.requestCancel(executionId, 'enough');
    await check(top, executionId, 0);
    expect(await top.status(executionId)).toBe('cancelled');
    await top.engine.requestRetry(executionId);
    await top.untilIdle();
    expect(await stored(top)).toEqual(await expected(top, executionId));
    expect((await stored(top)).length).toBeGreaterThan(0);
  });

  it('[ENG-401] a wait that is over in the frame in which it began leaves no task, and a wait for a time is none', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({
      nodes: { hold: { action: 'hand' }, w: { needs: ['hold'], wait: { signal: 'go' } }, t: { wait: { for: '1h' } } },
    });
    await top.engine.requestSignal(executionId, { signal: 'go' });
    await check(top, executionId, 0);
    await top.complete('hold');
    await check(top, executionId, 0);
    expect((await top.statuses(executionId))['w']).toBe('completed');
  });

  it('[ENG-402] frames without a wait write no change of tasks', async () => {
    const top = new BenchTop();
    let changes = 0;
    await top.open({
      wrapStore: (store) => ({
        ...store,
        append: (writes) => {
          changes += writes.filter(({ humanTasks }) => humanTasks !== undefined).length;
          return store.append(writes);
        },
      }),
    });
    const executionId = await top.start({
      nodes: { a: { action: 'echo' }, b: { needs: ['a'], action: 'hand' }, c: { needs: ['b'], action: 'hand' } },
    });
    await top.complete('b');
    await top.fail('c');
    expect(await top.status(executionId)).toBe('failed');
    expect(changes).toBe(0);
    expect(await top.store.execution(executionId)).toMatchObject({
      trigger: 'manual',
      errorNode: 'c',
      startedAt: 1_700_000_000_000,
    });
  });
});
