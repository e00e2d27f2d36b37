/** Several engines on one store, with one queue or with one each. */
import type { Json } from '@nebula/core';
import { memoryQueue, memoryStore } from '@nebula/drivers/memory';
import type { Delivery, Queue, Store, Task, Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { createEngine, type Engine, type EngineOptions } from '../src/index.ts';
import { altered, BenchTop, changed } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const LEASE_MS = 30_000;

interface Member {
  readonly engine: Engine;
  readonly store: Store;
  /** Milliseconds that its clock is ahead. */
  skewMs: number;
}

type Changes = Partial<Pick<Store, 'append' | 'claimDue' | 'execution' | 'heartbeat' | 'load' | 'permits' | 'watch'>>;

/** An engine beside the others, on the same data. */
async function join(
  top: BenchTop,
  queue?: Queue,
  change: (store: Store) => Changes = () => ({}),
  options: Pick<EngineOptions, 'sliceMs'> = {},
): Promise<Member> {
  const plain = memoryStore({ data: top.data, exclusive: false });
  const store = changed(plain, change(plain));
  const member = { store, skewMs: 0 } as { -readonly [K in keyof Member]: Member[K] };
  const clock = {
    now: () => top.clock.now() + member.skewMs,
    timer: top.clock.timer.bind(top.clock),
    soon: top.clock.soon.bind(top.clock),
  };
  const drivers = { ...top.drivers, store, queue: queue ?? memoryQueue({ clock }), clock };
  member.engine = createEngine(drivers, {
    actions: top.actions,
    concurrency: 1,
    inlineLimitBytes: 1_000,
    ...options,
  });
  member.engine.on((event) => top.events.push(event));
  const opened = member.engine.open();
  await top.untilIdle();
  await opened;
  return member;
}

/** One queue for all; `loses` says which tasks it forgets. */
function sharedQueue(top: BenchTop, loses: (task: Task) => boolean = () => false) {
  const queue = memoryQueue({ clock: top.clock });
  const polled: Delivery[] = [];
  const shared: Queue = {
    local: false,
    enqueue: async (tasks) => void queue.enqueue(tasks.filter((task) => !loses(task))),
    poll: (max, routes) => {
      const deliveries = queue.poll(max, routes);
      polled.push(...deliveries);
      return deliveries;
    },
    routes: () => queue.routes(),
    onAvailable: (callback) => queue.onAvailable(callback),
    ack: (delivery) => queue.ack(delivery),
    nack: (delivery, delayMs) => queue.nack(delivery, delayMs),
    extend: (delivery) => queue.extend(delivery),
    stats: () => queue.stats(),
    close: () => queue.close(),
  };
  return { shared, polled };
}

async function begun(top: BenchTop): Promise<BenchTop> {
  // Only for its drivers: the engines of these tests join on their own.
  await top.open();
  await top.engine.close();
  return top;
}

async function start(top: BenchTop, { engine }: Member, definition: Record<string, unknown>): Promise<string> {
  const { workflowId, version } = await engine.register({ id: 'test', ...definition } as Json);
  const started = engine.start(workflowId, version, { executionId: 'exe_1' });
  await top.untilIdle();
  return started;
}

/** Answers of a store that are given when they are released. */
function delayedAnswers() {
  const delayed: (() => void)[] = [];
  const answers = {
    areDelayed: false,
    delayed,
    async after<T>(answer: Promise<T>, isConcerned: boolean): Promise<T> {
      const given = await answer;
      if (answers.areDelayed && isConcerned) await new Promise<void>((resolve) => delayed.push(resolve));
      return given;
    },
    release() {
      answers.areDelayed = false;
      for (const resolve of delayed.splice(0)) resolve();
    },
  };
  return answers;
}

/** How many signals the journal of `exe_1` has. */
async function timesKept({ store }: Member): Promise<number> {
  const { frames = [] } = (await store.load('exe_1', { after: 0 })) ?? {};
  const entries = frames.flatMap((frame) => JSON.parse(frame.entries) as { type: string }[]);
  return entries.filter(({ type }) => type === 'signal.kept').length;
}

const three = { nodes: { a: hand(), b: hand({ needs: ['a'] }), c: hand({ needs: ['a'] }) } };

describe('one queue for all', () => {
  it('[ENG-67] a task of a run that is not in memory is read for and started', async () => {
    const top = await begun(new BenchTop());
    const { shared } = sharedQueue(top);
    const first = await join(top, shared);
    const second = await join(top, shared);
    await start(top, first, { nodes: { a: hand(), b: hand() } });
    expect(top.ran.toSorted()).toEqual(['a', 'b']);
    expect(second.engine.peek('exe_1')).toMatchObject({ nodes: { b: { status: 'running' } } });
    await top.complete('a');
    await top.complete('b');
    expect(await first.engine.document('exe_1')).toMatchObject({ status: 'completed' });
  });

  it.each([
    ['at once', {}],
    ['although turns pause', { sliceMs: 0 }],
  ])(
    '[ENG-67] a task that another engine made ready is started %s, by any engine that takes it',
    async (_, options) => {
      const top = await begun(new BenchTop());
      const { shared } = sharedQueue(top);
      const first = await join(top, shared, undefined, options);
      const second = await join(top, shared, undefined, options);
      await start(top, first, { nodes: { ...three.nodes, d: hand() } });
      const one = top.calls[0]?.node as string;
      await top.complete(one === 'a' ? 'd' : 'a');
      await top.complete(one);
      expect(top.ran.toSorted()).toEqual(['a', 'b', 'c', 'd']);
      await top.complete('b');
      await top.complete('c');
      expect(await second.engine.document('exe_1')).toMatchObject({ status: 'completed' });
      expect((await shared.stats()).depth).toBe(0);
    },
  );

  it('[ENG-68] a task that the queue loses is offered again', async () => {
    const top = await begun(new BenchTop());
    let lost = 0;
    const { shared } = sharedQueue(top, ({ node }) => node === 'b' && lost++ < 1);
    const only = await join(top, shared);
    await start(top, only, { nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await top.complete('a');
    expect(top.ran).toEqual(['a']);
    await top.clock.advance(31_000);
    expect(top.ran).toEqual(['a', 'b']);
  });

  it('[ENG-68] a queue that refuses is trouble, and no more', async () => {
    const top = await begun(new BenchTop());
    const { shared } = sharedQueue(top);
    let isDown = true;
    const enqueue: Queue['enqueue'] = (tasks) =>
      isDown ? Promise.reject(new Error('no connection')) : shared.enqueue(tasks);
    const only = await join(top, { ...shared, enqueue });
    await start(top, only, { nodes: { a: hand() } });
    expect(top.events).toContainEqual(expect.objectContaining({ type: 'trouble' }));
    isDown = false;
    await top.clock.advance(31_000);
    expect(top.ran).toEqual(['a']);
  });
});

describe('one store for all', () => {
  it('[ENG-69] a wake time that was decided on an old reading does not put a run to sleep', async () => {
    const top = await begun(new BenchTop());
    let delayed: (() => void) | undefined;
    let blobPins = false;
    const slow = (store: Store): Changes => ({
      append: async (writes: readonly Write[]) => {
        if (blobPins) await new Promise<void>((resolve) => (delayed = resolve));
        return store.append(writes);
      },
    });
    const first = await join(top);
    await start(top, first, { nodes: { pay: { action: 'pay@1' }, then: hand({ needs: ['pay'] }) } });
    await top.fail('pay', { details: { outcome: 'unknown' } });
    await first.engine.close();
    // One engine is woken for nothing, and is slow to report; another receives a request meanwhile.
    const second = await join(top, undefined, slow);
    blobPins = true;
    await second.store.send({ messageId: 'msg_1', executionId: 'exe_1', body: '{}' }, top.clock.now());
    await second.engine.requestCancel('exe_2', 'nobody');
    await top.clock.advance(10_000);
    expect(delayed).toBeDefined();
    const third = await join(top);
    await third.engine.requestSettle('exe_1', 'pay', { happened: false, then: 'retry' });
    await top.clock.advance(31_000);
    expect(top.call('pay').attempt).toBe(2);
    blobPins = false;
    delayed?.();
    await top.untilIdle();
    expect(top.data.runs.get('exe_1')?.row.wakeAt).not.toBeNull();
  });

  it('[ENG-272] a request that another engine took is not acted on again by one that read it before', async () => {
    const top = await begun(new BenchTop());
    const answers = delayedAnswers();
    const slow = await join(top, undefined, (store) => ({
      load: (id, options) => answers.after(store.load(id, options), options?.after !== undefined),
    }));
    await start(top, slow, { nodes: { a: hand() } });
    answers.areDelayed = true;
    await slow.engine.requestSignal('exe_1', { signal: 's', key: '', payload: 1 });
    await top.untilIdle();
    expect(answers.delayed).toHaveLength(1);
    // The claim expires, and another engine takes the request; then the slow one reads the journal again.
    await join(top);
    await top.clock.advance(100_000);
    expect(top.inboxOf('exe_1')).toBe(0);
    answers.release();
    await top.clock.advance(1_000);
    await top.complete('a');
    expect(await timesKept(slow)).toBe(1);
  });

  it('[ENG-272] a request that comes while the journal is read again is acted on', async () => {
    const top = await begun(new BenchTop());
    const answers = delayedAnswers();
    const only = await join(top, undefined, (store) => ({
      load: (id, options) => answers.after(store.load(id, options), options?.after === undefined),
      append: async (writes) => (answers.areDelayed ? writes.map(() => ({ ok: false })) : store.append(writes)),
    }));
    await start(top, only, { nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    answers.areDelayed = true;
    await top.complete('a');
    expect(answers.delayed).toHaveLength(1);
    await only.engine.requestSignal('exe_1', { signal: 's', key: '', payload: 1 });
    await top.untilIdle();
    answers.release();
    await top.untilIdle();
    expect(await timesKept(only)).toBe(1);
    expect(top.inboxOf('exe_1')).toBe(0);
  });

  it('[ENG-70] an attempt that is granted after the lease has expired does not begin', async () => {
    const top = await begun(new BenchTop());
    let answer: (() => void) | undefined;
    let isSlow = false;
    const slow = (store: Store): Changes => ({
      append: async (writes: readonly Write[]) => {
        const outcomes = await store.append(writes);
        if (isSlow && writes.length > 0) await new Promise<void>((resolve) => (answer = resolve));
        return outcomes;
      },
      heartbeat: (leases) => (isSlow ? Promise.reject(new Error('no connection')) : store.heartbeat(leases)),
    });
    const first = await join(top, undefined, slow);
    isSlow = true;
    const { workflowId, version } = await first.engine.register({ id: 'test', nodes: { pay: { action: 'pay@1' } } });
    const started = first.engine.start(workflowId, version, { executionId: 'exe_1' });
    await top.clock.advance(LEASE_MS + 1_000);
    isSlow = false;
    answer?.();
    await top.untilIdle();
    await started;
    expect(top.ran).toEqual([]);
    await top.clock.advance(2_000);
    expect(top.ran).toEqual(['pay']);
    const entries = (await first.engine.journal('exe_1')).flatMap((frame) => frame.entries);
    expect(entries.map((entry) => (entry as { type: string }).type)).toContain('node.returned');
  });

  it('[ENG-321] a lease counts from the request for it, however late the answer of the store comes', async () => {
    const top = await begun(new BenchTop());
    let beats = 0;
    const first = await join(top, undefined, (store) => ({
      heartbeat: async (leases) => {
        if (++beats > 2) throw new Error('no connection');
        await store.heartbeat(leases);
        // The second one is asked for after 10 s, and answered after 30 s.
        if (beats === 2) await new Promise<void>((resolve) => void top.clock.timer(20_000, resolve));
      },
    }));
    await top.clock.advance(10_000 + LEASE_MS + 1_000);
    const { workflowId, version } = await first.engine.register({ id: 'test', nodes: { pay: { action: 'pay@1' } } });
    const started = first.engine.start(workflowId, version, { executionId: 'exe_1' });
    await top.untilIdle();
    await started;
    expect(beats).toBeGreaterThanOrEqual(2);
    expect(top.ran).toEqual([]);
  });

  it('[ENG-323] an engine whose state is old takes no message that it cannot act on', async () => {
    const top = await begun(new BenchTop());
    let [isDeaf, isSlow] = [false, false];
    const held: (() => void)[] = [];
    const runner = await join(top, undefined, (store) => ({
      claimDue: async (...request) =>
        isDeaf ? { executionIds: [], nextWakeAt: null, dueSince: null } : store.claimDue(...request),
    }));
    await start(top, runner, { nodes: { a: hand() } });
    isDeaf = true;
    const slow = await join(top, undefined, (store) => ({
      append: async (writes: readonly Write[]) => {
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        return store.append(writes);
      },
    }));
    isSlow = true;
    // The run is not over yet, so the retry has nothing to do for the slow engine; then the run fails.
    const body = JSON.stringify({ type: 'retry' });
    await slow.store.send({ messageId: 'msg_1', executionId: 'exe_1', body }, top.clock.now());
    await top.clock.advance(10_000);
    expect(held).toHaveLength(1);
    await top.fail('a');
    expect(top.data.runs.get('exe_1')?.row.status).toBe('failed');
    isSlow = false;
    for (const resume of held) resume();
    await top.clock.advance(60_000);
    expect(top.inboxOf('exe_1')).toBe(0);
    expect(top.call('a').attempt).toBe(2);
  });

  it('[ENG-71] a request without a hint is found with the next heartbeat', async () => {
    const top = await begun(new BenchTop());
    const unnotified = (): Changes => ({ watch: () => () => {} });
    const first = await join(top, undefined, unnotified);
    await start(top, first, { nodes: { pay: { action: 'pay@1' } } });
    await top.fail('pay', { details: { outcome: 'unknown' } });
    expect(top.data.runs.get('exe_1')?.row.wakeAt).toBeNull();
    const body = JSON.stringify({ type: 'cancel', reason: 'enough' });
    await memoryStore({ data: top.data, exclusive: false }).send(
      { messageId: 'msg_1', executionId: 'exe_1', body },
      top.clock.now(),
    );
    await top.clock.advance(10_000);
    expect(top.data.runs.get('exe_1')?.row.status).toBe('cancelled');
  });

  it('[ENG-76] an engine whose clock is far ahead takes others for dead; once is not run twice', async () => {
    const top = await begun(new BenchTop());
    const first = await join(top);
    const second = await join(top);
    await start(top, first, { nodes: { pay: { action: 'pay@1' }, work: hand() } });
    second.skewMs = 3_600_000;
    await top.clock.advance(60_000);
    expect(await first.engine.document('exe_1')).toMatchObject({ nodes: { pay: { status: 'unknown' } } });
    await top.complete('pay', 'late');
    await top.clock.advance(60_000);
    expect(top.ran.filter((node) => node === 'pay')).toHaveLength(1);
    expect(await first.engine.document('exe_1')).toMatchObject({ nodes: { pay: { status: 'unknown' } } });
  });
});

describe('requests and ends', () => {
  it('[ENG-72] a settlement that comes again does not settle a later attempt', async () => {
    const top = await begun(new BenchTop());
    const first = await join(top);
    await start(top, first, { nodes: { pay: { action: 'pay@1' } } });
    await top.fail('pay', { details: { outcome: 'unknown' } });
    const sent = top.data.runs.get('exe_1');
    await first.engine.requestSettle('exe_1', 'pay', { happened: false, then: 'retry' }, 1);
    const [message] = sent?.inbox.values() ?? [];
    await top.untilIdle();
    expect(top.call('pay').attempt).toBe(2);
    await top.fail('pay', { details: { outcome: 'unknown' } });
    await first.store.send({ ...(message as NonNullable<typeof message>), messageId: 'msg_again' }, top.clock.now());
    await top.clock.advance(20_000);
    expect(await first.engine.document('exe_1')).toMatchObject({ nodes: { pay: { status: 'unknown', attempts: 2 } } });
    expect(sent?.inbox.size).toBe(0);
  });

  it('[ENG-73] a start that could not be written, and the same one again', async () => {
    const top = await begun(new BenchTop());
    let refusals = 1;
    const shaky = (store: Store): Changes => ({
      append: async (writes: readonly Write[]) => {
        if (writes.some(({ create }) => create !== undefined)) {
          if (refusals-- > 0) throw new Error('no space left');
          // The message takes longer than the check on the first one.
          await new Promise<void>((resolve) => top.clock.timer(400, resolve));
        }
        return store.append(writes);
      },
    });
    const first = await join(top, undefined, shaky);
    await expect(start(top, first, { nodes: { a: hand() } })).rejects.toThrow('no space left');
    const { workflowId, version } = await first.engine.register({ id: 'test', nodes: { a: hand() } });
    const again = first.engine.start(workflowId, version, { executionId: 'exe_1' });
    await top.clock.advance(1_000);
    await again;
    expect(top.call('a').attempt).toBe(1);
    await top.complete('a');
    expect(await first.engine.document('exe_1')).toMatchObject({ status: 'completed' });
  });

  it('[ENG-74] an end is shown as it was, although the run continues meanwhile', async () => {
    const top = await begun(new BenchTop());
    let release: (() => void) | undefined;
    let isSlow = false;
    const slow = (store: Store): Changes => ({
      execution: async (executionId) => {
        if (isSlow && release === undefined) await new Promise<void>((resolve) => (release = resolve));
        return store.execution(executionId);
      },
    });
    const first = await join(top, undefined, slow);
    await start(top, first, { nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    const ended = first.engine.waitFor('exe_1');
    await top.complete('a', 'x'.repeat(2_000));
    isSlow = true;
    await top.fail('b');
    isSlow = false;
    await first.engine.requestRetry('exe_1');
    await top.untilIdle();
    release?.();
    await top.untilIdle();
    expect(await ended).toMatchObject({ document: { status: 'failed', nodes: { b: { status: 'failed' } } } });
  });

  it('[ENG-75] waiting for a run that cannot be read is refused, and closing is quiet', async () => {
    const top = await begun(new BenchTop());
    let isBroken = false;
    const broken = (store: Store): Changes => ({
      execution: (executionId) => (isBroken ? Promise.reject(new Error('bad sector')) : store.execution(executionId)),
    });
    const first = await join(top, undefined, broken);
    isBroken = true;
    await expect(first.engine.waitFor('exe_9')).rejects.toThrow('bad sector');
    const closed = first.engine.close();
    await top.clock.advance(10_000);
    await closed;
  });
});

describe('a cancel that another engine receives', () => {
  it('[ENG-112] aborts attempts here before the grace time is over', async () => {
    const top = await begun(new BenchTop());
    // Due runs are always given to the other engine.
    const first = await join(top, undefined, () => ({
      claimDue: async () => ({ executionIds: [], nextWakeAt: null, dueSince: null }),
    }));
    await start(top, first, { nodes: { a: hand() } });
    const second = await join(top);
    await second.engine.requestCancel('exe_1', 'no');
    await top.untilIdle();
    const journal = await second.engine.journal('exe_1');
    expect(journal.at(-1)?.entries).toMatchObject([{ type: 'run.stopping' }]);
    await top.clock.advance(2_000);
    expect(top.call('a').signal.aborted).toBe(true);
    await top.untilIdle();
    expect(await first.engine.document('exe_1')).toMatchObject({ status: 'cancelled' });
  });
});

describe('starts that are one', () => {
  const flow = (start: object) => ({
    id: 'test',
    config: { start: { key: "'k'", ...start } },
    nodes: { a: hand({ with: { n: '{{ $input.n }}' } }) },
  });

  /** Both engines look before either has written. */
  async function startBoth(top: BenchTop, start: object) {
    const looks: (() => void)[] = [];
    const slow = (store: Store): Changes => ({
      permits: async (key) => {
        const rows = await store.permits(key);
        await new Promise<void>((resolve) => looks.push(resolve));
        return rows;
      },
    });
    const members = [await join(top, undefined, slow), await join(top, undefined, slow)];
    const started = members.map(async ({ engine }, n) => {
      const { workflowId, version } = await engine.register(flow(start));
      return engine.start(workflowId, version, { input: { n } });
    });
    await top.untilIdle();
    expect(looks).toHaveLength(2);
    for (const look of looks) look();
    await top.untilIdle();
    return { members, ids: await Promise.all(started) };
  }

  it('[ENG-104] two engines that start a singleton at once start it once', async () => {
    const top = await begun(new BenchTop());
    const { ids, members } = await startBoth(top, { policy: 'singleton' });
    expect(new Set(ids).size).toBe(1);
    expect(top.ran).toEqual(['a']);
    expect((await members[0]?.engine.list({ limit: 9 }))?.rows).toHaveLength(1);
    await top.complete('a');
    expect(await members[1]?.engine.document(ids[1] as string)).toMatchObject({ status: 'completed' });
  });

  it('[ENG-214] two engines that start runs with a slot at once let one of them begin', async () => {
    for (const policy of ['skip', 'wait', 'replace'] as const) {
      const top = await begun(new BenchTop());
      const members = [await join(top), await join(top)];
      const started = members.map(async ({ engine }) => {
        const { workflowId, version } = await engine.register({ id: 'test', nodes: { a: hand() } });
        const slot = { key: 'p', limit: 1, policy };
        return engine.start(workflowId, version, { slot }).catch((error: { code: string }) => error.code);
      });
      await top.untilIdle();
      const ids = await Promise.all(started);
      await top.clock.advance(2_500);
      const documents = await Promise.all(ids.map(async (id) => members[0]?.engine.document(id)));
      const statuses = documents.map((document) => document?.status).sort();
      expect(ids.filter((id) => id === 'SKIPPED')).toHaveLength(policy === 'skip' ? 1 : 0);
      expect(statuses).toEqual(
        { skip: ['running', undefined], wait: ['pending', 'running'], replace: ['cancelled', 'running'] }[policy],
      );
    }
  });

  it('[ENG-104] of two that are debounced the later input counts', async () => {
    const top = await begun(new BenchTop());
    const { ids } = await startBoth(top, { policy: 'debounce', window: '1s' });
    expect(new Set(ids).size).toBe(1);
    await top.clock.advance(1_500);
    expect(top.calls.map(({ input }) => input)).toEqual([{ n: 1 }]);
  });
});

describe('an engine that saw a run last long ago', () => {
  /** Two engines on the same data; the first one can be kept from looking for due runs. */
  async function two(top: BenchTop, concurrency: number) {
    const shared = () => memoryStore({ data: top.data, exclusive: false });
    const first = { isUnnotified: false };
    const wrapStore = altered(() => {
      const store = shared();
      const claimDue: Store['claimDue'] = (...args) =>
        first.isUnnotified
          ? Promise.resolve({ executionIds: [], nextWakeAt: null, dueSince: null })
          : store.claimDue(...args);
      return { ...store, exclusive: false, claimDue };
    });
    await top.open({ wrapStore, concurrency });
    const drivers = { ...top.drivers, store: shared(), queue: memoryQueue({ clock: top.clock }), clock: top.clock };
    const second = createEngine(drivers, { actions: top.actions, concurrency });
    return { first, second };
  }

  it('[ENG-63] reads its journal before it says when to wake it', async () => {
    const top = new BenchTop();
    const { first, second } = await two(top, 1);
    const retry = { attempts: 3, delay: '5s' };
    const executionId = await top.start({ config: { maxParallelism: 1 }, nodes: { a: hand(), b: hand({ retry }) } });
    first.isUnnotified = true;
    const opened = second.open();
    await top.clock.advance(31_000);
    await opened;
    // The second engine has read the run, and keeps it, because `b` waits for a slot.
    expect(second.peek(executionId)).toMatchObject({ nodes: { a: { status: 'running' }, b: { status: 'queued' } } });
    await top.complete('a');
    await top.fail('b');
    expect(second.peek(executionId)).toMatchObject({ nodes: { a: { status: 'running' } } });
    await top.clock.advance(5_000);
    expect(top.call('b').attempt).toBe(2);
    await top.complete('b');
    await top.clock.advance(60_000);
    expect(await top.status(executionId)).toBe('completed');
    expect(await top.cachedRuns()).toBe(0);
    expect((await second.metrics()).gauges['engine.cached_runs']).toBe(0);
  });
});
