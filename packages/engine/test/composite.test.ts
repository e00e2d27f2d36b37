import type { Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import type { WaitResult } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

async function childOf(top: BenchTop): Promise<string> {
  const { rows } = await top.engine.list({ limit: 10 });
  const child = rows.find(({ workflowId }) => workflowId === 'sub');
  if (child === undefined) throw new Error('there is no child');
  return child.executionId;
}

describe('child executions', () => {
  const parent = {
    id: 'main',
    nodes: { call: { workflow: { id: 'sub', mode: 'child', input: { n: 1 } } }, after: hand({ needs: ['call'] }) },
  };
  const sub = (more = {}) => ({ id: 'sub', nodes: { work: hand() }, output: '{{ $work }}', ...more });

  it('[ENG-80] run as separate executions, linked both ways; the output is returned', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(sub());
    const executionId = await top.start(parent);
    const childId = await childOf(top);
    await top.complete('work', { done: true });
    expect(await top.status(childId)).toBe('completed');
    expect(await top.engine.document(executionId)).toMatchObject({
      nodes: { call: { status: 'completed', output: { done: true } } },
    });
    await top.complete('after');
    expect(await top.status(executionId)).toBe('completed');
    const [started] = await top.engine.journal(childId);
    expect(started?.entries[0]).toMatchObject({ type: 'run.started', parent: { executionId, node: 'call', depth: 1 } });
  });

  it('[ENG-81] survive a crash between the parent that asks and the child that is created', async () => {
    const top = new BenchTop();
    await top.open({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, key) {
            const value = Reflect.get(target, key) as unknown;
            if (key !== 'append') return typeof value === 'function' ? value.bind(target) : value;
            return async (writes: readonly Write[]) => {
              const outcomes = await target.append(writes);
              if (!writes.some(({ frame }) => frame?.entries.includes('child.requested'))) return outcomes;
              top.crash();
              return new Promise<never>(() => {});
            };
          },
        }),
    });
    await top.register(sub());
    void top.engine
      .register(parent as never)
      .then(({ workflowId, version }) => top.engine.start(workflowId, version, { executionId: 'exe_main' }));
    await top.untilIdle();
    expect((await top.store.list({ limit: 9 })).rows).toHaveLength(1);
    await top.open();
    await top.clock.advance(1_000);
    await top.complete('work', 'late');
    await top.complete('after');
    expect(await top.status('exe_main')).toBe('completed');
  });

  it('[ENG-82] a cancelled parent cancels its child, and ends after it', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(sub());
    const executionId = await top.start(parent);
    const childId = await childOf(top);
    await top.engine.requestCancel(executionId, 'enough');
    await top.clock.advance(1_000);
    expect(await top.status(childId)).toBe('cancelled');
    expect(await top.status(executionId)).toBe('cancelled');
  });

  it('[ENG-83] a child that cannot be started has failed', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(sub({ input: { type: 'object', properties: { n: { type: 'string' } } } }));
    const executionId = await top.start(parent);
    await top.untilIdle();
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'failed',
      error: { code: 'INPUT_INVALID', node: 'call' },
    });
  });

  it('[ENG-84] a large output of a child becomes one of the parent', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 200 });
    await top.register(sub());
    const executionId = await top.start(parent);
    await top.complete('work', 'x'.repeat(1_000));
    await top.complete('after');
    const childId = await childOf(top);
    expect(await top.engine.delete(childId)).toBe(true);
    expect(await top.engine.document(executionId)).toMatchObject({ nodes: { call: { output: 'x'.repeat(1_000) } } });
  });
});

