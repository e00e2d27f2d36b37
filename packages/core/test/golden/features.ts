/**
 * One small run per feature. `golden.test.ts` keeps what each of them writes as `features/<name>.golden.json`. When a
 * feature has to write another journal, its old file stays and the feature gets the next number here.
 *
 * Long because it is a list: a run for each feature.
 */
import type { Entry } from '../../src/index.ts';
import type { Stimulus } from '../../src/run.ts';
import { type Drive, type DriveOptions, drive, type Short } from '../run/drive.ts';

export interface Feature {
  readonly definition: Short;
  readonly options?: DriveOptions;
  /** Instead of a start. */
  readonly begin?: () => Drive;
  /** Drives the run after its start. */
  readonly play: (run: Drive) => unknown;
}

const undo = { compensate: { action: 'look@1', with: { of: '{{ $self.output }}' } } };
const pay = { action: 'pay@1' };
const other = { id: 'other', mode: 'child' };
const inner: Short = {
  variables: { n: 1 },
  nodes: { a: undo, s: { needs: ['a'], set: { n: '{{ $vars.n + 1 }}' } }, b: { needs: ['s'] } },
  output: '{{ $vars.n }}',
};
const always = (from: string, to: string) => ({ from, to, on: 'always' }) as const;
const onError = (from: string, to: string) => ({ from, to, on: 'error' }) as const;
const signal = (payload: number | string, key = ''): Stimulus => ({ type: 'signal', signal: 'go', key, payload });
const granted = (node: string, gate: 'concurrency' | 'rate' | 'cache' | 'reserve', more = {}): Stimulus => ({
  type: 'granted',
  node,
  gate,
  ...more,
});
const childEnds = (run: Drive, node: string, status: 'completed' | 'failed' | 'cancelled' = 'completed'): Stimulus => ({
  type: 'child',
  node,
  executionId: run.children.findLast((child) => child.node === node)?.executionId ?? '',
  result: {
    status,
    output: status === 'completed' ? 'of the child' : null,
    error: status === 'failed' ? { code: 'X', kind: 'USER', message: 'x' } : null,
  },
  jitter: 0.5,
});

const FORKED: Short = { nodes: { a: {}, sub: { needs: ['a'], workflow: other }, b: { needs: ['sub'] } } };

/** As the engine copies the journal of a run for its fork. */
function fork(): Drive {
  const of = drive(FORKED, { start: { key: 'k' } }).complete('a', 1);
  of.step(childEnds(of, 'sub')).complete('b', 2);
  const entries = of.entries.map((entry): Entry => {
    if (entry.type === 'child.requested') return { ...entry, copied: true };
    if (entry.type !== 'run.started') return entry;
    const { parent: _, key: __, traceparent: ___, place: ____, ...rest } = entry;
    return rest;
  });
  return drive(FORKED, { frames: [{ seq: 1, at: of.now, entries }] });
}

