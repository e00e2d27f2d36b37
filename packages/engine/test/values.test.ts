import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const big = { text: 'x'.repeat(2_000) };

describe('large values', () => {
  it('[ENG-15] go to blobs, and expressions see them as they were', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 1_000 });
    const nodes = {
      a: { action: 'hand@1' },
      b: {
        action: 'echo@1',
        needs: ['a'],
        when: '$nodes.a.output.text.length == 2000',
        with: { got: '{{ $a.text }}' },
      },
      c: { action: 'echo@1', needs: ['b'], with: { n: '{{ $nodes.b.output.got.length + $input.text.length }}' } },
    };
    const executionId = await top.start({ nodes, output: '{{ $nodes.b.output }}' }, big);
    await top.complete('a', big);
    const document = await top.engine.document(executionId);
    expect(document).toMatchObject({
      status: 'completed',
      output: { got: big.text },
      nodes: { c: { output: { n: 4_000 } } },
    });
    const journal = JSON.stringify(top.data.runs.get(executionId)?.frames);
    expect(journal).not.toContain('xxxxxxxxxx');
    expect(journal.length).toBeLessThan(5_000);
  });

  it('[ENG-15] are fetched again after a crash', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 1_000 });
    const nodes = {
      a: { action: 'hand@1' },
      wait: { action: 'hand@1', needs: ['a'] },
      b: { action: 'echo@1', needs: ['wait'], with: { got: '{{ $a.text.length }}', all: '{{ $input.text }}' } },
    };
    const executionId = await top.start({ nodes }, big);
    await top.complete('a', big);
    await top.open({ inlineLimitBytes: 1_000 });
    await top.settle();
    await top.complete('wait');
    await top.settle();
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      output: { b: { got: 2_000, all: big.text } },
    });
  });
});

describe('a full disk', () => {
  it('[ENG-32] an output that cannot be stored is kept and tried again', async () => {
    const top = new BenchTop();
    const put = top.blobs.put.bind(top.blobs);
    let isFull = true;
    top.blobs.put = (...blob) => (isFull ? Promise.reject(new Error('no space left')) : put(...blob));
    await top.open({ inlineLimitBytes: 1_000 });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.complete('pay', big);
    await top.clock.advance(60_000);
    expect(await top.statuses(executionId)).toEqual({ pay: 'running' });
    expect(top.events.some((event) => event.type === 'trouble')).toBe(true);
    isFull = false;
    await top.clock.advance(5_000);
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { pay: { attempts: 1, output: big } },
    });
  });
});

describe('memory', () => {
  it('[ENG-16] a run that waits long leaves memory and comes back', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: { action: 'hand@1', retry: { attempts: 2, delay: '1d' } } } });
    expect(top.engine.peek(executionId)).toBeDefined();
    await top.fail('a');
    expect(top.engine.peek(executionId)).toBeUndefined();
    expect((await top.engine.metrics()).gauges['engine.cached_runs']).toBe(0);
    await top.clock.advance(86_400_000);
    expect(top.call('a').attempt).toBe(2);
    await top.complete('a');
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-17] a heavy journal gets a snapshot, and loading uses it', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 1 });
    const nodes = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `n${index}`,
        { action: 'hand@1', ...(index === 0 ? {} : { needs: [`n${index - 1}`] }) },
      ]),
    );
    const executionId = await top.start({ nodes });
    for (let index = 0; index < 15; index++) await top.complete(`n${index}`, 'y'.repeat(30_000));
    const run = top.data.runs.get(executionId);
    expect(run?.snapshot?.seq).toBeGreaterThan(5);
    // With its early frames broken the run can be loaded only from the snapshot.
    for (const frame of run?.frames ?? []) {
      if (frame.seq <= (run?.snapshot?.seq ?? 0)) (frame as { entries: string }).entries = '{ broken';
    }
    await top.open({ concurrency: 1 });
    await top.settle();
    for (let index = 15; index < 20; index++) await top.complete(`n${index}`);
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-18] refuses new runs when too many are under way', async () => {
    const top = new BenchTop();
    await top.open({ maxActiveRuns: 2 });
    await top.start({ nodes: { a: { action: 'hand@1' } } });
    await top.start({ nodes: { a: { action: 'hand@1' } } });
    await expect(top.start({ nodes: { a: { action: 'hand@1' } } })).rejects.toMatchObject({
      code: 'BUSY',
      retryable: true,
    });
  });

  it('[ENG-23] expired runs go with their blobs and logs, and orphans are swept', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 10, retentionMs: 3_600_000 });
    const kept = await top.start(
      { id: 'kept', config: { retention: 'forever' }, nodes: { a: { action: 'echo@1' } } },
      big,
    );
    const gone = await top.start({ nodes: { a: { action: 'echo@1' } } }, big);
    await top.blobs.put('exe_orphan', 'ab', new Uint8Array(3));
    await top.clock.advance(3_500_000);
    expect(await top.engine.document(gone)).toBeDefined();
    await top.clock.advance(300_000);
    expect(await top.engine.document(gone)).toBeUndefined();
    expect(await top.engine.document(kept)).toMatchObject({ status: 'completed' });
    const left: string[] = [];
    for await (const executionId of top.blobs.executions()) left.push(executionId);
    expect(left).toEqual([kept]);
  });
});
