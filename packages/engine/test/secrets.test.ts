import type { Action, ActionContext } from '@nebula/core';
import { memorySecrets } from '@nebula/drivers/secrets';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const SECRET = 'sk_live_4eC39HqLyjWDarjtT1';

const acting = (id: string, run: Action['run'], rest: Partial<Action> = {}): Action => ({
  id,
  version: '1',
  effect: 'idempotent',
  run,
  ...rest,
});

async function openWith(actions: readonly Action[], values?: Readonly<Record<string, string>>): Promise<BenchTop> {
  const top = new BenchTop();
  await top.open({ actions, ...(values && { secrets: memorySecrets(values) }) });
  return top;
}

const node = (action: string, more = {}) => ({ action: `${action}@1`, credentials: { api: 'stripe' }, ...more });

describe('credentials', () => {
  it('[ENG-150] an attempt and its compensation get the secret that the node names', async () => {
    const seen: string[] = [];
    const use = acting('use', async (ctx) => {
      seen.push(`${ctx.node} ${await ctx.credential('api')}`);
      return null;
    });
    const fail = acting('fail', () => Promise.reject(new Error('no')));
    const top = await openWith([use, fail], { stripe: SECRET });
    await top.start({
      nodes: { a: node('use', { compensate: { action: 'use@1' } }), b: { action: 'fail@1', needs: ['a'] } },
    });
    await top.untilIdle();
    expect(seen).toEqual([`a ${SECRET}`, `~undo/a ${SECRET}`]);
  });

  it('[ENG-150] verify gets it, too', async () => {
    const seen: string[] = [];
    const pay = acting('pay', () => Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' })), {
      effect: 'once',
      verify: async (ctx) => {
        seen.push(await ctx.credential('api'));
        return { happened: true, output: { key: await ctx.credential('api') } };
      },
    });
    const top = await openWith([pay], { stripe: SECRET });
    const executionId = await top.start({ nodes: { a: node('pay') } });
    await top.untilIdle();
    expect(seen).toEqual([SECRET]);
    expect(await top.engine.document(executionId)).toMatchObject({ output: { a: { key: '[redacted]' } } });
  });

  it('[ENG-150] a missing secret is reported', async () => {
    const use = acting('use', (ctx) => ctx.credential('api'));
    for (const [values, definition, code] of [
      [undefined, node('use'), 'NO_SECRETS'],
      [{}, node('use'), 'SECRET_NOT_FOUND'],
      [{ stripe: SECRET }, { action: 'use@1' }, 'CREDENTIAL_NOT_NAMED'],
    ] as const) {
      const top = await openWith([use], values);
      const executionId = await top.start({ nodes: { a: definition } });
      await top.untilIdle();
      expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', error: { code, node: 'a' } });
    }
  });

  it('[ENG-151] nothing that is kept or told of a run holds the secret', async () => {
    const everywhere = async (ctx: ActionContext) => {
      const key = await ctx.credential('api');
      ctx.log.info(`using ${key}`, { key });
      ctx.progress(0.5, `sent ${key}`);
      return { [key]: [key, { nested: `Bearer ${key}` }], code: Buffer.from(key).toString('base64') };
    };
    const throwing = async (ctx: ActionContext) => {
      const key = await ctx.credential('api');
      throw Object.assign(new Error(`refused: ${key}`), { name: 'ActionError', code: 'NO', details: { key } });
    };
    const top = await openWith([acting('say', everywhere), acting('throw', throwing)], { stripe: SECRET });
    const executionId = await top.start({
      nodes: {
        say: node('say'),
        echo: { action: 'say@1', needs: ['say'], credentials: { api: 'stripe' }, with: { all: '{{ $say }}' } },
        fail: node('throw', { needs: ['echo'], retry: { attempts: 2 } }),
      },
    });
    await top.untilIdle();
    const { engine, drivers } = top;
    const everything = JSON.stringify([
      await engine.document(executionId),
      await engine.journal(executionId),
      await engine.timeline(executionId),
      await engine.explain(executionId, 'fail'),
      await drivers.logs.read({ executionId, limit: 1_000 }),
      top.events,
      await top.store.frames(executionId, 0),
    ]);
    expect(everything).toContain('refused: [redacted]');
    expect(everything).toContain('sent [redacted]');
    expect(everything).toContain('using [redacted]');
    for (const form of [SECRET, Buffer.from(SECRET).toString('base64')]) expect(everything).not.toContain(form);
  });

  it('[ENG-152] the cache keeps accounts apart', async () => {
    const use = acting('use', async (ctx) => `account ${(await ctx.credential('api')).length}`);
    const top = await openWith([use], { one: 'x'.repeat(10), two: 'x'.repeat(11) });
    const outputs: unknown[] = [];
    for (const [id, name] of Object.entries({ a: 'one', b: 'two', c: 'one' })) {
      const credentials = { api: name };
      const executionId = await top.start({ id, nodes: { n: node('use', { credentials, cache: { version: 1 } }) } });
      await top.untilIdle();
      const document = await top.engine.document(executionId);
      outputs.push([document?.output, document?.nodes.n?.attempts]);
    }
    expect(outputs).toEqual([
      [{ n: 'account 10' }, 1],
      [{ n: 'account 11' }, 1],
      [{ n: 'account 10' }, 0],
    ]);
  });
});