const NODE_FEATURES: Readonly<Record<string, Feature>> = {
  'action-1': {
    definition: {
      nodes: {
        first: { with: { hello: '{{ $input.name }}' } },
        any: { needs: ['first', 'off'], join: 'any' },
        off: { enabled: false },
        never: { needs: ['first'], when: '$first.ok == false' },
      },
      edges: [{ from: 'first', to: 'never', on: 'result', match: { ok: true } }],
      output: '{{ $first }}',
    },
    options: { input: { name: 'Ada' } },
    play: (run) => run.complete('any').complete('first', { ok: true }),
  },
  'branch-1': {
    definition: {
      nodes: {
        a: {},
        way: { needs: ['a'], branch: { on: '$a.status', cases: { paid: 'ship', open: ['remind', 'wait'] } } },
        ship: {},
        remind: {},
        wait: {},
        many: {
          needs: ['ship'],
          branch: {
            cases: [
              { when: true, to: 'x' },
              { match: 1, to: 'y' },
            ],
            many: true,
          },
        },
        x: {},
        y: {},
      },
    } as never,
    play: (run) => run.complete('a', { status: 'paid' }).complete('ship', 1).complete('x').complete('y'),
  },
  'set-1': {
    definition: {
      variables: { n: 1 },
      nodes: { a: { set: { n: '{{ $vars.n + 1 }}', list: [1, '{{ $vars.n }}'] } }, b: { needs: ['a'] } },
      output: '{{ $vars }}',
    },
    play: (run) => run.complete('b'),
  },
  'terminate-completed-1': {
    definition: { nodes: { a: {}, slow: {}, end: { needs: ['a'], terminate: 'completed', with: { output: 7 } } } },
    play: (run) => run.complete('a').breakOff('slow'),
  },
  'terminate-failed-1': {
    definition: {
      nodes: { a: {}, end: { needs: ['a'], terminate: 'failed', with: { error: { code: 'NO', message: 'no' } } } },
    },
    play: (run) => run.complete('a'),
  },
  'for-each-1': {
    definition: {
      nodes: {
        each: {
          forEach: { in: '$input.list' },
          do: { nodes: { x: { with: { it: '{{ $item }}' }, emit: "{{ $index == 0 ? ['c'] : [] }}" } } },
        },
      },
    },
    options: { input: { list: ['a', 'b'] } },
    play: (run) => run.complete('each/0/x', 'A').complete('each/1/x', 'B').complete('each/2/x', 'C'),
  },
  'for-each-parallel-1': {
    definition: {
      nodes: {
        each: {
          forEach: { in: [1, 2, 3], parallel: true, maxConcurrency: 2, minSuccess: 2 },
          do: { nodes: { x: {}, y: { needs: ['x'] } }, output: '{{ $y }}' },
        },
      },
    },
    play: (run) => {
      run.fail('each/1/x').complete('each/0/x').complete('each/2/x').complete('each/2/y', 'c');
      run.complete('each/0/y', 'a');
    },
  },
  'for-each-break-1': {
    definition: {
      nodes: { each: { forEach: { in: [1, 2] }, do: { nodes: { x: { break: true }, y: {}, z: {} } } } },
    },
    play: (run) => run.complete('each/0/y').complete('each/0/x').breakOff('each/0/z'),
  },
  'for-each-nested-1': {
    definition: {
      nodes: {
        outer: {
          forEach: { in: [[1], [2, 3]] },
          do: {
            nodes: {
              within: {
                forEach: { in: '$item' },
                do: { nodes: { x: { with: { n: '{{ [$item, $parent.index] }}' } } } },
              },
            },
          },
        },
      },
    },
    play: (run) => run.complete('outer/0/within/0/x', 1).complete('outer/1/within/0/x', 2).fail('outer/1/within/1/x'),
  },
  'while-1': {
    definition: {
      variables: { n: 0 },
      nodes: {
        loop: {
          while: { condition: '$vars.n < 2' },
          do: { nodes: { x: {}, s: { needs: ['x'], set: { n: '{{ $vars.n + 1 }}' } } } },
        },
      },
    },
    play: (run) => run.complete('loop/0/x').complete('loop/1/x'),
  },
  'while-too-long-1': {
    definition: {
      nodes: { loop: { while: { condition: true, maxIterations: 1 }, do: { nodes: { x: {} } } } },
    } as never,
    play: (run) => run.complete('loop/0/x'),
  },
  'retry-until-1': {
    definition: {
      nodes: {
        poll: {
          retryUntil: { until: '$self.output == 3', attempts: 3, backoff: { delay: '1s' } },
          do: { nodes: { x: {} } },
        },
      },
    },
    play: (run) => run.complete('poll/0/x', 1).advance(1_000).fail('poll/1/x').advance(60_000).complete('poll/2/x', 3),
  },
  'group-1': {
    definition: { nodes: { g: { group: { nodes: { a: {}, b: { needs: ['a'] } } } }, c: { needs: ['g'] } } },
    play: (run) => run.complete('g/a').complete('g/b', 2).complete('c'),
  },
  'group-retry-1': {
    definition: {
      nodes: {
        g: { group: { nodes: { a: undo, b: { needs: ['a'] } } }, retry: { attempts: 2, delay: '1s' }, timeout: '1h' },
      },
    },
    play: (run) => {
      run.complete('g/a', 7).fail('g/b').complete('g/~undo/g:a').advance(1_000);
      run.complete('g/a', 8).complete('g/b', 'done');
    },
  },
  'workflow-shared-1': {
    definition: { variables: { n: 5 }, nodes: { sub: { workflow: { id: 'inner', isolation: 'shared' } } } },
    options: { workflows: { inner } },
    play: (run) => run.complete('sub/a').complete('sub/b'),
  },
  'workflow-isolated-1': {
    definition: { nodes: { sub: { workflow: { id: 'inner', isolation: 'isolated', input: { n: 1 } } } } },
    options: { workflows: { inner } },
    play: (run) => run.complete('sub/a').complete('sub/b'),
  },
  'workflow-transactional-1': {
    definition: { nodes: { sub: { workflow: { id: 'inner', isolation: 'transactional' } } } },
    options: { workflows: { inner } },
    play: (run) =>
      run
        .complete('sub/a', 3)
        .fail('sub/b')
        .complete(run.running()[0] ?? ''),
  },
  'workflow-child-1': {
    definition: { nodes: { sub: { workflow: { ...other, input: { n: '{{ $input.n }}' } } } }, output: '{{ $sub }}' },
    options: { input: { n: 1 } },
    play: (run) => run.step(childEnds(run, 'sub')),
  },
  'workflow-child-failed-1': {
    definition: { nodes: { sub: { workflow: other, retry: { attempts: 2, delay: '1s' } } } },
    play: (run) =>
      run
        .step(childEnds(run, 'sub', 'failed'))
        .advance(1_000)
        .step(childEnds(run, 'sub', 'failed'))
        .retry(),
  },
  'workflow-child-cancelled-1': {
    definition: { nodes: { sub: { workflow: other } } },
    play: (run) => run.cancel().step(childEnds(run, 'sub', 'cancelled')),
  },
  'dynamic-1': {
    definition: { nodes: { plan: { dynamic: { action: 'do@1' } }, after: { needs: ['plan'] } } },
    play: (run) => {
      run.complete('plan', { nodes: { x: { action: 'do@1' }, y: { action: 'do@1', needs: ['x'] } } });
      run.complete('plan/x', 1).complete('plan/y', 2).complete('after');
    },
  },
  'split-merge-1': {
    definition: {
      nodes: {
        each: { split: { in: '$input.list' } },
        work: { needs: ['each'], with: { it: '{{ $item }}' } },
        all: { needs: ['work'], merge: { wait: 'all', timeout: '1m' } },
        end: { needs: ['all'], with: { list: '{{ $all.aggregated }}' } },
      },
    },
    options: { input: { list: ['a', 'b'] } },
    play: (run) => run.complete('each/1/work', 'B').complete('each/0/work', 'A').complete('end'),
  },
  'merge-any-1': {
    definition: {
      nodes: {
        each: { split: { in: [1, 2] } },
        work: { needs: ['each'] },
        first: { needs: ['work'], merge: { wait: 'any' } },
      },
    },
    play: (run) => run.complete('each/1/work', 'B').breakOff('each/0/work'),
  },
};

