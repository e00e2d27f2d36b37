import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/index.ts';
import { explainRun, wakeTime } from '../../src/run.ts';
import { drive, type Short } from './drive.ts';

describe('branch', () => {
  const route = (branch: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
    nodes: {
      check: {},
      route: { needs: ['check'], branch, ...more },
      a: {},
      b: {},
      c: {},
      d: {},
      end: { needs: ['a', 'b', 'c', 'd'] },
    },
  });

  it('[RUN-110] takes the case whose key is the value, as text; the others die', () => {
    const run = drive(route({ on: '$check.size', cases: { small: 'a', 7: ['b', 'c'] }, default: 'd' }));
    run.complete('check', { size: 7 });
    expect(run.running()).toEqual(['b', 'c']);
    expect(run.document.nodes.route?.output).toEqual({ taken: ['b', 'c'] });
    run.complete('b').complete('c').complete('end');
    expect(run.statuses()).toMatchObject({ a: 'skipped', d: 'skipped', end: 'completed' });
  });

  it('[RUN-110] a literal list is compared as JSON text', () => {
    const nodes = {
      b: { branch: { on: [1, '{{ $input.n }}'], cases: { '[1,2]': 'yes' }, default: 'no' } },
      yes: {},
      no: {},
    };
    expect(drive({ nodes }, { input: { n: 2 } }).running()).toEqual(['yes']);
    expect(drive({ nodes }, { input: { n: 3 } }).running()).toEqual(['no']);
  });

  it('[RUN-111] takes the default when no case fits, and nothing when there is none', () => {
    const cases = { x: 'a', z: ['b', 'c'] };
    expect(
      drive(route({ on: '$check', cases, default: 'd' }))
        .complete('check', 'y')
        .running(),
    ).toEqual(['d']);
    const none = drive({ nodes: { route: { branch: { on: '1', cases: { x: 'a' } } }, a: {} } });
    expect(none.statuses()).toEqual({ route: 'completed', a: 'skipped' });
    expect(none.status).toBe('completed');
  });

  it('[RUN-380] an expression that meets a missing member takes the default, and fails where there is none', () => {
    const order = { on: '$.order.total > 1000', cases: { true: 'a', false: 'b' } };
    const seed = (input: Json, branch: Record<string, unknown>) =>
      drive({ nodes: { route: { branch }, a: {}, b: {}, c: {} } }, { input });
    for (const input of [{}, { order: null }, { order: {} }, { order: [1] }, { order: 'x' }]) {
      const run = seed(input, { ...order, default: 'c' });
      expect(run.running()).toEqual(['c']);
      expect(run.document.nodes.route?.output).toEqual({ taken: ['c'] });
      expect(seed(input, order).status).toBe('failed');
    }
    expect(seed({ order: { total: 2_000 } }, { ...order, default: 'c' }).running()).toEqual(['a']);
    // Null is a value: it has no order, which is a mistake of another kind.
    expect(seed({ order: { total: null } }, { ...order, default: 'c' }).status).toBe('failed');
  });

  it('[RUN-380] a case that meets a missing member takes the default alone, also with many', () => {
    const cases = [
      { when: 'true', to: 'a' },
      { when: '$check.gone.x == 1', to: ['b', 'c'] },
    ];
    const many = drive(route({ cases, default: 'd', many: true })).complete('check', {});
    expect(many.running()).toEqual(['d']);
    expect(
      drive(route({ cases, default: 'd' }))
        .complete('check', {})
        .running(),
    ).toEqual(['a']);
    const first = [{ when: "$check.list.sortBy('x').length == 2", to: ['a', 'b', 'c'] }];
    expect(
      drive(route({ cases: first, default: 'd' }))
        .complete('check', { list: [{ y: 1 }, 2] })
        .running(),
    ).toEqual(['d']);
  });

  it('[RUN-381] a branch that did not decide takes its default alone, and nothing without one', () => {
    const branch = { on: '$check + 1 > 2', cases: { true: 'a', false: ['b', 'd'] }, default: ['c', 'd'] };
    for (const more of [{ enabled: false }, { onError: 'ignore' }]) {
      const run = drive(route(branch, more)).complete('check', 'x');
      expect(run.running()).toEqual(['c', 'd']);
      run.complete('c').complete('d').complete('end');
      expect(run.statuses()).toMatchObject({ a: 'skipped', b: 'skipped', end: 'completed' });
      expect(run.status).toBe('completed');
      const alone = { on: branch.on, cases: { true: ['a', 'b'], false: ['c', 'd'] } };
      const none = drive(route(alone, more)).complete('check', 'x');
      expect(none.statuses()).toMatchObject({ a: 'skipped', b: 'skipped', c: 'skipped', d: 'skipped' });
      expect(none.status).toBe('completed');
    }
  });

  it('[RUN-112] cases with conditions and patterns: the first that fits, or with many all that fit', () => {
    const cases = [
      { match: { total: { gt: 100 } }, to: 'a' },
      { when: '$check.country == "de"', to: 'b' },
      { match: { total: { type: 'number' } }, to: 'c' },
    ];
    const branch = { cases, default: 'd' };
    expect(drive(route(branch)).complete('check', { total: 150, country: 'de' }).running()).toEqual(['a']);
    const many = drive(route({ ...branch, many: true })).complete('check', { total: 150, country: 'de' });
    expect(many.running()).toEqual(['a', 'b', 'c']);
  });

  it('[RUN-113] matches the error of the node before it', () => {
    const run = drive({
      nodes: {
        try: {},
        route: {
          branch: {
            cases: [
              { error: { code: 'GONE' }, to: 'a' },
              { error: { kind: 'SYSTEM' }, to: 'b' },
            ],
            default: 'c',
          },
        },
        a: {},
        b: {},
        c: {},
      },
      edges: [{ from: 'try', to: 'route', on: 'always' }],
    });
    run.fail('try', { code: 'GONE' });
    expect(run.running()).toEqual(['a']);
  });
});

