import { describe, expect, it } from 'vitest';
import type { Json, RunError } from '../../../src/index.ts';
import {
  encodeSnapshot,
  explainNode,
  foldFrames,
  hasEndChecks,
  newRunState,
  refuseCancel,
  refuseReplay,
} from '../../../src/run.ts';
import { drive } from '../drive.ts';

const undo = (input: unknown = '{{ $self.output }}', more = {}) => ({
  compensate: { action: 'look@1', with: { of: input }, ...more },
});

describe('a node that ran twice', () => {
  it('[RUN-545] is not compensated if it failed the second time, alone or in a group', () => {
    const alone = drive({ nodes: { hotel: undo() } }).complete('hotel', 'h1');
    expect(alone.step({ type: 'replay', node: 'hotel' }).fail('hotel').status).toBe('failed');
    const trip = drive({ nodes: { ask: {}, trip: { needs: ['ask'], group: { nodes: { hotel: undo() } } } } });
    trip.complete('ask').complete('trip/hotel').step({ type: 'replay', node: 'ask' });
    expect(trip.complete('ask').fail('trip/hotel').status).toBe('failed');
  });

  it('[RUN-545] is compensated once, for its last result', () => {
    const run = drive({ nodes: { hotel: undo(), flight: { needs: ['hotel'] } } });
    run.complete('hotel', 'h1').complete('flight').step({ type: 'replay', node: 'hotel' });
    run.complete('hotel', 'h2').fail('flight');
    expect(run.running()).toEqual(['~undo/hotel']);
    expect(run.attempts.get('~undo/hotel')?.input).toEqual({ of: 'h2' });
    expect(run.complete('~undo/hotel').status).toBe('failed');
    const started = run.entries.filter((entry) => entry.type === 'node.started' && entry.node === '~undo/hotel');
    expect(started).toHaveLength(1);
  });
});

