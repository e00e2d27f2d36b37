import { describe, expect, it } from 'vitest';
import { LoopHistory, RunView, timelineOf } from '../../src/index.ts';
import { documentOf, encodeSnapshot, foldFrames, inlineValue, newRunState, reopenPreview } from '../../src/run.ts';
import { type Drive, drive } from '../run/drive.ts';
import {
  checkpointedEntry,
  everyCompositeEntry,
  everyEntry,
  everyFinallyEntry,
  repeatedEntry,
} from '../run/scenario.ts';

const none = () => null;

function viewOf(run: Drive, upTo = Number.POSITIVE_INFINITY): RunView {
  const view = new RunView(run.plan, 'exe_test');
  for (const frame of run.frames) if (frame.seq <= upTo) view.apply(frame);
  return view;
}

describe('a view of a run', () => {
  it('[VIEW-1] equals the state of the engine at every frame', () => {
    for (const run of [
      everyEntry(),
      everyCompositeEntry(),
      everyFinallyEntry(),
      repeatedEntry(),
      checkpointedEntry(),
    ]) {
      for (const { seq } of run.frames) {
        const state = foldFrames(
          newRunState(run.plan, 'exe_test'),
          run.frames.filter((frame) => frame.seq <= seq),
        );
        const view = viewOf(run, seq);
        expect(encodeSnapshot(view.state)).toBe(encodeSnapshot(state));
        expect(view.document(none)).toEqual(documentOf(state, none));
        expect(view.document(none).seq).toBe(seq);
      }
    }
  });

  it('[VIEW-2] an entry costs no more after 20,000 iterations than at the beginning', () => {
    const iterations = 20_000;
    const frames = [
      {
        seq: 1,
        at: 1,
        entries: [
          { type: 'run.started', format: 1, workflowId: 'test', version: 1, input: inlineValue({}), trigger: null },
          { type: 'node.opened', node: 'each', items: inlineValue([]), count: iterations },
        ],
      },
    ] as Drive['frames'];
    for (let at = 0; at < iterations; at++) {
      const node = `each/${at}/x`;
      frames.push({
        seq: at + 2,
        at: at + 2,
        entries: [
          { type: 'scopes.opened', node: 'each', from: at, to: at + 1 },
          { type: 'node.started', node, attempt: 1, worker: 'w', effect: 'pure', input: inlineValue(at) },
          { type: 'node.completed', node, output: inlineValue(at) },
          { type: 'scope.closed', scope: `each/${at}` },
        ],
      });
    }
    const { plan } = drive({ nodes: { each: { forEach: { in: [] }, do: { nodes: { x: {} } } } } });
    const view = new RunView(plan, 'exe_test');
    const tenth = frames.length / 10;
    const cpuOf = (some: Drive['frames']): number => {
      const begun = process.cpuUsage().user;
      for (const frame of some) view.apply(frame);
      return process.cpuUsage().user - begun;
    };
    view.apply(frames[0] as Drive['frames'][number]);
    cpuOf(frames.slice(1, tenth));
    const early = cpuOf(frames.slice(tenth, 3 * tenth));
    cpuOf(frames.slice(3 * tenth, 8 * tenth));
    const late = cpuOf(frames.slice(8 * tenth));
    // Measured: 4 µs per entry, early and late.
    expect(late).toBeLessThan(10 * early + 50_000);
    expect(Object.keys(view.endedNodes(none))).toHaveLength(iterations);
  });

  it('[VIEW-3] keeps the nodes of iterations that have ended', () => {
    const run = drive({
      nodes: { each: { forEach: { in: ['a', 'b'] }, do: { nodes: { x: { with: { item: '{{ $item }}' } } } } } },
    });
    run.advance(5).complete('each/0/x', 'A').advance(5).complete('each/1/x', 'B');
    expect(run.document.nodes['each/0/x']).toBeUndefined();
    expect(viewOf(run).endedNodes(none)).toMatchObject({
      'each/0/x': { status: 'completed', input: { item: 'a' }, output: 'A', durationMs: 5 },
      'each/1/x': { status: 'completed', input: { item: 'b' }, output: 'B', durationMs: 5 },
    });
  });

  it('[VIEW-4, VIEW-5, VIEW-6] the timeline has all event types that dashboards know, each from its entry alone', () => {
    const runs = [
      checkpointedEntry(),
      drive({ nodes: { a: { retry: { attempts: 2, delay: '1s' } } } })
        .fail('a')
        .advance(1_000)
        .complete('a'),
    ];
    const events = runs.flatMap((run) => viewOf(run).timeline);
    const alone = runs.flatMap(({ frames }) =>
      frames.flatMap(({ at, entries }) => entries.flatMap((entry) => timelineOf(entry, at))),
    );
    expect(events).toEqual(alone);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'WorkflowStarted',
        'WorkflowCompleted',
        'WorkflowFailed',
        'NodeStarted',
        'NodeCompleted',
        'NodeFailed',
        'NodeRetried',
        'StateCheckpointed',
        'CompensationStarted',
        'CompensationCompleted',
      ]),
    );
    const ended = events.filter(({ type }) => type === 'CompensationCompleted');
    expect(ended).toMatchObject([{ node: null, details: { undone: 1, left: 0 } }]);
    expect(events.find(({ type }) => type === 'StateCheckpointed')?.details).toEqual({ seq: 2 });
  });

  it('[VIEW-5] a compensation that fails, one in a composite node and one before a failure node end once each', () => {
    const ends = (run: Drive) =>
      run.frames.flatMap(({ entries }) => entries).filter(({ type }) => type === 'scope.compensated');
    const compensate = { compensate: { action: 'look@1' } };
    const failing = drive({
      config: { failureNode: 'tell' },
      nodes: { a: compensate, b: { needs: ['a'] }, tell: {} },
    });
    failing.complete('a').fail('b').fail('~undo/a');
    expect(failing.running()).toEqual(['tell']);
    expect(ends(failing)).toEqual([{ type: 'scope.compensated', scope: '', undone: 0, left: 1 }]);
    expect(ends(failing.complete('tell'))).toHaveLength(1);
    expect(ends(repeatedEntry())).toEqual([{ type: 'scope.compensated', scope: 'g', undone: 1, left: 0 }]);
  });

  it('[VIEW-7] the history has a span for each queue, wait and attempt', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '1s' } } } }, { starts: false });
    run.advance(10).start('a').advance(20).fail('a').advance(1_000).start('a').advance(5).complete('a');
    const { path, status, spans, endedAt } = viewOf(run).history.node('a') ?? {};
    const t = run.frames[0]?.at ?? 0;
    expect({ path, status, endedAt }).toEqual({ path: 'a', status: 'completed', endedAt: t + 1_035 });
    expect(spans).toMatchObject([
      { kind: 'queued', from: t, to: t + 10 },
      { kind: 'running', from: t + 10, to: t + 30, attempt: 1, worker: 'wrk_test', end: 'failed' },
      { kind: 'waiting', from: t + 30, to: t + 1_030 },
      { kind: 'queued', from: t + 1_030, to: t + 1_030 },
      { kind: 'running', from: t + 1_030, to: t + 1_035, attempt: 2, worker: 'wrk_test', end: 'completed' },
    ]);
  });

  it('[VIEW-14] the history has every iteration of a loop, with its times, its status and its error', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1, 2, 3], parallel: true, minSuccess: 1 }, do: { nodes: { x: {} } } } },
    });
    run.advance(5).complete('each/1/x').advance(5).fail('each/0/x', { code: 'BAD' });
    const t = run.frames[0]?.at ?? 0;
    expect(viewOf(run).history.iterations('each')).toMatchObject([
      { iteration: 0, status: 'failed', startedAt: t, endedAt: t + 10, error: { code: 'BAD' } },
      { iteration: 1, status: 'completed', startedAt: t, endedAt: t + 5 },
      { iteration: 2, status: 'open', startedAt: t, endedAt: null },
    ]);
    expect(viewOf(run).history.iterations('nobody')).toEqual([]);
  });

  it('[VIEW-46] the history of a loop that failed has the other iterations as cancelled, until a retry continues them', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { x: {} } } } },
    });
    run.advance(5).fail('each/0/x', { code: 'BAD' }).breakOff('each/1/x');
    const statuses = () =>
      viewOf(run)
        .history.iterations('each')
        .map(({ status, endedAt }) => [status, endedAt !== null]);
    const paged = () => {
      const loop = new LoopHistory('each');
      for (const { at, entries } of run.frames) for (const entry of entries) loop.note(entry, at);
      return loop.iterations;
    };
    expect(statuses()).toEqual([
      ['failed', true],
      ['cancelled', true],
    ]);
    expect(paged()).toEqual(viewOf(run).history.iterations('each'));
    run.retry();
    expect(statuses()[1]).toEqual(['open', false]);
    expect(paged()).toEqual(viewOf(run).history.iterations('each'));
  });

  it('[VIEW-19] a loop alone has the same history as in the view of its run, also after it began again', () => {
    const items = Array.from({ length: 25 }, (_, index) => index);
    const run = drive({
      nodes: {
        each: {
          forEach: { in: items },
          do: { nodes: { inner: { forEach: { in: [1] }, do: { nodes: { x: {} } } } } },
          retry: { attempts: 2 },
        },
      },
    });
    for (let index = 0; index < 3; index++) run.advance(1).complete(`each/${index}/inner/0/x`);
    run.fail('each/3/inner/0/x', { code: 'BAD' }).advance(10_000);
    for (const index of items) run.advance(1).complete(`each/${index}/inner/0/x`);
    const { history } = viewOf(run);
    const all = history.iterations('each');
    expect([all.length, run.status]).toEqual([25, 'completed']);
    const loop = new LoopHistory('each');
    for (const { at, entries } of run.frames) for (const entry of entries) loop.note(entry, at);
    expect(loop.iterations).toEqual(all);
    expect(loop.counts).toEqual({ open: 0, completed: 25, failed: 0, cancelled: 0 });
    expect([loop.itemOf(7)?.at, loop.itemOf(25)]).toEqual([7, undefined]);
  });

  it('[VIEW-60] a document of a scope has its nodes alone', () => {
    const run = drive({
      nodes: {
        each: {
          forEach: { in: [1, 2], parallel: true },
          do: { nodes: { inner: { forEach: { in: [1] }, do: { nodes: { x: {} } } } } },
        },
      },
    });
    const paths = (within?: string) => Object.keys(documentOf(run.state, none, undefined, { scope: within }).nodes);
    expect(paths('')).toEqual(['each']);
    expect(paths('each')).toEqual(['each/0/inner', 'each/1/inner']);
    expect(paths('each/1')).toEqual(['each/1/inner']);
    expect(paths('each/1/inner')).toEqual(['each/1/inner/0/x']);
    expect(paths('each/1/inner/0')).toEqual(['each/1/inner/0/x']);
    expect(paths('eac')).toEqual([]);
    expect(paths()).toHaveLength(5);
    const parts: string[][] = [];
    for (let after: string | undefined; ; ) {
      const { nodes, nodesNext } = documentOf(run.state, none, undefined, { limit: 2, after });
      parts.push(Object.keys(nodes));
      if (nodesNext == null) break;
      after = nodesNext;
    }
    expect([parts.flat(), parts.length]).toEqual([paths(), 3]);
    expect(documentOf(run.state, none, undefined, { after: 'nobody', limit: 2 })).toMatchObject({
      nodes: {},
      nodesNext: null,
    });
  });

  it('[VIEW-61] previews of a retry and a replay name what is reopened', () => {
    const run = drive({
      nodes: {
        a: {},
        each: { needs: ['a'], forEach: { in: [1, 2], parallel: true }, do: { nodes: { x: {}, y: { needs: ['x'] } } } },
        last: { needs: ['each'] },
      },
    });
    run.complete('a').complete('each/0/x').complete('each/0/y').complete('each/1/x').fail('each/1/y', { code: 'BAD' });
    expect(run.status).toBe('failed');
    const retried = reopenPreview(run.state);
    const replayed = reopenPreview(run.state, { node: 'each' });
    expect(replayed).toMatchObject({ again: expect.arrayContaining(['each', 'last']), continues: [], kept: ['a'] });
    expect(reopenPreview(run.state, { node: 'nobody' })).toBeUndefined();
    run.retry();
    const entry = run.frames.flatMap(({ entries }) => entries).find(({ type }) => type === 'run.reopened');
    expect(entry).toMatchObject({ nodes: retried?.again, open: retried?.continues });
    expect(retried?.continues).toEqual(['each']);
    expect(retried?.kept).toEqual(['a', 'each/1/x']);
  });
});
