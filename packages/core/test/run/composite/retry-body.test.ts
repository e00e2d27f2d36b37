import { describe, expect, it } from 'vitest';
import { evolve } from '../../../src/run/evolve/evolve.ts';
import { bodyOf, explainNode, type NodeState, NULL_VALUE, nodeAt } from '../../../src/run.ts';
import { drive } from '../drive.ts';

const undo = { action: 'do@1', with: { of: '{{ $self.output }}' } };
const retry = { attempts: 2, delay: '1s' };

/** Two nodes, of which the first can be undone. */
const body = { nodes: { pay: { compensate: undo }, ship: { needs: ['pay'] } } };

describe('a group', () => {
  it('[RUN-300] runs its body once, in a scope of its own, and gives its output', () => {
    const group = { nodes: { x: {}, y: { needs: ['x'] } }, output: '{{ $x + $y }}' };
    const run = drive({ nodes: { g: { group }, after: { needs: ['g'], with: { got: '{{ $g }}' } } } });
    expect(run.running()).toEqual(['g/x']);
    run.complete('g/x', 1).complete('g/y', 2);
    expect(run.document.nodes.g).toMatchObject({ status: 'completed', output: 3, attempts: 1 });
    expect(run.attempts.get('after')?.input).toEqual({ got: 3 });
  });

  it('[RUN-300] fails when its body does, and an error edge takes that', () => {
    const edges = [{ from: 'g', to: 'mend', on: 'error', match: { code: 'BROKEN' } }] as const;
    const run = drive({ nodes: { g: { group: { nodes: { x: {}, y: {} } } }, mend: {} }, edges });
    run.fail('g/x').breakOff('g/y');
    expect(run.statuses()).toMatchObject({ g: 'failed', mend: 'running' });
    expect(run.complete('mend').status).toBe('completed');
  });

  it('[RUN-300] is undone by its own compensation, after which come those inside', () => {
    const nodes = { g: { group: { nodes: { x: { compensate: undo } } }, compensate: undo }, end: { needs: ['g'] } };
    const run = drive({ nodes });
    run.complete('g/x', 'x').fail('end');
    expect(run.running()).toEqual(['~undo/g']);
    expect(run.complete('~undo/g').running()).toEqual(['~undo/g:x']);
    expect(run.complete('~undo/g:x').status).toBe('failed');
  });

  it('[RUN-300] has a time limit as a whole', () => {
    const run = drive({ nodes: { g: { group: { nodes: { x: {} } }, timeout: '10s' } } });
    run.advance(10_000).breakOff('g/x');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', node: 'g', details: { limit: 'attempt' } });
  });
});