describe('compensation', () => {
  const trip = {
    nodes: {
      hotel: undo(),
      car: { needs: ['hotel'], ...undo() },
      other: { needs: ['hotel'] },
      flight: { needs: ['car'] },
    },
  };

  it('[RUN-140] after a failure completed nodes are undone, last first, one after the other; then the run fails', () => {
    const run = drive(trip);
    run.complete('hotel', 'h1').complete('car', 'c1').complete('other').fail('flight', { code: 'FULL' });
    expect(run.status).toBe('compensating');
    expect(run.running()).toEqual(['~undo/car']);
    expect(run.attempts.get('~undo/car')?.input).toEqual({ of: 'c1' });
    run.complete('~undo/car');
    expect(run.attempts.get('~undo/hotel')?.input).toEqual({ of: 'h1' });
    run.complete('~undo/hotel');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'FULL', node: 'flight' });
  });

  it('[PLN-62] an attempt has the names of its credentials, and so has its compensation', () => {
    const run = drive({ nodes: { a: { credentials: { account: 'bank' }, ...undo() }, b: { needs: ['a'] } } });
    expect(run.attempts.get('a')?.credentials).toEqual({ account: 'bank' });
    run.complete('a', 'done');
    expect(run.attempts.get('b')?.credentials).toEqual({});
    run.fail('b', { code: 'FULL' });
    expect(run.attempts.get('~undo/a')?.credentials).toEqual({ account: 'bank' });
  });

  it('[RUN-141] a compensation that fails does not stop the others, and never masks the original error', () => {
    const run = drive(trip);
    run.complete('hotel', 'h1').complete('car', 'c1').complete('other').fail('flight', { code: 'FULL' });
    run.fail('~undo/car', { code: 'CANNOT' }).complete('~undo/hotel');
    expect(run.error).toMatchObject({ code: 'FULL' });
    expect(run.statuses()).toMatchObject({ '~undo/car': 'failed', '~undo/hotel': 'completed' });
  });

  it('[RUN-142] a compensation has retries of its own', () => {
    const run = drive({ nodes: { a: undo(1, { retry: { attempts: 2, delay: '1s' } }), b: { needs: ['a'] } } });
    run.complete('a').fail('b').fail('~undo/a').advance(1_000).complete('~undo/a');
    expect(run.status).toBe('failed');
  });

  it('[RUN-383] it is retried by its own retry, else by that of the workflow, never by that of its node', () => {
    const attempts = (own: object, config: object, node: object) => {
      const nodes = { a: { ...undo(1, own), ...node }, b: { needs: ['a'], retry: { attempts: 1 } } };
      const run = drive({ config, nodes }).complete('a').fail('b').fail('~undo/a');
      return run.advance(60_000).running();
    };
    const twice = { retry: { attempts: 2, delay: '1s' } };
    expect(attempts(twice, {}, {})).toEqual(['~undo/a']);
    expect(attempts({}, twice, {})).toEqual(['~undo/a']);
    expect(attempts({}, {}, twice)).toEqual([]);
  });

  it('[RUN-383] compensations are retried even if the run has used up its retries', () => {
    const retry = { attempts: 3, delay: '1s' };
    const run = drive({ config: { maxTotalRetries: 1, retry }, nodes: { a: undo(), b: { needs: ['a'] } } });
    run.complete('a').fail('b').advance(1_000).fail('b');
    expect(run.statusOf('b')).toBe('failed');
    run.fail('~undo/a').advance(1_000).fail('~undo/a').advance(1_000).complete('~undo/a');
    expect(run.status).toBe('failed');
  });

  it('[RUN-384] it has the effect of its own action, or the one that compensate says', () => {
    const lost = (more: object, node: object = {}) => {
      const compensate = { action: 'pay@1', with: {}, ...more };
      const run = drive({ nodes: { a: { compensate, ...node }, b: { needs: ['a'] } } });
      return run.complete('a').fail('b').loseWorker().statusOf('~undo/a');
    };
    expect(lost({})).toBe('unknown');
    expect(lost({}, { effect: 'pure' })).toBe('unknown');
    expect(lost({ effect: 'idempotent' })).not.toBe('unknown');
  });

  it('[RUN-143] a timed-out run and a cancelled one are undone, the latter unless its canceller refuses', () => {
    const flow = { config: { timeout: '1m' }, nodes: { a: undo(), b: { needs: ['a'] } } };
    const late = drive(flow).complete('a', 1).advance(60_000).breakOff('b');
    expect(late.running()).toEqual(['~undo/a']);
    expect(late.complete('~undo/a').status).toBe('timed-out');
    const cancelled = drive(flow).complete('a', 1).cancel().breakOff('b');
    expect(cancelled.complete('~undo/a').status).toBe('cancelled');
    const kept = drive(flow).complete('a', 1).step({ type: 'cancel', reason: 'x', compensate: false }).breakOff('b');
    expect(kept.status).toBe('cancelled');
    expect(kept.attempts.has('~undo/a')).toBe(false);
  });

  it('[RUN-144] nodes of finished iterations are undone as well', () => {
    const run = drive({
      nodes: {
        items: {
          forEach: { in: ['x', 'y'] },
          do: { nodes: { pay: undo({ it: '{{ $item }}', out: '{{ $self.output }}' }) } },
        },
        end: { needs: ['items'] },
      },
    });
    run.complete('items/0/pay', 1).complete('items/1/pay', 2).fail('end');
    expect(run.attempts.get('~undo/items:1:pay')?.input).toEqual({ of: { it: 'y', out: 2 } });
    run.complete('~undo/items:1:pay');
    expect(run.attempts.get('~undo/items:0:pay')?.input).toEqual({ of: { it: 'x', out: 1 } });
    run.complete('~undo/items:0:pay');
    expect(run.status).toBe('failed');
  });

  it('[RUN-145] a retry runs undone nodes anew with another idempotency key, and so their dependents', () => {
    const run = drive(trip);
    run.complete('hotel', 'h1').complete('car', 'c1').complete('other').fail('flight');
    const key = run.attempts.get('hotel')?.idempotencyKey;
    run.complete('~undo/car').complete('~undo/hotel').retry();
    expect(run.running()).toEqual(['hotel']);
    expect(run.attempts.get('hotel')?.idempotencyKey).not.toBe(key);
    run.complete('hotel', 'h2').complete('car', 'c2').complete('other').complete('flight');
    expect(run.status).toBe('completed');
  });

  it('[RUN-146] parameters of a compensation that cannot be resolved fail that compensation only', () => {
    const run = drive({ nodes: { a: undo('{{ $self.output.no.thing }}'), b: { needs: ['a'] } } });
    run.complete('a', {}).fail('b', { code: 'B' });
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'B' });
    expect(run.statusOf('~undo/a')).toBe('failed');
  });

  it('[RUN-147] a run that completes undoes nothing', () => {
    const run = drive({ nodes: { a: undo() } }).complete('a');
    expect(run.status).toBe('completed');
    expect(run.attempts.size).toBe(1);
  });

  it('[RUN-141] a compensation that is cancelled does not stop the others', () => {
    const undo = { compensate: { action: 'look@1', with: {} } };
    const run = drive({ nodes: { a: undo, b: { needs: ['a'], ...undo }, c: { needs: ['b'] } } });
    run.complete('a').complete('b').fail('c');
    run.step({ type: 'cancel', reason: 'hangs', node: '~undo/b' });
    expect(run.running()).toEqual(['~undo/a']);
    run.complete('~undo/a');
    expect(run.status).toBe('failed');
  });
});

