/** Attempts that workers of other processes run. */
import { announcedAction, type Json, mayServe } from '@nebula/core';
import { memoryQueue, memoryStore } from '@nebula/drivers/memory';
import { memorySecrets } from '@nebula/drivers/secrets';
import { MAX_LOG_MESSAGE_CHARS, type Queue } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import type { ClaimRequest } from '../src/api.ts';
import { createEngine, type Engine, type RemoteTask } from '../src/index.ts';
import { altered, type BenchOptions, BenchTop } from './bench-top.ts';

const LEASE_MS = 30_000;
const TEXT = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } as const;
const announced = [
  announcedAction({ id: 'far', version: '1', effect: 'idempotent' }),
  announcedAction({ id: 'far.pay', version: '1', effect: 'once' }),
  announcedAction({ id: 'far.text', version: '1', effect: 'pure', input: TEXT, output: TEXT }),
];
const ALL = new Set(['far@1', 'far.pay@1', 'far.text@1', 'echo@1']);
const far = (more: Record<string, unknown> = {}) => ({ action: 'far@1', ...more });

async function opened(options: BenchOptions = {}): Promise<BenchTop> {
  const top = new BenchTop();
  await top.open({ announced, ...options });
  return top;
}

function asking(more: Partial<ClaimRequest> = {}): ClaimRequest {
  return { serves: (route) => mayServe(route, ALL, new Set(['gpu'])), max: 1, leaseMs: LEASE_MS, ...more };
}

/** Lets the turns that it takes happen. */
async function during<T>(top: BenchTop, work: Promise<T>): Promise<T> {
  const answer = work.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  await top.untilIdle();
  await top.clock.advance(20);
  return (await answer)();
}

const claim = (top: BenchTop, more: Partial<ClaimRequest> = {}): Promise<readonly RemoteTask[]> =>
  during(top, top.engine.remote.claim(asking(more)));

async function claimOne(top: BenchTop, more: Partial<ClaimRequest> = {}): Promise<RemoteTask> {
  const [work, ...others] = await claim(top, more);
  expect(others).toEqual([]);
  if (work === undefined) throw new Error('there was no work');
  return work;
}

const complete = (top: BenchTop, { leaseId }: RemoteTask, output: Json = null): Promise<void> =>
  during(top, top.engine.remote.end(leaseId, { status: 'completed', output }));

const STALE = { code: 'STALE_LEASE' };

async function started(top: BenchTop, executionId: string): Promise<readonly unknown[]> {
  const frames = await top.engine.journal(executionId);
  return frames
    .flatMap(({ entries }) => entries)
    .filter((entry) => (entry as { type: string }).type === 'node.started');
}

