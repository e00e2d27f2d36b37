import { describe, expect, it } from 'vitest';
import type { NodeStarted } from '../../../src/run/journal/entry.ts';
import { explainNode, hasEndChecks, refuseCancel } from '../../../src/run.ts';
import { type Drive, drive, type Short } from '../drive.ts';

const always = (from: string, to: string) => ({ from, to, on: 'always' }) as const;
const onError = (from: string, to: string) => ({ from, to, on: 'error' }) as const;
const undo = { compensate: { action: 'look@1' } };
const started = (run: Drive): string[] =>
  run.entries.flatMap((entry) => (entry.type === 'node.started' ? [entry.node] : []));

describe('dead edges', () => {
  it('[RUN-270] [RUN-271] a step that needs a failed one is skipped, although an error edge handles the failure', () => {
    const nodes = {
      test: {},
      notify: {},
      build: {},
      deploy: { needs: ['test', 'build'] },
      after: { needs: ['deploy'] },
    };
    const run = drive({ nodes, edges: [onError('test', 'notify')] });
    run.fail('test').complete('build').complete('notify');
    expect(run.statuses()).toMatchObject({ deploy: 'skipped', after: 'skipped' });
    expect(run.document.nodes.deploy?.skipped).toBe('failure');
    expect(run.document.nodes.after?.skipped).toBe('failure');
    expect(run.status).toBe('completed');
    expect(explainNode(run.state, 'deploy', run.now)?.reasons[0]).toBe(
      'Skipped: `test` failed, and `join: all` tolerates no failed step before it.',
    );
  });

  it('[RUN-270] join: all tolerates edges that are dead by choice; dead by failure wins over dead by choice', () => {
    const nodes = { a: {}, no: {}, b: {}, all: { needs: ['no', 'b'] }, both: { needs: ['no', 'x'] }, x: {}, h: {} };
    const edges = [{ from: 'a', to: 'no', when: 'false' }, onError('x', 'h')];
    const run = drive({ nodes, edges }).complete('a').fail('x').complete('b').complete('h');
    expect(run.document.nodes.no?.skipped).toBe('choice');
    expect(run.running()).toEqual(['all']);
    expect(run.document.nodes.both).toMatchObject({ status: 'skipped', skipped: 'failure' });
  });

  it('[RUN-270] error and always edges that are not taken are dead by choice, whatever the outcome of their source', () => {
    const nodes = { a: {}, b: { needs: ['a'] }, h: {}, w: {}, go: { needs: ['ok'] }, ok: {}, m: {} };
    const edges = [onError('b', 'go'), always('b', 'go'), onError('a', 'm'), onError('b', 'h'), always('b', 'w')];
    const run = drive({ nodes, edges } as Short)
      .complete('ok')
      .fail('a');
    // b is skipped because of a failure: neither edge to `go` counts against it.
    expect(run.statuses()).toMatchObject({ b: 'skipped', go: 'running', h: 'skipped', w: 'skipped', m: 'running' });
    expect(run.document.nodes.h?.skipped).toBe('choice');
    expect(run.document.nodes.w?.skipped).toBe('choice');
  });

  it('[RUN-271] any and n count taken edges, and pass a failure on if too few are taken', () => {
    const nodes = {
      a: {},
      b: {},
      c: {},
      any: { needs: ['a', 'b'], join: 'any' },
      two: { needs: ['a', 'b', 'c'], join: 2 },
    };
    const handled = { nodes: { ...nodes, h: {} }, edges: [onError('a', 'h'), onError('b', 'h')] };
    const run = drive(handled).fail('a').complete('c').complete('b');
    expect(run.running()).toEqual(['any', 'two', 'h']);
    const few = drive(handled).fail('a').fail('b').complete('c');
    expect(few.document.nodes.any).toMatchObject({ status: 'skipped', skipped: 'failure' });
    expect(few.document.nodes.two).toMatchObject({ status: 'skipped', skipped: 'failure' });
  });

  it('[RUN-272] several edges from one node are one, taken when any of them is', () => {
    const edges = [{ from: 'a', to: 'b' }, onError('a', 'b')];
    const two = { nodes: { a: {}, c: {}, b: { join: 2 } }, edges: [...edges, { from: 'c', to: 'b' }] };
    expect(drive(two).fail('a').complete('c').running()).toEqual(['b']);
    expect(drive(two).complete('a').complete('c').running()).toEqual(['b']);
    const all = drive({ nodes: { a: {}, b: {} }, edges }).fail('a');
    expect(all.running()).toEqual(['b']);
    expect(all.complete('b').status).toBe('completed');
  });
});

describe('handled, and unhandled after all', () => {
  const flow = (more: object = {}, config: object = {}): Short => ({
    config,
    nodes: { a: {}, mend: { when: '$input.mends', ...more }, other: {} },
    edges: [onError('a', 'mend')],
  });

  it('[RUN-281] a failure whose handlers are all skipped is unhandled from that moment', () => {
    const run = drive(flow(), { input: { mends: false } }).fail('a', { code: 'FIRST' });
    expect(run.aborted).toEqual(['other']);
    expect(run.breakOff('other').status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'FIRST', node: 'a' });
    expect(
      drive(flow(), { input: { mends: true } })
        .fail('a')
        .running(),
    ).toEqual(['other', 'mend']);
  });

  it('[RUN-281] the policy and onError decide then; a disabled handler handles it', () => {
    const late = drive(flow({}, { onFailure: 'finish-running' }), { input: { mends: false } }).fail('a');
    expect(late.running()).toEqual(['other']);
    expect(late.complete('other').status).toBe('failed');
    const tolerated = drive(flow({}, { onFailure: 'ignore' }), { input: { mends: false } })
      .fail('a')
      .complete('other');
    expect(tolerated.status).toBe('completed');
    const off = drive(flow({ enabled: false }), { input: { mends: false } })
      .fail('a')
      .complete('other');
    expect(off.status).toBe('completed');
    const short = flow();
    const ignored = { ...short, nodes: { ...short.nodes, a: { onError: 'ignore' } } };
    expect(
      drive(ignored, { input: { mends: false } })
        .fail('a')
        .complete('other').status,
    ).toBe('completed');
  });

  it('[RUN-281] a handler that was skipped before the failure handles nothing either', () => {
    const nodes = { a: {}, gate: {}, mend: { needs: ['gate'] }, g: {} };
    const run = drive({ nodes, edges: [onError('a', 'mend'), onError('gate', 'g')] })
      .fail('gate')
      .complete('g');
    expect(run.statusOf('mend')).toBe('skipped');
    expect(run.fail('a').status).toBe('failed');
  });

  it('[RUN-281] the edges of its node stay as they were decided, also when the run is reopened', () => {
    const nodes = { a: { onError: 'ignore' }, mend: { when: 'false' }, b: {}, stop: {}, last: { join: 'any' } };
    const edges = [
      onError('a', 'mend'),
      { from: 'a', to: 'last', when: '$input.nothing.here' },
      { from: 'b', to: 'last' },
    ];
    const run = drive({ nodes, edges }, { input: {} }).fail('a', { code: 'FIRST' });
    expect(run.statusOf('last')).toBe('pending');
    run.fail('stop').breakOff('b');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.statusOf('last')).toBe('pending');
    expect(run.complete('stop').complete('b').complete('last').status).toBe('completed');
  });

  it('[RUN-281] one handler that runs is enough', () => {
    const nodes = { a: {}, m1: { when: 'false' }, m2: {} };
    const run = drive({ nodes, edges: [onError('a', 'm1'), onError('a', 'm2')] })
      .fail('a')
      .complete('m2');
    expect(run.status).toBe('completed');
  });
});