const WAIT_FEATURES: Readonly<Record<string, Feature>> = {
  'wait-time-1': {
    definition: {
      nodes: { w: { wait: { for: '10s' } }, u: { needs: ['w'], wait: { until: '$input.at' } } },
    },
    options: { input: { at: 1_030_000 } },
    play: (run) => run.advance(10_000).advance(20_000),
  },
  'wait-signal-1': {
    definition: {
      nodes: {
        a: {},
        first: { needs: ['a'], wait: { signal: 'go', schema: { type: 'number' } } },
        second: { needs: ['first'], wait: { signal: 'go', key: 'k' } },
      },
      output: '{{ [$first.payload, $second.payload] }}',
    },
    play: (run) => run.step(signal('early', 'k')).complete('a').step(signal('no number')).step(signal(7)),
  },
  'wait-approval-1': {
    definition: {
      nodes: {
        ask: { wait: { approval: { title: 'Sure, {{ $input.name }}?', who: ['ann'] }, deadline: '1h' } },
        no: { needs: ['ask'], wait: { approval: { title: 'Again?' } } },
        after: {},
      },
      edges: [onError('no', 'after')],
    },
    options: { input: { name: 'Ada' } },
    play: (run) => {
      run.step({ type: 'answer', node: 'ask', approved: true, by: 'ann', comment: 'yes' });
      run.step({ type: 'answer', node: 'no', approved: false, by: 'bob' }).complete('after');
    },
  },
  'wait-callback-1': {
    definition: {
      nodes: {
        send: { with: { to: '{{ $nodes.reply.callbackUrl }}' } },
        reply: { needs: ['send'], wait: { callback: true } },
      },
    },
    options: { callbackUrl: (executionId, node, generation) => `${executionId}/${node}/${generation}` },
    play: (run) => run.complete('send').step({ type: 'callback', node: 'reply', payload: 'called', generation: 0 }),
  },
  'wait-any-1': {
    definition: {
      nodes: { w: { wait: { any: [{ for: '1h' }, { signal: 'go' }, { callback: true }], deadline: '2h' } } },
    },
    play: (run) => run.advance(1_000).step(signal(1)),
  },
  'wait-deadline-1': {
    definition: {
      nodes: { w: { wait: { signal: 'go', deadline: '10s' }, retry: { attempts: 2, delay: '1s' } }, late: {} },
      edges: [onError('w', 'late')],
    },
    play: (run) => run.advance(10_000).advance(1_000).advance(10_000).complete('late'),
  },
};

