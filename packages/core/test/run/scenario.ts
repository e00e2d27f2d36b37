/** One run that meets every kind of entry: for golden journals, and for comparing states at every frame. */
import { type Drive, type DriveOptions, drive, type Short } from './drive.ts';

export const everyEntryDefinition: Short = {
  config: { onFailure: 'finish-running', maxParallelism: 2 },
  nodes: {
    e1: { priority: 1 },
    e2: { priority: 1 },
    a: { retry: { attempts: 2, delay: '1s' }, with: { greeting: 'hello {{ $input.name }}' } },
    b: { needs: ['a'], when: '$input.no' },
    c: { needs: ['a'] },
    pay: { action: 'pay@1', needs: ['a'] },
    d: { needs: ['c', 'b', 'pay'], join: 'any' },
    off: { enabled: false, needs: ['c'] },
    f: { needs: ['off'] },
    g: { needs: ['f'] },
    never: {},
  },
  edges: [{ from: 'c', to: 'never', when: '$c.n > 10' }],
};

export function everyEntry(): Drive {
  const run = drive(everyEntryDefinition, { input: { no: false, name: 'Ada' } });
  run.fail('a').advance(1_000).complete('e1').complete('e2').complete('a', { ok: true }).handBack('c').loseWorker();
  run.step({ type: 'settle', node: 'pay', by: 'verify', settlement: { happened: 'unknown' } });
  run.settle('pay', { happened: true, output: null }).complete('c', { n: 3 }).complete('d').fail('f').retry();
  return run.cancel().breakOff('f');
}

/** The entries of composite nodes, waits, gates and compensation, which came later. */
export const everyCompositeDefinition: Short = {
  variables: { n: 0 },
  nodes: {
    gate: {
      concurrency: { key: 'k', limit: 1 },
      rateLimit: { key: 'r', limit: 1, per: '1s' },
      compensate: { action: 'look@1', with: { of: '{{ $self.output }}' } },
    },
    each: {
      needs: ['gate'],
      forEach: { in: '$input.list', parallel: true, minSuccess: 1 },
      do: { nodes: { a: { emit: "{{ $index == 0 ? ['more'] : [] }}" }, b: {} } },
    },
    poll: {
      needs: ['each'],
      retryUntil: { until: '$index > 1', attempts: 2, backoff: { delay: '1s' } },
      do: { nodes: { s: { set: { n: '{{ $vars.n + 1 }}' } } } },
    },
    sign: { needs: ['poll'], wait: { signal: 'go', schema: { type: 'number' } } },
    ask: { needs: ['sign'], wait: { approval: { title: 'Sure?' }, deadline: '1h' } },
    sub: { needs: ['ask'], workflow: { id: 'other', mode: 'child' } },
    last: { needs: ['sub'], forEach: { in: [1, 2], parallel: true }, do: { nodes: { x: {} } } },
  },
};

export function everyCompositeEntry(options: DriveOptions = {}): Drive {
  const run = drive(everyCompositeDefinition, { input: { list: ['one', 'two'] }, delay: 1_000, ...options });
  run.step({ type: 'restart', input: { list: ['a', 'b'] }, until: run.now + 2_000 }).advance(2_000);
  run.step({ type: 'granted', node: 'gate', gate: 'concurrency' });
  run.step({ type: 'granted', node: 'gate', gate: 'rate', until: run.now + 500 }).advance(500);
  run.step({ type: 'signal', signal: 'go', key: '', payload: 'early' });
  run.complete('gate', 7).step({ type: 'pause', reason: 'lunch' }).step({ type: 'resume' });
  run.fail('each/1/a').complete('each/1/b').complete('each/0/a').complete('each/0/b', 'B');
  run.complete('each/2/a').complete('each/2/b').advance(1_000);
  run.step({ type: 'signal', signal: 'go', key: '', payload: 5 });
  run.step({ type: 'answer', node: 'ask', approved: true, by: 'ann', comment: 'yes' });
  const executionId = run.children[0]?.executionId ?? '';
  const result = { status: 'completed', output: 'child', error: null } as const;
  run.step({ type: 'child', node: 'sub', executionId, result, jitter: 0.5 });
  return run.fail('last/0/x', { code: 'BAD' }).complete('last/1/x').complete('~undo/gate');
}