describe('claims', () => {
  it('[ENG-190] work is given out under a lease that the journal has', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far({ with: { x: '{{ $input.x }}' } }) } }, { x: 5 });
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
    const work = await claimOne(top);
    expect(work).toMatchObject({
      action: 'far@1',
      input: { x: 5 },
      executionId,
      node: 'a',
      attempt: 1,
      deadline: null,
    });
    expect(await started(top, executionId)).toMatchObject([
      { node: 'a', attempt: 1, worker: expect.stringMatching(/^lse_[0-9a-f]{32}:$/) },
    ]);
    expect(await claim(top)).toEqual([]);
    await complete(top, work, { done: true });
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      output: { a: { done: true } },
    });
    expect(top.ran).toEqual([]);
  });

  it('[ENG-190] gets several tasks at once that it serves, the most urgent first', async () => {
    const top = await opened();
    const nodes = {
      a: far({ priority: 1 }),
      b: far({ priority: 9 }),
      c: { action: 'far.text@1', with: { text: 'x' }, priority: 5 },
      d: far({ priority: 9, labels: ['tpu'] }),
      e: { action: 'echo@1', labels: ['gpu'], priority: 0 },
      f: { action: 'echo@1' },
    };
    await top.start({ nodes });
    expect(top.ran).toEqual(['f']);
    expect((await claim(top, { max: 2 })).map(({ node }) => node)).toEqual(['b', 'c']);
    expect((await claim(top, { max: 9 })).map(({ node }) => node)).toEqual(['a', 'e']);
    expect(await claim(top, { max: 9 })).toEqual([]);
  });

  it('[ENG-190] an input that does not fit is never given out', async () => {
    const top = await opened();
    const executionId = await top.start(
      { nodes: { a: { action: 'far.text@1', with: { text: '{{ $input.x }}' } } } },
      { x: 1 },
    );
    expect(await claim(top)).toEqual([]);
    expect(await top.engine.document(executionId)).toMatchObject({ error: { code: 'INPUT_INVALID', node: 'a' } });
  });

  it('[ENG-191] the worker that has waited longest is served first, as soon as there is a task', async () => {
    const top = await opened();
    const served: string[] = [];
    const wait = (name: string, more: Partial<ClaimRequest> = {}) =>
      top.engine.remote
        .claim(asking({ waitMs: 20_000, ...more }))
        .then((work) => served.push(`${name} ${work.length}`));
    void wait('other', { serves: () => false });
    void wait('first');
    void wait('second');
    await top.untilIdle();
    await top.start({ nodes: { a: far() } });
    expect(served).toEqual(['first 1']);
    await top.clock.advance(20_001);
    expect(served.sort()).toEqual(['first 1', 'other 0', 'second 0']);
  });

  it('[ENG-191] no task is handed to a worker that has disconnected meanwhile', async () => {
    const top = await opened();
    const gone = new AbortController();
    const claiming = top.engine.remote.claim(asking({ waitMs: 60_000, signal: gone.signal }));
    gone.abort();
    expect(await claiming).toEqual([]);
    const executionId = await top.start({ nodes: { a: far() } });
    const late = new AbortController();
    const half = top.engine.remote.claim(asking({ signal: late.signal }));
    late.abort();
    expect(await during(top, half)).toEqual([]);
    expect((await top.engine.metrics()).gauges['workflow.remote_tasks']).toBe(0);
    await complete(top, await claimOne(top));
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-191] a lease that has passed before it is durable is not given out', async () => {
    let isSlow = false;
    let letAppend = (): void => {};
    const top = await opened({
      wrapStore: (store) => {
        const append = store.append.bind(store);
        store.append = async (writes) => {
          if (isSlow) await new Promise<void>((resolve) => (letAppend = resolve));
          return append(writes);
        };
        return store;
      },
    });
    const executionId = await top.start({ nodes: { a: { action: 'far.pay@1' } } });
    isSlow = true;
    const claiming = top.engine.remote.claim(asking({ leaseMs: 1_000 }));
    await top.untilIdle();
    await top.clock.advance(2_000);
    isSlow = false;
    letAppend();
    expect(await during(top, claiming)).toEqual([]);
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
    await complete(top, await claimOne(top));
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-191] an engine that closes ends waiting claims', async () => {
    const top = await opened();
    const claiming = top.engine.remote.claim(asking({ waitMs: 60_000 }));
    const closing = top.engine.close({ graceMs: 0 });
    await top.clock.advance(1_000);
    await closing;
    expect(await claiming).toEqual([]);
  });

  it('[ENG-203] a worker gets work of the projects only for which it works', async () => {
    const top = await opened();
    const { workflowId, version } = await top.register({ nodes: { a: far() } });
    await during(top, top.engine.start(workflowId, version, { project: 'theirs' }));
    expect(await claim(top, { serves: (_, project) => project === 'default' })).toEqual([]);
    expect(await claim(top, { serves: (_, project) => project === 'theirs' })).toHaveLength(1);
  });

  it('[ENG-200] tasks of remote workers and of this process do not block each other', async () => {
    const top = await opened({ concurrency: 1 });
    const nodes = { a: far(), b: far(), c: { action: 'hand@1' }, d: { action: 'hand@1' } };
    await top.start({ nodes });
    expect(top.ran).toEqual(['c']);
    expect(await claim(top, { max: 5 })).toHaveLength(2);
    await top.complete('c');
    expect(top.ran).toEqual(['c', 'd']);
  });
});

