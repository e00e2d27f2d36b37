import { describe, expect, it } from 'vitest';
import { isUnmendable } from '../../src/retry/retry.ts';
import { nodeAt } from '../../src/run.ts';
import { drive, planOf } from './drive.ts';

const codes = (...list: string[]) => list;

describe('rules of retry', () => {
  const rules = [
    { on: codes('BUSY', '/^HTTP_5/'), attempts: 3, delay: '1s' },
    { on: codes('SYSTEM'), attempts: 2, delay: '2s' },
  ];

  it('[RET-10] the first rule that matches decides, by code, kind or pattern, each with its own count', () => {
    const run = drive({ nodes: { a: { retry: rules } } });
    const until = (): number => {
      const phase = nodeAt(run.state, 'a')?.phase;
      return phase?.status === 'waiting' ? phase.until - run.now : 0;
    };
    run.fail('a', { code: 'HTTP_503', kind: 'SYSTEM' });
    expect(until()).toBe(1_000);
    run.advance(1_000).fail('a', { code: 'OTHER', kind: 'SYSTEM' });
    expect(until()).toBe(2_000);
    run.advance(2_000).fail('a', { code: 'BUSY' });
    expect(until()).toBe(1_000);
    expect(nodeAt(run.state, 'a')).toMatchObject({ retries: [2, 1] });
    run.advance(1_000).fail('a', { code: 'BUSY' });
    expect(run.document.nodes.a).toMatchObject({ status: 'failed', attempts: 4 });
  });

  it('[RET-10] an error that no rule matches is not retried', () => {
    expect(drive({ nodes: { a: { retry: rules } } }).fail('a', { code: 'OTHER' }).status).toBe('failed');
  });

  it('[RET-10] a rule without `on` matches all remaining errors', () => {
    const retry = [
      { on: codes('NO'), attempts: 1 },
      { attempts: 2, delay: '1s' },
    ];
    expect(drive({ nodes: { a: { retry } } }).fail('a', { code: 'NO' }).status).toBe('failed');
    expect(
      drive({ nodes: { a: { retry } } })
        .fail('a', { code: 'YES' })
        .statusOf('a'),
    ).toBe('waiting');
  });

  it('[RET-10] a list of the node replaces the rule of the workflow, and a rule its list', () => {
    const config = { retry: [{ attempts: 5, delay: '1s' }] };
    const run = drive({ config, nodes: { a: {}, b: { retry: { attempts: 1 } } } });
    expect(run.fail('a').statusOf('a')).toBe('waiting');
    expect(run.fail('b').statusOf('b')).toBe('failed');
  });

  it('[RET-11] the default of the workflow is for action nodes only', () => {
    const config = { retry: { attempts: 5, delay: '1s' } };
    const run = drive({ config, nodes: { g: { group: { nodes: { x: { retry: { attempts: 1 } } } } } } });
    expect(run.fail('g/x').status).toBe('failed');
    expect(drive({ config, nodes: { d: { dynamic: { action: 'do@1' } } } }).fail('d').status).toBe('failed');
  });

  it('[DEF-115] a rule that names WORKER_LOST counts lost attempts as its errors', () => {
    const retry = { on: codes('USER', 'SYSTEM', 'WORKER_LOST'), attempts: 2, delay: '1s' };
    const run = drive({ nodes: { a: { retry } } })
      .loseWorker()
      .advance(1_000);
    expect(run.running()).toEqual(['a']);
    expect(run.fail('a').document.nodes.a).toMatchObject({ status: 'failed', attempts: 2 });
  });

  it('[RET-13] an error that a repeat cannot fix is not retried, whoever reports it', () => {
    const retry = { attempts: 5, delay: '1s' };
    for (const code of ['CAPABILITY_DENIED', 'INPUT_INVALID', 'OUTPUT_INVALID', 'EXPRESSION_VALUE']) {
      expect(isUnmendable(code)).toBe(true);
      expect(drive({ nodes: { a: { retry } } }).fail('a', { code }).document.nodes.a?.attempts).toBe(1);
    }
    expect(isUnmendable('ACTION_FAILED')).toBe(false);
  });

  it('[RET-13] a retryUntil ends with such an error', () => {
    const run = drive({ nodes: { u: { retryUntil: { attempts: 9 }, do: { nodes: { x: {} } } } } });
    expect(run.fail('u/0/x', { code: 'CAPABILITY_DENIED' }).status).toBe('failed');
  });

  it('[RET-14] a time limit of an inner node is an error like any other for the nodes around it', () => {
    const x = { timeout: { total: '5s' } };
    const run = drive({ nodes: { g: { group: { nodes: { x } }, retry: { attempts: 2, delay: '1s' } } } });
    run.advance(6_000);
    expect(run.statusOf('g')).toBe('waiting');
  });

  it('[PLN-66] an invalid pattern, and an unknown policy, are reported at their position', () => {
    expect(() => planOf({ nodes: { a: { retry: [{ on: codes('/(/'), attempts: 2 }] } } })).toThrow('MATCH_REGEX');
    expect(() => planOf({ config: { retry: { policy: 'mine', attempts: 2 } } })).toThrow('UNKNOWN_RETRY_POLICY');
  });
});
