import { describe, expect, it } from 'vitest';
import { gateWords, retrySteps, SKIP_WORDS, waitWords } from '../../src/index.ts';
import { explainNode, explainRun, holderCauses } from '../../src/run.ts';
import { drive } from '../run/drive.ts';

describe('an explanation', () => {
  it('[VIEW-12] names the code, the node, the figures and the execution of each cause', () => {
    const run = drive(
      {
        nodes: {
          a: { retry: { attempts: 3, delay: '1s' } },
          c: { workflow: { id: 'other', mode: 'child' } },
          later: { needs: ['a', 'c'] },
        },
      },
      {},
    ).fail('a', { code: 'BUSY' });
    const until = run.now + 1_000;
    const causesOf = (node: string) => explainNode(run.state, node, run.now)?.causes;
    expect(causesOf('a')).toMatchObject([
      { code: 'attempt-failed', value: { attempt: 1, code: 'BUSY', until } },
      { code: 'retries', value: { retries: [{ used: 1, of: 2 }] } },
    ]);
    expect(causesOf('c')).toMatchObject([{ code: 'child-running', link: { executionId: 'exe_child0' } }]);
    expect(causesOf('later')).toMatchObject([{ code: 'upstream', value: { sources: { a: 'waiting', c: 'running' } } }]);
    const whole = explainRun(run.state, run.now);
    expect(whole.causes.map(({ code, node }) => [code, node])).toEqual([
      ['attempt-failed', 'a'],
      ['child-running', 'c'],
      ['pending', undefined],
    ]);
    expect(whole.reasons).toEqual(whole.causes.map(({ message }) => message));
  });

  it('[VIEW-42] says why an error was not retried although retries were left', () => {
    const run = drive({
      config: { onFailure: 'finish-running' },
      nodes: {
        a: { retry: { attempts: 3, on: ['TIMEOUT', 'HTTP_429'] } },
        b: { retry: { attempts: 3 } },
        c: { retry: { attempts: 2, delay: '1ms' } },
        d: {},
      },
    })
      .fail('a', { code: 'BAD' })
      .fail('b', { code: 'CAPABILITY_DENIED' })
      .fail('d', { code: 'BAD' });
    const said = (node: string) =>
      explainNode(run.state, node, run.now)?.reasons.filter((text) => /retried:/.test(text));
    expect(said('a')).toEqual(['It was not retried: BAD does not match `retry.on`, which names TIMEOUT, HTTP_429.']);
    expect(said('b')).toEqual(['CAPABILITY_DENIED is never retried: a further attempt would fail in the same way.']);
    expect(said('d')).toEqual([]);
  });

  it('[VIEW-43] after a failed expression suggests a retry with the corrected file, not a plain one', () => {
    const failed = (value: string) =>
      drive({ nodes: { a: {}, b: { needs: ['a'], with: { value } } } }).complete('a', {});
    const expression = explainRun(failed('{{ $a.x.y }}').state, 0);
    expect(expression.next).toEqual([
      'nebula executions show exe_test b',
      'nebula executions retry exe_test --to FILE',
    ]);
    expect(expression.reasons.at(-1)).toMatch(/^A retry of the same version fails in the same way/);
    const other = explainRun(failed('{{ 1 }}').fail('b', { code: 'BUSY' }).state, 0);
    expect(other.next).toEqual(['nebula executions show exe_test b', 'nebula executions retry exe_test']);
    expect(other.reasons).toHaveLength(1);
    const error = {
      code: 'EXPRESSION_TYPE',
      kind: 'USER',
      message: '',
      details: { cause: { executionId: 'exe_2' } },
    } as const;
    expect(retrySteps('exe_1', error)).toEqual([
      'nebula executions retry exe_2 --to FILE',
      'nebula executions retry exe_1',
    ]);
  });

  it('[VIEW-44] counts the retries of a node only if it has any', () => {
    const retriesOf = (retry: Record<string, unknown>, code = 'BUSY') => {
      const run = drive({ nodes: { a: retry } }).fail('a', { code });
      return explainNode(run.state, 'a', run.now)
        ?.causes.filter((one) => one.code === 'retries')
        .map(({ message }) => message);
    };
    expect(retriesOf({})).toEqual(['It has no retries (`retry`).']);
    expect(retriesOf({}, 'EXPRESSION_TYPE')).toEqual([]);
    expect(retriesOf({ retry: { attempts: 2, delay: '1s' } })).toEqual(['It used 1 of 1 retries.']);
    const lost = drive({ nodes: { a: { effect: 'idempotent' } } })
      .loseWorker()
      .fail('a', { code: 'BUSY' });
    expect(explainNode(lost.state, 'a', 0)?.reasons).toContain('It repeated 1 of at most 10 lost attempts.');
  });

  it('[VIEW-45] of a failed composite node names the node inside it that failed', () => {
    const run = drive({
      nodes: {
        each: { forEach: { in: [1, 2] }, do: { nodes: { x: {} } } },
      },
    })
      .complete('each/0/x')
      .fail('each/1/x', { code: 'BAD' });
    expect(explainNode(run.state, 'each', 0)).toMatchObject({
      causes: [{ code: 'error' }, { code: 'inside', node: 'each/1/x' }, { code: 'handling' }],
      next: ['nebula executions show exe_test each/1/x'],
    });
    expect(explainNode(run.state, 'each', 0)?.reasons[1]).toBe("It failed in iteration 1, at 'each/1/x'.");
    const group = drive({ nodes: { whole: { group: { nodes: { y: {} } } } } }).fail('whole/y', { code: 'BAD' });
    expect(explainNode(group.state, 'whole', 0)?.reasons[1]).toBe("It failed at 'whole/y'.");
  });

  it('[VIEW-12] names the edges that decided, with their verdicts', () => {
    const run = drive({
      config: { onFailure: 'finish-running' },
      nodes: { a: {}, b: {}, mend: {}, join: { needs: ['a', 'b'] } },
      edges: [{ from: 'a', to: 'mend', on: 'error' }],
    });
    run.complete('b').fail('a', { code: 'BAD' });
    const edges = explainNode(run.state, 'join', run.now)?.causes.flatMap(({ edge }) => edge ?? []);
    expect(edges).toEqual([
      { from: 'a', to: 'join', on: 'success', verdict: 'failure' },
      { from: 'b', to: 'join', on: 'success', verdict: 'taken' },
    ]);
    expect(explainNode(run.state, 'a', run.now)?.causes).toMatchObject([
      { code: 'error', value: { code: 'BAD' } },
      { code: 'handling', value: { handling: 'handled' } },
      { code: 'retries' },
      { code: 'edge', edge: { to: 'join', verdict: 'failure' } },
    ]);
  });

  it('[VIEW-22] has the words of other views for waits, gates and skipped nodes', () => {
    const run = drive({
      nodes: {
        any: { wait: { any: [{ signal: 'go', key: 'k' }, { for: '1m' }] } },
        ask: { wait: { approval: { title: 'Sure?', who: ['ann', 'bob'] } } },
        bank: { concurrency: { key: 'bank', limit: 2 } },
        off: { enabled: false },
        not: { when: 'false' },
      },
    });
    const firstReason = (node: string) => explainNode(run.state, node, run.now)?.reasons[0];
    const moment = (at: number) => `${new Date(at).toISOString()} (in 1m)`;
    const { any, bank } = run.document.nodes;
    const events = any?.waitsFor?.kind === 'event' ? any.waitsFor.events : [];
    expect(waitWords(events, moment)).toBe(`for signal go (key k) or until ${moment(run.now + 60_000)}`);
    expect(firstReason('any')).toBe(`It waits ${waitWords(events, moment)}.`);
    expect(firstReason('ask')).toBe('It waits for an approval “Sure?” by ann or bob.');
    expect(bank?.waitsFor?.kind === 'gate' && gateWords(bank.waitsFor.gate)).toBe('for a permit of bank (limit 2)');
    expect(firstReason('bank')).toMatch(/^It has waited for \S+ for a permit of bank \(limit 2\)\.$/);
    expect(firstReason('off')).toBe(`Skipped: ${SKIP_WORDS.disabled} (\`enabled: false\`).`);
    expect(firstReason('not')).toBe(`Skipped: ${SKIP_WORDS.when} (\`when\`).`);
  });

  it('[VIEW-13] names the holders of a key, and the number of waiters before', () => {
    const holders = [
      { executionId: 'exe_1', node: 'pay', since: 1_000 },
      { executionId: 'exe_2', node: 'pay', since: null },
    ];
    const causes = holderCauses({ holders, before: 2 }, 4_000);
    expect(causes.map(({ message }) => message)).toEqual([
      'It is held by pay of exe_1 (for 3s).',
      'It is held by pay of exe_2 (not begun yet); 2 others wait before it.',
    ]);
    expect(causes[0]).toMatchObject({ code: 'held-by', link: { executionId: 'exe_1', node: 'pay' } });
    expect(holderCauses({ holders: [], before: 0 }, 0)[0]?.message).toBe('No one holds it now.');
  });
});
