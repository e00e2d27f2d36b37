/** `/health` and `/ready` tell the truth: each thing that can be wrong is made wrong. */
import { NebulaError } from '@nebula/core';
import { memoryRecords, virtualClock } from '@nebula/drivers/memory';
import type { EngineHealth } from '@nebula/engine';
import { FEED_START, type Leader, type Position } from '@nebula/ports';
import { afterEach, describe, expect, it } from 'vitest';
import { EventLoop } from '../../src/observability/event-loop.ts';
import { Health, type HealthParts, type SchedulerHealth } from '../../src/observability/health.ts';
import { type Booted, boot } from '../support/boot.ts';

let booted: Booted | undefined;
afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

const answer = async ({ server }: Booted, path: string) => {
  const response = await fetch(server.url + path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

function bench(more: Partial<HealthParts> = {}) {
  const clock = virtualClock(1_000_000);
  const world = {
    clock,
    engine: { phase: 'open', wroteAt: clock.now(), trouble: null } as EngineHealth,
    scheduler: { role: 'leads', checkedAt: clock.now(), trouble: null } as SchedulerHealth,
    isClosing: false,
    commits: 0,
    failure: null as unknown,
    stalledMs: 0,
  };
  const records = memoryRecords({ clock });
  const health = new Health({
    clock,
    store: { lastPosition: async () => FEED_START },
    records: {
      commit: async (changes) => {
        world.commits++;
        if (world.failure !== null) throw world.failure;
        return records.commit(changes);
      },
    },
    loop: { stalledMs: () => world.stalledMs },
    engine: () => world.engine,
    scheduler: () => world.scheduler,
    isClosing: () => world.isClosing,
    ...more,
  });
  return { world, health };
}

describe('health', () => {
  it('[SRV-230] a healthy server is alive and ready, for every caller', async () => {
    booted = await boot();
    expect(await answer(booted, '/health')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await answer(booted, '/ready')).toEqual({
      status: 200,
      body: { status: 'ready', troubles: {}, engine: 'open', scheduler: 'leads' },
    });
  });

  it('[SRV-230] a server that is not the leader is ready too', async () => {
    const nobody: Leader = { campaign: () => ({ isLeader: false, resign: async () => {} }) };
    booted = await boot({ leader: nobody });
    expect(await answer(booted, '/ready')).toMatchObject({ status: 200, body: { scheduler: 'follows' } });
  });

  it('[SRV-231] a stalled event loop is reported for a while', async () => {
    const loop = new EventLoop({ stallMs: 50, rememberMs: 200 });
    try {
      expect(loop.stalledMs()).toBe(0);
      const until = performance.now() + 160;
      while (performance.now() < until);
      expect(loop.stalledMs()).toBeGreaterThan(50);
      await expect.poll(() => loop.stalledMs(), { timeout: 5_000 }).toBe(0);
    } finally {
      loop.close();
    }
    const { world, health } = bench();
    world.stalledMs = 7_000;
    expect(health.alive()).toEqual({ status: 503, body: { status: 'stalled', stalledMs: 7_000 } });
  });

  it('[SRV-232] a store that does not write makes it unready, by code and not in full', async () => {
    const { world, health } = bench();
    world.failure = new NebulaError('DISK_FULL', 'no space on /srv/secret/place', { retryable: true });
    expect(await health.ready()).toMatchObject({
      status: 503,
      body: { troubles: { store: 'it fails with DISK_FULL' } },
    });
    world.failure = null;
    await world.clock.advance(1_000);
    expect(await health.ready()).toMatchObject({ status: 200 });
  });

  it('[SRV-232] a store that hangs does not block the probe', async () => {
    const { world, health } = bench({ store: { lastPosition: () => new Promise<Position>(() => {}) } });
    const asked = health.ready();
    await world.clock.advance(2_500);
    expect(await asked).toMatchObject({ status: 503, body: { troubles: { store: 'it takes too long to answer' } } });
  });

  it('[SRV-233] however many ask, the store is written to once in a few seconds', async () => {
    const { world, health } = bench();
    await Promise.all(Array.from({ length: 50 }, () => health.ready()));
    await world.clock.advance(4_000);
    await health.ready();
    expect(world.commits).toBe(1);
    await world.clock.advance(2_000);
    await health.ready();
    expect(world.commits).toBe(2);
  });

  it('[SRV-234] an engine in trouble, one that has not written for long and one that is closed are not ready', async () => {
    const { world, health } = bench();
    world.engine = { ...world.engine, trouble: new NebulaError('STORE_BUSY', 'later', { retryable: true }) };
    expect(await health.ready()).toMatchObject({
      status: 503,
      body: { troubles: { engine: 'its operations fail with STORE_BUSY' } },
    });
    world.engine = { ...world.engine, trouble: null };
    expect(await health.ready()).toMatchObject({ status: 200 });
    await world.clock.advance(40_000);
    world.scheduler = { ...world.scheduler, checkedAt: world.clock.now() };
    expect(await health.ready()).toMatchObject({
      status: 503,
      body: { troubles: { engine: expect.stringContaining('too long') } },
    });
    booted = await boot();
    await booted.parts.engine.close();
    expect(await answer(booted, '/ready')).toMatchObject({
      status: 503,
      body: { troubles: { engine: 'it is closed' } },
    });
    expect(await answer(booted, '/health')).toMatchObject({ status: 200 });
  });

  it('[SRV-235] a scheduler that cannot look is not ready', async () => {
    const { world, health } = bench();
    world.scheduler = { ...world.scheduler, trouble: new Error('inside') };
    expect(await health.ready()).toMatchObject({
      status: 503,
      body: { troubles: { scheduler: 'its last check failed with INTERNAL' } },
    });
    world.scheduler = { role: 'leads', checkedAt: world.clock.now() - 61_000, trouble: null };
    expect(await health.ready()).toMatchObject({ status: 503 });
    world.scheduler = { role: 'off', checkedAt: null, trouble: null };
    expect(await health.ready()).toMatchObject({ status: 503, body: { troubles: { scheduler: 'it is off' } } });
    // In a whole server: records that cannot be read.
    booted = await boot();
    const { records } = booted.parts;
    const list = records.list.bind(records);
    records.list = () => Promise.reject(new NebulaError('STORE_FAILED', 'broken', { retryable: true }));
    await expect
      .poll(async () => (await answer(booted as Booted, '/ready')).body, { timeout: 10_000 })
      .toMatchObject({
        troubles: { scheduler: 'its last check failed with STORE_FAILED' },
      });
    records.list = list;
    await expect.poll(async () => (await answer(booted as Booted, '/ready')).status, { timeout: 10_000 }).toBe(200);
  });

  it('[SRV-236] a closing server is alive, but not ready', async () => {
    const { world, health } = bench();
    world.isClosing = true;
    expect(health.alive()).toEqual({ status: 200, body: { status: 'closing' } });
    expect(await health.ready()).toMatchObject({ status: 503, body: { troubles: { server: 'it is closing' } } });
  });
});