describe('waiting for a run with children', () => {
  const approval = { id: 'sub', nodes: { ok: { wait: { approval: {} } } } };
  const middle = { id: 'middle', nodes: { down: { workflow: { id: 'sub', mode: 'child' } } } };
  const both = {
    id: 'main',
    nodes: {
      one: { workflow: { id: 'sub', mode: 'child' } },
      two: { workflow: { id: 'middle', mode: 'child' } },
      work: hand(),
    },
  };

  it('[ENG-107] it is parked when its own work is done and all of them are parked, at any depth', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(approval);
    await top.register(middle);
    const executionId = await top.start(both);
    let waitResult: WaitResult | undefined;
    void top.engine.waitFor(executionId).then((result) => (waitResult = result));
    await top.clock.advance(5_000);
    expect(waitResult).toBeUndefined();
    await top.complete('work');
    await top.clock.advance(100);
    expect(waitResult).toMatchObject({
      parked: true,
      document: { executionId, status: 'running' },
      inside: [
        { parked: true, document: { workflowId: 'sub' }, inside: [] },
        { parked: true, document: { workflowId: 'middle' }, inside: [{ document: { workflowId: 'sub' } }] },
      ],
    });
    // A later caller, or an engine that has not seen the run before, gets the same.
    await top.open();
    await top.clock.advance(100_000);
    const again = top.engine.waitFor(executionId);
    await top.clock.advance(100);
    expect(await again).toMatchObject({ parked: true, inside: [{ parked: true }, { parked: true }] });
  });

  it('[ENG-107] waits if one of them continues', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(approval);
    const parent = { id: 'main', nodes: { one: both.nodes.one, two: both.nodes.one } };
    const executionId = await top.start(parent);
    const { rows } = await top.engine.list({ limit: 9 });
    const children = rows.filter(({ workflowId }) => workflowId === 'sub').map((row) => row.executionId);
    for (const [n, child] of children.entries()) {
      expect(await waited(top, executionId)).toMatchObject({ parked: true, inside: { length: children.length - n } });
      await top.engine.requestAnswer(child, 'ok', { approved: true, by: 'ann' });
      await top.clock.advance(10);
    }
    expect(await waited(top, executionId)).toMatchObject({ parked: false, document: { status: 'completed' } });
  });

  it('[ENG-108] queries the store once for all of them', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(approval);
    const executionId = await top.start({
      id: 'main',
      nodes: { each: { forEach: { in: '{{ range(0, 50) }}' }, do: { nodes: { call: both.nodes.one } } } },
    });
    await top.clock.advance(40_000);
    const asked: string[] = [];
    await top.open({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, key) {
            const value = Reflect.get(target, key) as unknown;
            if (typeof value !== 'function') return value;
            return (...args: unknown[]) => {
              asked.push(String(key));
              return value.apply(target, args);
            };
          },
        }),
    });
    await top.clock.advance(0);
    asked.length = 0;
    await top.engine.requestSignal(executionId, { signal: 'nobody waits for it' });
    await top.clock.advance(0);
    expect(asked.filter((name) => name === 'known')).toHaveLength(1);
    expect(asked.filter((name) => name === 'execution').length).toBeLessThan(5);
  });

  it('[ENG-109] the journal is not read again for each of them, and memory is empty when they wait', async () => {
    const top = new BenchTop();
    const read: string[] = [];
    await top.open({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, key) {
            const value = Reflect.get(target, key) as unknown;
            if (typeof value !== 'function') return value;
            return (...args: unknown[]) => {
              if (key === 'frames') read.push(String(args[0]));
              return value.apply(target, args);
            };
          },
        }),
    });
    await top.register({ id: 'sub', nodes: { a: { action: 'echo@1' } } });
    const executionId = await top.start({
      id: 'main',
      nodes: {
        each: { forEach: { in: '{{ range(0, 50) }}' }, do: { nodes: { call: both.nodes.one } } },
        ok: { needs: ['each'], wait: { approval: {} } },
      },
    });
    await top.clock.advance(5_000);
    expect(await top.statuses(executionId)).toMatchObject({ each: 'completed', ok: 'waiting' });
    expect(read.filter((id) => id === executionId).length).toBeLessThan(5);
    expect((await top.engine.metrics()).gauges['engine.cached_runs']).toBe(0);
    await top.register(approval);
    await top.start(both);
    await top.complete('work');
    await top.clock.advance(5_000);
    expect((await top.engine.metrics()).gauges['engine.cached_runs']).toBe(0);
  });

  async function waited(top: BenchTop, executionId: string): Promise<WaitResult> {
    const result = top.engine.waitFor(executionId);
    await top.clock.advance(2_000);
    return result;
  }
});