describe('finally', () => {
  it('[RUN-273] a cleanup runs after a failure and the run still fails', () => {
    const run = drive({
      nodes: { a: {}, tidy: {}, more: { needs: ['tidy'] }, b: { needs: ['a'] } },
      edges: [always('a', 'tidy')],
    });
    run.fail('a', { code: 'FIRST' });
    expect(run.running()).toEqual(['tidy']);
    run.complete('tidy').complete('more');
    expect(run.status).toBe('failed');
    expect(run.error?.code).toBe('FIRST');
    expect(run.statusOf('b')).toBe('cancelled');
  });

  it('[RUN-541] the condition of an always edge holds for a node that was cut off, too', () => {
    const nodes = { a: {}, slow: {}, tidy: {}, other: {} };
    const edges = [
      { ...always('slow', 'tidy'), when: '$input.tidies' },
      { ...always('slow', 'other'), when: '!$input.tidies' },
    ];
    const run = drive({ nodes, edges }, { input: { tidies: false } });
    run.fail('a').breakOff('slow');
    expect(run.running()).toEqual(['other']);
    expect(run.complete('other').statuses()).toMatchObject({ tidy: 'skipped', other: 'completed' });
  });

  it('[RUN-274] a node cut off while it ran is followed by its always edges; a node that never started is not', () => {
    const nodes = { a: {}, slow: {}, tidy: {}, later: { needs: ['slow'] }, never: {} };
    const run = drive({ nodes, edges: [always('slow', 'tidy'), always('later', 'never')] }).fail('a');
    expect(run.statuses()).toMatchObject({ later: 'cancelled', never: 'cancelled', tidy: 'pending' });
    run.breakOff('slow');
    expect(run.running()).toEqual(['tidy']);
    expect(run.complete('tidy').status).toBe('failed');
  });

  it('[RUN-274] waits and retries that are cut off have started, and nodes in line for a slot have not', () => {
    const nodes = {
      w: { wait: { signal: 's' } },
      r: { retry: { attempts: 2, delay: '1m' } },
      q: {},
      a: {},
      tw: {},
      tr: {},
      tq: {},
    };
    const edges = [always('w', 'tw'), always('r', 'tr'), always('q', 'tq')];
    const run = drive({ config: { maxParallelism: 2 }, nodes: { ...nodes, q: { priority: 0 } }, edges });
    run.fail('r');
    expect(run.statusOf('q')).toBe('running');
    const two = drive({
      config: { maxParallelism: 1 },
      nodes: { w: nodes.w, a: {}, q: { priority: 0 }, tw: {}, tq: {} },
      edges: [edges[0], edges[2]] as never,
    });
    two.cancel().breakOff('a');
    expect(two.running()).toEqual(['tw']);
    expect(two.complete('tw').statuses()).toMatchObject({ q: 'cancelled', tq: 'cancelled' });
    run.cancel().breakOff('a').breakOff('q');
    expect(run.running().toSorted()).toEqual(['tr', 'tw']);
  });

  it('[RUN-275] the innermost finally runs first, then compensation, then the failure node', () => {
    const run = drive({
      config: { failureNode: 'last' },
      nodes: {
        first: undo,
        each: {
          needs: ['first'],
          forEach: { in: [1] },
          do: { nodes: { x: {}, inner: {} }, edges: [always('x', 'inner')] },
        },
        outer: {},
        last: {},
      },
      edges: [always('each', 'outer')],
    });
    run.complete('first').fail('each/0/x');
    expect(run.running()).toEqual(['each/0/inner']);
    run.complete('each/0/inner');
    expect(run.running()).toEqual(['outer']);
    run.complete('outer');
    expect(run.running()).toEqual(['~undo/first']);
    run.complete('~undo/first');
    expect(run.running()).toEqual(['last']);
    expect(run.complete('last').status).toBe('failed');
  });

  it('[RUN-275] a finally begins when the nodes under way have ended, in bodies too', () => {
    const body = { nodes: { x: {}, tidy: {} }, edges: [always('x', 'tidy')] };
    const run = drive({
      nodes: { a: {}, b: {}, tidy: {}, loop: { forEach: { in: [1] }, do: body } },
      edges: [always('a', 'tidy')],
    });
    run.fail('a');
    expect(run.running().toSorted()).toEqual(['b', 'loop/0/x']);
    run.breakOff('loop/0/x');
    expect(run.running()).toEqual(['b', 'loop/0/tidy']);
    run.breakOff('b');
    expect(run.running()).toEqual(['loop/0/tidy']);
    run.complete('loop/0/tidy');
    expect(run.running()).toEqual(['tidy']);
    expect(run.complete('tidy').status).toBe('failed');
  });

  it('[RUN-275] a cancel, a timeout, a halt in a body and terminate all run it', () => {
    const flow = { config: { timeout: '10s' }, nodes: { a: {}, tidy: {} }, edges: [always('a', 'tidy')] } as const;
    expect(drive(flow).cancel().breakOff('a').complete('tidy').status).toBe('cancelled');
    expect(drive(flow).advance(10_000).breakOff('a').complete('tidy').status).toBe('timed-out');
    const loop = { forEach: { in: [1] }, do: { nodes: { h: { onError: 'halt' } } } };
    const halted = drive({ ...flow, nodes: { ...flow.nodes, loop } })
      .fail('loop/0/h')
      .breakOff('a');
    expect(halted.running()).toEqual(['tidy']);
    expect(halted.complete('tidy').status).toBe('failed');
    const ends = {
      ...flow,
      nodes: { ...flow.nodes, b: {}, t: { needs: ['b'], terminate: 'completed', with: { output: 7 } } },
    };
    const done = drive(ends).complete('b').breakOff('a');
    expect(done.running()).toEqual(['tidy']);
    expect(done.complete('tidy').status).toBe('completed');
    expect(done.output).toBe(7);
  });

  it('[RUN-276] cleanups have their own timeouts, and a second cancel skips them', () => {
    const flow = {
      config: { timeout: '10s' },
      nodes: { a: {}, tidy: { timeout: '1m' }, more: { needs: ['tidy'] } },
      edges: [always('a', 'tidy')],
    };
    const run = drive(flow).cancel().breakOff('a').advance(50_000);
    expect(run.running()).toEqual(['tidy']);
    expect(refuseCancel(run.state, true)).toBeUndefined();
    run.cancel('now');
    expect(run.aborted).toEqual(['a', 'tidy']);
    expect(run.breakOff('tidy').status).toBe('cancelled');
    expect(run.statusOf('more')).toBe('cancelled');
    const early = drive(flow).cancel().cancel().breakOff('a');
    expect([early.status, early.statusOf('tidy')]).toEqual(['cancelled', 'cancelled']);
    const late = drive(flow).fail('a').advance(61_000);
    expect([late.status, late.statusOf('tidy')]).toEqual(['failed', 'failed']);
    expect(late.error?.code).toBe('BROKEN');
  });

  it('[RUN-450] the first cancel of a run that is ending by a failure or a time limit skips nothing, the second one does', () => {
    const flow = {
      config: { timeout: '10s' },
      nodes: { a: {}, tidy: {}, more: { needs: ['tidy'] } },
      edges: [always('a', 'tidy')],
    };
    for (const ending of [drive(flow).fail('a'), drive(flow).advance(10_000).breakOff('a')]) {
      const { status } = ending.state.stopping as { status: string };
      expect(refuseCancel(ending.state, true)).toBeUndefined();
      ending.cancel();
      expect([ending.running(), ending.aborted.includes('tidy')]).toEqual([['tidy'], false]);
      const twice = ending.cancel();
      expect(twice.aborted).toContain('tidy');
      expect(twice.breakOff('tidy').status).toBe(status);
      expect(twice.statuses()).toMatchObject({ tidy: 'cancelled', more: 'cancelled' });
    }
    const once = drive(flow).fail('a').cancel().complete('tidy').complete('more');
    expect([once.status, once.error?.code]).toEqual(['failed', 'BROKEN']);
  });

  it('[RUN-450] the first cancel of a node that is ending by its time limit skips nothing, the second one does', () => {
    const body = { nodes: { x: {}, tidy: {} }, edges: [always('x', 'tidy')] };
    const loop = { timeout: { total: '10s' }, forEach: { in: [1] }, do: body, onError: 'ignore' };
    const cancel = { type: 'cancel', reason: 'no', node: 'loop' } as const;
    const run = drive({ nodes: { loop } }).advance(10_000).breakOff('loop/0/x');
    run.step(cancel);
    expect([run.running(), run.aborted]).toEqual([['loop/0/tidy'], ['loop/0/x']]);
    run.step(cancel);
    expect(run.aborted).toContain('loop/0/tidy');
    run.breakOff('loop/0/tidy');
    expect([run.status, run.statusOf('loop')]).toEqual(['completed', 'failed']);
  });

  it('[RUN-451] nodes after a terminate run if the terminate is part of a finally, and only then', () => {
    const nodes = { a: {}, t: { terminate: 'completed' }, after: { needs: ['t'] } };
    const cleaning = drive({ nodes, edges: [always('a', 't')] }).fail('a');
    expect(cleaning.running()).toEqual(['after']);
    expect(cleaning.complete('after').status).toBe('failed');
    const ending = drive({ nodes: { ...nodes, t: { needs: ['a'], terminate: 'failed' } } }).complete('a');
    expect([ending.status, ending.statusOf('after')]).toEqual(['failed', 'cancelled']);
  });

  it('[RUN-454] a node to which a cleanup leads only by dead edges is skipped by choice, and the rest of the cleanup runs', () => {
    const run = drive({
      nodes: { a: {}, t: { terminate: 'failed' }, no: { set: { x: 1 } }, tidy: { needs: ['no'] } },
      edges: [always('a', 't'), { from: 't', to: 'no', on: 'error' }, always('t', 'tidy')],
    }).complete('a');
    expect([run.statusOf('no'), run.statusOf('tidy')]).toEqual(['skipped', 'running']);
    expect(run.complete('tidy').status).toBe('failed');
  });

  it('[RUN-452] a cleanup with onError: halt that fails fails the run, also with onFailure: ignore', () => {
    const flow = (tidy: Record<string, unknown>) => ({
      config: { onFailure: 'ignore' as const },
      nodes: { a: {}, b: {}, t: { needs: ['b'], terminate: 'completed' as const }, tidy },
      edges: [always('a', 'tidy')],
    });
    const end = (tidy: Record<string, unknown>) =>
      drive(flow(tidy)).complete('b').breakOff('a').fail('tidy', { code: 'DIRTY' });
    expect(end({}).status).toBe('completed');
    expect([end({ onError: 'halt' }).status, end({ onError: 'halt' }).error?.code]).toEqual(['failed', 'DIRTY']);
  });

  it('[RUN-277] a node of unknown outcome counts as cancelled for its edges, and can still be settled', () => {
    const nodes = { pay: { action: 'pay@1' }, a: {}, tidy: {}, then: { needs: ['pay'] } };
    const run = drive({ nodes, edges: [always('pay', 'tidy')] })
      .fail('a')
      .breakOff('pay');
    expect(run.running()).toEqual(['tidy']);
    expect(run.statusOf('pay')).toBe('unknown');
    run.settle('pay', { happened: true, output: 1 });
    expect([run.statusOf('pay'), run.statusOf('then')]).toEqual(['completed', 'cancelled']);
    expect(run.complete('tidy').status).toBe('failed');
    const before = drive({ nodes, edges: [always('pay', 'tidy')] })
      .breakOff('pay')
      .fail('a')
      .complete('tidy');
    expect([before.status, before.statusOf('pay')]).toEqual(['failed', 'unknown']);
  });

  it('[RUN-278] a cleanup that fails replaces no error; a run that would have ended well fails with it', () => {
    const flow = {
      nodes: { a: {}, tidy: {}, b: { needs: ['tidy'] }, more: {} },
      edges: [always('a', 'tidy'), always('a', 'more')],
    };
    const run = drive(flow).fail('a', { code: 'FIRST' }).fail('tidy', { code: 'SECOND' }).complete('more');
    expect(run.error?.code).toBe('FIRST');
    expect(run.statuses()).toMatchObject({ tidy: 'failed', b: 'skipped', more: 'completed' });
    const well = drive({
      nodes: { a: {}, t: { needs: ['b'], terminate: 'completed' }, b: {}, tidy: {} },
      edges: [always('a', 'tidy')],
    });
    well.complete('b').breakOff('a').fail('tidy', { code: 'DIRTY' });
    expect([well.status, well.error?.code]).toEqual(['failed', 'DIRTY']);
    expect(drive(flow).complete('a').fail('tidy').breakOff('more').status).toBe('failed');
  });

  it('[RUN-279] nodes of a finally are not compensated', () => {
    const nodes = { first: undo, a: { needs: ['first'] }, tidy: undo };
    const run = drive({ nodes, edges: [always('a', 'tidy')] })
      .complete('first')
      .fail('a')
      .complete('tidy');
    expect(run.running()).toEqual(['~undo/first']);
    expect(run.complete('~undo/first').status).toBe('failed');
  });

  it('[RUN-280] a cleanup that runs when the run begins to end is not cut off', () => {
    const run = drive({ nodes: { a: {}, b: {}, tidy: {}, more: { needs: ['tidy'] } }, edges: [always('a', 'tidy')] });
    run.complete('a').fail('b');
    expect(run.aborted).toEqual([]);
    expect(run.complete('tidy').running()).toEqual(['more']);
    expect(run.complete('more').status).toBe('failed');
  });

  it('[RUN-280] a cleanup that is tried again and waits for its level begins when the run begins to end', () => {
    const nodes = { a: {}, b: {}, doubt: { action: 'pay@1' }, tidy: { action: 'pay@1' } };
    const run = drive({ config: { mode: 'levels' }, nodes, edges: [always('a', 'tidy')] });
    run.complete('a').cancel().breakOff('b').breakOff('doubt').breakOff('tidy').step({ type: 'retry' });
    expect(run.settle('tidy', { happened: false, then: 'retry' }).running()).toEqual(['b']);
    expect(run.fail('b').running()).toEqual(['tidy']);
  });

  it('[RUN-417] a node that is ready by another edge has its part in the finally once an always edge leads to it', () => {
    const nodes = { a: {}, b: { needs: ['a'] }, tidy: { needs: ['a'], join: 'any' } } as const;
    const run = drive({ config: { maxParallelism: 1 }, nodes, edges: [always('b', 'tidy')] });
    run.complete('a');
    expect(run.statuses()).toMatchObject({ b: 'running', tidy: 'queued' });
    run.cancel().breakOff('b');
    expect(run.running()).toEqual(['tidy']);
    expect(run.complete('tidy').status).toBe('cancelled');
  });

  it('[RUN-417] or once a cleanup before it has ended', () => {
    const nodes = { a: {}, tidy: {}, more: { needs: ['a', 'tidy'], join: 'any' } } as const;
    const run = drive({ config: { maxParallelism: 1 }, nodes, edges: [always('a', 'tidy')] });
    run.complete('a');
    expect(run.statuses()).toMatchObject({ tidy: 'running', more: 'queued' });
    run.cancel();
    expect(run.running()).toEqual(['tidy']);
    expect(run.complete('tidy').running()).toEqual(['more']);
    expect(run.complete('more').status).toBe('cancelled');
  });

  it('[RUN-417] and is cancelled when none does', () => {
    const nodes = { a: {}, tidy: {}, more: { needs: ['a', 'tidy'], join: 'any' } } as const;
    const run = drive({ config: { maxParallelism: 1 }, nodes, edges: [always('a', 'tidy')] });
    run.complete('a').cancel().fail('tidy');
    expect(run.statuses()).toMatchObject({ tidy: 'failed', more: 'cancelled' });
    expect(run.status).toBe('cancelled');
  });

  it('[RUN-285] reads the error that it runs because of', () => {
    const code = { code: '{{ $execution.error?.code }}' };
    const body = { nodes: { x: {}, tidy: { with: code } }, edges: [always('x', 'tidy')] };
    const run = drive({
      nodes: { loop: { forEach: { in: [1] }, do: body }, tidy: { with: code } },
      edges: [always('loop', 'tidy')],
    });
    run.fail('loop/0/x', { code: 'FIRST' });
    expect(run.attempts.get('loop/0/tidy')?.input).toEqual({ code: 'FIRST' });
    run.fail('loop/0/tidy', { code: 'SECOND' });
    expect(run.attempts.get('tidy')?.input).toEqual({ code: 'FIRST' });
    const cancelled = drive({ nodes: { a: {}, tidy: { with: code } }, edges: [always('a', 'tidy')] })
      .cancel()
      .breakOff('a');
    expect(cancelled.attempts.get('tidy')?.input).toEqual({ code: 'CANCELLED' });
  });

  it('[RUN-286] break ends its iteration: running nodes are cut off, pending ones are cancelled, its finally runs', () => {
    const body = { nodes: { x: { break: true }, y: {}, z: { needs: ['x'] }, tidy: {} }, edges: [always('y', 'tidy')] };
    const run = drive({
      nodes: { loop: { forEach: { in: [1, 2] }, do: { ...body, output: '{{ $nodes.x.output }}' } } },
    });
    run.complete('loop/0/x', 'X');
    expect([run.aborted, run.statusOf('loop/0/z')]).toEqual([['loop/0/y'], 'cancelled']);
    run.breakOff('loop/0/y').complete('loop/0/tidy');
    expect([run.status, run.output]).toEqual(['completed', { loop: ['X'] }]);
  });

  it('[RUN-287] a retry from failed runs the finally of nodes that begin again once more, as something new', () => {
    const nodes = { ok: {}, a: { needs: ['ok'] }, tidy: {}, okTidy: {}, more: { needs: ['tidy'] } };
    const run = drive({ nodes, edges: [always('a', 'tidy'), always('ok', 'okTidy')] });
    run.complete('ok').complete('okTidy').fail('a').complete('tidy').complete('more');
    const key = run.attempts.get('tidy')?.idempotencyKey;
    run.retry();
    expect(run.running()).toEqual(['a']);
    run.complete('a');
    expect(run.running()).toEqual(['tidy']);
    expect(run.attempts.get('tidy')?.idempotencyKey).not.toBe(key);
    expect(run.complete('tidy').complete('more').status).toBe('completed');
    expect(started(run).filter((node) => node === 'okTidy')).toHaveLength(1);
  });

  it('[RUN-84] a cleanup whose other edges are lost is skipped, and says why', () => {
    const run = drive({
      nodes: { a: {}, b: { needs: ['a'] }, tidy: { needs: ['b'] } },
      edges: [always('a', 'tidy')],
    }).fail('a');
    expect(run.status).toBe('failed');
    expect(explainNode(run.state, 'tidy', run.now)?.reasons[0]).toContain('`b` was cancelled');
  });
});