const FAILURE_FEATURES: Readonly<Record<string, Feature>> = {
  'retry-1': {
    definition: {
      nodes: {
        a: {
          retry: [
            { on: ['/^SLOW/'], attempts: 3, delay: '1s' },
            { on: ['USER'], attempts: 2, delay: '2s' },
          ],
        },
      },
    },
    play: (run) =>
      run.fail('a', { code: 'SLOW_DOWN' }).advance(1_000).fail('a').advance(2_000).loseWorker().complete('a'),
  },
  'settings-1': {
    definition: {
      nodes: {
        a: { priority: '{{ $input.p }}', timeout: '{{ $input.t }}', retry: { attempts: '{{ 1 + 1 }}', delay: '1s' } },
      },
    } as never,
    options: { input: { p: 3, t: '10s' } },
    play: (run) => run.advance(11_000).advance(1_000).complete('a'),
  },
  'timeouts-1': {
    definition: {
      nodes: { a: { timeout: { attempt: '1s', total: '10s' }, retry: { attempts: 2, delay: '1s' } }, b: {} },
      edges: [onError('a', 'b')],
    },
    play: (run) => run.advance(2_000).advance(1_000).advance(2_000).complete('b'),
  },
  'run-timeout-1': {
    definition: { config: { timeout: '1m' }, nodes: { a: {}, b: { needs: ['a'] } } },
    play: (run) => run.advance(60_000).breakOff('a'),
  },
  'error-edge-1': {
    definition: {
      nodes: { a: {}, mend: {}, then: { needs: ['mend'] }, skipped: { needs: ['a'] } },
      edges: [{ from: 'a', to: 'mend', on: 'error', match: { code: 'KNOWN' } }],
    },
    play: (run) => run.fail('a', { code: 'KNOWN' }).complete('mend').complete('then'),
  },
  'on-error-ignore-1': {
    definition: { nodes: { a: { onError: 'ignore' }, b: { needs: ['a'], with: { a: '{{ $a }}' } } } },
    play: (run) => run.fail('a').complete('b'),
  },
  'on-error-halt-1': {
    definition: {
      config: { onFailure: 'finish-running' },
      nodes: { each: { forEach: { in: [1] }, do: { nodes: { x: { onError: 'halt' }, y: {} } } }, b: {} },
    },
    play: (run) => run.fail('each/0/x').breakOff('each/0/y').breakOff('b'),
  },
  'fail-fast-1': {
    definition: { nodes: { a: {}, b: {}, c: { needs: ['b'] } } },
    play: (run) => run.fail('a').complete('b', 'late'),
  },
  'finish-running-1': {
    definition: {
      config: { onFailure: 'finish-running' },
      nodes: { a: {}, b: {}, c: { needs: ['b'] }, d: { needs: ['a'] } },
    },
    play: (run) => run.fail('a').complete('b').complete('c'),
  },
  'finish-running-finally-1': {
    definition: {
      config: { onFailure: 'finish-running' },
      nodes: { a: {}, b: undo, tidy: undo },
      edges: [always('a', 'tidy')],
    },
    play: (run) => run.fail('a').complete('b').complete('tidy').complete('~undo/b'),
  },
  'on-failure-ignore-1': {
    definition: { config: { onFailure: 'ignore' }, nodes: { a: {}, b: {}, c: { needs: ['a'] } } },
    play: (run) => run.fail('a').complete('b'),
  },
  'unhandled-1': {
    definition: {
      config: { onFailure: 'finish-running' },
      nodes: { a: {}, mend: { when: '$input.mends' }, b: {} },
      edges: [onError('a', 'mend')],
    },
    options: { input: { mends: false } },
    play: (run) => run.fail('a').complete('b'),
  },
  'failure-node-1': {
    definition: {
      config: { failureNode: 'tell' },
      nodes: { a: {}, tell: { with: { code: '{{ $nodes.a.error.code }}' } } },
    },
    play: (run) => run.fail('a').complete('tell'),
  },
  'lost-worker-1': {
    definition: { nodes: { a: { retry: { attempts: 2 } }, b: {} } },
    play: (run) => run.handBack('b').loseWorker().advance(60_000).complete('a').complete('b'),
  },
  'unknown-outcome-1': {
    definition: { nodes: { p: pay, q: pay, r: pay, b: { needs: ['p', 'q'] } } },
    play: (run) => {
      run.loseWorker().step({ type: 'settle', node: 'p', by: 'verify', settlement: { happened: 'unknown' } });
      run.settle('p', { happened: true, output: 'paid' }).settle('q', { happened: false, then: 'retry' });
      run.complete('q').complete('b').settle('r', { happened: false, then: 'fail' });
    },
  },
  'compensation-1': {
    definition: { nodes: { hotel: undo, car: { needs: ['hotel'], ...undo }, flight: { needs: ['car'] } } },
    play: (run) =>
      run.complete('hotel', 'h').complete('car', 'c').fail('flight').complete('~undo/car').complete('~undo/hotel'),
  },
  'compensation-failed-1': {
    definition: {
      nodes: { hotel: undo, car: { needs: ['hotel'], ...undo }, flight: { needs: ['car'] } },
    },
    play: (run) =>
      run.complete('hotel').complete('car').fail('flight').fail('~undo/car').complete('~undo/hotel').retry(),
  },
  'finally-1': {
    definition: {
      nodes: { a: {}, slow: {}, tidy: {}, then: { needs: ['tidy'] }, never: { needs: ['slow'] } },
      edges: [always('slow', 'tidy')],
    },
    play: (run) => run.fail('a').breakOff('slow').complete('tidy').complete('then'),
  },
  'finally-round-1': {
    definition: {
      nodes: {
        each: { forEach: { in: [1] }, do: { nodes: { x: {}, y: {}, tidy: {} }, edges: [always('y', 'tidy')] } },
      },
    },
    play: (run) => run.fail('each/0/x').breakOff('each/0/y').complete('each/0/tidy'),
  },
};