describe('set', () => {
  it('[RUN-114] assigns variables, which later nodes see; its output are the assigned values', () => {
    const run = drive({
      variables: { n: 1, text: 'x' },
      nodes: {
        s: { set: { n: '{{ $vars.n + 1 }}' } },
        a: { needs: ['s'], with: { n: '{{ $vars.n }}', t: '{{ $vars.text }}' } },
      },
    });
    expect(run.attempts.get('a')?.input).toEqual({ n: 2, t: 'x' });
    expect(run.document.nodes.s?.output).toEqual({ n: 2 });
  });
});

describe('terminate', () => {
  it('[RUN-115] completes the run at once with its output, and cancels running nodes', () => {
    const run = drive({
      nodes: {
        long: {},
        quick: {},
        end: { needs: ['quick'], terminate: 'completed', with: { output: { got: '{{ $quick }}' } } },
      },
    });
    run.complete('quick', 5);
    expect(run.aborted).toEqual(['long']);
    run.breakOff('long');
    expect(run.status).toBe('completed');
    expect(run.output).toEqual({ got: 5 });
  });

  it('[RUN-115] fails the run with its error', () => {
    const run = drive({
      nodes: { end: { terminate: 'failed', with: { error: { code: 'NO_STOCK', message: 'nothing left' } } } },
    });
    expect(run.error).toEqual({ code: 'NO_STOCK', kind: 'USER', message: 'nothing left', node: 'end' });
  });
});

describe('retrying a run that a terminate ended', () => {
  it('[RUN-115] a run that ended itself as completed has nothing to retry; one that failed itself ends there again', () => {
    const done = drive({ nodes: { long: {}, end: { terminate: 'completed' } } });
    expect(done.retry().status).toBe('completed');
    const failed = drive({ nodes: { end: { terminate: 'failed' }, after: { needs: ['end'] } } });
    expect(failed.retry().status).toBe('failed');
    expect(failed.attempts.has('after')).toBe(false);
  });
});

describe('levels and order with composite nodes', () => {
  it('[RUN-116] in mode levels a composite node waits for its level, and its body has levels of its own', () => {
    const run = drive({
      config: { mode: 'levels' },
      nodes: {
        a: {},
        slow: {},
        loop: { needs: ['a'], forEach: { in: [1] }, do: { nodes: { x: {}, y: { needs: ['x'] } } } },
        last: { needs: ['loop'] },
      },
    });
    run.complete('a');
    expect(run.running()).toEqual(['slow']);
    run.complete('slow');
    expect(run.running()).toEqual(['loop/0/x']);
    run.complete('loop/0/x').complete('loop/0/y').complete('last');
    expect(run.status).toBe('completed');
  });

  it('[RUN-116] in mode sequential a body runs at the position of its node', () => {
    const run = drive({
      config: { mode: 'sequential' },
      nodes: {
        loop: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { x: {}, y: { needs: ['x'] } } } },
        b: {},
      },
    });
    const order: string[] = [];
    while (run.status === 'running') {
      const [node = ''] = run.running();
      order.push(node);
      run.complete(node);
    }
    expect(order).toEqual(['loop/0/x', 'loop/0/y', 'loop/1/x', 'loop/1/y', 'b']);
  });
});