describe('outcomes', () => {
  it('[ENG-192] only the open attempt may report, and once', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far(), b: far({ needs: ['a'] }) } });
    const work = await claimOne(top);
    await complete(top, work, 1);
    await expect(complete(top, work, 2)).rejects.toMatchObject(STALE);
    await expect(during(top, top.engine.remote.extend(work.leaseId))).rejects.toMatchObject(STALE);
    await expect(during(top, top.engine.remote.log(work.leaseId, [{ message: 'x' }]))).rejects.toMatchObject(STALE);
    for (const leaseId of ['', 'nonsense', work.leaseId.replace(executionId, 'exe_other'), work.leaseId.slice(1)]) {
      await expect(during(top, top.engine.remote.end(leaseId, { status: 'returned' }))).rejects.toMatchObject(STALE);
    }
    expect(await top.engine.document(executionId)).toMatchObject({
      nodes: { a: { output: 1 }, b: { status: 'queued' } },
    });
  });

  it('[ENG-192] of two outcomes told at once one counts', async () => {
    const top = await opened();
    await top.start({ nodes: { a: far() } });
    const { leaseId } = await claimOne(top);
    const ends = [1, 2].map((output) => top.engine.remote.end(leaseId, { status: 'completed', output }));
    const results = await during(top, Promise.allSettled(ends));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('[ENG-192] an output is held to the schema of the action', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: { action: 'far.text@1', with: { text: 'x' } } } });
    await complete(top, await claimOne(top), { text: 5 });
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'failed',
      error: { code: 'OUTPUT_INVALID' },
    });
  });

  it('[ENG-192] a large output becomes a blob', async () => {
    const top = await opened({ inlineLimitBytes: 100 });
    const executionId = await top.start({ nodes: { a: far() } });
    await complete(top, await claimOne(top), 'x'.repeat(1_000));
    expect(JSON.stringify(await top.engine.journal(executionId))).not.toContain('xxxxxxxx');
    expect(await top.engine.document(executionId)).toMatchObject({ output: { a: 'x'.repeat(1_000) } });
  });

  it('[ENG-192] a failure is retried by the rules of its node, a hand-back costs nothing', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far({ retry: { attempts: 2, delay: '0s' } }) } });
    const error = { code: 'NO', kind: 'USER', message: 'no' } as const;
    const end = async (outcome: Parameters<typeof top.engine.remote.end>[1]): Promise<void> =>
      during(top, top.engine.remote.end((await claimOne(top)).leaseId, outcome));
    await end({ status: 'returned' });
    await end({ status: 'failed', error });
    await end({ status: 'returned' });
    await end({ status: 'failed', error });
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', error: { code: 'NO' } });
  });

  it('[ENG-192] an unknown outcome of a once action waits to be settled', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: { action: 'far.pay@1' } } });
    const error = { code: 'HALF', kind: 'USER', message: 'the line broke' } as const;
    await during(top, top.engine.remote.end((await claimOne(top)).leaseId, { status: 'unknown', error }));
    expect(await top.statuses(executionId)).toEqual({ a: 'unknown' });
  });

  it('[ENG-192] an outcome is accepted once it is durable, and not before', async () => {
    let isDown = false;
    const top = await opened({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, key) {
            if (key === 'append' && isDown) return () => Promise.reject(new Error('disk full'));
            const value = Reflect.get(target, key) as unknown;
            return typeof value === 'function' ? value.bind(target) : value;
          },
        }),
    });
    const executionId = await top.start({ nodes: { a: far() } });
    const { leaseId } = await claimOne(top);
    isDown = true;
    let isAccepted = false;
    const ending = top.engine.remote.end(leaseId, { status: 'completed', output: 1 }).then(() => {
      isAccepted = true;
    });
    await top.clock.advance(1_000);
    expect(isAccepted).toBe(false);
    isDown = false;
    await top.clock.advance(10_000);
    await ending;
    expect(await top.status(executionId)).toBe('completed');
  });
});