const REQUEST_FEATURES: Readonly<Record<string, Feature>> = {
  'cancel-1': {
    definition: { nodes: { a: undo, b: { needs: ['a'] }, c: {} } },
    play: (run) => run.complete('a').cancel('enough').breakOff('b').breakOff('c').complete('~undo/a'),
  },
  'cancel-without-undo-1': {
    definition: { nodes: { a: undo, b: { needs: ['a'] } } },
    play: (run) => run.complete('a').step({ type: 'cancel', reason: 'leave it', compensate: false }).breakOff('b'),
  },
  'cancel-twice-1': {
    definition: { nodes: { a: {}, slow: {}, tidy: {} }, edges: [always('slow', 'tidy')] },
    play: (run) => run.cancel().cancel('now').breakOff('a').breakOff('slow'),
  },
  'cancel-node-1': {
    definition: {
      nodes: { a: {}, b: { needs: ['a'] }, c: {}, each: { forEach: { in: [1] }, do: { nodes: { x: {} } } } },
    },
    play: (run) => {
      run.step({ type: 'cancel', reason: 'no', node: 'a' }, { type: 'cancel', reason: 'no', node: 'each' });
      run.breakOff('a').breakOff('each/0/x').complete('c');
    },
  },
  'retry-from-failed-1': {
    definition: { nodes: { a: {}, each: { needs: ['a'], forEach: { in: [1, 2] }, do: { nodes: { x: {} } } } } },
    play: (run) => run.complete('a').complete('each/0/x', 1).fail('each/1/x').retry().complete('each/1/x', 2),
  },
  'replay-1': {
    definition: { nodes: { a: {}, b: { needs: ['a'], with: { a: '{{ $a }}' } }, c: {} } },
    play: (run) => {
      run.complete('a', 1).complete('b').complete('c');
      run.step({ type: 'replay', node: 'b', input: { edited: true } }).complete('b', 'again');
    },
  },
  'replay-in-loop-1': {
    definition: { nodes: { each: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { x: {} } } } } },
    play: (run) => {
      run.fail('each/0/x').handBack('each/1/x').step({ type: 'replay', node: 'each/0/x' });
      run.complete('each/0/x', 1).complete('each/1/x', 2);
    },
  },
  'fork-1': {
    definition: FORKED,
    begin: fork,
    play: (run) => run.step({ type: 'replay', node: 'sub' }).step(childEnds(run, 'sub')).complete('b', 3),
  },
  'pause-1': {
    definition: { nodes: { a: {}, w: { wait: { for: '1m' } }, b: { needs: ['a'] } } },
    play: (run) => {
      run.step({ type: 'pause', reason: 'lunch' }).complete('a').advance(120_000);
      run.step({ type: 'resume' }).complete('b').advance(60_000);
    },
  },
  'pause-of-an-end-1': {
    definition: { nodes: { a: {}, b: {} } },
    play: (run) => run.step({ type: 'pause' }).fail('a').step({ type: 'resume' }).breakOff('b'),
  },
};