describe('bodies', () => {
  it('[RUN-275] terminate in a body runs the cleanups of that iteration, then those around it, and keeps its outcome', () => {
    const loop = {
      forEach: { in: [1, 2], parallel: true },
      do: {
        nodes: {
          a: {},
          b: {},
          t: { needs: ['b'], when: '$index == 0', terminate: 'completed', with: { output: 'early' } },
          tidy: {},
        },
        edges: [always('a', 'tidy')],
      },
    };
    const run = drive({ nodes: { loop, outer: {}, next: { needs: ['loop'] } }, edges: [always('loop', 'outer')] });
    run.complete('loop/0/b');
    expect(run.aborted.toSorted()).toEqual(['loop/0/a', 'loop/1/a', 'loop/1/b']);
    run.breakOff('loop/0/a');
    expect(run.running()).toContain('loop/0/tidy');
    run.breakOff('loop/1/a').breakOff('loop/1/b');
    expect(run.running()).toEqual(['loop/0/tidy', 'loop/1/tidy']);
    run.complete('loop/0/tidy').complete('loop/1/tidy');
    expect(run.running()).toEqual(['outer']);
    run.complete('outer');
    expect(run.status).toBe('completed');
    expect(run.document.output).toBe('early');
    expect(run.statusOf('next')).toBe('cancelled');
  });

  it('[RUN-424] a cleanup inside an iteration that ends by break fails the iteration, but not where its node ignores failures', () => {
    const inner = (more: object) => ({ group: { nodes: { a: {}, tidy: {} }, edges: [always('a', 'tidy')] }, ...more });
    const play = (more: object) =>
      drive({ nodes: { loop: { forEach: { in: [1] }, do: { nodes: { g: inner(more), stop: { break: true } } } } } })
        .complete('loop/0/stop')
        .breakOff('loop/0/g/a')
        .fail('loop/0/g/tidy');
    expect(play({}).error).toMatchObject({ code: 'BROKEN', node: 'loop/0/g/tidy' });
    expect(play({ onError: 'ignore' }).status).toBe('completed');
  });

  it('[RUN-424] a cleanup of a body that fails after terminate: completed fails the run', () => {
    const loop = {
      forEach: { in: [1] },
      do: {
        nodes: { a: {}, t: { terminate: 'completed', needs: ['b'] }, b: {}, tidy: {} },
        edges: [always('a', 'tidy')],
      },
    };
    const run = drive({ nodes: { loop } });
    run.complete('loop/0/b').breakOff('loop/0/a').fail('loop/0/tidy');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'BROKEN', node: 'loop/0/tidy' });
  });

  it('[RUN-275] every open iteration of a parallel loop has its finally before the loop ends, and no closed one has', () => {
    const loop = {
      forEach: { in: [1, 2, 3], parallel: true },
      do: { nodes: { a: {}, b: { needs: ['a'] }, tidy: {} }, edges: [always('a', 'tidy')] },
    };
    const run = drive({ nodes: { loop, mend: {} }, edges: [onError('loop', 'mend')] });
    run.complete('loop/0/a').complete('loop/0/b').complete('loop/0/tidy').complete('loop/1/a');
    run.fail('loop/2/a');
    // Iteration 1 is stopped by the failure of iteration 2; its cleanup was under way and continues.
    run.breakOff('loop/1/b');
    expect(run.running()).toEqual(['loop/1/tidy', 'loop/2/tidy']);
    run.complete('loop/2/tidy');
    expect(run.statusOf('loop')).toBe('running');
    run.complete('loop/1/tidy');
    expect(run.statuses()).toMatchObject({ loop: 'failed', mend: 'running' });
    expect(started(run).filter((path) => path.endsWith('tidy'))).toHaveLength(3);
  });

  it('[RUN-278] an iteration of a parallel loop whose cleanup alone fails has failed, and counts for minSuccess', () => {
    const loop = (minSuccess: number) => ({
      forEach: { in: [1, 2], parallel: true, minSuccess },
      do: { nodes: { a: {}, tidy: {} }, edges: [always('a', 'tidy')], output: '{{ $a }}' },
    });
    const play = (minSuccess: number) => {
      const run = drive({ nodes: { loop: loop(minSuccess) } });
      return run.complete('loop/0/a', 1).complete('loop/1/a', 2).fail('loop/0/tidy').complete('loop/1/tidy');
    };
    expect(play(1).document.nodes.loop).toMatchObject({ status: 'completed', output: [null, 2] });
    const failed = drive({ nodes: { loop: loop(2) } });
    failed.complete('loop/0/a', 1).complete('loop/1/a', 2).fail('loop/0/tidy');
    expect(failed.running()).toEqual(['loop/1/tidy']);
    failed.complete('loop/1/tidy');
    expect(failed.error).toMatchObject({ code: 'TOO_FEW_SUCCEEDED', node: 'loop' });
  });

  describe('with finish-running', () => {
    const config = { onFailure: 'finish-running' } as const;

    it('[RUN-473] the finally waits for independent nodes', () => {
      const nodes = { a: {}, b: {}, c: { needs: ['b'] }, tidy: {}, after: { needs: ['tidy'] } };
      const run = drive({ config, nodes, edges: [always('a', 'tidy')] }).fail('a', { code: 'FIRST' });
      expect(run.running()).toEqual(['b']);
      expect(explainNode(run.state, 'tidy', run.now)?.causes[0]?.code).toBe('finally');
      expect(run.complete('b').running()).toEqual(['c']);
      expect(run.complete('c').running()).toEqual(['tidy']);
      expect(run.fail('tidy').statusOf('after')).toBe('skipped');
      expect(run.error).toMatchObject({ code: 'FIRST', node: 'a' });
    });

    it('[RUN-473, RUN-279] the finally is not compensated, and independent nodes are', () => {
      const run = drive({ config, nodes: { a: {}, b: undo, tidy: undo }, edges: [always('a', 'tidy')] });
      run.fail('a').complete('b').complete('tidy');
      expect(run.running()).toEqual(['~undo/b']);
      expect(run.complete('~undo/b').status).toBe('failed');
    });

    it('[RUN-473] it begins at once where nothing else is left, and a join that needs no held edge does not wait', () => {
      const alone = drive({ config, nodes: { a: {}, tidy: {} }, edges: [always('a', 'tidy')] }).fail('a');
      expect(alone.running()).toEqual(['tidy']);
      const needs = ['b'];
      const nodes = {
        a: {},
        b: {},
        slow: {},
        all: { needs },
        any: { needs, join: 'any' as const },
        ended: { needs, join: 'ended' as const },
        twin: { needs: ['a', 'slow'] },
      };
      const run = drive({ config, nodes, edges: ['all', 'any', 'ended', 'twin'].map((to) => always('a', to)) });
      expect(run.fail('a').complete('b').running()).toEqual(['slow', 'any']);
      expect(run.complete('any').complete('slow').running()).toEqual(['all', 'ended', 'twin']);
    });

    it('[RUN-473] a cleanup after several nodes waits if one of them failed', () => {
      const nodes = { start: {}, test: { needs: ['start'] }, publish: { needs: ['test'] }, slow: {}, tidy: {} };
      const edges = ['start', 'test', 'publish'].map((from) => always(from, 'tidy'));
      const run = drive({ config, nodes, edges }).complete('start').fail('test');
      expect(run.statuses()).toMatchObject({ publish: 'skipped', tidy: 'pending' });
      expect(run.complete('slow').running()).toEqual(['tidy']);
    });

    it('[RUN-473] it waits also if the failure seemed handled when it happened', () => {
      const nodes = { a: {}, tidy: {}, slow: {}, off: { needs: ['a'] }, mend: { needs: ['off'] } };
      const run = drive({ config, nodes, edges: [always('a', 'tidy'), onError('a', 'mend')] }).fail('a');
      expect(run.statuses()).toMatchObject({ mend: 'skipped', tidy: 'pending' });
      expect(run.running()).toEqual(['slow']);
      expect(run.complete('slow').running()).toEqual(['tidy']);
    });

    it('[RUN-473] it begins before the failure node runs', () => {
      const nodes = { a: {}, slow: {}, tidy: {}, alarm: {} };
      const run = drive({ config: { ...config, failureNode: 'alarm' }, nodes, edges: [always('a', 'tidy')] });
      expect(run.fail('a').complete('slow').running()).toEqual(['tidy']);
      expect(run.complete('tidy').running()).toEqual(['alarm']);
    });

    it('[RUN-473] it waits for a retry, a wait and an unknown outcome, and begins after a pause', () => {
      const nodes = {
        a: {},
        b: { retry: { attempts: 2, delay: '1m' } },
        w: { wait: { signal: 'go' } },
        p: { action: 'pay@1' },
        tidy: {},
      };
      const run = drive({ config, nodes, edges: [always('a', 'tidy')] })
        .fail('a')
        .fail('b');
      run.breakOff('p').step({ type: 'signal', signal: 'go', key: '', payload: null }).advance(60_000);
      run.complete('b');
      expect(run.running()).toEqual([]);
      run.step({ type: 'pause' }).settle('p', { happened: true, output: 1 });
      expect(run.running()).toEqual([]);
      expect(run.step({ type: 'resume' }).running()).toEqual(['tidy']);
    });

    it('[RUN-473] in a body it ends the body', () => {
      const body = { nodes: { a: {}, b: {}, tidy: undo }, edges: [always('a', 'tidy')] };
      const run = drive({ config, nodes: { g: { group: body }, other: {} } }).fail('g/a', { code: 'FIRST' });
      expect(run.complete('g/b').running()).toEqual(['other', 'g/tidy']);
      expect(run.complete('g/tidy').statusOf('g')).toBe('failed');
      expect(run.complete('other').error?.code).toBe('FIRST');
    });

    it('[RUN-473] in mode levels it holds back no level', () => {
      const nodes = {
        a: {},
        b: {},
        tidy: {},
        then: { needs: ['tidy'] },
        c: { needs: ['b'] },
        d: { needs: ['c'] },
        e: { needs: ['d'] },
      };
      const run = drive({ config: { ...config, mode: 'levels' }, nodes, edges: [always('a', 'tidy')] });
      run.fail('a').complete('b').complete('c');
      expect(run.running()).toEqual(['d']);
      expect(run.complete('d').complete('e').running()).toEqual(['tidy']);
      expect(run.complete('tidy').complete('then').status).toBe('failed');
    });

    it('[RUN-473] a failure that a replay leaves as it is holds nothing back', () => {
      const nodes = { a: {}, s: {}, b: { needs: ['s'] }, slow: { needs: ['s'] }, tidy: {} };
      const run = drive({ config, nodes, edges: [always('a', 'tidy'), always('b', 'tidy')] });
      run.fail('a').complete('s').complete('b').complete('slow').complete('tidy');
      run.step({ type: 'replay', node: 's' }).complete('s').fail('b', { code: 'SECOND' });
      expect(run.running()).toEqual(['slow']);
      expect(run.complete('slow').running()).toEqual(['tidy']);
      expect(run.complete('tidy').error?.code).toBe('SECOND');
    });

    it('[RUN-288, RUN-473] a cleanup that began before finallys waited continues, and so does what follows it', () => {
      const nodes = { a: {}, b: {}, tidy: {}, after: { needs: ['tidy'] } };
      const definition = { config, nodes, edges: [always('a', 'tidy')] };
      const { frames } = drive(definition).fail('a');
      const start = frames[0]?.entries.find(({ type }) => type === 'node.started');
      frames[1]?.entries.push({ ...start, node: 'tidy' } as NodeStarted);
      const run = drive(definition, { frames });
      expect(run.running()).toEqual(['b', 'tidy']);
      expect(run.complete('tidy').running()).toEqual(['b', 'after']);
      expect(run.complete('b').complete('after').status).toBe('failed');
    });

    it('[RUN-473] another end of the run runs it, too', () => {
      const nodes = { a: {}, b: {}, tidy: {} };
      const run = drive({ config, nodes, edges: [always('a', 'tidy')] })
        .fail('a')
        .cancel();
      expect(run.breakOff('b').running()).toEqual(['tidy']);
      expect(run.complete('tidy').status).toBe('cancelled');
    });
  });

  it('[RUN-282] with finish-running the other iterations of a parallel loop run to their end, and no further one begins', () => {
    const loop = { forEach: { in: [1, 2, 3, 4], parallel: true, maxConcurrency: 2 }, do: { nodes: { x: {} } } };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes: { loop, after: { needs: ['loop'] } } });
    run.fail('loop/0/x', { code: 'FIRST' });
    expect([run.aborted, run.running()]).toEqual([[], ['loop/1/x']]);
    run.complete('loop/1/x');
    expect([run.status, run.error?.code]).toEqual(['failed', 'FIRST']);
    const fast = drive({ nodes: { loop } }).fail('loop/0/x');
    expect(fast.aborted).toEqual(['loop/1/x']);
  });

  it('[RUN-275] a time limit of a composite node runs the finally in it before the node fails', () => {
    const body = { nodes: { x: {}, tidy: {} }, edges: [always('x', 'tidy')] };
    const loop = { timeout: { total: '10s' }, forEach: { in: [1] }, do: body };
    const run = drive({ nodes: { loop, mend: {} }, edges: [onError('loop', 'mend')] }).advance(10_000);
    run.breakOff('loop/0/x').complete('loop/0/tidy');
    expect(run.running()).toEqual(['mend']);
    expect(run.complete('mend').status).toBe('completed');
  });

  it('[RUN-276] a node that is cancelled a second time leaves out its finally', () => {
    const body = { nodes: { x: {}, tidy: {} }, edges: [always('x', 'tidy')] };
    const run = drive({ nodes: { loop: { forEach: { in: [1] }, do: body }, z: {} } });
    const cancel = { type: 'cancel', reason: 'no', node: 'loop' } as const;
    run.step(cancel);
    expect(run.running()).toEqual(['z', 'loop/0/tidy']);
    run.step(cancel);
    expect(run.breakOff('loop/0/tidy').statusOf('loop')).toBe('cancelled');
    expect(run.complete('z').status).toBe('completed');
  });
});