describe('leases', () => {
  it('[ENG-193] an attempt whose lease has passed is lost, and counts against `lost`', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far({ retry: { lost: 1, delay: '0s' } }) } });
    const first = await claimOne(top);
    await top.clock.advance(LEASE_MS / 2);
    expect(await during(top, top.engine.remote.extend(first.leaseId))).toMatchObject({ cancel: null });
    await top.clock.advance(LEASE_MS - 100);
    expect(await top.statuses(executionId)).toEqual({ a: 'running' });
    await top.clock.advance(200);
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
    await expect(complete(top, first)).rejects.toMatchObject(STALE);
    const second = await claimOne(top, { leaseMs: 1_000 });
    expect(second).toMatchObject({ attempt: 2, idempotencyKey: first.idempotencyKey });
    await expect(complete(top, first)).rejects.toMatchObject(STALE);
    await top.clock.advance(2_000);
    const document = await top.engine.document(executionId);
    expect(document).toMatchObject({ status: 'failed', error: { code: 'WORKER_LOST' } });
    // People read who was lost, not its lease.
    expect(JSON.stringify([document, await top.engine.timeline(executionId)])).not.toContain('lse_');
  });

  it('[ENG-322] an extended lease counts from the request, however late the answer of the store comes', async () => {
    let isSlow = false;
    const top = await opened({
      wrapStore: altered((store) => ({
        heartbeat: async (leases) => {
          await store.heartbeat(leases);
          if (isSlow) await new Promise<void>((resolve) => void top.clock.timer(15_000, resolve));
        },
      })),
    });
    const executionId = await top.start({ nodes: { a: far() } });
    const { leaseId } = await claimOne(top);
    await top.clock.advance(10_000);
    isSlow = true;
    const extending = top.engine.remote.extend(leaseId);
    await top.untilIdle();
    isSlow = false;
    await top.clock.advance(15_000);
    const asked = top.clock.now() - 15_000;
    expect((await extending).until).toBe(asked + LEASE_MS);
    await top.clock.advance(asked + LEASE_MS - top.clock.now() - 100);
    expect(await top.statuses(executionId)).toEqual({ a: 'running' });
    await top.clock.advance(200);
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
  });

  it('[ENG-193] a once action whose lease has passed is unknown', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: { action: 'far.pay@1' } } });
    await claimOne(top);
    await top.clock.advance(LEASE_MS + 1_000);
    expect(await top.statuses(executionId)).toEqual({ a: 'unknown' });
  });

  it('[ENG-194] a restart of the engine costs a worker nothing', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far(), b: far({ needs: ['a'] }) } });
    const work = await claimOne(top);
    await top.clock.advance(10_000);
    await top.open({ announced });
    await top.clock.advance(1_000);
    expect(await top.statuses(executionId)).toMatchObject({ a: 'running' });
    expect(await during(top, top.engine.remote.extend(work.leaseId))).toMatchObject({ cancel: null });
    await top.open({ announced });
    await complete(top, work, 7);
    expect(await started(top, executionId)).toHaveLength(1);
    await top.open({ announced });
    await expect(complete(top, work, 8)).rejects.toMatchObject(STALE);
    await complete(top, await claimOne(top), 9);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed', nodes: { a: { output: 7 } } });
  });

  it('[ENG-194] a lease that passes while no engine is there is found', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far({ retry: { lost: 3, delay: '0s' } }) } });
    const work = await claimOne(top);
    top.crash();
    await top.clock.advance(LEASE_MS * 3);
    await top.open({ announced });
    await top.clock.advance(100);
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
    await expect(complete(top, work)).rejects.toMatchObject(STALE);
    await top.open({ announced });
    const again = await claimOne(top);
    top.crash();
    await top.open({ announced });
    await top.clock.advance(LEASE_MS * 2 + 1_000);
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
    await expect(complete(top, again)).rejects.toMatchObject(STALE);
  });

  it('[ENG-270] a lease keeps its length over a restart: a heartbeat before it passes keeps the attempt', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far() } });
    const work = await claimOne(top, { leaseMs: 4 * LEASE_MS });
    await top.open({ announced });
    const { until } = await during(top, top.engine.remote.extend(work.leaseId));
    expect(until - top.clock.now()).toBeGreaterThan(3 * LEASE_MS);
    await top.clock.advance(3 * LEASE_MS);
    await top.open({ announced });
    await complete(top, work, 7);
    expect(await started(top, executionId)).toHaveLength(1);
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-195] a report learns that the run is to stop, also after a restart', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far(), b: far() } });
    const [a, b] = (await claim(top, { max: 2 })) as [RemoteTask, RemoteTask];
    await during(top, top.engine.requestCancel(executionId, 'not wanted'));
    expect(await during(top, top.engine.remote.extend(a.leaseId))).toMatchObject({ cancel: 'not wanted' });
    expect(await during(top, top.engine.remote.log(a.leaseId, []))).toMatchObject({ cancel: 'not wanted' });
    await top.open({ announced });
    expect(await during(top, top.engine.remote.extend(b.leaseId))).toMatchObject({ cancel: 'not wanted' });
    for (const { leaseId } of [a, b]) await during(top, top.engine.remote.end(leaseId, { status: 'returned' }));
    expect(await top.status(executionId)).toBe('cancelled');
  });

  it('[ENG-196] the time limits of an attempt hold', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far({ timeout: '5s' }) } });
    const work = await claimOne(top);
    expect(work.deadline).toBe(top.clock.now() - 20 + 5_000);
    await top.clock.advance(5_000);
    expect(await top.engine.document(executionId)).toMatchObject({ error: { code: 'TIMEOUT' } });
    await expect(during(top, top.engine.remote.extend(work.leaseId))).rejects.toMatchObject(STALE);
  });

  it('[ENG-197] progress and logs are those of the node', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far() } });
    const { leaseId } = await claimOne(top);
    await during(top, top.engine.remote.extend(leaseId, { progress: 0.5, message: 'half' }));
    expect(top.events).toContainEqual({ type: 'progress', executionId, node: 'a', fraction: 0.5, message: 'half' });
    await during(
      top,
      top.engine.remote.log(leaseId, [{ message: 'one', level: 'warn', fields: { x: 1 } }, { message: 'two' }]),
    );
    const lines = await top.drivers.logs.read({ executionId, limit: 10 });
    expect(lines).toMatchObject([
      { node: 'a', attempt: 1, level: 'warn', message: 'one', fields: { x: 1 } },
      { level: 'info', message: 'two' },
    ]);
  });

  it('[ENG-282] a long line is kept whole, in pieces, and no secret is left at their borders', async () => {
    const secret = 'sk-live-0123456789';
    const top = await opened({ secrets: memorySecrets({ token: secret }) });
    const executionId = await top.start({ nodes: { a: far({ credentials: { token: 'token' } }) } });
    const { leaseId } = await claimOne(top);
    await during(top, top.engine.remote.credential(leaseId, 'token'));
    const message = `${'line\n'.repeat(4_000)}${'x'.repeat(16_375)}${secret}${'😀'.repeat(20_000)}`;
    await during(top, top.engine.remote.log(leaseId, [{ message, level: 'warn', fields: { x: 1 } }]));
    const lines = await top.drivers.logs.read({ executionId, limit: 10 });
    expect(lines.map((line) => line.message).join('')).toBe(message.replace(secret, '[redacted]'));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines[0]?.message.endsWith('line\n')).toBe(true);
    for (const line of lines) {
      expect(line).toMatchObject({ node: 'a', level: 'warn', fields: { x: 1 } });
      expect(line.message.length).toBeLessThanOrEqual(MAX_LOG_MESSAGE_CHARS);
      expect(line.message.isWellFormed()).toBe(true);
    }
  });

  it('[ENG-260] a line at a time that no date can hold is refused with all lines of its call', async () => {
    const top = await opened();
    const executionId = await top.start({ nodes: { a: far() } });
    const { leaseId } = await claimOne(top);
    for (const at of [Number.NaN, 1e300, -1, Number.POSITIVE_INFINITY]) {
      const lines = [{ message: 'readable' }, { message: 'not', at }];
      await expect(during(top, top.engine.remote.log(leaseId, lines))).rejects.toMatchObject({ code: 'TIME_INVALID' });
    }
    expect(await top.drivers.logs.read({ executionId, limit: 10 })).toEqual([]);
  });
});