describe('dynamic', () => {
  const made = {
    nodes: { made: { dynamic: { action: 'do@1' } }, after: { needs: ['made'], with: { m: '{{ $made }}' } } },
  };

  it('[RUN-117] runs the graph that its action returned; its output is that of the graph', () => {
    const run = drive(made);
    run.complete('made', {
      nodes: { x: { action: 'do@1' }, y: { action: 'do@1', needs: ['x'], with: { x: '{{ $x }}' } } },
    });
    expect(run.running()).toEqual(['made/x']);
    run.complete('made/x', 1).complete('made/y', 2);
    expect(run.attempts.get('after')?.input).toEqual({ m: 2 });
  });

  it('[RUN-117] a graph that cannot run fails the node with its problems', () => {
    const run = drive(made);
    run.complete('made', { nodes: { x: { action: 'nothing@1' } } });
    expect(run.error).toMatchObject({
      code: 'BAD_GRAPH',
      node: 'made',
      details: { problems: [{ code: 'UNKNOWN_ACTION' }] },
    });
  });
});

describe('split and merge', () => {
  it('[RUN-118] the nodes between run per item; merge collects in order', () => {
    const run = drive(
      {
        nodes: {
          each: { split: { in: '$input.list' } },
          work: { needs: ['each'], with: { it: '{{ $item }}' } },
          all: { needs: ['work'], merge: { wait: 'all' } },
          end: { needs: ['all'], with: { list: '{{ $all.aggregated }}' } },
        },
      },
      { input: { list: ['a', 'b'] } },
    );
    expect(run.running()).toEqual(['each/0/work', 'each/1/work']);
    run.complete('each/1/work', 'B').complete('each/0/work', 'A');
    expect(run.attempts.get('end')?.input).toEqual({ list: ['A', 'B'] });
  });

  const failing = (more: object) => ({
    nodes: {
      each: { split: { in: [1, 2] } },
      work: { needs: ['each'], with: { it: '{{ $item }}' } },
      all: { needs: ['work'], merge: { timeout: '1m' }, ...more },
      after: { needs: ['all'], with: { all: '{{ $all }}' } },
      help: { with: { code: '{{ $nodes.all.error.code }}' } },
    },
    edges: [{ from: 'all', to: 'help', on: 'error' }] as never,
  });

  it('[RUN-243] a failure or timeout between a split and its merge is a failure of the merge', () => {
    const run = drive(failing({})).complete('each/0/work').fail('each/1/work');
    expect(run.statuses()).toMatchObject({ each: 'failed', all: 'failed', after: 'skipped' });
    expect(run.attempts.get('help')?.input).toEqual({ code: 'BROKEN' });
    expect(run.complete('help').status).toBe('completed');
    const late = drive(failing({})).advance(61_000).breakOff('each/0/work').breakOff('each/1/work');
    expect(late.attempts.get('help')?.input).toEqual({ code: 'TIMEOUT' });
    const ignored = drive({ nodes: { ...failing({ onError: 'ignore' }).nodes, help: {} } }).complete('each/0/work');
    expect(ignored.fail('each/1/work').attempts.get('after')?.input).toEqual({ all: null });
  });

  it('[RUN-243] unless the split has an error edge or `onError` of its own', () => {
    const flow = failing({});
    const edges = [{ from: 'each', to: 'help', on: 'error' as const }] as never;
    const nodes = { ...flow.nodes, help: { with: { code: '{{ $nodes.each.error.code }}' } } };
    const run = drive({ nodes, edges }).complete('each/0/work').fail('each/1/work');
    expect(run.statuses()).toMatchObject({ each: 'failed', all: 'skipped' });
    expect(run.attempts.get('help')?.input).toEqual({ code: 'BROKEN' });
  });

  it('[RUN-243] a retry from failed continues with the failed items', () => {
    const run = drive({ nodes: { ...failing({}).nodes, help: {} } }).complete('help');
    run.complete('each/0/work', 'A').fail('each/1/work');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.running()).toEqual(['each/1/work']);
    run.complete('each/1/work', 'B');
    expect(run.attempts.get('after')?.input).toEqual({ all: { aggregated: ['A', 'B'] } });
  });

  it('[RUN-244] several nodes before a merge give the outputs of those that ran, as the ends of a body do', () => {
    const run = drive({
      nodes: {
        each: { split: { in: [1] } },
        p: { needs: ['each'], when: '$item == 1' },
        q: { needs: ['each'], when: '$item == 2' },
        all: { needs: ['p', 'q'], merge: {} },
      },
    }).complete('each/0/p', 'p');
    expect(run.output).toEqual({ all: { aggregated: [{ p: 'p' }] } });
  });

  it('[PLN-102] the output of a split is the item between it and its merge, in an inner split, too', () => {
    const run = drive({
      nodes: {
        s: { split: { in: [{ list: [1, 2] }] } },
        t: { needs: ['s'], split: { in: '$s.list' } },
        a: {
          needs: ['t'],
          with: { outer: '{{ $nodes.s.result.list.length }}', inner: '{{ $t }}', item: '{{ $item }}' },
        },
        m: { needs: ['a'], merge: {} },
        n: { needs: ['m'], merge: {} },
        after: { needs: ['n'], with: { s: '{{ $n.aggregated }}' } },
      },
    });
    expect(run.running()).toEqual(['s/0/t/0/a', 's/0/t/1/a']);
    expect(run.attempts.get('s/0/t/1/a')?.input).toEqual({ outer: 2, inner: 2, item: 2 });
  });

  it('[RUN-474] retry of a merge repeats everything between the split and it', () => {
    const pair = (retry: object) => ({
      nodes: { s: { split: { in: [1, 2] } }, a: { needs: ['s'] }, m: { needs: ['a'], merge: {}, retry } },
    });
    const run = drive(pair({ attempts: 2, delay: '1s' }));
    run.complete('s/0/a', 1).fail('s/1/a').advance(1_000);
    expect(run.running()).toEqual(['s/0/a', 's/1/a']);
    run.complete('s/0/a', 1).complete('s/1/a', 2);
    expect(run.document).toMatchObject({ status: 'completed', output: { m: { aggregated: [1, 2] } } });
    const drawn = drive(pair({ attempts: '{{ $input.n }}', delay: '0s' }), { input: { n: 2 } });
    expect(drawn.fail('s/0/a').breakOff('s/1/a').advance(0).running()).toEqual(['s/0/a', 's/1/a']);
    expect(drawn.fail('s/0/a').breakOff('s/1/a').statuses()).toMatchObject({ s: 'failed', m: 'failed' });
  });

  it('[RUN-118] an empty split gives an empty list, and with wait any the first item ends it', () => {
    const flow = (wait: string) => ({
      nodes: {
        each: { split: { in: '$input.list' } },
        work: { needs: ['each'] },
        all: { needs: ['work'], merge: { wait } },
      },
    });
    expect(drive(flow('all'), { input: { list: [] } }).output).toEqual({ all: { aggregated: [] } });
    const race = drive(flow('any'), { input: { list: [1, 2] } });
    race.complete('each/1/work', 'two');
    expect(race.aborted).toEqual(['each/0/work']);
    race.breakOff('each/0/work');
    expect(race.output).toEqual({ all: { aggregated: ['two'] } });
    // Ten items run at once: the eleventh does not begin after the first result.
    const long = drive(flow('any'), { input: { list: Array.from({ length: 11 }, (_, index) => index) } });
    long.complete('each/0/work');
    expect(long.entries.filter(({ type }) => type === 'scopes.opened')).toMatchObject([{ from: 0, to: 10 }]);
  });
});

