import { describe, expect, it } from 'vitest';
import { timelineOf } from '../../src/index.ts';
import { documentOf } from '../../src/run.ts';
import { drive } from '../run/drive.ts';

const at = (ms: number): string => new Date(1_000_000 + ms).toISOString();

describe('the document of a run', () => {
  it('[VIEW-8] has its input, variables, trigger, update and duration', () => {
    const run = drive(
      { variables: { n: 1 }, nodes: { s: { set: { n: '{{ $vars.n + 1 }}' } }, a: { needs: ['s'] } } },
      { input: { order: 7 } },
    );
    run.advance(30);
    const before = { status: 'running', finishedAt: null, durationMs: null, startedAt: at(0), updatedAt: at(0) };
    expect(run.document).toMatchObject({ ...before, input: { order: 7 }, variables: { n: 2 }, parent: null });
    expect(run.document.trigger).toEqual({ type: 'manual' });
    run.complete('a');
    expect(run.document).toMatchObject({ status: 'completed', finishedAt: at(30), updatedAt: at(30), durationMs: 30 });
  });

  it('[VIEW-8] has the pause with its reason, and how it will end', () => {
    const run = drive({ nodes: { a: {} } }).step({ type: 'pause', reason: 'lunch' });
    expect(run.document).toMatchObject({ status: 'paused', paused: { since: at(0), reason: 'lunch' } });
    run.step({ type: 'resume' }).cancel();
    expect(run.document).toMatchObject({ status: 'running', ending: 'cancelled' });
    expect(run.document).not.toHaveProperty('paused');
  });

  it('[VIEW-20] says whether the run is parked, by itself or with its children', () => {
    const wait = { w: { wait: { signal: 'go' } } };
    const both = (parked: boolean, parkedExceptChildren = parked) => ({ parked, parkedExceptChildren });
    expect(drive({ nodes: wait }).document).toMatchObject(both(true));
    expect(drive({ nodes: wait, config: { timeout: '2m' } }).document).toMatchObject(both(true));
    expect(drive({ nodes: wait, config: { timeout: '40s' } }).document).toMatchObject(both(false));
    expect(drive({ nodes: { ...wait, a: {} } }).document).toMatchObject(both(false));
    const child = { c: { workflow: { id: 'other', mode: 'child' as const } } };
    expect(drive({ nodes: { ...wait, ...child } }).document).toMatchObject(both(false, true));
    const ended = drive({ nodes: { a: {} } }).complete('a').document;
    expect(ended).not.toHaveProperty('parked');
    expect(ended).not.toHaveProperty('parkedExceptChildren');
  });

  it('[VIEW-20] sees times from now, or from the newest frame', () => {
    const run = drive({ nodes: { w: { wait: { signal: 'go', deadline: '2m' } } } });
    expect(documentOf(run.state, () => null)).toMatchObject({ parked: true });
    expect(documentOf(run.state, () => null, run.now + 61_000)).toMatchObject({ parked: false });
  });

  it('[VIEW-9] of a node has its input, times, attempt, wait and child', () => {
    const run = drive(
      {
        nodes: {
          a: { with: { hi: '{{ $input.name }}' }, retry: { attempts: 2, delay: '1s' } },
          w: { wait: { any: [{ signal: 'go', key: 'k' }, { for: '1m' }], deadline: '1h' } },
          g: { concurrency: { key: 'bank', limit: 2 } },
          c: { workflow: { id: 'other', mode: 'child' } },
        },
      },
      { input: { name: 'Ada' } },
    );
    const { nodes } = run.document;
    expect(nodes.a).toMatchObject({
      status: 'running',
      input: { hi: 'Ada' },
      queuedAt: at(0),
      durationMs: null,
      attempt: { startedAt: at(0), worker: 'wrk_test' },
    });
    expect(nodes.w?.waitsFor).toEqual({
      kind: 'event',
      events: [
        { kind: 'signal', name: 'go', signal: 'go', key: 'k' },
        { kind: 'time', name: 'for', at: at(60_000) },
      ],
      deadline: at(3_600_000),
    });
    expect(nodes.g?.waitsFor).toEqual({
      kind: 'gate',
      gate: { kind: 'concurrency', key: 'bank', limit: 2 },
      until: null,
    });
    expect(nodes.c).toMatchObject({ status: 'running', child: { executionId: 'exe_child0', workflowId: 'other' } });
    run.advance(20).fail('a');
    expect(run.document.nodes.a).toMatchObject({ status: 'waiting', waitsFor: { kind: 'retry', until: at(1_020) } });
    expect(run.document.nodes.a).not.toHaveProperty('attempt');
    run.advance(1_000).complete('a');
    expect(run.document.nodes.a).toMatchObject({ status: 'completed', finishedAt: at(1_020), durationMs: 1_020 });
  });

  it('[VIEW-10] has the scopes that are open or have failed, and undo scopes', () => {
    const run = drive({
      nodes: {
        pay: { compensate: { action: 'look@1' } },
        each: {
          needs: ['pay'],
          forEach: { in: [1, 2, 3], parallel: true },
          do: { nodes: { x: {} } },
        },
      },
    });
    run.complete('pay').complete('each/0/x').fail('each/1/x', { code: 'BAD' });
    const { scopes } = run.document;
    expect(scopes).toMatchObject({
      'each/1': { node: 'each', round: 1, status: 'failed', error: { code: 'BAD' } },
      'each/2': { node: 'each', round: 2 },
    });
    expect(scopes['each/0']).toBeUndefined();
    run.breakOff('each/2/x');
    expect(run.document.scopes['~undo']).toEqual({ node: null, round: null, undoes: '', status: 'open', error: null });
  });

  it('[VIEW-11] a run that waits for its concurrency slot is pending, and its first event shows it', () => {
    const slot = { key: 'nightly', limit: 1, policy: 'wait' } as const;
    const run = drive({ nodes: { a: {} } }, { slot });
    expect(run.document).toMatchObject({ status: 'pending', place: { key: 'nightly', limit: 1 } });
    const [first] = run.frames.flatMap((frame) => frame.entries.flatMap((entry) => timelineOf(entry, frame.at)));
    expect(first).toMatchObject({ type: 'WorkflowStarted', details: { place: { key: 'nightly', limit: 1 } } });
    run.step({ type: 'placed' });
    expect(run.document.status).toBe('running');
    expect(run.document).not.toHaveProperty('place');
    const skip = drive({ nodes: { a: {} } }, { slot: { ...slot, policy: 'skip' } });
    expect(skip.document.status).toBe('running');
  });
});
