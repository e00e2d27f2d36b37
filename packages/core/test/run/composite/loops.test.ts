import { describe, expect, it } from 'vitest';
import { drive } from '../drive.ts';

const each = (more: Record<string, unknown> = {}, nodes: Record<string, Record<string, unknown>> = { pack: {} }) => ({
  nodes: { items: { forEach: { in: '$input.list', ...more }, do: { nodes } } },
});

describe('forEach', () => {
  it('[RUN-200] runs its body for one item after the other, and gives their outputs in order', () => {
    const run = drive(each({}, { pack: { with: { it: '{{ $item }}', at: '{{ $index }}' } } }), {
      input: { list: ['a', 'b'] },
    });
    expect(run.running()).toEqual(['items/0/pack']);
    expect(run.attempts.get('items/0/pack')?.input).toEqual({ it: 'a', at: 0 });
    run.complete('items/0/pack', 'A');
    expect(run.running()).toEqual(['items/1/pack']);
    run.complete('items/1/pack', 'B');
    expect(run.status).toBe('completed');
    expect(run.output).toEqual({ items: ['A', 'B'] });
  });

  it('[RUN-200] an empty list gives an empty list', () => {
    expect(drive(each(), { input: { list: [] } }).output).toEqual({ items: [] });
  });

  it('[RUN-201] in parallel as many iterations are open as maxConcurrency says; the order of the results is that of the items', () => {
    const run = drive(each({ parallel: true, maxConcurrency: 2 }), { input: { list: [1, 2, 3] } });
    expect(run.running()).toEqual(['items/0/pack', 'items/1/pack']);
    run.complete('items/1/pack', 'two');
    expect(run.running()).toEqual(['items/0/pack', 'items/2/pack']);
    run.complete('items/2/pack', 'three').complete('items/0/pack', 'one');
    expect(run.output).toEqual({ items: ['one', 'two', 'three'] });
  });

  it('[RUN-202] a value that is not a list fails the node', () => {
    const run = drive(each(), { input: { list: 'abc' } });
    expect(run.error).toMatchObject({ code: 'NOT_A_LIST', node: 'items' });
  });

  it('[RUN-203] a failed item fails the node, after running items have stopped', () => {
    const run = drive(each({ parallel: true }), { input: { list: [1, 2, 3] } });
    run.fail('items/1/pack', { code: 'BAD' });
    expect(run.aborted).toEqual(['items/0/pack', 'items/2/pack']);
    expect(run.statusOf('items')).toBe('running');
    run.breakOff('items/0/pack').complete('items/2/pack');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'BAD', node: 'items/1/pack' });
    expect(run.statuses()).toMatchObject({
      items: 'failed',
      'items/0/pack': 'cancelled',
      'items/1/pack': 'failed',
      'items/2/pack': 'completed',
    });
  });

  it('[RUN-203] an error edge of the loop takes the failure of an item', () => {
    const run = drive(
      {
        nodes: { items: { forEach: { in: '$input.list' }, do: { nodes: { pack: {} } } }, mend: {} },
        edges: [{ from: 'items', to: 'mend', on: 'error', match: { code: 'BAD' } }],
      },
      { input: { list: [1] } },
    );
    run.fail('items/0/pack', { code: 'BAD' }).complete('mend', 'mended');
    expect(run.status).toBe('completed');
    expect(run.output).toEqual({ mend: 'mended' });
  });

  it('[RUN-204] minSuccess tolerates failures, whose results are null, and fails as soon as it cannot be reached', () => {
    const run = drive(each({ minSuccess: 2 }), { input: { list: [1, 2, 3] } });
    run.fail('items/0/pack').complete('items/1/pack', 2).complete('items/2/pack', 3);
    expect(run.output).toEqual({ items: [null, 2, 3] });
    const last = drive(each({ minSuccess: 1 }), { input: { list: [1, 2] } })
      .complete('items/0/pack', 1)
      .fail('items/1/pack');
    expect(last.output).toEqual({ items: [1, null] });

    const hopeless = drive(each({ minSuccess: '80%' }), { input: { list: [1, 2, 3, 4] } });
    hopeless.fail('items/0/pack');
    expect(hopeless.status).toBe('failed');
    expect(hopeless.error).toMatchObject({ code: 'TOO_FEW_SUCCEEDED', details: { needed: 4, total: 4, failed: 1 } });
  });

  it('[RUN-242] fewer items than must succeed fail the loop, before any iteration unless iterations add items', () => {
    const run = drive(each({ minSuccess: 2 }), { input: { list: [1] } });
    expect(run.running()).toEqual([]);
    expect(run.error).toMatchObject({
      code: 'TOO_FEW_SUCCEEDED',
      message: 'There is 1 item, so the 2 that must succeed (minSuccess) cannot be reached.',
      details: { needed: 2, total: 1, failed: 0 },
    });
    expect(drive(each({ minSuccess: '80%' }), { input: { list: [] } }).output).toEqual({ items: [] });
    const adds = each({ minSuccess: 2 }, { pack: { emit: '$self.output' } });
    const enough = drive(adds, { input: { list: [1] } }).complete('items/0/pack', [2]);
    expect(enough.complete('items/1/pack', []).output).toEqual({ items: [[2], []] });
    const few = drive(adds, { input: { list: [1] } }).complete('items/0/pack', []);
    expect(few.error).toMatchObject({ code: 'TOO_FEW_SUCCEEDED', details: { needed: 2, total: 1, failed: 0 } });
  });

  it('[RUN-205] items are retried on their own', () => {
    const run = drive(each({}, { pack: { retry: { attempts: 2, delay: '1s' } } }), { input: { list: [1] } });
    run.fail('items/0/pack').advance(1_000).complete('items/0/pack', 'ok');
    expect(run.output).toEqual({ items: ['ok'] });
  });

  it('[RUN-206] a node with break ends the loop after it', () => {
    const run = drive(each({}, { pack: { break: true, when: '$item > 1' } }), { input: { list: [1, 2, 3] } });
    run.complete('items/1/pack', 'two');
    expect(run.status).toBe('completed');
    expect(run.output).toEqual({ items: [null, 'two'] });
  });

  it('[RUN-206] a break ends a retryUntil, also if something else in its iteration failed', () => {
    const run = drive({
      config: { onFailure: 'finish-running' },
      nodes: { items: { retryUntil: { attempts: 3 }, do: { nodes: { pack: {}, last: { break: true } } } } },
    });
    run.fail('items/0/pack', { code: 'TORN' }).complete('items/0/last');
    expect(run.running()).toEqual([]);
    expect(run.error).toMatchObject({ code: 'TORN' });
    run.retry();
    expect(run.running()).toEqual(['items/0/pack']);
    run.complete('items/0/pack');
    expect(run.status).toBe('completed');
  });

  it('[RUN-207] a node with emit adds items while the loop runs', () => {
    const run = drive(each({}, { pack: { emit: '{{ $self.output.more }}' } }), { input: { list: ['a'] } });
    run.complete('items/0/pack', { more: ['b', 'c'] });
    expect(run.running()).toEqual(['items/1/pack']);
    run.complete('items/1/pack', { more: [] }).complete('items/2/pack', { more: [] });
    expect(run.output).toEqual({ items: [{ more: ['b', 'c'] }, { more: [] }, { more: [] }] });
  });

  it('[RUN-208] loops nest; the inner sees the outer as $parent', () => {
    const run = drive(
      {
        nodes: {
          outer: {
            forEach: { in: '$input.list' },
            do: {
              nodes: {
                inner: {
                  forEach: { in: '$item', parallel: true },
                  do: { nodes: { leaf: { with: { v: '{{ $item }}', p: '{{ $parent.index }}' } } } },
                },
              },
            },
          },
        },
      },
      { input: { list: [['a', 'b'], [], ['c']] } },
    );
    expect(run.attempts.get('outer/0/inner/1/leaf')?.input).toEqual({ v: 'b', p: 0 });
    run.complete('outer/0/inner/1/leaf', 'B').complete('outer/0/inner/0/leaf', 'A');
    expect(run.running()).toEqual(['outer/2/inner/0/leaf']);
    expect(run.attempts.get('outer/2/inner/0/leaf')?.input).toEqual({ v: 'c', p: 2 });
    run.complete('outer/2/inner/0/leaf', 'C');
    expect(run.output).toEqual({ outer: [['A', 'B'], [], ['C']] });
  });

  it('[RUN-209] a finished iteration collapses into its result', () => {
    const run = drive(each({ parallel: true, maxConcurrency: 3 }), {
      input: { list: Array.from({ length: 100 }, (_, n) => n) },
    });
    for (let n = 0; n < 90; n++) run.complete(`items/${n}/pack`, n);
    expect(run.state.scopes.size).toBe(1 + 3);
    expect(run.document.nodes.items?.rounds).toEqual({ total: 100, open: 3, succeeded: 90, failed: 0 });
  });

  it('[RUN-210] a body reads nodes before its loop, and its output gives the result', () => {
    const run = drive({
      nodes: {
        first: {},
        items: {
          needs: ['first'],
          forEach: { in: '$first.list' },
          do: {
            nodes: { a: {}, b: { needs: ['a'], with: { f: '{{ $first.factor }}', a: '{{ $a }}' } } },
            output: { sum: '{{ $a + $b }}' },
          },
        },
      },
    });
    run.complete('first', { list: [1], factor: 7 }).complete('items/0/a', 10);
    expect(run.attempts.get('items/0/b')?.input).toEqual({ f: 7, a: 10 });
    run.complete('items/0/b', 5);
    expect(run.output).toEqual({ items: [{ sum: 15 }] });
  });

  it('[RUN-211] retry from failed continues with the failed items, and repeats no completed one', () => {
    const run = drive(each({ parallel: true }, { a: {}, b: { needs: ['a'] } }), { input: { list: [1, 2] } });
    run.complete('items/0/a').complete('items/1/a', 'kept').complete('items/0/b', 'done').fail('items/1/b');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.status).toBe('running');
    expect(run.running()).toEqual(['items/1/b']);
    run.complete('items/1/b', 'second');
    expect(run.output).toEqual({ items: ['done', 'second'] });
  });

  it('[RUN-211] a cancelled run continues where its loop was', () => {
    const run = drive(each(), { input: { list: [1, 2, 3] } });
    run.complete('items/0/pack', 'one').cancel().breakOff('items/1/pack');
    expect(run.status).toBe('cancelled');
    run.retry().complete('items/1/pack', 'two').complete('items/2/pack', 'three');
    expect(run.output).toEqual({ items: ['one', 'two', 'three'] });
  });

  it('[RUN-212] a time limit bounds the whole loop', () => {
    const run = drive({
      nodes: { items: { forEach: { in: [1, 2] }, timeout: '5s', do: { nodes: { pack: {} } } } },
    });
    run.advance(5_000);
    expect(run.aborted).toEqual(['items/0/pack']);
    run.breakOff('items/0/pack');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', node: 'items' });
  });

  it('[RUN-213] halt ends the run from any depth', () => {
    const run = drive({ ...each({ minSuccess: 1 }, { pack: { onError: 'halt' } }) }, { input: { list: [1, 2] } });
    run.fail('items/0/pack');
    expect(run.status).toBe('failed');
  });

  it('[RUN-214] finish-running lets the rest of an iteration finish, then the iteration fails', () => {
    const run = drive(
      { config: { onFailure: 'finish-running' }, ...each({}, { a: {}, b: {}, c: { needs: ['a'] } }) },
      { input: { list: [1] } },
    );
    run.fail('items/0/a', { code: 'BAD' });
    expect(run.running()).toEqual(['items/0/b']);
    run.complete('items/0/b');
    expect(run.error).toMatchObject({ code: 'BAD' });
  });

  it('[RUN-382] with onFailure ignore a failed item is no success for minSuccess, and gives null', () => {
    const ignoring = (minSuccess: number) =>
      drive(
        { config: { onFailure: 'ignore' }, ...each({ minSuccess }, { pack: {}, label: {} }) },
        { input: { list: [1, 2, 3] } },
      );
    const good = (iteration: number) => (run: ReturnType<typeof drive>) =>
      run.complete(`items/${iteration}/pack`, iteration).complete(`items/${iteration}/label`, 'x');
    const bad = (iteration: number) => (run: ReturnType<typeof drive>) =>
      run.fail(`items/${iteration}/pack`).complete(`items/${iteration}/label`, 'x');
    const enough = good(2)(good(1)(bad(0)(ignoring(2))));
    const output = { label: 'x' };
    expect(enough.document.nodes.items?.output).toEqual([null, { ...output, pack: 1 }, { ...output, pack: 2 }]);
    const few = bad(1)(bad(0)(ignoring(2)));
    expect(few.document.nodes.items?.error).toMatchObject({ code: 'TOO_FEW_SUCCEEDED' });
    expect(few.status).toBe('completed');
  });

  it('[RUN-382] nor for a retryUntil; a node with onError ignore is one', () => {
    const poll = (more: object) => ({
      config: { onFailure: 'ignore' as const },
      nodes: { poll: { retryUntil: { attempts: 2 }, do: { nodes: { ask: more } } } },
    });
    const run = drive(poll({})).fail('poll/0/ask').advance(60_000).complete('poll/1/ask', 'late');
    expect(run.document.nodes.poll?.output).toBe('late');
    expect(
      drive(poll({ onError: 'ignore' }))
        .fail('poll/0/ask')
        .statuses(),
    ).toMatchObject({ poll: 'completed' });
  });

  it('[RUN-382] if nothing is counted, the loop continues and completes', () => {
    const run = drive({ config: { onFailure: 'ignore' }, ...each({}, { pack: {} }) }, { input: { list: [1, 2] } });
    run.fail('items/0/pack').complete('items/1/pack', 'b');
    expect(run.document.nodes.items).toMatchObject({ status: 'completed', output: [null, 'b'] });
  });

  it('[RUN-207] an iteration sees its own item, whichever iteration emitted it', () => {
    const run = drive({
      nodes: {
        each: {
          forEach: { in: [5] },
          do: {
            nodes: { x: { with: { n: '{{ $item }}' }, emit: '{{ $self.output == 0 ? [] : [$self.output - 1, 0] }}' } },
            output: '{{ $item }}',
          },
        },
      },
    });
    for (let [node] = run.running(); node !== undefined; [node] = run.running()) {
      const { input } = run.attempts.get(node) ?? {};
      const { n } = input as { n: number };
      run.complete(node, n);
    }
    expect(run.output).toEqual({ each: [5, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0] });
  });
});