describe('the failure node', () => {
  it('[RUN-283] may end in the turn in which it begins', () => {
    const last: Record<string, Record<string, unknown>> = {
      set: { set: { failed: true } },
      terminate: { terminate: 'failed' },
      loop: { forEach: { in: [] }, do: { nodes: { x: {} } } },
      noList: { forEach: { in: '$input.none' }, do: { nodes: { x: {} } } },
    };
    for (const [name, f] of Object.entries(last)) {
      const run = drive(
        { config: { failureNode: 'f' }, variables: { failed: false }, nodes: { a: {}, f } },
        { input: { none: 1 } },
      );
      expect(run.fail('a').status, name).toBe('failed');
    }
  });

  it('[RUN-283] is passed over when it is disabled or its condition is false', () => {
    for (const f of [{ enabled: false }, { when: 'false' }, { when: '$input.a.b' }]) {
      const run = drive({ config: { failureNode: 'f' }, nodes: { a: {}, f } }).fail('a', { code: 'FIRST' });
      expect([run.status, run.error?.code]).toEqual(['failed', 'FIRST']);
      expect(run.statusOf('f')).not.toBe('completed');
    }
    const holds = drive({
      config: { failureNode: 'f' },
      nodes: { a: {}, f: { when: '$execution.error.code == "FIRST"' } },
    });
    expect(holds.fail('a', { code: 'FIRST' }).running()).toEqual(['f']);
  });

  it('[RUN-283] runs after a timeout, and not after a cancel', () => {
    const flow = { config: { failureNode: 'f', timeout: '10s' }, nodes: { a: {}, f: {} } };
    expect(drive(flow).advance(10_000).breakOff('a').running()).toEqual(['f']);
    const run = drive(flow).cancel().breakOff('a');
    expect([run.status, run.statusOf('f')]).toEqual(['cancelled', 'cancelled']);
  });

  it('[RUN-284] is cancelled by a cancel, and the run ends as it was about to', () => {
    const flow = (f: object) => ({ config: { failureNode: 'f' }, nodes: { a: {}, f: f as Record<string, unknown> } });
    const waits = drive(flow({ wait: { signal: 's' } })).fail('a', { code: 'FIRST' });
    expect(waits.status).toBe('compensating');
    expect(refuseCancel(waits.state, true)).toBeUndefined();
    waits.cancel();
    expect([waits.status, waits.error?.code, waits.statusOf('f')]).toEqual(['failed', 'FIRST', 'cancelled']);
    expect(drive(flow({})).fail('a').cancel().status).toBe('failed');
    const paid = drive(flow({ action: 'pay@1' }))
      .fail('a')
      .cancel();
    expect([paid.status, paid.statusOf('f')]).toEqual(['compensating', 'unknown']);
    expect([paid.cancel().status, paid.statusOf('f')]).toEqual(['failed', 'unknown']);
  });
});

