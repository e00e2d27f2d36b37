import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('concurrency keys', () => {
  const one = { nodes: { a: hand({ concurrency: { key: '{{ $input.who }}', limit: 1 } }) } };

  it('[ENG-92] hold over all runs; who waits goes on when a place is given back', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(one, { who: 'ann' });
    const second = await top.start(one, { who: 'ann' });
    const other = await top.start(one, { who: 'bob' });
    expect(await Promise.all([first, second, other].map((id) => top.statuses(id)))).toEqual([
      { a: 'running' },
      { a: 'waiting' },
      { a: 'running' },
    ]);
    expect(top.data.runs.get(second)?.row.wakeAt).toBeNull();
    top.calls[0]?.complete();
    await top.settle();
    expect(await top.statuses(second)).toEqual({ a: 'running' });
  });

  it('[ENG-92] a place of a run that is cancelled, or whose process dies, is not lost', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(one, { who: 'ann' });
    const second = await top.start(one, { who: 'ann' });
    const third = await top.start(one, { who: 'ann' });
    await top.engine.requestCancel(second, 'no');
    await top.settle();
    await top.open();
    await top.clock.advance(1_000);
    // The attempt that was cut off gave its place back, and stands in line again.
    expect(await top.statuses(third)).toEqual({ a: 'running' });
    for (const id of [third, first]) {
      top.calls.at(-1)?.complete();
      await top.settle();
      expect(await top.status(id)).toBe('completed');
    }
  });
});

describe('concurrency keys in a finally', () => {
  it('[RUN-455] a place that was granted and given back when the run began to end is granted again', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 1 });
    const id = await top.start({
      nodes: { a: hand(), b: hand(), tidy: hand({ concurrency: { key: 'k', limit: 1 } }) },
      edges: [{ from: 'a', to: 'tidy', on: 'always' }],
    });
    top.calls[0]?.complete();
    await top.settle();
    // It has its place, and waits for a slot.
    expect(await top.statuses(id)).toMatchObject({ b: 'running', tidy: 'queued' });
    await top.engine.requestCancel(id, 'enough');
    await top.settle();
    top.calls[1]?.complete();
    await top.settle();
    expect(await top.statuses(id)).toMatchObject({ tidy: 'running' });
    top.calls[2]?.complete();
    await top.settle();
    expect(await top.status(id)).toBe('cancelled');
  });
});

describe('rate limits', () => {
  it('[ENG-93] spread the starts of many runs', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 50 });
    const definition = { nodes: { a: hand({ rateLimit: { key: 'api', limit: 2, per: '1s' } }) } };
    for (let n = 0; n < 5; n++) await top.start(definition);
    expect(top.ran).toHaveLength(2);
    await top.clock.advance(500);
    expect(top.ran).toHaveLength(2);
    await top.clock.advance(500);
    expect(top.ran).toHaveLength(4);
    await top.clock.advance(1_000);
    expect(top.ran).toHaveLength(5);
  });
});

