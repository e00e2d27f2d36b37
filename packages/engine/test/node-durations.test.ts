import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('how long nodes take', () => {
  const diamond = (more: object = {}) => ({
    config: { maxParallelism: 1 },
    nodes: {
      begin: { action: 'echo@1' },
      short: hand({ needs: ['begin'] }),
      long: hand({ needs: ['begin'], ...more }),
      end: { action: 'echo@1', needs: ['short', 'long'] },
    },
  });

  async function run(top: BenchTop, definition: Record<string, unknown>): Promise<unknown> {
    const from = top.ran.length;
    const executionId = await top.start(definition);
    for (let n = 0; n < 2; n++) {
      const { node } = top.calls.at(-1) as { node: string };
      await top.clock.advance(node === 'long' ? 5_000 : 10);
      await top.complete(node);
    }
    expect(await top.status(executionId)).toBe('completed');
    const [first] = await top.engine.journal(executionId);
    const started = first?.entries[0] as { estimates?: unknown } | undefined;
    return { order: top.ran.slice(from), estimates: started?.estimates };
  }

  it('[ENG-113] the long branch is started first on the second run, and by the next process', async () => {
    const top = new BenchTop();
    await top.open();
    expect(await run(top, diamond())).toEqual({ order: ['begin', 'short', 'long', 'end'], estimates: undefined });
    const after = { order: ['begin', 'long', 'short', 'end'], estimates: { long: 5_000 } };
    expect(await run(top, diamond())).toEqual(after);
    await top.open();
    expect(await run(top, diamond())).toEqual(after);
    expect([...(await top.store.durations('test'))]).toEqual([['long', 5_000]]);
  });

  it('[ENG-113] estimates of the definition take precedence', async () => {
    const top = new BenchTop();
    await top.open();
    const estimated = diamond({ estimate: '1ms' });
    for (let n = 0; n < 2; n++) expect(await run(top, estimated)).toMatchObject({ estimates: undefined });
    expect([...(await top.store.durations('test'))]).toEqual([]);
  });

  it('[ENG-113] an average that moves by a good factor is written anew', async () => {
    const top = new BenchTop();
    await top.open();
    const flow = { nodes: { a: hand() } };
    const kept: unknown[] = [];
    for (const ms of [1_000, 1_100, 10_000, 9_000]) {
      await top.start(flow);
      await top.clock.advance(ms);
      await top.complete('a');
      kept.push((await top.store.durations('test')).get('a'));
    }
    expect(kept).toEqual([1_000, 1_000, 3_721, 3_721]);
  });
});