describe('secrets of a lease', () => {
  const SECRET = 'sk_live_4eC39HqLyjWDarjtT1';
  const secrets = memorySecrets({ stripe: SECRET, other: 'another-secret-value' });
  const nodes = { a: far({ credentials: { api: 'stripe' } }) };

  it('[ENG-198] a worker gets those that the node names, while its lease is good', async () => {
    const top = await opened({ secrets });
    await top.start({ nodes });
    const work = await claimOne(top);
    expect(work.credentials).toEqual(['api']);
    expect(await during(top, top.engine.remote.credential(work.leaseId, 'api'))).toBe(SECRET);
    await expect(during(top, top.engine.remote.credential(work.leaseId, 'stripe'))).rejects.toMatchObject({
      code: 'CREDENTIAL_NOT_NAMED',
    });
    await complete(top, work);
    await expect(during(top, top.engine.remote.credential(work.leaseId, 'api'))).rejects.toMatchObject(STALE);
  });

  it('[ENG-198] are redacted in its reports, also after a restart', async () => {
    const top = await opened({ secrets });
    const executionId = await top.start({ nodes });
    const work = await claimOne(top);
    await during(top, top.engine.remote.credential(work.leaseId, 'api'));
    await top.open({ announced, secrets });
    await during(top, top.engine.remote.log(work.leaseId, [{ message: `has ${SECRET}`, fields: { x: SECRET } }]));
    await during(top, top.engine.remote.extend(work.leaseId, { progress: 1, message: SECRET }));
    const lines = await top.drivers.logs.read({ executionId, limit: 10 });
    await complete(top, work, { key: SECRET });
    const kept = JSON.stringify([lines, top.events, await top.engine.journal(executionId)]);
    expect(kept).not.toContain(SECRET);
    expect(await top.engine.document(executionId)).toMatchObject({ output: { a: { key: '[redacted]' } } });
  });
});

