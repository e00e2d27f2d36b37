import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/index.ts';
import { stepsBefore } from '../../../src/run/decide/prepare.ts';
import { evolve } from '../../../src/run/evolve/evolve.ts';
import { explainRun, foldFrames, newRunState } from '../../../src/run.ts';
import { drive } from '../drive.ts';

const at = (ms: number): string => new Date(ms).toISOString();

describe('waits', () => {
  it('[RUN-120] a duration ends by itself; the run is parked meanwhile', () => {
    const run = drive({ nodes: { pause: { wait: { for: '10m' } }, after: { needs: ['pause'] } } });
    expect(run.statusOf('pause')).toBe('waiting');
    run.advance(599_999);
    expect(run.running()).toEqual([]);
    run.advance(1);
    expect(run.running()).toEqual(['after']);
    expect(run.document.nodes.pause?.output).toMatchObject({ payload: null, at: at(run.now) });
  });

  it('[RUN-120] until a moment, given as an expression', () => {
    const run = drive(
      { nodes: { pause: { wait: { until: '{{ $input.at }}' } } } },
      { input: { at: at(1_000_000 + 5_000) } },
    );
    run.advance(4_999);
    expect(run.status).toBe('running');
    run.advance(1);
    expect(run.status).toBe('completed');
  });

  it('[RUN-121] a signal with the right name and key ends the wait; its payload is in the output', () => {
    const run = drive(
      { nodes: { paid: { wait: { signal: 'paid', key: '{{ $input.order }}' } } } },
      { input: { order: 7 } },
    );
    run.step({ type: 'signal', signal: 'paid', key: '8', payload: 'no' });
    expect(run.statusOf('paid')).toBe('waiting');
    run.step({ type: 'signal', signal: 'paid', key: '7', payload: { amount: 3 } });
    expect(run.document.nodes.paid?.output).toMatchObject({ payload: { amount: 3 } });
    expect(run.status).toBe('completed');
  });

  it('[RUN-122] a signal that comes before its wait is kept', () => {
    const run = drive({ nodes: { a: {}, paid: { needs: ['a'], wait: { signal: 'paid' } } } });
    run
      .step({ type: 'signal', signal: 'paid', key: '', payload: 1 })
      .step({ type: 'signal', signal: 'paid', key: '', payload: 2 });
    run.complete('a');
    expect(run.document.nodes.paid?.output).toMatchObject({ payload: 1 });
    expect(run.state.bufferedSignals).toMatchObject([{ payload: { value: 2 } }]);
  });

  it('[RUN-123] a payload that does not fit the schema is refused, and the wait continues', () => {
    const run = drive({
      nodes: { paid: { wait: { signal: 'paid', schema: { type: 'object', required: ['amount'] } } } },
    });
    run.step({ type: 'signal', signal: 'paid', key: '', payload: {} });
    expect(run.statusOf('paid')).toBe('waiting');
    expect(run.entries).toContainEqual(expect.objectContaining({ type: 'signal.refused', node: 'paid' }));
    run.step({ type: 'signal', signal: 'paid', key: '', payload: { amount: 1 } });
    expect(run.status).toBe('completed');
  });

  it('[RUN-124] one signal ends one wait, the one that waits longest', () => {
    const run = drive({ nodes: { a: { wait: { signal: 's' } }, b: { wait: { signal: 's' } } } });
    run.step({ type: 'signal', signal: 's', key: '', payload: null });
    expect(run.statuses()).toEqual({ a: 'completed', b: 'waiting' });
  });

  it('[RUN-125] an approval completes with the approver and the form; a rejection fails with REJECTED', () => {
    const definition = { nodes: { ok: { wait: { approval: { title: 'Pay?', who: ['ann', 'bob'] } } } } };
    const run = drive(definition);
    run.step({ type: 'answer', node: 'ok', approved: true, by: 'eve' });
    expect(run.statusOf('ok')).toBe('waiting');
    run.step({ type: 'answer', node: 'ok', approved: true, by: 'ann', comment: 'fine', form: { n: 1 } });
    expect(run.document.nodes.ok?.output).toMatchObject({
      payload: { approved: true, by: 'ann', comment: 'fine', form: { n: 1 } },
    });

    const rejected = drive(definition).step({ type: 'answer', node: 'ok', approved: false, by: 'bob', comment: 'no' });
    expect(rejected.error).toMatchObject({ code: 'REJECTED', node: 'ok', details: { by: 'bob', comment: 'no' } });
  });

  it('[RUN-126] a passed deadline fails with TIMEOUT, which an error edge can take', () => {
    const run = drive({
      nodes: { ok: { wait: { signal: 's', deadline: '1h' } }, late: {} },
      edges: [{ from: 'ok', to: 'late', on: 'error', match: { code: 'TIMEOUT' } }],
    });
    run.advance(3_600_000);
    expect(run.running()).toEqual(['late']);
    expect(run.document.nodes.ok?.error).toMatchObject({ details: { limit: 'deadline' } });
  });

  it('[RUN-127] of several waits the first that happens counts, and the others are withdrawn', () => {
    const any = [{ signal: 'yes' }, { signal: 'no' }, { for: '1m' }];
    const run = drive({ nodes: { race: { wait: { any } } } });
    run.step({ type: 'signal', signal: 'no', key: '', payload: 'n' });
    expect(run.document.nodes.race?.output).toMatchObject({ event: 'no', payload: 'n' });
    const timed = drive({ nodes: { race: { wait: { any } } } }).advance(60_000);
    expect(timed.status).toBe('completed');
  });

  it('[RUN-128] a call ends a wait for it', () => {
    const run = drive({ nodes: { hook: { wait: { callback: true } } } });
    run.step({ type: 'callback', node: 'hook', payload: { ok: true } });
    expect(run.document.nodes.hook?.output).toMatchObject({ payload: { ok: true } });
  });

  it('[RUN-129] a cancelled run waits for nothing', () => {
    const run = drive({ nodes: { s: { wait: { signal: 's' } } } }).cancel();
    expect(run.status).toBe('cancelled');
    expect(run.statusOf('s')).toBe('cancelled');
  });
});

