import { inspect } from 'node:util';
import { defineAction } from '@nebula/sdk';
import { describe, expect, it } from 'vitest';
import { after, fail, hang, sequence, testWorkflow } from '../src/index.ts';

const charge = defineAction({
  id: 'payment.charge',
  version: '2.1',
  effect: 'idempotent',
  input: { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } },
  output: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  run: () => {
    throw new Error('the real thing');
  },
});
const config = { actions: [charge] };

const order = {
  id: 'order',
  nodes: {
    charge: {
      action: 'payment.charge@2',
      with: { amount: '{{ $input.amount }}' },
      retry: { attempts: 3, delay: '1h' },
    },
    ship: { needs: ['charge'], action: 'parcel.ship@1', with: { receipt: '{{ $charge.id }}' } },
    tell: { action: 'mail.send@1' },
  },
  edges: [{ from: 'charge', to: 'tell', on: 'error', match: { code: 'CARD_DECLINED' } }],
  output: { shipped: '{{ $nodes.ship.success }}' },
};
const mocks = { 'payment.charge': { id: 'ch_1' }, 'parcel.ship': { ok: true }, 'mail.send': null };

describe('a workflow under test', () => {
  it('[SDK-36] runs nodes with labels, which no remote worker has to take', { timeout: 10_000 }, async () => {
    const graph = { nodes: { inner: { action: 'parcel.ship@1', labels: ['arm'] } } };
    const labelled = {
      id: 'labelled',
      nodes: {
        ship: { action: 'parcel.ship@1', labels: ['gpu', 'eu'] },
        more: { needs: ['ship'], dynamic: { action: 'graph.make@1' }, labels: ['eu'] },
      },
    };
    const run = await testWorkflow(labelled, { mocks: { ...mocks, 'graph.make': graph }, config });
    expect(run.status).toBe('completed');
    expect(run.calls().map(({ node }) => node)).toEqual(['ship', 'more', 'more/inner']);
  });

  it('[TST-40] rests where a cleanup waits for a signal', { timeout: 10_000 }, async () => {
    const nodes = { a: { action: 'parcel.ship@1' }, ask: { wait: { signal: 'go' } } };
    const body = { nodes, edges: [{ from: 'a', to: 'ask', on: 'always' }] };
    const mocked = { mocks: { 'parcel.ship': fail('NO_VAN') } };
    const run = await testWorkflow({ id: 'w', ...body } as never, mocked);
    expect(run.waitingFor).toEqual([{ node: 'ask', kind: 'signal', name: 'go' }]);
    expect(await run.signal('go')).toMatchObject({ status: 'failed', error: { code: 'NO_VAN' } });
    const inside = await testWorkflow({ id: 'w', nodes: { g: { timeout: '1m', group: body } } } as never, mocked);
    expect(inside.waitingFor).toEqual([{ node: 'g/ask', kind: 'signal', name: 'go' }]);
    expect(await inside.signal('go')).toMatchObject({ status: 'failed', error: { code: 'NO_VAN' } });
  });

  it('[TST-1] runs in memory to its end: status, output, error, path and skipped nodes', async () => {
    const run = await testWorkflow(order, { input: { amount: 5 }, mocks, config });
    expect(run).toMatchObject({ status: 'completed', output: { shipped: true }, error: null });
    expect(run.path).toEqual(['charge', 'ship']);
    expect(run.skipped).toEqual(['tell']);
    expect(run.nodes.ship).toMatchObject({ status: 'completed', output: { ok: true }, attempts: 1 });
    const failed = await testWorkflow(order, {
      mocks: { ...mocks, ship: fail('NO_VAN') },
      input: { amount: 1 },
      config,
    });
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'NO_VAN', node: 'ship' } });
  });

  it('[TST-2] remembers every call: input, attempt, idempotency key, outcome', async () => {
    const answers = sequence([fail('BUSY'), fail('BUSY', { kind: 'SYSTEM' }), { id: 'ch_2' }]);
    const run = await testWorkflow(order, { input: { amount: 5 }, mocks: { ...mocks, charge: answers }, config });
    const calls = run.calls('charge');
    expect(calls.map(({ attempt, outcome, input }) => [attempt, outcome, input])).toEqual([
      [1, 'failed', { amount: 5 }],
      [2, 'failed', { amount: 5 }],
      [3, 'completed', { amount: 5 }],
    ]);
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBe(3_600_000);
    expect(run.calls('parcel.ship')).toMatchObject([{ input: { receipt: 'ch_2' } }]);
    expect(run.calls('tell')).toEqual([]);
    expect(() => run.calls('shp')).toThrow(/no node 'shp'/);
  });

  it('[TST-3] waits of 30 days take no time', async () => {
    const run = await testWorkflow({
      id: 'patient',
      nodes: { nap: { wait: { for: '30d' } }, again: { needs: ['nap'], wait: { for: '300d' } } },
    });
    expect(run.status).toBe('completed');
    expect(run.now - 1_700_000_000_000).toBe(330 * 86_400_000);
  });

  it('[TST-25] a start that is held back begins by itself, and limits at a gate are waited for', async () => {
    const mail = { 'mail.send': null };
    const delayed = await testWorkflow(
      {
        id: 'held',
        config: { start: { key: '$input.k', policy: 'debounce', window: '10s' } },
        nodes: { a: { action: 'mail.send@1' } },
      },
      { input: { k: 1 }, mocks: mail },
    );
    expect(delayed.status).toBe('completed');
    expect(delayed.now - 1_700_000_000_000).toBe(10_000);
    const key = { key: 'k' };
    const stuck = await testWorkflow(
      {
        id: 'stuck',
        nodes: {
          each: {
            concurrency: key,
            forEach: { in: [1] },
            do: { nodes: { a: { action: 'mail.send@1', concurrency: key, timeout: { queued: '1h' } } } },
          },
        },
      },
      { mocks: mail },
    );
    expect(stuck).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT', details: { limit: 'queued' } } });
  });

  it('[TST-4] time stands still while the run waits for an event, and moves when the test says so', async () => {
    const wait = { id: 'wait', nodes: { ok: { wait: { signal: 'go', key: 'k', deadline: '7d' } } } };
    const run = await testWorkflow(wait);
    expect(run).toMatchObject({ status: 'running', now: 1_700_000_000_000 });
    expect(run.waitingFor).toEqual([{ node: 'ok', kind: 'signal', name: 'go', key: 'k' }]);
    await run.advance('6d');
    expect(run.status).toBe('running');
    await run.signal('go', { n: 1 }, 'k');
    expect(run).toMatchObject({ status: 'completed', output: { ok: { payload: { n: 1 } } } });
    const late = await (await testWorkflow(wait)).advance('8d');
    expect(late).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } });
  });

  it('[TST-5] approvals, rejections, calls, cancelling, pausing, crashing', async () => {
    const approval = {
      id: 'approval',
      nodes: {
        ok: { wait: { approval: { title: 'Pay?', who: ['ann', 'bob'] } } },
        done: { needs: ['ok'], set: { x: 1 } },
      },
      variables: { x: 0 },
    };
    const run = await testWorkflow(approval);
    await expect(run.approve('ok', { by: 'eve' })).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    await (await run.crash()).approve('ok', { comment: 'fine' });
    expect(run).toMatchObject({ status: 'completed', path: ['ok', 'done'] });
    const refused = await (await testWorkflow(approval)).reject('ok', { by: 'bob' });
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'REJECTED' } });
    const cancelled = await (await testWorkflow(approval)).cancel();
    expect(cancelled.status).toBe('cancelled');
    const paused = await (await testWorkflow(approval)).pause('lunch');
    expect(paused.status).toBe('paused');
    await (await paused.resume()).approve('ok');
    expect(paused.status).toBe('completed');
    const called = await testWorkflow({ id: 'hook', nodes: { hook: { wait: { callback: true } } } });
    expect((await called.callback('hook', { n: 2 })).output).toMatchObject({ hook: { payload: { n: 2 } } });
  });

  it('[TST-5] one node can be cancelled, and published signals find a waiting run', async () => {
    const parts = {
      id: 'parts',
      nodes: {
        slow: { action: 'x.slow@1' },
        after: { needs: ['slow'], action: 'x.y@1' },
        ask: { workflow: { id: 'asking', mode: 'child' } },
      },
    };
    const asking = {
      id: 'asking',
      nodes: { hear: { wait: { signal: 'go', key: '7' } } },
      output: '{{ $hear.payload }}',
    };
    const run = await testWorkflow(parts, { workflows: [asking], mocks: { 'x.slow': hang(), 'x.y': 1 } });
    await run.cancel({ node: 'slow', reason: 'too slow' });
    expect(run).toMatchObject({
      status: 'running',
      nodes: { slow: { status: 'cancelled' }, after: { status: 'skipped' } },
    });
    await run.publish('go', { n: 1 }, '7');
    expect(run).toMatchObject({ status: 'completed', output: { ask: { n: 1 } } });
    await expect(run.cancel({ node: 'slwo' })).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
  });

  it('[TST-5] a finished run is tried again, or replayed from a node', async () => {
    const two = {
      id: 'two',
      nodes: { a: { action: 'x.a@1' }, b: { needs: ['a'], action: 'x.b@1', with: { of: '{{ $a }}' } } },
    };
    const run = await testWorkflow(two, { mocks: { 'x.a': sequence([1, 2]), 'x.b': sequence([fail('NO'), 'done']) } });
    expect(run.status).toBe('failed');
    expect((await run.retry()).output).toEqual({ b: 'done' });
    await run.replay('a');
    expect(run.calls('b').map(({ input }) => input)).toEqual([{ of: 1 }, { of: 1 }, { of: 2 }]);
  });

  it('[TST-21] matchers and console.log see the state of the run', async () => {
    const run = await testWorkflow(order, { input: { amount: 5 }, mocks, config });
    expect(Object.keys(run)).toEqual([
      'executionId',
      'status',
      'output',
      'error',
      'path',
      'skipped',
      'nodes',
      'waitingFor',
    ]);
    expect(() => expect(run).toMatchObject({ path: ['ship'] })).toThrow(/to match object/);
    const shown = inspect(run);
    expect(shown).toContain("path: [ 'charge', 'ship' ]");
    expect(shown).not.toContain('clock');
  });

  it('[TST-6] mocks: an answer, a function, a failure, a while, for ever', async () => {
    const one = (more: object = {}) => ({ id: 'one', nodes: { a: { action: 'x.y@1', with: { n: 2 }, ...more } } });
    const outputOf = async (mock: unknown, more = {}) => testWorkflow(one(more), { mocks: { 'x.y': mock as never } });
    expect((await outputOf({ n: 1 })).output).toEqual({ a: { n: 1 } });
    expect((await outputOf(({ n }: { n: number }) => n * 2)).output).toEqual({ a: 4 });
    expect((await outputOf(async () => fail('NO'))).error).toMatchObject({ code: 'NO' });
    const slow = await outputOf(after('2h', 'late'));
    expect([slow.output, slow.now - 1_700_000_000_000]).toEqual([{ a: 'late' }, 7_200_000]);
    expect((await outputOf(after('2h', 1), { timeout: '1h' })).error).toMatchObject({ code: 'TIMEOUT' });
    expect((await outputOf(hang(), { timeout: '1h', effect: 'pure' })).error).toMatchObject({ code: 'TIMEOUT' });
    const stuck = await outputOf(hang());
    expect(stuck.waitingFor).toEqual([{ node: 'a', kind: 'attempt' }]);
    expect((await stuck.cancel()).status).toBe('cancelled');
  });

  it('[TST-7] an action without a mock runs only if it is pure and reaches nothing, or the test allows it', async () => {
    const input = { amount: 1 };
    const { 'payment.charge': _, ...others } = mocks;
    await expect(testWorkflow(order, { input, mocks: others, config })).rejects.toMatchObject({
      code: 'NOT_MOCKED',
      hint: expect.stringContaining("real: ['payment.charge']"),
    });
    const real = await testWorkflow(order, { input, mocks: others, config, real: ['payment.charge'] });
    expect(real.error?.message).toContain('the real thing');
    const pure = defineAction({
      id: 'text.upper',
      version: '1',
      effect: 'pure',
      run: async (ctx) => {
        await ctx.sleep(86_400_000);
        return ctx.now();
      },
    });
    const run = await testWorkflow(
      { id: 'p', nodes: { a: { action: 'text.upper@1' } } },
      { config: { actions: [pure] } },
    );
    expect(run.output).toEqual({ a: 1_700_086_400_000 });
    const reading = defineAction({
      id: 'web.get',
      version: '1',
      effect: 'pure',
      capabilities: ['network'],
      run: () => 1,
    });
    await expect(
      testWorkflow({ id: 'p', nodes: { a: { action: 'web.get@1' } } }, { config: { actions: [reading] } }),
    ).rejects.toMatchObject({ code: 'NOT_MOCKED', message: expect.stringContaining('network') });
  });

  it('[TST-35] an action that runs for real gets credentials from the test only', async () => {
    const seen: string[] = [];
    const use = defineAction({
      id: 'key.use',
      version: '1',
      effect: 'pure',
      credentials: ['api'],
      run: async (ctx) => {
        const key = await ctx.credential('api');
        seen.push(key);
        return `used ${key}`;
      },
    });
    const flow = { id: 'k', nodes: { a: { action: 'key.use@1', credentials: { api: 'stripe' } } } };
    const run = await testWorkflow(flow, { actions: [use], credentials: { stripe: 'sk_test_1' } });
    expect(seen).toEqual(['sk_test_1']);
    expect(run.output).toEqual({ a: 'used [redacted]' });
    const without = await testWorkflow(flow, { actions: [use] });
    expect(without.error).toMatchObject({ code: 'SECRET_NOT_FOUND' });
    await expect(testWorkflow(flow, { actions: [use], credentials: { stripe: 'x' } })).rejects.toMatchObject({
      code: 'SECRET_INVALID',
    });
  });

  it('[TST-8] mocks are checked against the schemas of the real action, and against existing names', async () => {
    const input = { amount: 1 };
    await expect(testWorkflow(order, { input, config, mocks: { ...mocks, charge: { nr: 1 } } })).rejects.toMatchObject({
      code: 'MOCK_INVALID',
      message: expect.stringContaining('payment.charge@2.1'),
    });
    const wrong = await testWorkflow(order, { input: { amount: 'x' }, config, mocks });
    expect(wrong.error).toMatchObject({ code: 'INPUT_INVALID' });
    await expect(testWorkflow(order, { input, config, mocks: { ...mocks, chrage: 1 } })).rejects.toMatchObject({
      code: 'UNKNOWN_MOCK',
      hint: "Did you mean 'charge'?",
    });
    await expect(testWorkflow(order, { input, config, mocks: { 'payment.chrge': 1 } })).rejects.toMatchObject({
      code: 'UNKNOWN_MOCK',
    });
    await expect(testWorkflow({ id: 'x', nodes: { a: { acton: 'x' } } })).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining("did you mean 'action'"),
    });
    await expect(testWorkflow({ id: 'x', nodes: { a: { action: 'core.set@1' } } })).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      hint: expect.stringContaining('actions: builtinActions'),
    });
  });

  it('[TST-9] other workflows run inside it and as children', async () => {
    const sub = {
      id: 'sub',
      nodes: {
        work: { action: 'x.y@1', with: { n: '{{ $input.n }}' } },
        ask: { needs: ['work'], wait: { signal: 's' } },
      },
      output: '{{ $work }}',
    };
    const main = (mode: string) => ({
      id: 'main',
      nodes: { call: { workflow: { id: 'sub', mode, input: { n: 3 } } } },
    });
    const options = { workflows: [sub], mocks: { 'x.y': ({ n }: { n: number }) => n + 1 } };
    const inline = await testWorkflow(main('inline'), options);
    expect(inline.waitingFor).toMatchObject([{ node: 'call/ask' }]);
    expect((await inline.signal('s')).output).toEqual({ call: 4 });
    const parent = await testWorkflow(main('child'), options);
    expect(parent.status).toBe('running');
    await parent.child('call').signal('s');
    expect(parent.child('call')).toMatchObject({ status: 'completed', path: ['work', 'ask'] });
    expect(parent).toMatchObject({ status: 'completed', output: { call: 4 } });
    await expect(testWorkflow(main('inline'))).rejects.toMatchObject({ code: 'WORKFLOW_INVALID' });
  });

  it('[TST-6] graphs that an action returns have mocks, too', async () => {
    const graph = { nodes: { p: { action: 'x.p@1' }, q: { needs: ['p'], action: 'x.q@2' } } };
    const dynamic = { id: 'd', nodes: { d: { dynamic: { action: 'x.graph@1' } } } };
    const run = await testWorkflow(dynamic, { mocks: { 'x.graph': graph, 'x.p': 1, 'x.q@2': 2 } });
    expect(run).toMatchObject({ status: 'completed', output: { d: 2 } });
    expect(run.path).toEqual(['d/p', 'd/q', 'd']);
  });

  it('[TST-9] a workflow of a builder brings the workflows that it runs', async () => {
    const sub = { id: 'sub', nodes: { a: { set: { n: 1 } } } };
    const main = { id: 'main', nodes: { call: { workflow: { id: 'sub' } } } };
    const built = { id: 'main', uses: [sub], toJSON: () => main };
    expect(await testWorkflow(built)).toMatchObject({ status: 'completed' });
  });

  it('[TST-10] stops at a node if requested', async () => {
    const run = await testWorkflow(order, {
      input: { amount: 1 },
      mocks: { ...mocks, ship: after('1d', 1) },
      config,
      until: 'ship',
    });
    expect(run).toMatchObject({ status: 'running', path: ['charge'] });
    await run.advance('1d');
    expect(run.status).toBe('completed');
    await expect(run.until('tel')).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
    const paths = { id: 'l', nodes: { each: { forEach: { in: [1, 2] }, do: { nodes: { a: { action: 'x.y@1' } } } } } };
    const loop = await testWorkflow(paths, { mocks: { 'each/a': 1 } });
    expect(loop.path).toEqual(['each/0/a', 'each/1/a', 'each']);
    expect(loop.nodes['each/1/a']).toMatchObject({ status: 'completed', output: 1 });
    expect(loop.calls('a')).toHaveLength(2);
    expect(loop.calls('each/1/a')).toHaveLength(1);
  });
});

it('[TST-41] an action that fails is told with its stack, a mock with the place where it was made', async () => {
  const flow = { id: 'pay', nodes: { charge: { action: 'payment.charge@2', with: { amount: 1 } } } };
  const real = await testWorkflow(flow, { config, real: ['payment.charge'] });
  expect(real.status).toBe('failed');
  expect(real.stack).toMatch(/^Error: the real thing\n {4}at .*test-workflow\.test\.ts:\d+:\d+/);
  const mocked = await testWorkflow(flow, { config, mocks: { 'payment.charge': fail('NO') } });
  expect(mocked.stack).toMatch(/^ActionError: NO .*\n {4}at .*test-workflow\.test\.ts:\d+:\d+/);
  expect((await testWorkflow(flow, { config, mocks: { 'payment.charge': { id: 'x' } } })).stack).toBeUndefined();
});