describe('retry of composite nodes', () => {
  it('[RUN-301] a group whose body failed begins again after its delay, with new idempotency keys', () => {
    const run = drive({ nodes: { g: { group: { nodes: { x: {}, y: { needs: ['x'] } } }, retry } } });
    const key = run.attempts.get('g/x')?.idempotencyKey;
    run.complete('g/x').fail('g/y');
    expect(run.statusOf('g')).toBe('waiting');
    expect(run.advance(999).running()).toEqual([]);
    expect(run.advance(1).running()).toEqual(['g/x']);
    expect(run.attempts.get('g/x')?.idempotencyKey).not.toBe(key);
    run.complete('g/x').complete('g/y', 'done');
    expect(run.document.nodes.g).toMatchObject({ status: 'completed', attempts: 2, output: 'done' });
  });

  it('[RUN-301] a failure after the last attempt is the failure of the group', () => {
    const run = drive({ nodes: { g: { group: { nodes: { x: {} } }, retry } } });
    run.fail('g/x').advance(1_000).fail('g/x');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'BROKEN', node: 'g/x' });
    expect(run.document.nodes.g?.attempts).toBe(2);
  });

  it('[RUN-302] completed nodes inside are undone first, last first; then the body runs again', () => {
    const run = drive({ nodes: { g: { group: body, retry } } });
    run.complete('g/pay', 7).fail('g/ship');
    expect(run.entries.at(-2)).toMatchObject({ type: 'node.compensating', node: 'g' });
    expect(run.running()).toEqual(['g/~undo/g:pay']);
    expect(run.attempts.get('g/~undo/g:pay')?.input).toEqual({ of: 7 });
    expect(run.statusOf('g')).toBe('running');
    run.complete('g/~undo/g:pay');
    expect(run.statusOf('g')).toBe('waiting');
    run.advance(1_000).complete('g/pay', 8).complete('g/ship');
    expect(run.status).toBe('completed');
  });

  it('[RUN-302] a second iteration is undone with numbers and keys of its own', () => {
    const run = drive({ nodes: { g: { group: body, retry: { attempts: 3, delay: '1s' } } } });
    run.complete('g/pay', 7).fail('g/ship');
    const first = run.attempts.get('g/~undo/g:pay');
    run.complete('g/~undo/g:pay').advance(1_000).complete('g/pay', 8).fail('g/ship');
    const second = run.attempts.get('g/~undo/g:pay');
    expect(second?.input).toEqual({ of: 8 });
    expect(second?.idempotencyKey).not.toBe(first?.idempotencyKey);
    expect(second?.attempt).toBeGreaterThan(first?.attempt as number);
  });

  it('[RUN-302] iterations of a loop that succeeded are undone too', () => {
    const each = { forEach: { in: [1, 2, 3] }, do: { nodes: { pay: { compensate: undo } } }, retry };
    const run = drive({ nodes: { each } });
    run.complete('each/0/pay', 'a').complete('each/1/pay', 'b').fail('each/2/pay');
    expect(run.running()).toEqual(['each/~undo/each:1:pay']);
    run.complete('each/~undo/each:1:pay').complete('each/~undo/each:0:pay');
    expect(run.statusOf('each')).toBe('waiting');
    run.advance(1_000);
    for (const iteration of [0, 1, 2]) run.complete(`each/${iteration}/pay`, iteration);
    expect(run.document.nodes.each).toMatchObject({ status: 'completed', attempts: 2, output: [0, 1, 2] });
  });

  it('[RUN-302] a compensation that fails leaves the node failed: a repeat could do it twice', () => {
    const run = drive({ nodes: { g: { group: body, retry } } });
    run.complete('g/pay', 7).fail('g/ship').fail('g/~undo/g:pay');
    expect(run.statusOf('g')).toBe('failed');
    // The run, which fails because of it, tries to undo it once more.
    expect(run.running()).toEqual(['~undo/g:pay']);
  });

  it('[RUN-302] nodes that were undone and run again do not run a third time when the run is retried', () => {
    const run = drive({ nodes: { g: { group: body, retry }, end: { needs: ['g'] } } });
    run.complete('g/pay', 7).fail('g/ship').complete('g/~undo/g:pay').advance(1_000);
    run.complete('g/pay', 8).complete('g/ship').fail('end');
    expect(run.running()).toEqual(['~undo/g:pay']);
    run.complete('~undo/g:pay');
    expect(run.status).toBe('failed');
  });

  it('[RUN-416] a retry of the run counts only iterations, not the undo of the whole loop', () => {
    const each = { forEach: { in: [1, 2], minSuccess: 2 }, do: body, retry };
    const run = drive({ nodes: { each } });
    run.complete('each/0/pay', 'a').complete('each/0/ship').complete('each/1/pay', 'b').fail('each/1/ship');
    run.fail('each/~undo/each:1:pay').fail('each/~undo/each:0:pay');
    run.fail('~undo/each:1:pay').fail('~undo/each:0:pay');
    expect(run.status).toBe('failed');
    const before = run.entries.length;
    run.retry();
    expect(run.entries.slice(before).map(({ type }) => type)).toEqual(['run.reopened', 'node.started']);
    expect(run.running()).toEqual(['each/1/ship']);
    run.fail('each/1/ship');
    expect(run.statusOf('each')).not.toBe('completed');
  });

  it('[RUN-453] no iteration begins while a loop is undone before it is retried', () => {
    const body = { nodes: { x: { compensate: { action: 'do@1' } } } };
    const loop = {
      retryUntil: { until: 'false', attempts: 3, backoff: { delay: '5s' } },
      do: body,
      timeout: '3s',
      retry: { attempts: 2, delay: '0s' },
    };
    const run = drive({ nodes: { loop } }).complete('loop/0/x').advance(3_000);
    expect(run.running()).toEqual(['loop/~undo/loop:0:x']);
    expect(run.advance(5_000).running()).toEqual(['loop/~undo/loop:0:x']);
    expect(run.complete('loop/~undo/loop:0:x').running()).toEqual(['loop/0/x']);
  });

  it('[RUN-416] a journal in which it was closed like an iteration still folds', () => {
    const loop = { while: { condition: '$index < 1' }, do: body, retry };
    const run = drive({ nodes: { loop } });
    run.complete('loop/0/pay', 'a').fail('loop/0/ship').fail('loop/~undo/loop:0:pay').fail('~undo/loop:0:pay').retry();
    const iterations = bodyOf(nodeAt(run.state, 'loop') as NodeState);
    expect(iterations).toMatchObject({ open: 1, succeeded: 0 });
    evolve(run.state, { type: 'scope.closed', scope: 'loop', output: NULL_VALUE }, 0);
    expect(iterations).toMatchObject({ open: 1, succeeded: 0 });
  });

  it('[RUN-303] something of unknown outcome inside forbids the repeat', () => {
    const nodes = { pay: { action: 'pay@1' }, other: {} };
    const run = drive({ nodes: { g: { group: { nodes }, retry } } });
    run.fail('g/other').breakOff('g/pay');
    expect(run.statuses()).toMatchObject({ g: 'failed', 'g/pay': 'unknown' });
  });

  it.each(['shared', 'isolated', 'transactional'] as const)(
    '[RUN-304] a workflow inside, %s, is undone and repeated',
    (isolation) => {
      const sub = { workflow: { id: 'other', input: { n: 1 }, isolation }, retry };
      const run = drive({ nodes: { sub, after: { needs: ['sub'] } } }, { workflows: { other: body } });
      const key = run.attempts.get('sub/pay')?.idempotencyKey;
      run.complete('sub/pay', 7).fail('sub/ship');
      const [undoing = ''] = run.running();
      expect(undoing).toMatch(/~undo.*pay$/);
      expect(run.attempts.get(undoing)?.input).toEqual({ of: 7 });
      run.complete(undoing);
      expect(run.statusOf('sub')).toBe('waiting');
      expect(run.advance(1_000).running()).toEqual(['sub/pay']);
      expect(run.attempts.get('sub/pay')?.idempotencyKey).not.toBe(key);
      run.complete('sub/pay', 8).complete('sub/ship', 'sent');
      expect(run.document.nodes.sub).toMatchObject({ status: 'completed', attempts: 2 });
      // The second run of the body is undone when the run fails later.
      run.fail('after');
      expect(run.running()).toEqual(['~undo/sub:pay']);
      expect(run.attempts.get('~undo/sub:pay')?.input).toEqual({ of: 8 });
      expect(run.complete('~undo/sub:pay').status).toBe('failed');
    },
  );

  it.each(['shared', 'isolated', 'transactional'] as const)(
    '[RUN-304] a workflow inside, %s, fails after its last attempt',
    (isolation) => {
      const sub = { workflow: { id: 'other', isolation }, retry };
      const run = drive({ nodes: { sub } }, { workflows: { other: body } });
      run
        .complete('sub/pay', 7)
        .fail('sub/ship')
        .complete(run.running()[0] ?? '')
        .advance(1_000);
      run.complete('sub/pay', 8).fail('sub/ship');
      const [undoing = ''] = run.running();
      expect(run.attempts.get(undoing)?.input).toEqual({ of: 8 });
      run.complete(undoing);
      expect(run.status).toBe('failed');
      expect(run.error).toMatchObject({ code: 'BROKEN', node: 'sub/ship' });
      expect(run.document.nodes.sub?.attempts).toBe(2);
      expect(run.entries.filter((entry) => entry.type === 'node.started' && entry.node.includes('~undo'))).toHaveLength(
        2,
      );
    },
  );

  it('[RUN-304] variables of an isolated inline workflow begin anew, shared ones keep their values', () => {
    const other = {
      variables: { n: 0 },
      nodes: { count: { set: { n: '{{ $vars.n + 1 }}' } }, x: { needs: ['count'], with: { n: '{{ $vars.n }}' } } },
    };
    const again = (isolation: string) =>
      drive(
        { variables: { n: 0 }, nodes: { sub: { workflow: { id: 'other', isolation }, retry } } },
        { workflows: { other } },
      )
        .fail('sub/x')
        .advance(1_000)
        .attempts.get('sub/x')?.input;
    expect(again('shared')).toEqual({ n: 2 });
    expect(again('isolated')).toEqual({ n: 1 });
    expect(again('transactional')).toEqual({ n: 1 });
  });

  it('[RUN-304] a dynamic node asks its action again, and runs the graph that it returns then', () => {
    const graph = (id: string) => ({
      nodes: { [id]: { action: 'do@1', compensate: undo }, ship: { action: 'do@1', needs: [id] } },
    });
    const run = drive({ nodes: { d: { dynamic: { action: 'do@1' }, retry }, after: { needs: ['d'] } } });
    const key = run.attempts.get('d')?.idempotencyKey;
    run.complete('d', graph('one')).complete('d/one', 7).fail('d/ship');
    expect(run.running()).toEqual(['d/~undo/d:one']);
    run.complete('d/~undo/d:one');
    expect(run.statusOf('d')).toBe('waiting');
    expect(run.advance(1_000).running()).toEqual(['d']);
    expect(run.attempts.get('d')?.idempotencyKey).not.toBe(key);
    run.complete('d', graph('two'));
    expect(run.running()).toEqual(['d/two']);
    run.complete('d/two', 8).complete('d/ship', 'sent');
    expect(run.statuses()).toMatchObject({ d: 'completed', after: 'running' });
    run.fail('after');
    expect(run.running()).toEqual(['~undo/d:two']);
    expect(run.complete('~undo/d:two').status).toBe('failed');
  });

  it('[RUN-304] an action that fails to give a graph, and the graph, share the attempts of a dynamic node', () => {
    const run = drive({ nodes: { d: { dynamic: { action: 'do@1' }, retry: { attempts: 3, delay: '1s' } } } });
    run.fail('d').advance(1_000);
    const graph = { nodes: { x: { action: 'do@1' } } };
    run.complete('d', graph).fail('d/x').advance(1_000).complete('d', graph).fail('d/x');
    expect(run.status).toBe('failed');
    expect(run.document.nodes.d?.attempts).toBe(3);
  });

  it('[RUN-304] while and retryUntil are repeated, too', () => {
    const kinds = {
      w: { while: { condition: '$self.output == null' }, do: { nodes: { x: {} } }, retry },
      u: { retryUntil: { attempts: 1 }, do: { nodes: { x: {} } }, retry },
    };
    for (const [id, node] of Object.entries(kinds)) {
      const run = drive({ nodes: { [id]: node } });
      run.fail(`${id}/0/x`).advance(1_000).complete(`${id}/0/x`, 1);
      expect(run.document.nodes[id]).toMatchObject({ status: 'completed', attempts: 2 });
    }
  });

  it('[RUN-305] the attempt limit of a group is for each iteration of it, total for all', () => {
    const limited = { group: { nodes: { x: {} } }, retry: { attempts: 9, delay: '1s' } };
    const run = drive({ nodes: { g: { ...limited, timeout: { attempt: '10s', total: '25s' } } } });
    run.advance(10_000).breakOff('g/x').advance(1_000);
    expect(run.running()).toEqual(['g/x']);
    run.advance(10_000).breakOff('g/x').advance(1_000);
    expect(run.running()).toEqual(['g/x']);
    run.advance(3_000).breakOff('g/x');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', node: 'g', details: { limit: 'total' } });
  });

  it('[RUN-305] a cancel while it is undone ends the node when that is done', () => {
    const run = drive({ nodes: { g: { group: body, retry }, b: {} } });
    run.complete('g/pay', 7).fail('g/ship');
    run.step({ type: 'cancel', reason: 'enough', node: 'g' });
    expect(run.statusOf('g')).toBe('running');
    run.complete('g/~undo/g:pay');
    expect(run.statusOf('g')).toBe('cancelled');
  });

  it('[RUN-305] a run that is cancelled while a node is undone ends when that is done', () => {
    const run = drive({ nodes: { g: { group: body, retry } } });
    run.complete('g/pay', 7).fail('g/ship').cancel();
    expect(run.running()).toEqual(['g/~undo/g:pay']);
    expect(run.complete('g/~undo/g:pay').status).toBe('cancelled');
  });

  it('[RUN-306] $nodes.x.attempts counts the attempts of the iteration, $vars keep their values', () => {
    const nodes = {
      count: { set: { n: '{{ $vars.n + 1 }}' } },
      x: { needs: ['count'] },
      y: { needs: ['x'], with: { attempts: '{{ $nodes.x.attempts }}', n: '{{ $vars.n }}' } },
    };
    const run = drive({ variables: { n: 0 }, nodes: { g: { group: { nodes }, retry } } });
    run.complete('g/x').fail('g/y').advance(1_000).complete('g/x');
    expect(run.attempts.get('g/y')?.input).toEqual({ attempts: 1, n: 2 });
  });

  it('[RUN-307] maxTotalRetries and errors that no repeat can mend end it', () => {
    const g = { group: { nodes: { x: {} } }, retry };
    expect(drive({ config: { maxTotalRetries: 0 }, nodes: { g } }).fail('g/x').status).toBe('failed');
    expect(drive({ nodes: { g } }).fail('g/x', { code: 'CAPABILITY_DENIED' }).status).toBe('failed');
  });

  it('[RUN-308] explain says that it is undone before it begins again', () => {
    const run = drive({ nodes: { g: { group: body, retry } } })
      .complete('g/pay', 7)
      .fail('g/ship');
    const words = explainNode(run.state, 'g', run.now)?.reasons.join(' ');
    expect(words).toContain('undone');
    expect(nodeAt(run.state, 'g')?.phase).toMatchObject({ status: 'open', retrying: { code: 'BROKEN' } });
  });
});

