import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const only = {
  id: 'only',
  config: { start: { key: '$input.k', policy: 'singleton' } },
  nodes: { a: { action: 'hand@1' } },
};
const parent = (id: string, more: object = {}) => ({
  id,
  nodes: { call: { workflow: { id: 'only', mode: 'child', input: { k: '{{ $input.k }}' } }, ...more } },
});

/** The clock is virtual: a start ends when time advances. */
async function begin(top: BenchTop): Promise<string> {
  const started = top.engine.start('only', undefined, { input: { k: 'x' } });
  await top.untilIdle();
  return started;
}

describe('a singleton as a child', () => {
  it('[ENG-216] a second child with the same key is refused, another key is not', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(only);
    const first = await top.start(parent('p1'), { k: 'x' });
    const second = await top.start(parent('p2'), { k: 'x' });
    const third = await top.start(parent('p3'), { k: 'y' });
    await top.untilIdle();
    expect(await top.status(second)).toBe('failed');
    expect((await top.engine.document(second))?.error).toMatchObject({ code: 'SINGLETON_RUNNING', node: 'call' });
    expect([await top.status(first), await top.status(third)]).toEqual(['running', 'running']);
  });

  it('[ENG-216] a child keeps other starts out, and lets them in when it has ended', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(only);
    await top.start(parent('p1'), { k: 'x' });
    await top.untilIdle();
    const { rows } = await top.engine.list({ limit: 10, workflowId: 'only' });
    const waiting = await begin(top);
    expect(waiting).toBe(rows[0]?.executionId);
    await top.complete('a');
    await top.untilIdle();
    const next = await begin(top);
    expect(next).not.toBe(waiting);
  });

  it('[ENG-216] a retry of the node gets its turn when the other one has ended', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(only);
    await begin(top);
    const waiting = await top.start(parent('p2', { retry: { attempts: 3, delay: '1m' } }), { k: 'x' });
    await top.untilIdle();
    expect(await top.statuses(waiting)).toEqual({ call: 'waiting' });
    await top.complete('a');
    await top.clock.advance(60_000);
    await top.untilIdle();
    expect(await top.statuses(waiting)).toEqual({ call: 'running' });
  });
});

describe('the seed of a run', () => {
  it('[ENG-217] is in the journal of runs that draw, and in no other', async () => {
    const top = new BenchTop();
    await top.open();
    const seeds = async (value: string): Promise<unknown> => {
      const id = await top.start({ nodes: { s: { set: { v: value } } } });
      const [frame] = await top.engine.journal(id);
      return (frame?.entries[0] as { seed?: string } | undefined)?.seed;
    };
    const [one, two] = [await seeds('{{ uuid() }}'), await seeds('{{ random() }}')];
    expect(one).toMatch(/^\w{16,}$/);
    expect(two).not.toBe(one);
    expect(await seeds('plain')).toBeUndefined();
  });
});

describe('an iteration that has ended', () => {
  it('[ENG-218] can be asked about: the journal still has it', async () => {
    const top = new BenchTop();
    await top.open();
    const p = { action: 'hand@1' };
    const body = { nodes: { p, q: { needs: ['p'], when: '$item > 1', set: { x: 1 } } } };
    const executionId = await top.start({ nodes: { each: { forEach: { in: [1, 2] }, do: body } } });
    await top.complete('each/0/p');
    const during = await top.engine.explain(executionId, 'each/0/q');
    expect(during).toMatchObject({
      status: 'skipped',
      reasons: [expect.stringContaining('condition'), expect.anything()],
    });
    await top.complete('each/1/p');
    expect(await top.engine.explain(executionId, 'each/1/p')).toMatchObject({
      status: 'completed',
      reasons: ['It completed with attempt 1.', expect.stringContaining("iteration 1 of 'each'")],
    });
    expect(await top.engine.explain(executionId, 'each/1/q')).toMatchObject({ status: 'completed' });
    expect(await top.engine.explain(executionId, 'each/7/p')).toBeUndefined();
  });
});
