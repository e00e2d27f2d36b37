/** Schedules on a clock that the test moves: every time that is due is fired once, whatever happens in between. */
import { localLeader, type VirtualClock, virtualClock } from '@nebula/drivers/memory';
import type { Leader } from '@nebula/ports';
import { afterEach, describe, expect, it } from 'vitest';
import type { ScheduleRecord } from '../../src/triggers/records.ts';
import { dueTimes } from '../../src/triggers/schedules.ts';
import { type Booted, type BootOptions, boot, type Keeping, memoryKeeping, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Between two times of the schedules below. */
const STEP = 10 * MINUTE;

const open = new Set<Booted>();
afterEach(async () => {
  for (const booted of open) await booted.close();
  open.clear();
});

async function booting(options: BootOptions & { readonly clock: VirtualClock }): Promise<Booted> {
  const booted = await boot(options);
  open.add(booted);
  return booted;
}

async function gone(booted: Booted): Promise<void> {
  open.delete(booted);
  await booted.close();
}

const register = async (booted: Booted, definition: object): Promise<void> => {
  const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
  expect(answer.status, answer.text).toBe(201);
};

/** Moments for which runs were started, in order. */
async function fired({ store }: Keeping): Promise<string[]> {
  const { rows } = await store.list({ limit: 1_000 });
  const times: string[] = [];
  for (const { executionId } of rows) {
    const [first] = await store.frames(executionId, 0);
    const [entry] = JSON.parse(first?.entries ?? '[]') as { trigger: { at: string } }[];
    times.push(entry?.trigger.at as string);
  }
  return times.toSorted();
}

const at = (text: string): number => Date.parse(text);

describe('schedules', () => {
  it.each([
    ['winter', '2026-01-10T01:20:00Z', ['2026-01-10T01:30:00.000Z']],
    ['the night in which 02:30 is skipped', '2026-03-29T00:20:00Z', ['2026-03-29T01:00:00.000Z']],
    ['summer', '2026-06-10T00:20:00Z', ['2026-06-10T00:30:00.000Z']],
    ['the night in which 02:30 comes twice', '2026-10-25T00:20:00Z', ['2026-10-25T00:30:00.000Z']],
  ])('[SRV-70] follow the clock of their time zone: %s', async (_name, from, wanted) => {
    const clock = virtualClock(at(from));
    const booted = await booting({ clock });
    const trigger = { schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' } };
    await register(booted, echo('berlin', { triggers: [trigger] }));
    await clock.advance(80 * MINUTE);
    expect(await fired(booted.keeping)).toEqual(wanted);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-71] an interval keeps its pace, and continues with a new version', async () => {
    const clock = virtualClock(at('2026-01-01T00:00:00Z'));
    const booted = await booting({ clock });
    const version = (name: string) => echo('pace', { name, triggers: [{ interval: { every: '10m' } }] });
    await register(booted, version('one'));
    await clock.advance(25 * MINUTE);
    await register(booted, version('two'));
    await clock.advance(10 * MINUTE);
    const hours = (await fired(booted.keeping)).map((text) => text.slice(11, 16));
    expect(hours).toEqual(['00:10', '00:20', '00:30']);
  });

  it.each([
    ['none', 0],
    ['last', 1],
    ['all', 5],
  ])('[SRV-72] times missed while no server ran are handled: %s', async (catchUp, missed) => {
    const clock = virtualClock(at('2026-01-01T00:05:00Z'));
    const first = await booting({ clock });
    await register(first, echo('often', { triggers: [{ schedule: { cron: '*/10 * * * *', catchUp } }] }));
    await clock.advance(STEP);
    expect(await fired(first.keeping)).toHaveLength(1);
    await gone(first);
    await clock.advance(5 * STEP);
    const second = await booting({ clock, keeping: first.keeping });
    await clock.advance(MINUTE);
    expect(await fired(first.keeping)).toHaveLength(1 + missed);
    await clock.advance(STEP);
    const times = await fired(second.keeping);
    expect(times).toHaveLength(2 + missed);
    expect(new Set(times).size).toBe(times.length);
  });

  it('[SRV-408] a schedule that is put again with the same times misses none; with other times, or after it was off, it begins anew', async () => {
    const clock = virtualClock(at('2026-01-01T00:05:00Z'));
    const nobody: Leader = { campaign: () => ({ isLeader: false, resign: async () => undefined }) };
    const first = await booting({ clock, leader: nobody });
    await register(first, echo());
    const times = { workflowId: 'echo', cron: '*/10 * * * *', catchUp: 'all' };
    const put = (id: string, more: object = {}) =>
      ask(first, `PUT /api/v1/schedules/${id}`, { headers, body: { ...times, ...more } });
    for (const id of ['same', 'other', 'off']) await put(id, { active: id !== 'off' });
    await clock.advance(2 * STEP);
    await put('same', { input: { n: 1 } });
    await put('other', { timezone: 'Europe/Berlin' });
    await put('off');
    await gone(first);
    const second = await booting({ clock, keeping: first.keeping });
    await clock.advance(MINUTE);
    expect(await fired(second.keeping)).toEqual(['2026-01-01T00:10:00.000Z', '2026-01-01T00:20:00.000Z']);
  });

  it('[SRV-409] times that never come, and intervals that are too short, are refused', async () => {
    const clock = virtualClock(at('2026-01-01T00:00:00Z'));
    const booted = await booting({ clock });
    await register(booted, echo());
    const never = { cron: '0 0 30 2 *' };
    for (const body of [never, { every: '999ms' }]) {
      const answer = await ask(booted, 'PUT /api/v1/schedules/s', { headers, body: { workflowId: 'echo', ...body } });
      expect([answer.status, answer.json.code]).toEqual([400, 'BODY_INVALID']);
    }
    const triggers = [{ schedule: never }, { interval: { every: '999ms' } }];
    const answer = await ask(booted, 'POST /api/v1/workflows', {
      headers,
      body: { definition: echo('w', { triggers }) },
    });
    const codes = answer.json.details.problems.map(({ code }: { code: string }) => code);
    expect([answer.status, codes]).toEqual([422, ['BAD_CRON', 'BAD_DURATION']]);
    const leap = { workflowId: 'echo', cron: '0 0 29 2 *' };
    expect((await ask(booted, 'PUT /api/v1/schedules/s', { headers, body: leap })).json.nextFireAt).toBe(
      '2028-02-29T00:00:00.000Z',
    );
    await clock.advance(MINUTE);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-73] dying between the start and the note of it costs nothing, and starts nothing twice', async () => {
    const clock = virtualClock(at('2026-01-01T00:05:00Z'));
    const keeping = memoryKeeping(clock);
    const first = await booting({ clock, keeping });
    await register(first, echo('often', { triggers: [{ schedule: { cron: '*/10 * * * *', catchUp: 'all' } }] }));
    const { commit } = keeping.records;
    keeping.records.commit = async (changes) => {
      if (changes.some(({ kind }) => kind === 'schedule')) throw new Error('the power is off');
      return commit.call(keeping.records, changes);
    };
    await clock.advance(6 * MINUTE);
    expect(await fired(keeping)).toHaveLength(1);
    expect(first.troubles.length).toBeGreaterThan(0);
    await gone(first);
    keeping.records.commit = commit;
    const second = await booting({ clock, keeping });
    await clock.advance(MINUTE);
    expect(await fired(keeping)).toEqual(['2026-01-01T00:10:00.000Z']);
    const { json } = await ask(second, 'GET /api/v1/schedules/often--0', { headers });
    expect(json).toMatchObject({ lastFiredAt: '2026-01-01T00:10:00.000Z', nextFireAt: '2026-01-01T00:20:00.000Z' });
  });

  it('[SRV-74] the one that leads fires; when it goes another one does, and each time is fired once', async () => {
    const clock = virtualClock(at('2026-01-01T00:05:00Z'));
    const keeping = memoryKeeping(clock);
    const leader = localLeader();
    const one = await booting({ clock, keeping, leader });
    await register(one, echo('often', { triggers: [{ schedule: { cron: '*/10 * * * *' } }] }));
    const two = await booting({ clock, keeping, leader });
    await clock.advance(2 * STEP);
    await gone(one);
    await clock.advance(2 * STEP);
    const times = await fired(keeping);
    expect(times.map((text) => text.slice(11, 16))).toEqual(['00:10', '00:20', '00:30', '00:40']);
    expect(two.troubles).toEqual([]);
  });

  it('[SRV-74] two that both believe to lead start each time once', async () => {
    const clock = virtualClock(at('2026-01-01T00:05:00Z'));
    const keeping = memoryKeeping(clock);
    const everybody: Leader = {
      campaign: () => ({ isLeader: true, resign: async () => {} }),
    };
    const one = await booting({ clock, keeping, leader: everybody });
    await register(one, echo('often', { triggers: [{ schedule: { cron: '*/10 * * * *' } }] }));
    await booting({ clock, keeping, leader: everybody });
    await clock.advance(3 * STEP);
    const times = await fired(keeping);
    expect(times.map((text) => text.slice(11, 16))).toEqual(['00:10', '00:20', '00:30']);
  });

  it('[SRV-75] schedules of the API start workflows and launch plans; one that fails does not block the others', async () => {
    const clock = virtualClock(at('2026-01-01T00:00:00Z'));
    const booted = await booting({ clock });
    await register(booted, echo());
    await register(booted, echo('strict', { input: { type: 'object', properties: {}, required: ['n'] } }));
    const put = async (path: string, body: unknown): Promise<void> => {
      const answer = await ask(booted, `PUT /api/v1/${path}`, { headers, body });
      expect(answer.status, answer.text).toBe(201);
    };
    await put('plans/p', { workflowId: 'echo', inputs: { a: 1, b: 1 }, fixed: { c: 3 } });
    await put('schedules/a-fails', { workflowId: 'strict', every: '1h' });
    await put('schedules/by-plan', { plan: 'p', every: '1h', input: { b: 2 } });
    await put('schedules/by-workflow', { workflowId: 'echo', cron: '0 * * * *', input: { d: 4 } });
    await put('schedules/off', { workflowId: 'echo', every: '1m', active: false });
    await clock.advance(HOUR + MINUTE);
    const { rows } = await booted.keeping.store.list({ limit: 10 });
    const inputs = await Promise.all(rows.map(({ executionId }) => booted.parts.engine.input(executionId)));
    expect(inputs).toHaveLength(2);
    expect(inputs).toEqual(expect.arrayContaining([{ a: 1, b: 2, c: 3 }, { d: 4 }]));
    expect(booted.troubles).toHaveLength(1);
    expect(String(booted.troubles[0])).toContain('strict');
  });

  it('[SRV-76] years of missed times are dealt with at once, the newest of them', () => {
    const schedule: ScheduleRecord = {
      project: 'default',
      trigger: null,
      workflowId: 'x',
      plan: null,
      cron: '* * * * *',
      everyMs: null,
      timezone: 'UTC',
      catchUp: 'all',
      input: null,
      active: true,
      cursor: at('2020-01-01T00:00:00Z'),
      anchor: at('2020-01-01T00:00:00Z'),
      lastFiredAt: null,
    };
    const now = at('2026-01-01T00:00:30Z');
    for (const times of [schedule, { ...schedule, cron: null, everyMs: 1_000 }]) {
      // One by one, these would be three and 190 million.
      const due = dueTimes(times, now);
      expect(due.fire).toHaveLength(1_000);
      expect(due.cursor).toBe(due.fire.at(-1));
      expect(now - due.cursor).toBeLessThan(MINUTE);
    }
    const last = dueTimes({ ...schedule, catchUp: 'last' }, now);
    expect(last).toEqual({ fire: [at('2026-01-01T00:00:00Z')], cursor: at('2026-01-01T00:00:00Z') });
    const rare = dueTimes({ ...schedule, cron: '0 0 1 1 *' }, now);
    expect(rare.fire).toHaveLength(6);
  });
});