describe('a split that does nothing', () => {
  it('[RUN-290] gives its merge an empty list', () => {
    const nodes = { s: { enabled: false, split: { in: [1] } }, x: { needs: ['s'] }, m: { needs: ['x'], merge: {} } };
    const run = drive({ nodes, output: '{{ $nodes.m.output }}' } as never);
    expect(run.output).toEqual({ aggregated: [] });
  });
});

describe('a loop with few slots', () => {
  const loop = (more: object = {}) => ({
    config: { maxParallelism: 1 },
    nodes: { l: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { a: {} } }, ...more } },
  });

  it('[RUN-291] does not end while an attempt in one of its iterations runs', () => {
    const cancelled = drive(loop()).cancel();
    expect([cancelled.status, cancelled.running()]).toEqual(['running', ['l/0/a']]);
    expect(cancelled.breakOff('l/0/a').status).toBe('cancelled');
    const late = drive(loop({ timeout: '3s' })).advance(3_000);
    expect([late.status, late.running()]).toEqual(['running', ['l/0/a']]);
    expect([late.breakOff('l/0/a').status, late.statusOf('l')]).toEqual(['failed', 'failed']);
    const three = {
      config: { maxParallelism: 2 },
      nodes: { l: { ...loop().nodes.l, forEach: { in: [1, 2, 3], parallel: true } } },
    };
    const failed = drive(three).fail('l/0/a');
    expect([failed.status, failed.running()]).toEqual(['running', ['l/1/a']]);
    expect(failed.breakOff('l/1/a').status).toBe('failed');
  });
});