/** The entries of a composite node that is undone and tried again. */
export const repeatedDefinition: Short = {
  nodes: {
    g: {
      group: {
        nodes: {
          pay: { compensate: { action: 'look@1', with: { of: '{{ $self.output }}' } } },
          ship: { needs: ['pay'] },
        },
      },
      retry: [
        { on: ['/^NEVER/'], attempts: 9 },
        { on: ['USER'], attempts: 2, delay: '1s' },
      ],
    },
    w: { wait: { signal: 'go' }, timeout: '10s', retry: { attempts: '{{ 1 + 1 }}', delay: '1s' }, needs: ['g'] },
  },
};

export function repeatedEntry(): Drive {
  const run = drive(repeatedDefinition);
  run.complete('g/pay', 7).fail('g/ship').complete('g/~undo/g:pay').advance(1_000);
  run.complete('g/pay', 8).complete('g/ship', 'sent').advance(10_000).advance(1_000);
  return run.step({ type: 'signal', signal: 'go', key: '', payload: 1 });
}

/** The entries of runs that end early: a finally, a second cancel, a failure that nothing handles after all. */
const everyFinallyDefinition: Short = {
  config: { onFailure: 'finish-running' },
  nodes: {
    test: {},
    mend: { when: '$input.mends' },
    each: {
      forEach: { in: [1] },
      do: {
        nodes: { x: { break: true }, y: {}, tidy: { compensate: { action: 'look@1' } } },
        edges: [{ from: 'y', to: 'tidy', on: 'always' }],
      },
    },
    pay: { action: 'pay@1' },
    close: {},
    slow: {},
    sweep: {},
    tell: {},
  },
  edges: [
    { from: 'test', to: 'mend', on: 'error' },
    { from: 'pay', to: 'close', on: 'always', when: '$input.mends' },
    { from: 'slow', to: 'sweep', on: 'always' },
    { from: 'sweep', to: 'tell', on: 'always' },
  ],
};

export function everyFinallyEntry(): Drive {
  const run = drive(everyFinallyDefinition, { input: { mends: false } });
  run.fail('test').complete('each/0/x').breakOff('each/0/y').complete('each/0/tidy');
  return run.breakOff('pay').cancel().breakOff('slow').cancel().breakOff('sweep');
}

/** Every form of an authority: a ceiling with narrowed entries, a graph within it, and a child that is handed less. */
export const authorityDefinition: Short = {
  config: { capabilities: { shell: ['*'], files: { read: ['**/*.csv'] } } },
  nodes: {
    a: {},
    plan: { needs: ['a'], dynamic: { action: 'look@1' }, capabilities: { network: ['api.example.com', 'evil.com'] } },
  },
};

export const AUTHORITY = {
  principal: 'ada',
  ceiling: { network: ['*.example.com'], shell: ['git'], files: { read: ['data/**'], write: [] } },
};

export function authorityEntry(): Drive {
  const run = drive(authorityDefinition, { authority: AUTHORITY });
  return run.complete('a').complete('plan', { nodes: { inner: { action: 'do@1', capabilities: { shell: ['*'] } } } });
}

/** A snapshot of the run is stored; then what was done is undone. */
export const checkpointedDefinition: Short = {
  nodes: { pay: { compensate: { action: 'look@1' } }, ship: { needs: ['pay'] } },
};

export function checkpointedEntry(): Drive {
  const run = drive(checkpointedDefinition);
  run.complete('pay').step({ type: 'checkpointed', seq: 2 });
  return run.fail('ship').complete('~undo/pay');
}