describe('while', () => {
  const loop = (more = {}) => ({
    variables: { n: 0 },
    nodes: {
      count: {
        while: { condition: '$vars.n < 3', ...more },
        do: { nodes: { add: { set: { n: '{{ $vars.n + 1 }}' } } }, output: '{{ $vars.n }}' },
      },
    },
  });

  it('[RUN-215] runs its body as long as the condition holds; the output is that of the last iteration', () => {
    const run = drive(loop());
    expect(run.status).toBe('completed');
    expect(run.output).toEqual({ count: 3 });
  });

  it('[RUN-215] without an iteration the output is null', () => {
    expect(drive({ nodes: { w: { while: { condition: 'false' }, do: { nodes: { a: {} } } } } }).output).toEqual({
      w: null,
    });
  });

  it('[RUN-216] fails when the condition still holds after maxIterations iterations', () => {
    const run = drive(loop({ maxIterations: 2 }));
    expect(run.error).toMatchObject({ code: 'MAX_ITERATIONS', node: 'count' });
  });

  it('[RUN-215] the condition sees the last output as $self.output and the number of iterations as $index', () => {
    const run = drive({
      nodes: { w: { while: { condition: '$index == 0 || $self.output.more' }, do: { nodes: { page: {} } } } },
    });
    run.complete('w/0/page', { more: true }).complete('w/1/page', { more: false });
    expect(run.output).toEqual({ w: { more: false } });
  });
});