describe('workflows inside others', () => {
  it('[ENG-85] are pinned to the version that was current when the outer one was registered', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({ id: 'sub', nodes: { one: hand() } });
    const { workflowId, version } = await top.register({ id: 'main', nodes: { in: { workflow: { id: 'sub' } } } });
    await top.register({ id: 'sub', nodes: { two: hand() } });
    void top.engine.start(workflowId, version);
    await top.untilIdle();
    expect(top.ran).toEqual(['in/one']);
  });

  it('[ENG-131] a child without a version runs the text that was registered last, however old', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({ id: 'sub', nodes: { one: hand() } });
    await top.register({ id: 'sub', nodes: { two: hand() } });
    expect(await top.register({ id: 'sub', nodes: { one: hand() } })).toMatchObject({ version: 1, created: false });
    await top.start({ nodes: { child: { workflow: { id: 'sub', mode: 'child' } } } });
    expect(top.ran).toEqual(['one']);
  });
});

describe('requests', () => {
  it('[ENG-86] a signal reaches a parked run, and one that comes early is kept', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = {
      nodes: { first: hand(), wait: { needs: ['first'], wait: { signal: 'go' } }, after: hand({ needs: ['wait'] }) },
    };
    const early = await top.start(definition);
    await top.engine.requestSignal(early, { signal: 'go', payload: 1 });
    await top.untilIdle();
    await top.complete('first');
    expect(top.ran).toEqual(['first', 'after']);
    const executionId = await top.start({ nodes: { wait: { wait: { signal: 'go', key: 'k' } } } });
    expect(await top.engine.waitFor(executionId)).toMatchObject({ parked: true });
    await top.engine.requestSignal(executionId, { signal: 'go', key: 'k', payload: { n: 1 } });
    await top.untilIdle();
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { wait: { output: { payload: { n: 1 } } } },
    });
  });

  it('[ENG-87] an answer is checked before it is left: who, whether it is waited for, and the form', async () => {
    const top = new BenchTop();
    await top.open();
    const form = { type: 'object', required: ['n'] };
    const executionId = await top.start({
      nodes: { ok: { wait: { approval: { title: 'Pay?', who: ['ann'], form } } }, w: { wait: { signal: 's' } } },
    });
    const answer = (node: string, by: string, more: object = {}) =>
      top.engine.requestAnswer(executionId, node, { approved: true, by, ...more });
    await expect(answer('ok', 'eve')).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    await expect(answer('w', 'ann')).rejects.toMatchObject({ code: 'NOT_WAITING' });
    await expect(answer('nope', 'ann')).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
    await expect(answer('ok', 'ann', { form: {} })).rejects.toMatchObject({ code: 'FORM_INVALID' });
    expect(await answer('ok', 'ann', { form: { n: 1 } })).toBe(true);
    await top.untilIdle();
    expect(await top.statuses(executionId)).toMatchObject({ ok: 'completed' });
  });

  it('[ENG-88] a paused run is listed as such, costs no wake-up, and continues when it is resumed', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await top.engine.requestPause(executionId, 'lunch');
    await top.untilIdle();
    await top.complete('a');
    expect(top.data.runs.get(executionId)?.row).toMatchObject({ status: 'paused', wakeAt: null });
    await top.open();
    await top.clock.advance(100_000);
    expect(top.ran).toEqual(['a']);
    await top.engine.requestResume(executionId);
    await top.untilIdle();
    expect(top.ran).toEqual(['a', 'b']);
    expect(top.data.runs.get(executionId)?.row.status).toBe('running');
  });

  it('[ENG-89] a replay runs a node again with another input', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await expect(top.engine.requestReplay(executionId, 'a')).rejects.toMatchObject({ code: 'STILL_RUNNING' });
    await top.complete('a');
    await top.complete('b');
    const { key } = top.call('b');
    await expect(top.engine.requestReplay(executionId, 'c')).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
    await top.engine.requestReplay(executionId, 'b', { edited: 1 });
    await top.untilIdle();
    expect(top.call('b')).toMatchObject({ input: { edited: 1 }, attempt: 2 });
    expect(top.call('b').key).not.toBe(key);
  });

  it('[ENG-141] an edited input goes where a node has one, and is refused elsewhere', async () => {
    const top = new BenchTop();
    await top.open();
    const loop = { forEach: { in: [1] }, do: { nodes: { x: hand({ with: { it: '{{ $item }}' } }) } } };
    const executionId = await top.start({ nodes: { each: loop, last: { needs: ['each'], set: { v: 1 } } } });
    await top.complete('each/0/x');
    await expect(top.engine.requestReplay(executionId, 'last', 7)).rejects.toMatchObject({ code: 'NO_INPUT' });
    await expect(top.engine.fork(executionId, 'each', 7)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    await top.engine.requestReplay(executionId, 'each', [7]);
    await top.untilIdle();
    expect(top.call('each/0/x').input).toEqual({ it: 7 });
  });

  it('[ENG-130] a replay that is not possible, or during an undo, is refused at once', async () => {
    const top = new BenchTop();
    await top.open();
    const loop = { forEach: { in: [1] }, do: { nodes: { x: hand() } } };
    const compensate = { action: 'hand@1' };
    const executionId = await top.start({
      nodes: { each: loop, a: hand({ compensate, needs: ['each'] }), b: hand({ needs: ['a'] }) },
    });
    await top.complete('each/0/x');
    await expect(top.engine.requestReplay(executionId, 'each/0/x')).rejects.toMatchObject({ code: 'NOT_REPLAYABLE' });
    await expect(top.engine.fork(executionId, 'each/0/x')).rejects.toMatchObject({ code: 'NOT_REPLAYABLE' });
    await top.complete('a');
    await top.fail('b');
    await expect(top.engine.requestCancel(executionId, 'no')).rejects.toMatchObject({ code: 'ALREADY_ENDING' });
    expect(await top.engine.requestCancel(executionId, 'leave it', { compensate: false })).toBe(true);
    await top.untilIdle();
    expect(await top.statuses(executionId)).toMatchObject({ b: 'failed', '~undo/a': 'cancelled' });
  });
});