describe('nodes that turn out to have completed', () => {
  const pay = { action: 'pay@1', ...undo() };
  const flow = {
    config: { failureNode: 'tell' },
    nodes: { a: undo(), b: { needs: ['a'], ...undo() }, p: pay, q: pay, end: { needs: ['b'] }, tell: {} },
  };
  const failed = () => drive(flow).complete('a').complete('b').breakOff('p').breakOff('q').fail('end', { code: 'E' });

  it('[RUN-221] while the run is undone is undone next', () => {
    const run = failed();
    expect(run.running()).toEqual(['~undo/b']);
    run.settle('p', { happened: true, output: 'p1' }).settle('q', { happened: true, output: 'q1' });
    expect(run.running()).toEqual(['~undo/b']);
    run.complete('~undo/b');
    expect(run.attempts.get('~undo/q')?.input).toEqual({ of: 'q1' });
    run.fail('~undo/q').complete('~undo/p');
    expect(run.running()).toEqual(['~undo/a']);
    run.complete('~undo/a').complete('tell');
    expect(run.status).toBe('failed');
    expect(run.state.undone).toEqual(['b', 'p', 'a']);
    expect(run.retry().running().sort()).toEqual(['a', 'p']);
  });

  it('[RUN-221] after the others have been undone as well, but not of a run that undoes nothing', () => {
    const run = failed().complete('~undo/b').complete('~undo/a');
    expect(run.running()).toEqual(['tell']);
    run.settle('p', { happened: true, output: 1 });
    expect(run.running()).toEqual(['tell', '~undo/p']);
    expect(run.complete('tell').complete('~undo/p').status).toBe('compensating');
    expect(run.settle('q', { happened: false, then: 'fail' }).status).toBe('failed');
    const kept = failed().step({ type: 'cancel', reason: 'no', compensate: false }).breakOff('~undo/b');
    kept.settle('p', { happened: true, output: 1 });
    expect(kept.running()).toEqual(['tell']);
    expect(kept.complete('tell').status).toBe('failed');
  });

  it('[RUN-221] in mode levels and in a transaction, too', () => {
    const levels = drive({ ...flow, config: { ...flow.config, mode: 'levels' } });
    levels.complete('a').breakOff('p').breakOff('q');
    levels.cancel().settle('p', { happened: true, output: 1 }).complete('~undo/a');
    expect(levels.running()).toEqual(['~undo/p']);
    levels.complete('~undo/p').settle('q', { happened: false, then: 'retry' });
    expect(levels.status).toBe('cancelled');
    const run = drive(
      { nodes: { sub: { workflow: { id: 'other', isolation: 'transactional' } }, other: {} } },
      { workflows: { other: { nodes: { a: undo(), b: {}, p: pay } } } },
    );
    run.complete('sub/a').breakOff('sub/p').fail('sub/b').settle('sub/p', { happened: true, output: 1 });
    run.complete('sub/~undo/sub:a');
    expect(run.running()).toEqual(['other', 'sub/~undo/sub:p']);
    run.complete('sub/~undo/sub:p').breakOff('other');
    expect(run.status).toBe('failed');
  });
});