describe('retry and time limits of waits', () => {
  it('[RUN-309] an attempt limit fails a wait, and a retry waits anew', () => {
    const run = drive({ nodes: { w: { wait: { signal: 'go' }, timeout: '10s', retry } } });
    run.advance(10_000);
    expect(run.statusOf('w')).toBe('waiting');
    run.advance(1_000).advance(9_999);
    expect(run.statusOf('w')).toBe('waiting');
    run.advance(1);
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'attempt' } });
    expect(run.document.nodes.w?.attempts).toBe(2);
  });

  it('[RUN-309] total bounds a wait with all its attempts', () => {
    const run = drive({ nodes: { w: { wait: { for: '1h' }, timeout: { total: '10s' }, retry } } });
    expect(run.advance(10_000).error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'total' } });
  });

  it('[RUN-309] a passed deadline and a rejection are retried, and the wait begins anew', () => {
    const run = drive({ nodes: { w: { wait: { signal: 'go', deadline: '5s' }, retry } } });
    run.advance(5_000);
    expect(run.statusOf('w')).toBe('waiting');
    run.advance(1_000).advance(4_000).step({ type: 'signal', signal: 'go', key: '', payload: 1 });
    expect(run.status).toBe('completed');
    const asked = drive({
      nodes: { w: { wait: { approval: {} }, retry: { attempts: 2, on: ['REJECTED'], delay: '0s' } } },
    });
    const answer = { type: 'answer', node: 'w', by: 'ann' } as const;
    asked.step({ ...answer, approved: false });
    expect(asked.statusOf('w')).toBe('waiting');
    expect(asked.advance(1).step({ ...answer, approved: true }).status).toBe('completed');
  });
});