describe('loops', () => {
  it('[ENG-90] survive a crash in every iteration, and give the same', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(
      {
        nodes: {
          each: {
            forEach: { in: '$input.list', parallel: true, maxConcurrency: 2 },
            do: { nodes: { a: hand(), b: hand({ needs: ['a'] }) } },
          },
        },
      },
      { list: [1, 2, 3, 4, 5] },
    );
    for (let step = 0; step < 30 && (await top.status(executionId)) === 'running'; step++) {
      const open = (await top.engine.document(executionId))?.nodes ?? {};
      const [node] = Object.entries(open).find(([path, { status }]) => status === 'running' && path.includes('/')) ?? [
        '',
      ];
      await top.complete(node, node);
      await top.open();
      await top.clock.advance(1_000);
    }
    const each = [0, 1, 2, 3, 4].map((round) => `each/${round}/b`);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed', output: { each } });
  });

  it('[ENG-91] items and results above the inline limit are blobs', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100 });
    const list = Array.from({ length: 20 }, (_, n) => `item ${n} ${'x'.repeat(20)}`);
    const executionId = await top.start(
      {
        nodes: {
          each: {
            forEach: { in: '$input.list' },
            do: { nodes: { e: { action: 'echo@1', with: { it: '{{ $item }}' } } } },
          },
        },
      },
      { list },
    );
    await top.clock.advance(10_000);
    const document = await top.engine.document(executionId);
    expect(document?.output).toEqual({ each: list.map((it) => ({ it })) });
  });
});