describe('cancelling a run that is ending', () => {
  const flow = {
    config: { failureNode: 'tell' },
    nodes: { a: undo(), b: { needs: ['a'], ...undo() }, end: { needs: ['b'] }, slow: { needs: ['b'] }, tell: {} },
  };
  const failing = () => drive(flow).complete('a').complete('b').fail('end', { code: 'E' });
  const leave = { type: 'cancel', reason: 'leave it', compensate: false } as const;

  it('[RUN-222] changes nothing of how it ends', () => {
    const run = failing().cancel().breakOff('slow').cancel();
    expect(run.running()).toEqual(['~undo/b']);
    run.complete('~undo/b').complete('~undo/a').complete('tell');
    expect(run.error).toMatchObject({ code: 'E' });
    expect(run.status).toBe('failed');
  });

  it('[RUN-222] with compensate: false it stops the undoing, and the failure node has its turn', () => {
    const run = failing().breakOff('slow').complete('~undo/b').step(leave).step(leave);
    expect(run.aborted.at(-1)).toBe('~undo/a');
    run.breakOff('~undo/a');
    expect(run.attempts.get('tell')?.attempt).toBe(1);
    // Nothing is left to read: otherwise the run would be read again and again.
    expect(hasEndChecks(foldFrames(newRunState(run.plan, 'exe_test'), run.frames))).toBe(false);
    run.complete('tell');
    expect(run.status).toBe('failed');
    expect(run.statuses()).toMatchObject({ '~undo/b': 'completed', '~undo/a': 'cancelled' });
    expect(run.retry().running()).toEqual(['b']);
  });

  it('[RUN-222] a compensation that does not stop is given up after the grace time; none that has not begun begins', () => {
    const run = failing().breakOff('slow').step(leave).advance(60_000);
    expect(run.running()).toEqual(['tell']);
    expect(run.complete('tell').statuses()).toMatchObject({ '~undo/b': 'cancelled', '~undo/a': 'cancelled' });
    expect(run.status).toBe('failed');
  });

  it('[RUN-222] before the undoing has begun it does not begin', () => {
    const run = failing().step(leave).step(leave).breakOff('slow');
    expect(run.running()).toEqual(['tell']);
    expect(run.complete('tell').status).toBe('failed');
    expect(run.attempts.has('~undo/b')).toBe(false);
    expect(run.entries.filter(({ type }) => type === 'run.stopping')).toHaveLength(2);
  });
});

describe('graphs that were returned', () => {
  it('[RUN-223] are kept once for everything in them that may have to be undone', () => {
    const long = 'x'.repeat(1_000);
    const inner: Json = { action: 'do@1', notes: long, compensate: { action: 'look@1' } };
    const run = drive({ nodes: { made: { dynamic: { action: 'do@1' } }, end: { needs: ['made'] } } });
    const ids = Array.from({ length: 20 }, (_, at) => `n${at}`);
    run.complete('made', { nodes: Object.fromEntries(ids.map((id) => [id, inner])) });
    for (const id of ids) run.complete(`made/${id}`);
    expect(encodeSnapshot(run.state).length).toBeLessThan(21 * long.length + 20 * 500);
    run.fail('end');
    expect(run.running()).toEqual(['~undo/made:n19']);
    for (const id of ids.toReversed()) run.complete(`~undo/made:${id}`);
    expect(run.status).toBe('failed');
    expect(Object.keys(run.state.undoGraphs)).toEqual(['made#1']);
    run
      .retry()
      .complete('made', { nodes: { other: inner } })
      .complete('made/other')
      .fail('end');
    expect(Object.keys(run.state.undoGraphs)).toEqual(['made#2']);
    expect(run.running()).toEqual(['~undo/made:other']);
  });
});