describe('cancelling a part', () => {
  it('[RUN-176] a node and its body end; its dependents are skipped, and siblings are not touched', () => {
    const run = drive({
      nodes: {
        each: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { x: {}, y: { needs: ['x'] } } } },
        after: { needs: ['each'] },
        other: {},
      },
    });
    run.step({ type: 'cancel', reason: 'not needed', node: 'each' });
    expect(run.aborted).toEqual(['each/0/x', 'each/1/x']);
    expect(run.running()).toEqual(['other']);
    expect(run.statuses()).toMatchObject({ each: 'cancelled', after: 'skipped', other: 'running' });
    expect(run.complete('other').status).toBe('completed');
  });

  it('[RUN-176] a node that waits or has not begun is cancelled as well; a once attempt becomes unknown', () => {
    const run = drive({ nodes: { w: { wait: { signal: 's' } }, p: { action: 'pay@1' }, q: { needs: ['p'] } } });
    run.step({ type: 'cancel', reason: 'no', node: 'w' }, { type: 'cancel', reason: 'no', node: 'q' });
    run.step({ type: 'cancel', reason: 'no', node: 'p' });
    expect(run.statuses()).toEqual({ w: 'cancelled', p: 'unknown', q: 'cancelled' });
  });
});

describe('a run that is held back', () => {
  it('[RUN-177] begins at its time, with the input that was given last', () => {
    const run = drive({ nodes: { a: { with: { n: '{{ $input.n }}' } } } }, { input: { n: 1 }, delay: 10_000 });
    run.advance(9_000).step({ type: 'restart', input: { n: 2 }, until: run.now + 10_000 });
    run.advance(9_999);
    expect(run.running()).toEqual([]);
    run.advance(1);
    expect(run.attempts.get('a')?.input).toEqual({ n: 2 });
    run.step({ type: 'restart', input: { n: 3 }, until: run.now + 10_000 });
    expect(run.complete('a').status).toBe('completed');
  });
});

