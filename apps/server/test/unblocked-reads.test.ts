/** Reads of much data leave the event loop to others: the tests count how often they give way, which no slow machine changes. */
import type { Action } from '@nebula/core';
import { realClock } from '@nebula/drivers/real';
import type { Clock } from '@nebula/ports';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';

const LINE_CHARS = 4_000;
const VALUE_CHARS = 30_000;
const big: Action = { id: 'big', version: '1', effect: 'idempotent', run: () => 'x'.repeat(VALUE_CHARS) };
const talk: Action = {
  id: 'talk',
  version: '1',
  effect: 'idempotent',
  run: (ctx) => {
    for (let line = 0; line < 1_000; line++) ctx.log.info('y'.repeat(LINE_CHARS));
    return null;
  },
};

let given = 0;
const clock: Clock = {
  now: () => realClock.now(),
  timer: (...args) => realClock.timer(...args),
  soon: (callback) => {
    given++;
    realClock.soon(callback);
  },
};
let booted: Booted;
beforeAll(async () => {
  booted = await boot({ actions: [big, talk], clock });
});
afterAll(() => booted.close());

/** The answer, and how often the work for it gave way. */
async function read(path: string): Promise<{ readonly text: string; readonly pauses: number }> {
  const before = given;
  const response = await fetch(`${booted.server.url}/api/v1${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const text = await response.text();
  expect(response.status, text.slice(0, 200)).toBe(200);
  return { text, pauses: given - before };
}

async function ran(definition: { readonly id: string }): Promise<string> {
  await booted.client.call('registerWorkflow', { body: { definition } });
  const body = { workflowId: definition.id };
  return (await booted.client.call('startExecution', { query: { wait: '60s' }, body })).executionId;
}

it('[SRV-1193] the journal of a run is read in pieces, by its characters', async () => {
  const items = Array.from({ length: 150 }, (_, n) => n);
  const each = { forEach: { in: items }, do: { nodes: { one: { action: 'big' } } } };
  const executionId = await ran({ id: 'bigs', nodes: { each } } as { id: string });
  const pieces = Math.floor((items.length * VALUE_CHARS) / (256 * 1024));
  const { pauses, text } = await read(`/executions/${executionId}/iterations?node=each`);
  expect(JSON.parse(text).items).toHaveLength(items.length);
  expect(pauses).toBeGreaterThanOrEqual(pieces);
  expect((await read(`/executions/${executionId}/attempts?node=each/7/one`)).pauses).toBeGreaterThanOrEqual(pieces);
});

it('[SRV-1194] a log is downloaded in pieces, by its characters', async () => {
  const executionId = await ran({ id: 'talks', nodes: { all: { action: 'talk' } } } as { id: string });
  const { pauses, text } = await read(`/executions/${executionId}/logs/text`);
  expect(text.split('\n').filter((line) => line.includes('yyyy'))).toHaveLength(1_000);
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / (1024 * 1024)));
});

it('[SRV-1195] fires of schedules are searched for a few at a time', async () => {
  await ran({ id: 'leap', nodes: { set: { set: { n: 1 } } } } as { id: string });
  for (let n = 0; n < 8; n++) {
    const body = { workflowId: 'leap', cron: '0 0 29 2 *' };
    await booted.client.call('putSchedule', { params: { scheduleId: `s${n}` }, body });
  }
  for (const path of ['/triggers?fires=50', '/schedules?fires=50']) {
    const { pauses, text } = await read(path);
    const { items } = JSON.parse(text) as { items: { nextFires: string[] }[] };
    expect(items.map(({ nextFires }) => nextFires.length)).toEqual(Array(8).fill(50));
    expect(pauses).toBeGreaterThanOrEqual(8 * 10);
  }
});