describe('failure node', () => {
  const flow = {
    config: { failureNode: 'tell' },
    nodes: { a: undo(), b: { needs: ['a'] }, tell: { with: { why: '{{ $execution.error.code }}' } } },
  };

  it('[RUN-148] runs after the compensation, sees the error, and changes nothing of the outcome', () => {
    const run = drive(flow);
    expect(run.running()).toEqual(['a']);
    run.complete('a').fail('b', { code: 'B' }).complete('~undo/a');
    expect(run.attempts.get('tell')?.input).toEqual({ why: 'B' });
    run.fail('tell', { code: 'T' });
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'B' });
  });

  it('[RUN-148] is skipped when all goes well', () => {
    const run = drive(flow).complete('a').complete('b');
    expect(run.status).toBe('completed');
    expect(run.statusOf('tell')).toBe('skipped');
  });
});

describe('replay', () => {
  it('[RUN-149] a node and its dependents run again as something new; the rest stands', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] }, c: { needs: ['b'] }, x: {} } });
    run.complete('a', 1).complete('b', 2).complete('c', 3).complete('x');
    const key = run.attempts.get('b')?.idempotencyKey;
    run.step({ type: 'replay', node: 'b', input: { edited: true } });
    expect(run.running()).toEqual(['b']);
    expect(run.attempts.get('b')).toMatchObject({ input: { edited: true } });
    expect(run.attempts.get('b')?.idempotencyKey).not.toBe(key);
    run.complete('b', 20);
    expect(run.running()).toEqual(['c']);
    expect(run.complete('c').status).toBe('completed');
  });
});