describe('pause', () => {
  it('[RUN-130] nothing starts while a run is paused; running nodes end', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] }, s: { needs: ['a'], set: { x: 1 } } } });
    run.step({ type: 'pause' }).complete('a');
    expect(run.status).toBe('paused');
    expect(run.statuses()).toEqual({ a: 'completed', b: 'queued', s: 'queued' });
    run.step({ type: 'resume' });
    expect(run.running()).toEqual(['b']);
    expect(run.statusOf('s')).toBe('completed');
    run.complete('b');
    expect(run.status).toBe('completed');
  });

  it('[RUN-131] no timer fires, and the timeout of the workflow stands still', () => {
    const run = drive({ config: { timeout: '1h' }, nodes: { w: { wait: { for: '1m' } }, a: { needs: ['w'] } } });
    run.advance(30_000).step({ type: 'pause' }).advance(7_200_000);
    expect(run.statusOf('w')).toBe('waiting');
    run.step({ type: 'resume' }).advance(30_000);
    expect(run.running()).toEqual(['a']);
    run.advance(3_470_000);
    expect(run.status).toBe('running');
    run.advance(100_000);
    expect(run.status).toBe('running');
    run.breakOff('a');
    expect(run.status).toBe('timed-out');
  });

  it('[RUN-132] a paused run can be cancelled', () => {
    const run = drive({ nodes: { w: { wait: { for: '1m' } } } })
      .step({ type: 'pause' })
      .cancel();
    expect(run.status).toBe('cancelled');
  });

  const undo = { compensate: { action: 'look@1' } };
  const failing = {
    config: { failureNode: 'tell' },
    nodes: { a: undo, b: { needs: ['a'] }, c: { needs: ['a'] }, d: { needs: ['c'] }, tell: {} },
  };

  it('[RUN-219] a failure leaves a paused run paused, and it continues to its end when it is resumed', () => {
    const run = drive(failing).complete('a').step({ type: 'pause' }).fail('b', { code: 'B' });
    expect(run.status).toBe('paused');
    expect(run.aborted).toEqual(['c']);
    const ends = 'The run will end as failed once';
    expect(explainRun(run.state, run.now).reasons).toContain(`${ends} c has stopped and it is resumed.`);
    run.complete('c', 7).advance(3_600_000);
    expect(explainRun(run.state, run.now).reasons).toContain(`${ends} it is resumed.`);
    expect(run.status).toBe('paused');
    expect(run.running()).toEqual([]);
    expect(run.document.nodes.c).toMatchObject({ status: 'completed', output: 7 });
    run.step({ type: 'resume' });
    expect(run.status).toBe('compensating');
    expect(run.running()).toEqual(['~undo/a']);
    run.complete('~undo/a').complete('tell');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'B' });
  });

  it('[RUN-219] an attempt that does not stop is waited for until the run is resumed', () => {
    const run = drive(failing).complete('a').step({ type: 'pause' }).fail('b').advance(3_600_000);
    expect(run.running()).toEqual(['c']);
    run.step({ type: 'resume' });
    expect(run.running()).toEqual(['~undo/a']);
  });

  it('[RUN-219] so does a failure that lets the others finish, and one of the output', () => {
    const late = drive({ config: { onFailure: 'finish-running' }, nodes: { a: undo, b: {}, c: {} } });
    late.complete('a').fail('b').step({ type: 'pause' }).complete('c');
    expect(late.status).toBe('paused');
    expect(late.step({ type: 'resume' }).running()).toEqual(['~undo/a']);
    const output = drive({ nodes: { a: undo }, output: '{{ $a.no.such }}' });
    output.step({ type: 'pause' }).complete('a', {});
    expect(output.status).toBe('paused');
    expect(output.step({ type: 'resume' }).running()).toEqual(['~undo/a']);
  });

  it('[RUN-219] a transaction that fails in a paused run is undone when it is resumed', () => {
    const run = drive(
      { nodes: { sub: { workflow: { id: 'other', isolation: 'transactional' } } } },
      { workflows: { other: { nodes: { a: undo, b: { needs: ['a'] } } } } },
    );
    run.complete('sub/a').step({ type: 'pause' }).fail('sub/b');
    expect([run.status, run.running()]).toEqual(['paused', []]);
    expect(run.step({ type: 'resume' }).running()).toEqual(['sub/~undo/sub:a']);
    expect(run.complete('sub/~undo/sub:a').status).toBe('failed');
  });

  it('[RUN-219] journals in which a failure ended a pause are folded as they were', () => {
    const run = drive({ nodes: { a: {}, b: {} } }).step({ type: 'pause' });
    const state = foldFrames(newRunState(run.plan, 'exe_test'), run.frames);
    evolve(state, { type: 'run.stopping', status: 'failed', error: null }, run.now);
    expect(state.phase).toEqual({ status: 'running' });
  });

  it('[RUN-220] a paused run that is to fail can be cancelled', () => {
    const run = drive(failing).complete('a').step({ type: 'pause' }).fail('b').complete('c').cancel();
    expect(run.running()).toEqual(['~undo/a']);
    expect(run.complete('~undo/a').status).toBe('cancelled');
    const kept = drive(failing).complete('a').step({ type: 'pause' }).fail('b').complete('c');
    kept.step({ type: 'cancel', reason: 'no', compensate: false });
    expect(kept.status).toBe('cancelled');
    expect(kept.attempts.has('~undo/a')).toBe(false);
  });
});

