import type { ConcurrencySlot, Json } from '@nebula/core';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const flow = { id: 'test', nodes: { a: { action: 'hand@1' } } };

const slot = (policy: ConcurrencySlot['policy'], limit = 1): ConcurrencySlot => ({ key: 'plan p', limit, policy });

/** Starts and says how that went: the id, or the code of the refusal. */
async function start(top: BenchTop, own: ConcurrencySlot, more: { executionId?: string; definition?: object } = {}) {
  const { executionId, definition = flow } = more;
  const { workflowId, version } = await top.engine.register(definition as Json);
  const started = top.engine
    .start(workflowId, version, { slot: own, ...(executionId !== undefined && { executionId }) })
    .catch((error: { code: string }) => error.code);
  await top.untilIdle();
  return started;
}

const statuses = (top: BenchTop, ids: readonly string[]) => Promise.all(ids.map((id) => top.status(id)));

describe('a concurrency slot', () => {
  it('[ENG-214] with skip, is there at the start or the start is refused', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await start(top, slot('skip', 2));
    const second = await start(top, slot('skip', 2));
    const { workflowId, version } = await top.engine.register(flow as Json);
    const third = top.engine.start(workflowId, version, { slot: slot('skip', 2) });
    const refusal = expect(third).rejects.toMatchObject({ code: 'SKIPPED', details: { running: [first, second] } });
    await top.untilIdle();
    await refusal;
    expect((await top.engine.list({ limit: 9 })).rows).toHaveLength(2);
    await top.complete('a');
    expect(await start(top, slot('skip', 2))).toMatch(/^exe_/);
  });

  it('[ENG-214] with wait, is granted in order, also after a crash', async () => {
    const top = new BenchTop();
    await top.open();
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push(await start(top, slot('wait', 2)));
    expect(await statuses(top, ids)).toEqual(['running', 'running', 'pending', 'pending']);
    expect(top.data.runs.get(ids[2] as string)?.row).toMatchObject({ status: 'pending', wakeAt: null });
    await top.engine.requestCancel(ids[2] as string, 'no');
    await top.untilIdle();
    expect(await statuses(top, ids)).toEqual(['running', 'running', 'cancelled', 'pending']);
    await top.open();
    await top.clock.advance(1_000);
    expect(await statuses(top, ids)).toEqual(['running', 'running', 'cancelled', 'pending']);
    await top.complete('a');
    await top.clock.advance(10);
    expect((await statuses(top, ids)).sort()).toEqual(['cancelled', 'completed', 'running', 'running']);
    expect(top.data.runs.get(ids[3] as string)?.row.status).toBe('running');
  });

  it('[VIEW-13] the explanation of a waiting run names the holders of the slots', async () => {
    const top = new BenchTop();
    await top.open();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push(await start(top, slot('wait')));
    await top.clock.advance(100);
    const { causes = [] } = (await top.engine.explain(ids[2] as string)) ?? {};
    expect(causes).toMatchObject([
      { code: 'place', value: { key: 'plan p', limit: 1 } },
      { code: 'pending' },
      { code: 'held-by', link: { executionId: ids[0] }, value: { before: 1 } },
    ]);
    expect(causes[2]?.message).toContain(`It is held by ${ids[0]} (for `);
  });

  it('[ENG-214] with replace, the oldest is cancelled and the newest begins when it has ended', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await start(top, slot('replace'));
    const call = top.call('a');
    const second = await start(top, slot('replace'));
    expect(call.signal.aborted).toBe(true);
    await top.clock.advance(10);
    expect(await statuses(top, [first, second])).toEqual(['cancelled', 'running']);
    expect((await top.engine.document(first))?.error?.message).toContain(second);
  });

  it('[ENG-214] with replace, waiting runs are replaced as well', async () => {
    const top = new BenchTop();
    await top.open();
    const slow = { id: 'slow', nodes: { a: { action: 'hang@1' } } };
    const first = await start(top, slot('replace'), { definition: slow });
    const second = await start(top, slot('replace'));
    const third = await start(top, slot('replace'));
    // The first does not stop when it is asked to: it is given up after the grace time.
    expect(await statuses(top, [second, third])).toEqual(['cancelled', 'pending']);
    await top.open();
    await top.clock.advance(60_000);
    expect(await statuses(top, [first, second, third])).toEqual(['cancelled', 'cancelled', 'running']);
    expect(top.ran).toEqual(['a']);
  });

  it('[ENG-214] goes with a singleton: its key is free when it has ended, not when it begins', async () => {
    const top = new BenchTop();
    await top.open();
    const single = { ...flow, id: 'single', config: { start: { key: "'k'", policy: 'singleton' } } };
    const other = await start(top, slot('wait'));
    const first = await start(top, slot('wait'), { definition: single });
    expect(await start(top, slot('wait'), { definition: single })).toBe(first);
    await top.complete('a');
    expect(await statuses(top, [other, first])).toEqual(['completed', 'running']);
    expect(await start(top, slot('wait'), { definition: single })).toBe(first);
    expect(await start(top, slot('skip'))).toBe('SKIPPED');
  });

  it('[ENG-215] is taken once by a start that is repeated', async () => {
    const top = new BenchTop();
    await top.open();
    for (const policy of ['skip', 'skip', 'wait', 'replace'] as const) {
      expect(await start(top, slot(policy), { executionId: 'mine' })).toBe('mine');
    }
    await top.open();
    expect(await start(top, slot('skip'), { executionId: 'mine' })).toBe('mine');
    await top.clock.advance(1_000);
    expect([await top.status('mine'), await top.store.permits('runs:plan p')]).toEqual([
      'running',
      [{ executionId: 'mine', node: '', isHeld: true }],
    ]);
  });
});