describe('a run that waits for its concurrency slot', () => {
  const slot = { key: 'p', limit: 1, policy: 'wait' as const };
  const flow = { config: { timeout: '10s' }, nodes: { a: {} } };

  it('[RUN-260] is pending until it has it, and its time counts from then', () => {
    const run = drive(flow, { slot });
    expect([run.status, run.running(), wakeTime(run.state, run.now, 1_000)]).toEqual(['pending', [], null]);
    expect(explainRun(run.state, run.now).reasons[0]).toContain('at most 1 run of p');
    run.advance(60_000);
    expect(run.status).toBe('pending');
    run.step({ type: 'placed' });
    expect([run.status, run.running()]).toEqual(['running', ['a']]);
    run.step({ type: 'placed' });
    run.advance(9_000);
    expect(run.status).toBe('running');
    run.advance(1_000);
    expect(run.state.stopping?.status).toBe('timed-out');
  });

  it('[RUN-260] that is granted in a pause, or before its time, is kept for later', () => {
    const paused = drive(flow, { slot }).step({ type: 'pause' }).step({ type: 'placed' });
    expect([paused.status, paused.running()]).toEqual(['paused', []]);
    expect([paused.step({ type: 'resume' }).status, paused.running()]).toEqual(['running', ['a']]);
    const waiting = drive(flow, { slot }).step({ type: 'pause' }).step({ type: 'resume' });
    expect([waiting.status, waiting.running()]).toEqual(['pending', []]);
    const early = drive(flow, { slot, delay: 5_000 }).step({ type: 'placed' });
    expect(early.advance(4_999).running()).toEqual([]);
    expect(early.advance(1).running()).toEqual(['a']);
    const late = drive(flow, { slot, delay: 5_000 }).advance(9_000);
    expect(late.running()).toEqual([]);
    expect(late.step({ type: 'placed' }).running()).toEqual(['a']);
  });

  it('[RUN-261] gives it back at its end, once, begun or not', () => {
    const freed = [{ key: 'runs:p', node: '' }];
    const waiting = drive(flow, { slot });
    waiting.step({ type: 'cancel', reason: 'no' });
    expect([waiting.status, waiting.freed]).toEqual(['cancelled', freed]);
    const failed = drive(flow, { slot: { ...slot, policy: 'skip' } });
    expect(failed.running()).toEqual(['a']);
    failed.fail('a');
    expect(failed.freed.splice(0)).toEqual(freed);
    failed.step({ type: 'retry' });
    expect([failed.status, failed.complete('a').status, failed.freed]).toEqual(['running', 'completed', []]);
  });
});

describe('a loop without workers', () => {
  it('[RUN-178] is divided into turns, so that others get theirs', () => {
    const list = Array.from({ length: 2_500 }, (_, n) => n);
    const run = drive(
      {
        nodes: {
          each: {
            forEach: { in: '$input.list' },
            do: { nodes: { s: { set: { v: '{{ $item }}' } } }, output: '{{ $item }}' },
          },
        },
      },
      { input: { list }, foldEvery: 1_000 },
    );
    expect(run.status).toBe('running');
    run.checkFold();
    while (run.status === 'running') run.step({ type: 'wake', lost: [], jitter: 0 });
    expect(run.frames.length).toBe(3);
    expect(run.output).toEqual({ each: list });
  });
});

describe('the start key of a delayed run', () => {
  const begun = (policy: 'debounce' | 'singleton') =>
    drive({ config: { start: { key: '$input.k', policy, window: '4s' } }, nodes: { a: {} } } as Short, {
      delay: 4_000,
      start: { key: 'k' },
    }).advance(4_000);

  it('[RUN-594] is released once: when the run begins, or, of a singleton, when it ends', () => {
    const debounced = begun('debounce');
    expect(debounced.running()).toEqual(['a']);
    expect(debounced.freed).toHaveLength(1);
    expect(debounced.complete('a').freed).toHaveLength(1);
    const singleton = begun('singleton');
    expect(singleton.running()).toEqual(['a']);
    expect(singleton.freed).toEqual([]);
    expect(singleton.complete('a').freed).toEqual(debounced.freed);
  });
});