describe('announcements', () => {
  it('[ENG-199] plans know actions that were announced after they were compiled', async () => {
    const top = await opened({ announced: [] });
    const definition = { nodes: { a: { action: 'far@1', with: { x: 1 } } } };
    await expect(top.start(definition)).rejects.toMatchObject({ code: 'PLAN_INVALID' });
    top.engine.announce(announced);
    const executionId = await top.start(definition);
    await complete(top, await claimOne(top));
    expect(await top.status(executionId)).toBe('completed');
    top.engine.announce([announcedAction({ id: 'far', version: '1.5', output: { type: 'integer' } })]);
    const next = await top.start(definition);
    expect(await claim(top)).toEqual([]);
    const work = await claimOne(top, { serves: (route) => mayServe(route, new Set(['far@1.5']), new Set()) });
    await complete(top, work, 'no integer');
    expect(await top.engine.document(next)).toMatchObject({ error: { code: 'OUTPUT_INVALID' } });
  });
});

describe('in a fleet', () => {
  /** An engine that is not open yet. */
  function beside(top: BenchTop, queue: Queue): Engine {
    const store = memoryStore({ data: top.data, exclusive: false });
    return createEngine({ ...top.drivers, store, queue }, { actions: top.actions, announced });
  }

  /** An engine beside the others, on the same data and the same queue. */
  async function join(top: BenchTop, queue: Queue): Promise<Engine> {
    const engine = beside(top, queue);
    await during(top, engine.open());
    return engine;
  }

  /** One queue for all. */
  function shared(top: BenchTop): Queue {
    const memory = memoryQueue({ clock: top.clock });
    return {
      local: false,
      enqueue: async (tasks) => memory.enqueue(tasks),
      poll: (max, routes) => memory.poll(max, routes),
      routes: () => memory.routes(),
      onAvailable: (callback) => memory.onAvailable(callback),
      ack: (delivery) => memory.ack(delivery),
      nack: (delivery, delayMs) => memory.nack(delivery, delayMs),
      extend: (delivery) => memory.extend(delivery),
      stats: () => memory.stats(),
      close: () => memory.close(),
    };
  }

  async function closed(top: BenchTop, ...engines: readonly Engine[]): Promise<void> {
    for (const engine of engines) {
      const closing = engine.close({ graceMs: 0 });
      await top.clock.advance(100);
      await closing;
    }
  }

  it('[ENG-191] an engine takes nothing from the queue before it works', async () => {
    const top = await opened();
    await top.engine.close();
    const queue = shared(top);
    let polls = 0;
    const counted: Queue = {
      ...queue,
      poll: (max, routes) => {
        polls++;
        return queue.poll(max, routes);
      },
    };
    const first = await join(top, queue);
    const { workflowId, version } = await first.register({ id: 'test', nodes: { a: far() } });
    await during(top, first.start(workflowId, version));
    const second = beside(top, counted);
    const claiming = second.remote.claim(asking({ waitMs: 60_000 }));
    await top.clock.advance(1_000);
    expect(polls).toBe(0);
    await during(top, second.open());
    const [work] = await during(top, claiming);
    await during(top, second.remote.end(work?.leaseId ?? '', { status: 'completed', output: 1 }));
    await closed(top, first, second);
  });

  it('[ENG-192] a report during a second start of the run is not lost', async () => {
    const top = await opened();
    await top.engine.close();
    const queue = shared(top);
    const [first, second] = [await join(top, queue), await join(top, queue)];
    const { workflowId, version } = await first.register({ id: 'test', nodes: { a: far() } });
    const executionId = await during(top, first.start(workflowId, version, { executionId: 'exe_twice' }));
    const [work] = await during(top, first.remote.claim(asking()));
    await second.plan(workflowId, version);
    const again = second.start(workflowId, version, { executionId });
    for (let step = 0; step < 20 && (await second.metrics()).gauges['engine.cached_runs'] === 0; step++)
      await Promise.resolve();
    expect((await second.metrics()).gauges['engine.cached_runs']).toBe(1);
    await during(top, second.remote.end(work?.leaseId ?? '', { status: 'completed', output: 1 }));
    expect(await during(top, again)).toBe(executionId);
    expect(await first.document(executionId)).toMatchObject({ status: 'completed', output: { a: 1 } });
    await closed(top, first, second);
  });

  it('[ENG-192] a refused report keeps no run in memory', async () => {
    const top = await opened();
    await top.engine.close();
    const queue = shared(top);
    const [first, second] = [await join(top, queue), await join(top, queue)];
    const { workflowId, version } = await first.register({ id: 'test', nodes: { a: far() } });
    await during(top, first.start(workflowId, version));
    const [work] = await during(top, first.remote.claim(asking()));
    const leaseId = work?.leaseId ?? '';
    await during(top, first.remote.end(leaseId, { status: 'completed', output: 1 }));
    await expect(during(top, second.remote.extend(leaseId))).rejects.toMatchObject(STALE);
    await expect(during(top, second.remote.end(leaseId, { status: 'returned' }))).rejects.toMatchObject(STALE);
    expect((await second.metrics()).gauges['engine.cached_runs']).toBe(0);
    await closed(top, first, second);
  });

  it('[ENG-202] any engine hands out tasks, and any other accepts the outcome', async () => {
    const top = await opened();
    await top.engine.close();
    const queue = shared(top);
    const [first, second, third] = [await join(top, queue), await join(top, queue), await join(top, queue)];
    const { workflowId, version } = await first.register({ id: 'test', nodes: { a: far(), b: far({ needs: ['a'] }) } });
    const executionId = await during(top, first.start(workflowId, version));
    const [a] = await during(top, second.remote.claim(asking()));
    if (a === undefined) throw new Error('there was no work');
    expect(await during(top, third.remote.extend(a.leaseId))).toMatchObject({ cancel: null });
    await during(top, first.remote.end(a.leaseId, { status: 'completed', output: 1 }));
    for (const engine of [first, second, third]) {
      const again = engine.remote.end(a.leaseId, { status: 'completed', output: 2 });
      await expect(during(top, again)).rejects.toMatchObject(STALE);
    }
    const [b] = await during(top, third.remote.claim(asking({ waitMs: 1 })));
    await during(top, second.remote.end(b?.leaseId ?? '', { status: 'completed', output: 3 }));
    expect(await first.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { a: { output: 1 }, b: { output: 3 } },
    });
    await closed(top, first, second, third);
  });
});