it('[RUN-292] a node that runs when an always edge to it is taken is cancelled with the run', () => {
  const run = drive({
    nodes: { s: { set: { n: 1 } }, a: {}, t: { join: 'any' } },
    variables: { n: 0 },
    edges: [
      { from: 's', to: 't' },
      { from: 'a', to: 't', on: 'always' },
    ],
  });
  run.cancel().complete('a').breakOff('t');
  expect([run.status, run.statusOf('t')]).toEqual(['cancelled', 'cancelled']);
});

it('[RUN-293] halt inside the body of a cleanup ends that body, and the run', () => {
  const body = { nodes: { x: { onError: 'halt' }, y: {}, z: { needs: ['y'] } } };
  const group = { nodes: { a: {}, clean: { group: body } }, edges: [{ from: 'a', to: 'clean', on: 'always' }] };
  const run = drive({ nodes: { l: { group } } } as never)
    .fail('l/a', { code: 'FIRST' })
    .fail('l/clean/x', { code: 'SECOND' });
  expect(run.running()).toEqual(['l/clean/y']);
  run.breakOff('l/clean/y');
  expect([run.status, run.statusOf('l/clean/z')]).toEqual(['failed', 'cancelled']);
});

it('[RUN-481] failures behind broken edges do not replace the first error', () => {
  const broken = { when: '$input.missing' };
  const run = drive({
    nodes: { a: {}, b: { onError: 'ignore' }, c: {} },
    edges: [
      { from: 'a', to: 'b', on: 'error', ...broken },
      { from: 'b', to: 'c', ...broken },
    ],
  }).fail('a', { code: 'FIRST' });
  expect(run.error).toMatchObject({ code: 'FIRST', node: 'a' });
  expect(run.entries.filter(({ type }) => type === 'run.stopping')).toHaveLength(1);
  expect(run.statuses()).toMatchObject({ a: 'failed', b: 'failed', c: 'failed' });
});