describe('a signal that does not fit', () => {
  const schema = { type: 'object', required: ['fits'] };
  const sent = (payload: Json) => ({ type: 'signal', signal: 's', key: '', payload }) as const;

  it('[RUN-576] is refused, and the next buffered one ends the wait', () => {
    const run = drive({ nodes: { a: {}, w: { needs: ['a'], wait: { signal: 's', schema } } } });
    run
      .step(sent({}))
      .step(sent({ fits: 1 }))
      .complete('a');
    expect(run.document.nodes.w?.output).toMatchObject({ payload: { fits: 1 } });
    expect(run.status).toBe('completed');
  });

  it('[RUN-576] is given to the next node that waits, or buffered for it', () => {
    const waits = { w: { wait: { signal: 's', schema } }, v: { wait: { signal: 's' } } };
    expect(drive({ nodes: waits }).step(sent({})).statuses()).toEqual({ w: 'waiting', v: 'completed' });
    const late = drive({ nodes: { ...waits, a: {}, v: { needs: ['a'], wait: { signal: 's' } } } });
    expect(late.step(sent({})).complete('a').statuses()).toMatchObject({ w: 'waiting', v: 'completed' });
  });

  it('[RUN-583] is checked in steps before the decision, if it is a list or an object that a node may take', () => {
    const run = drive({ nodes: { w: { wait: { signal: 's', key: 'k', schema } } } });
    const steps = (key: string, payload: Json) => stepsBefore(run.state, { ...sent(payload), key }, () => null);
    expect(steps('k', {})).toBeDefined();
    expect(steps('k', 'text')).toBeUndefined();
    expect(steps('other', {})).toBeUndefined();
  });
});
