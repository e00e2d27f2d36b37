/** Announced actions are many, and their schemas are what somebody else wrote: no announcement holds up others. */
import type { ActionDescription } from '@nebula/core';
import { expect, it } from 'vitest';
import { announcing } from '../support/announcing.ts';

/** How often the event loop went round meanwhile. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isOver = true;
  return turns;
}

const many = (count: number, title = 'of text'): ActionDescription[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `far.work${at}`,
    version: '1',
    effect: 'pure' as const,
    input: { title, type: 'object', properties: { text: { pattern: `^a{${at + 1}}$` } } },
    output: { type: 'object' },
  }));

it('[SRV-670] the event loop runs after each schema of an announcement', async () => {
  const { open } = announcing();
  expect(await turnsOf(open().add(many(40), 'default'))).toBeGreaterThanOrEqual(80);
});

it('[SRV-670] the event loop runs between large patterns of one schema', async () => {
  const { open } = announcing();
  const patterns = [1, 2, 3].map((at) => [`p${at}`, { pattern: `${at}{990}`.repeat(3) }]);
  const one = { id: 'far.large', version: '1', input: { properties: Object.fromEntries(patterns) } };
  const small = await turnsOf(open().add(many(1), 'default'));
  expect(await turnsOf(open().add([{ ...one, output: {} }], 'default'))).toBeGreaterThanOrEqual(small + 2);
  const patternsOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, { pattern: `b{${990 - at}}` }]));
  const over = { ...one, id: 'far.over', input: { properties: patternsOf(12) } };
  await expect(open().add([over], 'default')).rejects.toMatchObject({ code: 'ACTION_SCHEMA_INVALID' });
});

it('[SRV-670] the event loop runs while announced actions are read', async () => {
  const { open } = announcing();
  const first = open();
  await first.add(many(200), 'default');
  const second = open();
  expect(await turnsOf(second.open())).toBeGreaterThanOrEqual(12);
  second.close();
});

it('[SRV-670] only changed actions are parsed again, and nothing is announced where none has changed', async () => {
  const { announced, open } = announcing();
  const actions = open();
  await actions.add(many(40), 'default');
  await actions.add(many(40), 'default');
  expect(announced).toHaveLength(1);
  await actions.add(many(1, 'another'), 'default');
  expect(announced).toHaveLength(2);
  const [before, after] = [announced[0] ?? [], announced[1] ?? []];
  expect(after.filter((action, at) => action !== before[at]).map(({ id }) => id)).toEqual(['far.work0']);
  await actions.remove('far.work0@1', 'default');
  expect(announced.at(-1)).toHaveLength(39);
});

it('[SRV-670] a slow refresh does not remove actions announced meanwhile', async () => {
  const { announced, records, open } = announcing();
  const list = records.list.bind(records);
  const [slow, reading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  records.list = async (...given) => {
    const rows = await list(...given);
    reading.resolve();
    records.list = list;
    await slow.promise;
    return rows;
  };
  const actions = open();
  const [one, other] = many(2) as [ActionDescription, ActionDescription];
  const first = actions.add([one], 'default');
  await reading.promise;
  const second = actions.add([other], 'default');
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  slow.resolve();
  await Promise.all([first, second]);
  expect(announced.at(-1)).toHaveLength(2);
});

it.each([null, 7, 'text', []])(
  '[SRV-404] an announced schema that is %j is refused with what it must be',
  async (input) => {
    const action = { id: 'far.odd', version: '1', input } as unknown as ActionDescription;
    await expect(announcing().open().add([action], 'default')).rejects.toMatchObject({
      code: 'ACTION_SCHEMA_INVALID',
      message:
        'The input schema of far.odd cannot be used: Invalid JSON Schema: it is neither an object nor true or false.',
    });
  },
);