it('[RUN-585] an outcome that is settled after its loop has completed adds no items', () => {
  const body = { nodes: { x: { action: 'pay@1', emit: '{{ [9] }}' }, y: { break: true } } };
  const run = drive({ nodes: { l: { forEach: { in: '[1]' }, do: body }, other: {} } });
  run.step({ type: 'wake', lost: [{ node: 'l/0/x', attempt: 1, worker: 'wrk_test' }], jitter: 0 }).complete('l/0/y');
  expect(run.statuses()).toMatchObject({ l: 'completed', 'l/0/x': 'unknown' });
  run.settle('l/0/x', { happened: true, output: 1 });
  expect(run.entries.findLast(({ type }) => type === 'node.completed')).toMatchObject({ node: 'l/0/x' });
  expect(run.entries.some(({ type }) => type === 'items.added')).toBe(false);
  expect(run.complete('other').status).toBe('completed');
});

it('[RUN-586] a cancel that asks not to compensate leaves the finally of a failed run alone', () => {
  const run = drive({
    nodes: { a: undo, b: { needs: ['a'] }, c: {}, d: { needs: ['c'] } },
    edges: [always('b', 'c')],
  });
  run.complete('a').fail('b').step({ type: 'cancel', reason: 'enough', compensate: false });
  expect(run.entries.at(-1)).toMatchObject({ type: 'run.stopping', compensate: false, finally: true });
  run.complete('c').complete('d');
  expect(run.status).toBe('failed');
  expect(started(run)).toEqual(['a', 'b', 'c', 'd']);
});