describe('requests that would change nothing', () => {
  const body = { nodes: { x: {}, p: { action: 'pay@1', needs: ['x'] } } };
  const errorText = (error: { message: string; hint?: string | undefined } | undefined) =>
    error && `${error.message} ${error.hint}`;

  it('[RUN-246] an edited input is that of a workflow inside, or the list of a loop', () => {
    const run = drive(
      {
        nodes: {
          sub: { workflow: { id: 'inner', input: { n: 4 } } },
          each: { forEach: { in: [1, 2] }, do: { nodes: { x: { with: { it: '{{ $item }}' } } } } },
          last: { needs: ['sub', 'each'], set: { v: 1 } },
        },
      },
      { workflows: { inner: { nodes: { a: { with: { n: '{{ $input.n }}' } } } } } },
    );
    run.complete('sub/a').complete('each/0/x').complete('each/1/x');
    expect(run.status).toBe('completed');
    run.step({ type: 'replay', node: 'sub', input: { n: 10 } });
    expect(run.attempts.get('sub/a')?.input).toEqual({ n: 10 });
    run.complete('sub/a').step({ type: 'replay', node: 'each', input: [7] });
    expect(run.attempts.get('each/0/x')?.input).toEqual({ it: 7 });
    expect(run.complete('each/0/x').status).toBe('completed');
    expect(refuseReplay(run.state, 'each', { n: 1 })?.code).toBe('INPUT_INVALID');
    expect(refuseReplay(run.state, 'last', { v: 2 })?.code).toBe('NO_INPUT');
    expect(refuseReplay(run.state, 'last')).toBeUndefined();
    run.step({ type: 'replay', node: 'last', input: { v: 2 } });
    expect(run.status).toBe('completed');
  });

  it('[RUN-247] explain says that an iteration is collapsed', () => {
    const run = drive(
      { nodes: { each: { forEach: { in: [1] }, do: { nodes: { x: {} } } }, sub: { workflow: { id: 'inner' } } } },
      { workflows: { inner: { nodes: { a: {} } } } },
    );
    run.complete('each/0/x').complete('sub/a');
    expect(explainNode(run.state, 'each/0/x', run.now)).toMatchObject({
      status: 'collapsed',
      reasons: ["It was in iteration 0 of 'each', which has ended and is collapsed: only its result is kept."],
    });
    expect(explainNode(run.state, 'sub/a', run.now)?.reasons[0]).toContain("It was in 'sub', which");
    expect(explainNode(run.state, 'each/0/nobody', run.now)).toBeUndefined();
  });

  it('[RUN-224] a replay inside an iteration that succeeded names the node to replay instead', () => {
    const inside = { in: { workflow: { id: 'other' } }, each: { needs: ['in'], forEach: { in: [1] }, do: body } };
    const run = drive(
      {
        nodes: {
          outer: { while: { condition: '$index < 1' }, do: { nodes: inside } },
          made: { dynamic: { action: 'do@1' } },
        },
      },
      { workflows: { other: { nodes: { y: {} } } } },
    );
    run.complete('made', { nodes: { z: { action: 'do@1' } } }).complete('made/z');
    run.complete('outer/0/in/y').complete('outer/0/each/0/x').complete('outer/0/each/0/p');
    expect(run.status).toBe('completed');
    const whole = (path: string) =>
      `'${path}' is in what went well, of which only the result is kept. ` +
      "Replay the whole of 'outer': `nebula executions replay exe_test outer`.";
    for (const path of ['outer/0/in', 'outer/0/in/y', 'outer/0/each/0/x']) {
      expect(errorText(refuseReplay(run.state, path))).toBe(whole(path));
      const before = run.frames.length;
      run.step({ type: 'replay', node: path });
      expect(run.frames.length).toBe(before);
    }
    expect(refuseReplay(run.state, 'made/z')?.hint).toContain("the whole of 'made'");
    for (const path of ['outer', 'made', 'none', 'outer/0/none', 'outer/x/each', 'made2/z', 'outer/0']) {
      expect(refuseReplay(run.state, path), path).toBeUndefined();
    }
  });

  it('[RUN-224] so does a replay inside an iteration kept for an unknown outcome', () => {
    const loop = { forEach: { in: [1] }, timeout: '5s', onError: 'ignore', do: { nodes: { p: { action: 'pay@1' } } } };
    const run = drive({ nodes: { w: { while: { condition: '$index < 1' }, do: { nodes: { loop } } } } });
    run.breakOff('w/0/loop/0/p').advance(6_000);
    expect(run.statusOf('w/0/loop/0/p')).toBe('unknown');
    expect(refuseReplay(run.state, 'w/0/loop/0/p')?.hint).toContain("the whole of 'w'");
    const open = drive({ nodes: { each: { forEach: { in: [1, 2] }, do: { nodes: { x: {} } } } } });
    open.complete('each/0/x').fail('each/1/x');
    expect(refuseReplay(open.state, 'each/0/x')?.code).toBe('NOT_REPLAYABLE');
    expect(refuseReplay(open.state, 'each/1/x')).toBeUndefined();
    expect(refuseReplay(open.state, 'each/2/x')).toBeUndefined();
  });

  it('[RUN-224] a compensation is not replayed, and a run that is being undone is not cancelled', () => {
    const run = drive({ nodes: { a: undo(), b: { needs: ['a'] } } });
    expect(refuseCancel(run.state, true)).toBeUndefined();
    run.complete('a').fail('b');
    expect(refuseCancel(run.state, false)).toBeUndefined();
    expect(errorText(refuseCancel(run.state, true))).toBe(
      'Execution exe_test is ending as failed already: its completed nodes are being undone. ' +
        'To stop the undoing: `nebula executions cancel exe_test --no-compensate`.',
    );
    run.step({ type: 'cancel', reason: 'leave it', compensate: false });
    expect(refuseCancel(run.state, false)?.hint).toContain('nebula executions explain exe_test');
    run.breakOff('~undo/a');
    expect(errorText(refuseReplay(run.state, '~undo/a'))).toBe(
      "'~undo/a' undoes 'a', and is not replayed by itself. To do 'a' anew: `nebula executions replay exe_test a`.",
    );
  });
});

