import { describe, expect, it } from 'vitest';
import { RUN_DEFAULTS } from '../../src/index.ts';
import { explainNode } from '../../src/run.ts';
import { drive } from './drive.ts';

describe('failure', () => {
  it('[RUN-20] a matching error edge handles the failure', () => {
    const edges = [{ from: 'a', to: 'mend', on: 'error' }] as const;
    const run = drive({ nodes: { a: {}, mend: {}, then: { needs: ['mend'] } }, edges });
    run.fail('a').complete('mend').complete('then');
    expect(run.status).toBe('completed');
    expect(run.error).toBeNull();
    expect(run.statusOf('a')).toBe('failed');
  });

  it('[RUN-571] the error of an action has the place of the parameter that it names', () => {
    const run = drive({ nodes: { a: { with: { url: 'u', items: [{ sku: 1 }] }, onError: 'ignore' }, b: {} } });
    run.fail('a', { details: { parameter: ['items', 0, 'sku'] } });
    expect(run.document.nodes['a']?.error?.details).toEqual({
      parameter: ['items', 0, 'sku'],
      at: { workflowId: expect.any(String), path: ['nodes', 'a', 'with', 'items', 0, 'sku'] },
    });
    run.fail('b', { details: { parameter: 'url' } });
    expect(run.error?.details).toMatchObject({ at: { path: ['nodes', 'b', 'with', 'url'] } });
  });

  it('[RUN-21] halt ends the run at once, whatever the policy', () => {
    const run = drive({ config: { onFailure: 'finish-running' }, nodes: { a: { onError: 'halt' }, b: {} } });
    run.fail('a');
    expect(run.aborted).toEqual(['b']);
    expect(run.status).toBe('running');
    expect(run.breakOff('b').status).toBe('failed');
    expect(run.statuses()).toEqual({ a: 'failed', b: 'cancelled' });
  });

  it('[RUN-22] ignore continues as if completed with null', () => {
    const nodes = { a: { onError: 'ignore' }, b: { needs: ['a'], with: { got: '{{ $nodes.a.output }}' } } };
    const run = drive({ nodes }).fail('a');
    expect(run.attempts.get('b')?.input).toEqual({ got: null });
    expect(run.complete('b').status).toBe('completed');
    expect(run.statusOf('a')).toBe('failed');
  });

  it('[RUN-23] fail-fast fails the run with the original error and cancels running nodes', () => {
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['b'] } } });
    run.fail('a', { code: 'FIRST' }).breakOff('b');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'FIRST', node: 'a' });
    expect(run.statuses()).toEqual({ a: 'failed', b: 'cancelled', c: 'cancelled' });
  });

  it('[RUN-24] finish-running lets independent nodes end first', () => {
    const nodes = { a: {}, b: {}, c: { needs: ['b'] }, d: { needs: ['a'] } };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes });
    run.fail('a', { code: 'FIRST' });
    expect(run.status).toBe('running');
    run.complete('b').complete('c');
    expect(run.status).toBe('failed');
    expect(run.error?.code).toBe('FIRST');
    expect(run.statuses()).toEqual({ a: 'failed', b: 'completed', c: 'completed', d: 'skipped' });
  });

  it('[RUN-25] ignore lets the others end and completes', () => {
    const run = drive({ config: { onFailure: 'ignore' }, nodes: { a: {}, b: {}, c: { needs: ['a'] } } });
    run.fail('a').complete('b');
    expect(run.status).toBe('completed');
    expect(run.statuses()).toEqual({ a: 'failed', b: 'completed', c: 'skipped' });
  });

  it('[RUN-24] finish-running lets every node finish whose join can still be satisfied', () => {
    const nodes = {
      a: {},
      b: {},
      any: { needs: ['a', 'b'], join: 'any' },
      all: { needs: ['a', 'b'] },
      after: { needs: ['any'] },
    };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes }).fail('a');
    expect(run.statusOf('all')).toBe('skipped');
    run.complete('b').complete('any').complete('after');
    expect(run.status).toBe('failed');
  });

  it('[RUN-27] after a handled failure a join of any of try and fallback works', () => {
    const nodes = { attempt: {}, fallback: {}, go: { needs: ['attempt', 'fallback'], join: 'any' } };
    const edges = [{ from: 'attempt', to: 'fallback', on: 'error' }] as const;
    const failed = drive({ nodes, edges }).fail('attempt').complete('fallback');
    expect(failed.running()).toEqual(['go']);
    expect(failed.complete('go').status).toBe('completed');
    const well = drive({ nodes, edges }).complete('attempt');
    expect(well.statuses()).toMatchObject({ fallback: 'skipped', go: 'running' });
  });

  it('[RUN-27] branch without a match falls to the policy', () => {
    const edges = [{ from: 'a', to: 'b', on: 'error', match: { code: 'OTHER' } }] as const;
    const run = drive({ nodes: { a: { onError: 'branch' }, b: {} }, edges }).fail('a');
    expect(run.status).toBe('failed');
  });

  it('[RUN-28] later failures do not mask the first', () => {
    const deferred = drive({ config: { onFailure: 'finish-running' }, nodes: { a: {}, b: {} } });
    deferred.fail('b', { code: 'FIRST' }).fail('a', { code: 'SECOND' });
    expect(deferred.error?.code).toBe('FIRST');
    const fast = drive({ nodes: { a: {}, b: {} } })
      .fail('b', { code: 'FIRST' })
      .fail('a', { code: 'SECOND' });
    expect(fast.error?.code).toBe('FIRST');
    expect(fast.statuses()).toEqual({ a: 'failed', b: 'failed' });
  });

  it('[RUN-29] an attempt that does not stop is given up after the grace time', () => {
    const run = drive({ nodes: { a: {}, b: {}, pay: { action: 'pay@1' } } });
    run.fail('a').advance(RUN_DEFAULTS.cancelGraceMs - 1);
    expect(run.status).toBe('running');
    run.advance(1);
    expect(run.status).toBe('failed');
    expect(run.statuses()).toEqual({ a: 'failed', b: 'cancelled', pay: 'unknown' });
  });

  it('[RUN-30] a result that arrives while stopping is kept', () => {
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['b'] } } });
    run.fail('a').complete('b', { bufferedSignals: true });
    expect(run.document.nodes.b).toMatchObject({ status: 'completed', output: { bufferedSignals: true } });
    expect(run.statusOf('c')).toBe('cancelled');
  });

  it('[RUN-31] an error edge that matches takes the failure of a node that ignores its failures', () => {
    const edges = [{ from: 'a', to: 'mend', on: 'error', match: { code: 'KNOWN' } }] as const;
    const short = { nodes: { a: { onError: 'ignore' }, mend: {}, b: { needs: ['a'] } }, edges };
    expect(drive(short).fail('a', { code: 'KNOWN' }).statuses()).toMatchObject({ mend: 'running', b: 'skipped' });
    expect(drive(short).fail('a', { code: 'OTHER' }).statuses()).toMatchObject({ mend: 'skipped', b: 'running' });
  });

  it('[RUN-31] an always edge does not prevent onError: ignore', () => {
    const edges = [{ from: 'a', to: 'after', on: 'always' }] as const;
    const run = drive({ nodes: { a: { onError: 'ignore' }, after: {}, b: { needs: ['a'] } }, edges }).fail('a');
    expect(run.running()).toEqual(['after', 'b']);
  });

  it('[RUN-90] a node that was skipped names the failures before it', () => {
    const edges = [{ from: 'handled', to: 'mend', on: 'error' }] as const;
    const nodes = { handled: {}, bad: {}, mend: {}, c: { needs: ['handled', 'bad'] } };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes, edges })
      .fail('handled')
      .fail('bad');
    expect(explainNode(run.state, 'c', run.now)?.reasons[0]).toContain('`handled` failed, `bad` failed');
  });

  it('[RUN-46] the timeout of a run that is being stopped changes nothing', () => {
    const run = drive({ config: { timeout: '3s' }, nodes: { a: {}, b: {} } }).fail('a', { code: 'FIRST' });
    run.advance(4_000);
    expect(run.status).toBe('running');
    run.breakOff('b');
    expect(run.document).toMatchObject({ status: 'failed', error: { code: 'FIRST' } });
  });
});