it('[RUN-588] a cleanup that is settled as failed during the compensation does not fail the run again', () => {
  const nodes = { a: undo, b: { needs: ['a'] }, c: { action: 'pay@1' } };
  const run = drive({ nodes, edges: [always('b', 'c')] });
  run.complete('a').fail('b').loseWorker().settle('c', { happened: false, then: 'fail' });
  expect(run.entries.at(-1)).toMatchObject({ type: 'node.failed', node: 'c', handling: 'deferred' });
  run.complete('~undo/a');
  expect(run.error).toMatchObject({ code: 'BROKEN', node: 'b' });
});

it('[RUN-597] the finally of a deferred failure begins after a snapshot of a divided turn', () => {
  // A turn looks at 1,000 ends. Those of the iterations and of their loop leave that of the run to the next turn.
  const items = Array.from({ length: 999 }, (_, index) => index);
  const nodes = {
    a: {},
    tidy: {},
    go: {},
    loop: { needs: ['go'], forEach: { in: items }, do: { nodes: { x: { set: { n: 1 } } } } },
  };
  const config = { onFailure: 'finish-running' } as const;
  const run = drive({ config, variables: { n: 0 }, nodes, edges: [always('a', 'tidy')] })
    .fail('a')
    .complete('go');
  expect(run.statusOf('loop')).toBe('completed');
  expect([run.running(), hasEndChecks(run.state)]).toEqual([[], true]);
  expect(run.reload().advance(0).running()).toEqual(['tidy']);
});

it('[RUN-599] a node that the finally runs later releases the permit that it holds or waits for', () => {
  const tidy = { needs: ['b'], join: 'any', concurrency: { key: 'k', limit: 1 } };
  const run = drive({ nodes: { a: {}, b: {}, tidy }, edges: [always('a', 'tidy')] }).complete('b');
  expect(run.gateRequests).toMatchObject([{ node: 'tidy', gate: { kind: 'concurrency', key: 'k' } }]);
  run.fail('a');
  expect(run.freed).toEqual([{ key: 'key:k', node: 'tidy' }]);
  expect(run.gateRequests).toHaveLength(2);
});