describe('child executions', () => {
  const flow = { nodes: { sub: { workflow: { id: 'other', mode: 'child', input: { n: '{{ $input.n }}' } } } } };
  const result = (more: object) => ({ status: 'completed', output: null, error: null, ...more }) as never;

  it('[RUN-150] asks for an execution, and takes its output', () => {
    const run = drive(flow, { input: { n: 5 } });
    expect(run.children).toMatchObject([{ node: 'sub', workflowId: 'other', input: { n: 5 }, depth: 1 }]);
    const executionId = run.children[0]?.executionId ?? '';
    run.step({ type: 'child', node: 'sub', executionId, result: result({ output: 'out' }), jitter: 0 });
    expect(run.output).toEqual({ sub: 'out' });
  });

  it('[RUN-245] a failure several executions below reports its cause once', () => {
    const deep = (below: RunError): RunError => {
      const run = drive(flow, { input: { n: 1 } });
      const executionId = run.children[0]?.executionId ?? '';
      const failed = result({ status: 'failed', error: below });
      run.step({ type: 'child', node: 'sub', executionId, result: failed, jitter: 0 });
      return run.error as RunError;
    };
    const error = deep(deep(deep({ code: 'X', kind: 'USER', message: 'no more paper', node: 'inner' })));
    expect(error).toMatchObject({
      code: 'X',
      message: "Execution exe_child0 ended as failed in 'sub', 3 executions below this one: no more paper",
      details: { depth: 3, childNode: 'sub', cause: { executionId: 'exe_child0', message: 'no more paper' } },
    });
  });

  it('[RUN-151] a failed child fails its node with its error, and may be retried as another execution', () => {
    const run = drive(
      { nodes: { sub: { ...flow.nodes.sub, retry: { attempts: 2, delay: '1s' } } } },
      { input: { n: 1 } },
    );
    const failed = result({ status: 'failed', error: { code: 'X', kind: 'USER', message: 'x', node: 'inner' } });
    run.step({
      type: 'child',
      node: 'sub',
      executionId: run.children[0]?.executionId ?? '',
      result: failed,
      jitter: 0,
    });
    run.advance(1_000);
    expect(run.children).toHaveLength(2);
    run.step({
      type: 'child',
      node: 'sub',
      executionId: run.children[1]?.executionId ?? '',
      result: failed,
      jitter: 0,
    });
    expect(run.error).toMatchObject({ code: 'X', node: 'sub', details: { childNode: 'inner' } });
  });

  it('[RUN-152] a cancelled run cancels its child and waits for it', () => {
    const run = drive(flow, { input: { n: 1 } }).cancel();
    expect(run.cancelled).toEqual([run.children[0]?.executionId]);
    expect(run.status).toBe('running');
    const executionId = run.children[0]?.executionId ?? '';
    run.step({ type: 'child', node: 'sub', executionId, result: result({ status: 'cancelled' }), jitter: 0 });
    expect(run.status).toBe('cancelled');
  });
});

it('[RUN-584] the end of a compensation is journalled once', () => {
  const run = drive({ config: { failureNode: 'tell' }, nodes: { a: undo(), b: { needs: ['a'] }, tell: {} } });
  run.complete('a').fail('b').complete('~undo/a').advance(1).advance(1);
  expect(run.running()).toEqual(['tell']);
  expect(run.entries.filter(({ type }) => type === 'scope.compensated')).toHaveLength(1);
});