const START_FEATURES: Readonly<Record<string, Feature>> = {
  'concurrency-1': {
    definition: {
      nodes: { a: { concurrency: { key: '{{ $input.who }}', limit: 2 }, retry: { attempts: 2, delay: '1s' } } },
    },
    options: { input: { who: 'ann' } },
    play: (run) =>
      run.step(granted('a', 'concurrency')).fail('a').advance(1_000).step(granted('a', 'concurrency')).complete('a'),
  },
  'rate-limit-1': {
    definition: { nodes: { a: { rateLimit: { key: 'api', limit: 1, per: '1m' } } } },
    play: (run) =>
      run
        .step(granted('a', 'rate', { until: run.now + 5_000 }))
        .advance(5_000)
        .complete('a'),
  },
  'cache-hit-1': {
    definition: { nodes: { a: { cache: { version: '1' }, with: { n: 1 }, ...undo }, b: { needs: ['a'] } } },
    play: (run) => {
      run.step({ type: 'cached', node: 'a', output: 7, hit: { executionId: 'exe_old', node: 'a', at: 1 } });
      run.complete('b');
    },
  },
  'cache-miss-1': {
    definition: { nodes: { a: { cache: { version: '1' }, with: { n: 1 } } } },
    play: (run) => {
      const earlier = { executionId: 'exe_old', node: 'a', changed: ['n'] };
      run.step(granted('a', 'cache', { miss: { key: 'h', family: 'do@1#1', input: '{"n":"1"}', earlier } }));
      run.step(granted('a', 'reserve')).complete('a', 8);
    },
  },
  'launch-plan-slot-wait-1': {
    definition: { config: { timeout: '10s' }, nodes: { a: {} } },
    options: { slot: { key: 'p', limit: 1, policy: 'wait' } },
    play: (run) => run.advance(60_000).step({ type: 'placed' }).complete('a'),
  },
  'launch-plan-slot-skip-1': {
    definition: { nodes: { a: {} } },
    options: { slot: { key: 'p', limit: 2, policy: 'skip' } },
    play: (run) => run.fail('a').retry().complete('a'),
  },
  'debounce-1': {
    definition: { nodes: { a: { with: { n: '{{ $input.n }}' } } } },
    options: { input: { n: 1 }, delay: 10_000, start: { key: 'k' } },
    play: (run) => {
      run.advance(9_000).step({ type: 'restart', input: { n: 2 }, until: run.now + 10_000 });
      run.advance(10_000).complete('a');
    },
  },
  'start-links-1': {
    definition: { nodes: { a: {}, b: { needs: ['a'] } } },
    options: {
      estimates: { b: 5_000 },
      start: {
        parent: { executionId: 'exe_parent', node: 'call', depth: 1 },
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
    },
    play: (run) => run.complete('a').complete('b'),
  },
  'seed-1': {
    definition: {
      nodes: {
        a: { with: { id: '{{ uuid() }}' } },
        s: { set: { n: '{{ random() }}' } },
        w: { needs: ['s'], when: 'random() < 0.5' },
      },
    },
    options: { seed: 'a seed' },
    play: (run) => {
      for (const node of run.running()) run.complete(node);
    },
  },
  'grandchild-1': {
    definition: { nodes: { a: {} } },
    options: {
      start: { parent: { executionId: 'exe_parent', node: 'call', depth: 2, above: ['exe_grandparent'] } },
    },
    play: (run) => run.complete('a'),
  },
  'authority-1': {
    definition: { nodes: { a: { capabilities: { network: ['api.example.com', 'evil.com'] } } } },
    options: {
      authority: {
        principal: 'ada',
        ceiling: { network: ['*.example.com'], shell: [], files: { read: ['data/**'], write: [] } },
      },
    },
    play: (run) => run.complete('a'),
  },
  'levels-1': {
    definition: { config: { mode: 'levels' }, nodes: { a: {}, b: {}, c: { needs: ['a'] } } },
    play: (run) => run.complete('a').complete('b').complete('c'),
  },
  'slots-1': {
    definition: { config: { maxParallelism: 1 }, nodes: { a: {}, b: { priority: 5 }, c: {} } },
    play: (run) => {
      for (let [node] = run.running(); node !== undefined; [node] = run.running()) run.complete(node);
    },
  },
  'checkpoint-1': {
    definition: { nodes: { a: {}, b: { needs: ['a'] } } },
    play: (run) => run.complete('a').step({ type: 'checkpointed', seq: 2 }).complete('b'),
  },
  'large-values-1': {
    definition: { nodes: { a: {}, b: { needs: ['a'] } } },
    play: (run) => {
      const output = { blob: { sha256: 'ab'.repeat(32), bytes: 100_000 } };
      run
        .step({ type: 'ended', node: 'a', attempt: 1, outcome: { status: 'completed', output }, jitter: 0 })
        .complete('b');
    },
  },
  'prototype-names-1': {
    definition: { nodes: JSON.parse('{ "__proto__": {}, "constructor": { "needs": ["__proto__"] } }') },
    play: (run) => run.complete('__proto__', 1).complete('constructor', 2),
  },
};

export const FEATURES: Readonly<Record<string, Feature>> = {
  'test-run-1': {
    definition: {
      nodes: { a: undo, b: { needs: ['a'] }, c: { needs: ['b'] }, d: { needs: ['b'] }, e: { needs: ['a'] } },
      output: '{{ $d }}',
    },
    options: { test: { until: 'c', pins: { a: { output: { n: 1 } } } }, start: { trigger: { type: 'test' } } },
    play: (run) => run.complete('b', 2).complete('c', 3),
  },
  'migrated-2': {
    definition: {
      variables: { n: 1 },
      nodes: { a: undo, b: { needs: ['a'] }, c: { needs: ['b'], with: { x: '{{ $b.y }}' } } },
    },
    play: (run) => {
      const nodes = { a: undo, b: { needs: ['a'], with: { z: 1 } }, c: { needs: ['b'] }, e: { needs: ['a'] } };
      run.complete('a', 3).complete('b', {}).complete('~undo/a');
      run.migrate({ nodes: { a: undo } }, { b: 'drop' });
      run.step({ type: 'migrate', plan: run.plan, back: true });
      run.migrate({ variables: { n: 2 }, nodes }, { b: 'again' }).retry();
      run.complete('a', 4).complete('b', 5).complete('e').complete('c');
    },
  },
  ...NODE_FEATURES,
  ...WAIT_FEATURES,
  ...FAILURE_FEATURES,
  ...REQUEST_FEATURES,
  ...START_FEATURES,
};

export function play({ definition, options, begin = () => drive(definition, options), play: happens }: Feature): Drive {
  const run = begin();
  happens(run);
  return run;
}