describe('the cache', () => {
  const flow = (cache: object = {}) => ({
    nodes: { a: hand({ cache: { version: 1, ...cache }, with: { n: '{{ $input.n }}', at: '{{ $input.at }}' } }) },
  });

  it('[ENG-94] gives the output of an earlier run with the same input, minus what is ignored', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(flow({ ignore: ['at'] }), { n: 1, at: 1 });
    await top.complete('a', { big: 1 });
    const second = await top.start(flow({ ignore: ['at'] }), { n: 1, at: 2 });
    expect(await top.engine.document(second)).toMatchObject({
      status: 'completed',
      nodes: { a: { attempts: 0, output: { big: 1 } } },
    });
    expect((await top.engine.explain(second, 'a'))?.reasons[0]).toContain(first);
    const third = await top.start(flow({ ignore: ['at'] }), { n: 2, at: 2 });
    await top.complete('a', { big: 2 });
    expect((await top.engine.explain(third, 'a'))?.reasons.join(' ')).toContain('n is different');
    expect(top.ran).toHaveLength(2);
  });

  it('[ENG-140] compares a miss with the same node, else with what is nearest', async () => {
    const top = new BenchTop();
    await top.open();
    const loop = {
      nodes: {
        l: {
          forEach: { in: '$input.list' },
          do: { nodes: { a: hand({ cache: { version: 1 }, with: { v: '{{ $item.v }}', w: '{{ $item.w }}' } }) } },
        },
        solo: hand({ needs: ['l'], cache: { version: 1 }, with: { v: '{{ $input.v }}', k: '{{ $input.k }}' } }),
      },
    };
    const reasons = async (id: string, node: string) => (await top.engine.explain(id, node))?.reasons.join(' ');
    const first = await top.start(loop, { list: [{ v: 1, w: 1 }], v: 1, k: 1 });
    await top.complete('l/0/a');
    await top.complete('solo');
    expect(await reasons(first, 'solo')).toContain(`against 'l/0/a' of ${first}, w and k are different`);
    await top.clock.advance(1_000);
    const second = await top.start(loop, { list: [{ v: 1, w: 1 }], v: 7, k: 8 });
    await top.complete('solo');
    expect(await reasons(second, 'solo')).toContain(`against 'solo' of ${first}, k and v are different`);
    const third = await top.start(loop, { list: [], v: 7, k: 1 });
    await top.complete('solo');
    expect(await reasons(third, 'solo')).toContain(`against 'solo' of ${second}, k is different`);
  });

  it('[ENG-95] of runs that miss the same output at once one works it out', async () => {
    const top = new BenchTop();
    await top.open();
    const ids = [await top.start(flow(), { n: 1, at: 1 }), await top.start(flow(), { n: 1, at: 1 })];
    expect(top.ran).toEqual(['a']);
    await top.complete('a', 'once');
    expect(await Promise.all(ids.map((id) => top.engine.document(id)))).toMatchObject([
      { output: { a: 'once' } },
      { output: { a: 'once' } },
    ]);
    expect(top.ran).toEqual(['a']);
  });

  it('[ENG-95] when that one fails, the next does', async () => {
    const top = new BenchTop();
    await top.open();
    await top.start(flow(), { n: 1, at: 1 });
    const second = await top.start(flow(), { n: 1, at: 1 });
    await top.fail('a');
    expect(top.ran).toEqual(['a', 'a']);
    await top.complete('a', 'done');
    expect(await top.engine.document(second)).toMatchObject({ output: { a: 'done' } });
  });

  it('[ENG-96] forgets after its time, is passed over by overwrite, and keeps large outputs', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100 });
    const first = await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    await top.complete('a', 'x'.repeat(500));
    expect(await top.engine.delete(first)).toBe(true);
    const second = await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    await top.clock.advance(10);
    expect(await top.engine.document(second)).toMatchObject({ output: { a: 'x'.repeat(500) } });
    // Sweeping leaves it alone as long as it may be used.
    await top.clock.advance(120_000);
    const third = await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    await top.clock.advance(10);
    expect(await top.engine.document(third)).toMatchObject({ output: { a: 'x'.repeat(500) } });
    await top.start(flow({ ttl: '1h', overwrite: true }), { n: 1, at: 1 });
    expect(top.ran).toHaveLength(2);
    await top.complete('a', 'new');
    await top.clock.advance(3_600_001);
    await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    expect(top.ran).toHaveLength(3);
    await top.clock.advance(120_000);
    const names: string[] = [];
    for await (const name of top.blobs.executions()) names.push(name);
    expect(names).not.toContainEqual(expect.stringContaining('cache-'));
  });
});

describe('starts', () => {
  const flow = (start: object) => ({ config: { start }, nodes: { a: hand({ with: { n: '{{ $input.n }}' } }) } });

  it('[ENG-97] a singleton is started once as long as it runs', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = flow({ key: '{{ $input.who }}', policy: 'singleton' });
    const first = await top.start(definition, { who: 'ann', n: 1 });
    expect(await top.start(definition, { who: 'ann', n: 2 })).toBe(first);
    expect(await top.start(definition, { who: 'bob', n: 3 })).not.toBe(first);
    top.calls[0]?.complete();
    await top.settle();
    expect(await top.start(definition, { who: 'ann', n: 4 })).not.toBe(first);
  });

  it('[ENG-98] debounced starts become one run, with the last input, when they have come to rest', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = flow({ key: "'k'", policy: 'debounce', window: '10s' });
    const first = await top.start(definition, { n: 1 });
    await top.clock.advance(9_000);
    expect(await top.start(definition, { n: 2 })).toBe(first);
    await top.clock.advance(9_000);
    expect(top.ran).toEqual([]);
    await top.open();
    await top.clock.advance(1_001);
    expect(top.call('a').input).toEqual({ n: 2 });
    expect(await top.start(definition, { n: 3 })).not.toBe(first);
  });

  it('[ENG-99] the same idempotency key is the same execution', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register({ nodes: { a: hand() } });
    const ids = ['x', 'x', 'y'].map((idempotencyKey) => top.engine.start(workflowId, version, { idempotencyKey }));
    await top.settle();
    const [one, two, three] = await Promise.all(ids);
    expect(one).toBe(two);
    expect(three).not.toBe(one);
    expect(top.ran).toHaveLength(2);
  });
});

