import { defineAction } from '@nebula/sdk';
import { describe, expect, it } from 'vitest';
import { after, type CrashOptions, everyCrashPoint, fail, replay, sequence, testWorkflow } from '../src/index.ts';

const pay = defineAction({ id: 'pay.once', version: '1', effect: 'once', run: () => null });
const look = defineAction({
  id: 'pay.checked',
  version: '1',
  effect: 'once',
  run: () => null,
  verify: () => ({ happened: 'unknown' }),
});
const config = { actions: [pay, look] };

describe('every crash point', () => {
  it('[RUN-340, SDK-37] a pause longer than a deadline survives a crash at every append, and the wait is still open', async () => {
    const definition = {
      id: 'paused',
      nodes: {
        ask: { wait: { approval: { title: 'Sure?' }, deadline: '1h' } },
        ship: { needs: ['ask'], action: 'ship.send@1', with: { id: '{{ uuid() }}' } },
      },
      output: '{{ $nodes.ship.input.id }}',
    };
    const report = await everyCrashPoint(definition, {
      mocks: { 'ship.send': null },
      steps: async (run) => {
        await run.advance('30m');
        await run.pause('lunch');
        await run.advance('5h');
        await run.resume();
        await run.advance('29m');
        await run.approve('ask');
      },
    });
    expect(report.crashes).toBeGreaterThan(6);
  });

  it('[TST-11] one that works out an output for others does so to its end', async () => {
    const item = { action: 'math.slow@1', cache: { version: 1 }, with: { n: '{{ $item }}' } };
    const loop = { forEach: { in: [1, 1], parallel: true }, do: { nodes: { a: item } } };
    const report = await everyCrashPoint(
      { id: 'shared', nodes: { loop }, output: '{{ $loop }}' },
      { mocks: { 'math.slow': after('1m', 7) } },
    );
    expect(report.crashes).toBeGreaterThan(4);
  });

  it('[RUN-310] a composite node that is undone and tried again survives a crash at every append', async () => {
    const undo = { action: 'stock.release@1', with: { id: '{{ $self.output }}' }, retry: { attempts: 3 } };
    const broken = { action: 'ship.send@1', needs: ['reserve'] };
    const definition = {
      id: 'again',
      variables: { rounds: 0 },
      nodes: {
        whole: {
          group: {
            nodes: {
              count: { set: { rounds: '{{ $vars.rounds + 1 }}' } },
              reserve: { action: 'stock.reserve@1', needs: ['count'], compensate: undo },
              send: broken,
            },
            output: '{{ $reserve }}',
          },
          retry: [{ on: ['/^SHIP/'], attempts: 3, delay: '1m' }],
          timeout: '1h',
        },
        each: {
          needs: ['whole'],
          forEach: { in: [1, 2] },
          do: { nodes: { take: { action: 'stock.take@1', with: { n: '{{ $item }}' }, compensate: undo } } },
          retry: { attempts: 2, delay: '1m' },
        },
        nap: { needs: ['each'], wait: { signal: 'never' }, timeout: '1h', retry: { attempts: 2 }, onError: 'ignore' },
      },
      output: { whole: '{{ $whole }}', rounds: '{{ $vars.rounds }}', naps: '{{ $nodes.nap.attempts }}' },
    } as const;
    const report = await everyCrashPoint(definition, {
      mocks: {
        'stock.reserve': 'r1',
        'stock.release': null,
        'ship.send': sequence([fail('SHIP_DOWN'), null]),
        'stock.take': sequence(['t1', fail('GONE'), 't2', 't3']),
      },
      steps: async (run) => {
        await run.advance('3h');
        expect(run.output).toEqual({ whole: 'r1', rounds: 2, naps: 2 });
        expect(run.nodes.each?.attempts).toBe(2);
      },
    });
    expect(report.crashes).toBeGreaterThan(20);
  });

  it('[TST-11] kills before and after every append, and finds that nothing differs', async () => {
    const definition = {
      id: 'saga',
      variables: { n: 0 },
      nodes: {
        reserve: {
          action: 'stock.reserve@1',
          compensate: { action: 'stock.release@1', with: { id: '{{ $self.output.id }}' } },
        },
        each: {
          needs: ['reserve'],
          forEach: { in: [1, 2, 3], parallel: true },
          do: {
            nodes: { pack: { action: 'box.pack@1', with: { n: '{{ $item }}' }, retry: { attempts: 2, delay: '1m' } } },
          },
        },
        nap: { needs: ['each'], wait: { for: '3d' } },
        ok: { needs: ['nap'], wait: { approval: { title: 'Ship?', who: ['ann'] } } },
        charge: { needs: ['ok'], action: 'pay.once@1' },
        check: { needs: ['ok'], action: 'pay.checked@1' },
      },
      output: { packed: '{{ $each }}', paid: '{{ $charge }}' },
    };
    const report = await everyCrashPoint(definition, {
      config,
      mocks: {
        'stock.reserve': { id: 'r1' },
        'stock.release': null,
        'box.pack': sequence([fail('JAM'), 'a', 'b', 'c']),
        'pay.once': 'paid',
        'pay.checked': 'seen',
      },
      steps: (run) => run.approve('ok'),
    });
    expect(report.crashes).toBe(report.boundaries * 2);
    expect(report.boundaries).toBeGreaterThan(7);
  });

  it('[TST-11] compensations, children and signals survive, too', async () => {
    const sub = { id: 'sub', nodes: { work: { action: 'x.work@1' }, go: { needs: ['work'], wait: { signal: 'go' } } } };
    const main = {
      id: 'main',
      nodes: {
        one: { action: 'x.do@1', compensate: { action: 'x.undo@1' } },
        call: { needs: ['one'], workflow: { id: 'sub', mode: 'child' } },
        bad: { needs: ['call'], action: 'x.bad@1' },
      },
    };
    await everyCrashPoint(main, {
      workflows: [sub],
      mocks: { 'x.work': 1, 'x.do': 2, 'x.undo': 3, 'x.bad': fail('NO') },
      steps: async (run) => {
        await run.child('call').signal('go');
        expect(run).toMatchObject({ status: 'failed', error: { code: 'NO' } });
        expect(run.calls('x.undo').length).toBeGreaterThan(0);
      },
    });
  });

  const kid = {
    id: 'kid',
    nodes: {
      a: { action: 'x.do@1', compensate: { action: 'x.undo@1' } },
      b: { needs: ['a'], action: 'x.do@1', compensate: { action: 'x.undo@1' } },
      w: { needs: ['b'], wait: { signal: 'go' } },
      c: { needs: ['w'], action: 'x.late@1' },
    },
  };
  const stops: [string, object, CrashOptions['steps']][] = [
    ['[RUN-232] a transaction beyond its time', { isolation: 'transactional' }, (run) => run.advance('2h')],
    ['[RUN-231] a child beyond its time', { mode: 'child' }, (run) => run.advance('2h')],
    ['[RUN-152] a child of a cancelled run', { mode: 'child' }, (run) => run.cancel()],
    [
      '[ENG-160] a child that is gone on with',
      { mode: 'child' },
      async (run) => {
        await run.child('k').signal('go');
        expect(run.status).toBe('failed');
        await run.retry();
        await run.advance('1m');
        await run.child('k').signal('go');
        expect(run.status).toBe('completed');
      },
    ],
  ];
  it.each(stops)('%s has the same end after any crash', async (title, how, steps) => {
    const k = { timeout: { total: '1h' }, needs: ['p'], workflow: { id: 'kid', ...how } };
    // A node that depends on an undone one runs anew, with another child.
    const undo = title.includes('gone on with') ? {} : { compensate: { action: 'x.undo@1' } };
    const main = { id: 'main', nodes: { p: { action: 'x.do@1', ...undo }, k } };
    const mocks = { 'x.do': 1, 'x.undo': 2, 'x.late': sequence([fail('NO'), 'done']) };
    await everyCrashPoint(main, { workflows: [kid], mocks, ...(steps && { steps }) });
  });

  const work = { action: 'x.w@1', with: { i: 1 } };
  const cached = { ...work, effect: 'pure', cache: { version: '1', ttl: '1d' } };
  const each = (more: object, inner: object = work) => ({
    forEach: { in: [1, 2, 3], parallel: true, ...more },
    do: { nodes: { k: inner } },
  });
  const nodes: [string, Record<string, unknown>, CrashOptions['steps']?][] = [
    ['loops in loops', { a: each({}, each({}, each({}))) }],
    ['a key', { a: each({}, { ...work, concurrency: { key: 'one', limit: 1 } }) }],
    ['a rate', { a: each({}, { ...work, rateLimit: { key: 'one', limit: 1, per: '1m' } }) }],
    ['a cache', { a: cached, b: { ...cached, needs: ['a'] } }],
    ['a race', { r: { wait: { any: [{ signal: 's' }, { for: '1d' }] } } }, (run) => run.advance('2d')],
    ['a cancel', { a: work, b: { needs: ['a'], wait: { signal: 's' } } }, (run) => run.cancel()],
    ['a replay', { a: work, b: { needs: ['a'], ...work } }, (run) => run.replay('b', { i: 9 })],
  ];
  it.each(nodes)('[TST-11] %s continues after any crash, and its journal replays', async (_, given, steps) => {
    const definition = { id: 'n', nodes: given };
    const options = JSON.stringify(given).includes('x.w') ? { mocks: { 'x.w': ({ i }: { i: number }) => i } } : {};
    const run = await testWorkflow(definition, options);
    await steps?.(run);
    expect(await replay(run.journal, definition)).toMatchObject({ same: true, unclear: 0 });
    await everyCrashPoint(definition, { ...options, ...(steps && { steps }) });
  });

  const always = (from: string, to: string) => ({ from, to, on: 'always' });
  const act = (more: object = {}) => ({ action: 'x.do@1', ...more });
  const bad = (more: object = {}) => ({ action: 'x.bad@1', ...more });
  const tidied = (nodes: object, more: object = {}) => ({
    nodes: { work: act(), ...nodes, tidy: act({ needs: [] }), after: act({ needs: ['tidy'] }) },
    edges: [always('work', 'tidy')],
    ...more,
  });
  const undone = { compensate: { action: 'x.undo@1' } };
  const finallies: [string, Record<string, unknown>, CrashOptions['steps']?][] = [
    ['a failure, and compensation after it', tidied({ paid: act(undone), fails: bad({ needs: ['work', 'paid'] }) })],
    [
      'a cleanup that fails',
      tidied(
        { tidy2: bad(), fails: bad({ needs: ['work'] }) },
        { edges: [always('work', 'tidy'), always('work', 'tidy2')] },
      ),
    ],
    [
      'a failure node after it',
      tidied({ fails: bad({ needs: ['work'] }), last: act() }, { config: { failureNode: 'last' } }),
    ],
    [
      'a cancel',
      tidied({ nap: { needs: ['work'], wait: { signal: 'go' } } }, { edges: [always('nap', 'tidy')] }),
      (run) => run.cancel(),
    ],
    [
      'a time limit of the run',
      tidied({ nap: { wait: { signal: 'go' } } }, { config: { timeout: '1h' }, edges: [always('nap', 'tidy')] }),
      (run) => run.advance('2h'),
    ],
    ['terminate', tidied({ end: { needs: ['work'], terminate: 'completed', with: { output: 7 } } })],
    [
      'terminate in a body',
      {
        nodes: { g: { group: tidied({ end: { needs: ['work'], terminate: 'failed' } }) }, outer: act() },
        edges: [always('g', 'outer')],
      },
    ],
    [
      'the iterations of a parallel loop',
      {
        nodes: {
          each: {
            forEach: { in: [0, 1, 2], parallel: true },
            do: tidied({
              fails: bad({ needs: ['work'], when: '$item == 1' }),
              nap: { needs: ['work'], wait: { for: '1h' } },
            }),
          },
          outer: act(),
        },
        edges: [always('each', 'outer')],
      },
      (run) => run.advance('2h'),
    ],
    [
      'break, and a group that is tried again',
      {
        variables: { n: 0 },
        nodes: {
          loop: { while: { condition: true }, do: tidied({ stop: act({ needs: ['work'], break: true }) }) },
          g: {
            needs: ['loop'],
            group: tidied({
              count: { set: { n: '{{ $vars.n + 1 }}' } },
              fails: bad({ needs: ['work', 'count'], when: '$vars.n < 2' }),
            }),
            retry: { attempts: 2, delay: '1m' },
          },
        },
      },
      (run) => run.advance('1h'),
    ],
    [
      'a retry of the run',
      tidied({ fails: { action: 'x.once-bad@1', needs: ['work'] } }),
      async (run) => {
        await run.retry();
        await run.advance('1m');
      },
    ],
  ];
  it.each(finallies)(
    '[RUN-275, TST-11] a finally after %s has the same end after any crash',
    async (_, given, steps) => {
      const definition = { id: 'f', ...given };
      const used = JSON.stringify(given);
      const mocks = {
        'x.do': (_input: unknown, ctx: { node: string }) => ctx.node,
        ...(used.includes('x.bad') && { 'x.bad': fail('NO') }),
        ...(used.includes('x.once-bad') && { 'x.once-bad': sequence([fail('NO'), 'done']) }),
        ...(used.includes('x.undo') && { 'x.undo': null }),
      };
      const report = await everyCrashPoint(definition, { mocks: mocks as never, ...(steps && { steps }) });
      expect(report.boundaries).toBeGreaterThan(2);
    },
  );

  it('[TST-12] reports the first difference, with its boundary and entries', async () => {
    let calls = 0;
    const counting = everyCrashPoint(
      { id: 'count', nodes: { a: { action: 'x.count@1' }, b: { needs: ['a'], action: 'x.b@1' } } },
      { mocks: { 'x.count': () => ++calls % 100, 'x.b': (_, ctx) => ctx.attempt } },
    );
    await expect(counting).rejects.toMatchObject({
      code: 'CRASH_DIFFERENCE',
      message: expect.stringContaining('before append 1 changes the result: nodes.a.output'),
    });
    const attempts = everyCrashPoint(
      { id: 'attempts', nodes: { a: { action: 'x.a@1' }, b: { needs: ['a'], action: 'x.b@1' } } },
      { mocks: { 'x.a': 1, 'x.b': (_, ctx) => ({ attempt: ctx.attempt }) } },
    );
    await expect(attempts).rejects.toMatchObject({
      code: 'CRASH_DIFFERENCE',
      details: { side: 'after', what: 'output', frames: [{ executionId: 'exe_test' }], actual: { b: { attempt: 2 } } },
      message: expect.stringContaining('node.started b'),
    });
  });
});