describe('retryUntil', () => {
  const poll = (more = {}) => ({
    nodes: {
      poll: {
        retryUntil: { until: "$self.output.state == 'ready'", attempts: 3, backoff: { delay: '10s' }, ...more },
        do: { nodes: { ask: {} } },
      },
    },
  });

  it('[RUN-217] repeats its body until the condition holds, with its delays', () => {
    const run = drive(poll());
    run.complete('poll/0/ask', { state: 'busy' });
    expect(run.running()).toEqual([]);
    run.advance(9_999);
    expect(run.running()).toEqual([]);
    run.advance(1).complete('poll/1/ask', { state: 'ready' });
    expect(run.output).toEqual({ poll: { state: 'ready' } });
  });

  it('[RUN-217] a failed iteration is a try, too; after the last one the node fails with its error', () => {
    const run = drive(poll());
    run.fail('poll/0/ask').advance(10_000).complete('poll/1/ask', { state: 'busy' }).advance(10_000);
    run.fail('poll/2/ask', { code: 'GONE' });
    expect(run.error).toMatchObject({ code: 'GONE', node: 'poll/2/ask' });
  });

  it('[RUN-217] does not try again while an outcome inside is unknown', () => {
    const run = drive({
      nodes: {
        poll: {
          retryUntil: { attempts: 3, backoff: { delay: '1s' } },
          do: { nodes: { pay: { action: 'pay@1' }, x: {} } },
        },
      },
    });
    run.breakOff('poll/0/pay').fail('poll/0/x', { code: 'BAD' }).advance(1_000);
    expect(run.status).toBe('failed');
    expect(run.attempts.has('poll/1/pay')).toBe(false);
  });

  it('[RUN-217] fails with UNTIL_NOT_REACHED if every iteration succeeded and none sufficed', () => {
    const run = drive(poll({ attempts: 1 }));
    run.complete('poll/0/ask', { state: 'busy' });
    expect(run.error).toMatchObject({ code: 'UNTIL_NOT_REACHED' });
  });
});

describe('the number of items', () => {
  it('[RUN-577] is at most a million', () => {
    const { error } = drive(each(), { input: { list: new Array(1_000_001).fill(0) }, foldEvery: 2 });
    expect(error).toMatchObject({
      code: 'TOO_MANY_ITEMS',
      message: 'A loop has at most 1000000 items, not 1000001.',
    });
  });
});