describe('a fork', () => {
  it('[ENG-100] is a new run that takes over what was done before the node; the old one is not touched', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100 });
    const old = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'], with: { a: '{{ $a.length }}' } }) } });
    await top.complete('a', 'x'.repeat(500));
    await top.complete('b', 1);
    const fork = await top.engine.fork(old, 'b', { edited: true });
    await top.clock.advance(10);
    expect(top.ran).toEqual(['a', 'b', 'b']);
    expect(top.call('b')).toMatchObject({ input: { edited: true } });
    await top.complete('b', 2);
    expect(await top.engine.delete(old)).toBe(true);
    expect(await top.engine.document(fork)).toMatchObject({
      status: 'completed',
      nodes: { a: { output: 'x'.repeat(500) }, b: { output: 2 } },
    });
    await expect(top.engine.fork('exe_none', 'a')).rejects.toMatchObject({ code: 'UNKNOWN_EXECUTION' });
  });
});

describe('cancelling a part', () => {
  it('[ENG-101] ends one node of a run', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }), c: hand() } });
    await expect(top.engine.requestCancel(executionId, 'no', { node: 'z' })).rejects.toMatchObject({
      code: 'UNKNOWN_NODE',
    });
    await top.engine.requestCancel(executionId, 'no', { node: 'a' });
    await top.settle();
    expect(top.call('a').signal.aborted).toBe(true);
    await top.complete('c');
    expect(await top.statuses(executionId)).toEqual({ a: 'cancelled', b: 'skipped', c: 'completed' });
    expect(await top.status(executionId)).toBe('completed');
  });
});

describe('a loop without workers', () => {
  it('[ENG-102] of many rounds is divided into turns, and ends', async () => {
    const top = new BenchTop();
    await top.open();
    const list = Array.from({ length: 5_000 }, (_, n) => n);
    const body = { nodes: { s: { set: { v: '{{ $item }}' } } }, output: '{{ $item + 1 }}' };
    const executionId = await top.start({ nodes: { each: { forEach: { in: '$input.list' }, do: body } } }, { list });
    await top.clock.advance(10);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed' });
    expect((await top.engine.journal(executionId)).length).toBeGreaterThan(4);
  });
});

describe('signals for whoever listens', () => {
  it('[ENG-103] go to the run that waits for their key, also when they come before it', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = {
      nodes: { w: { wait: { signal: 'paid', key: '{{ $input.order }}' } } },
      output: '{{ $w.payload }}',
    };
    const seven = await top.start(definition, { order: 7 });
    expect(await top.engine.publishSignal({ signal: 'paid', key: '8', payload: 'early' })).toBeUndefined();
    expect(await top.engine.publishSignal({ signal: 'paid', key: '7', payload: 'now' })).toBe(seven);
    await top.settle();
    expect(await top.engine.document(seven)).toMatchObject({ status: 'completed', output: 'now' });
    const eight = await top.start(definition, { order: 8 });
    await top.settle();
    expect(await top.engine.document(eight)).toMatchObject({ status: 'completed', output: 'early' });
  });

  it('[ENG-180] are heard in their own project only', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId } = await top.engine.register({
      id: 'hears',
      nodes: { w: { wait: { signal: 'go' } } },
      output: '{{ $w.payload }}',
    });
    const started = async (project: string): Promise<string> => {
      const starting = top.engine.start(workflowId, undefined, { project });
      await top.settle();
      return starting;
    };
    const ids = new Map<string, string>();
    for (const project of ['default', 'a', 'b']) ids.set(project, await started(project));
    expect(await top.engine.publishSignal({ signal: '["a","go"]', payload: 'forged' })).toBeUndefined();
    expect(await top.engine.publishSignal({ signal: 'go', payload: 1, project: 'c' })).toBeUndefined();
    for (const [project, executionId] of [...ids].reverse()) {
      const own = project === 'default' ? {} : { project };
      expect(await top.engine.publishSignal({ signal: 'go', payload: project, ...own })).toBe(executionId);
      await top.settle();
      expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed', output: project });
    }
    const late = await started('c');
    expect(await top.engine.document(late)).toMatchObject({ output: 1 });
  });
});
