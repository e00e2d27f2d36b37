/** Long work of the core is divided: a clock that moves with every look shows where others get their turn. */
import {
  type Action,
  announcedAction,
  createCatalog,
  DefinitionChecks,
  type Json,
  type JsonSchema,
  type WorkflowDefinition,
} from '@nebula/core';
import { memoryBlobs, memoryLogs, memoryQueue, memoryStore } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { type Clock, pause } from '@nebula/ports';
import { expect, it } from 'vitest';
import { createEngine, createExecutionService, type Drivers, type Engine } from '../src/index.ts';
import { Plans } from '../src/start/plans.ts';
import { type NewBlobs, Values } from '../src/storage/values.ts';

const NODES = 600;
const graph = (): Json => ({
  nodes: Object.fromEntries(Array.from({ length: NODES }, (_, index) => [`n${index}`, { action: 'noop' }])),
});
const noop: Action = { id: 'noop', version: '1', effect: 'pure', run: () => null };
const giver: Action = { id: 'graph', version: '1', effect: 'pure', run: () => graph() };

function busyClock(): Clock & { looks: number; turns: number } {
  const clock = {
    ...realClock,
    looks: 0,
    turns: 0,
    now: () => Date.now() + clock.looks++,
    soon: (callback: () => void) => {
      clock.turns++;
      realClock.soon(callback);
    },
  };
  return clock;
}

function driversWith(clock: Clock): Drivers {
  return {
    store: memoryStore(),
    blobs: memoryBlobs(),
    logs: memoryLogs(),
    queue: memoryQueue({ clock }),
    sandbox: createInProcessSandbox({ projectDir: process.cwd(), clock }),
    clock,
    random: realRandom(),
    digest: sha256,
  };
}

it('[ENG-240] a plan is compiled in slices, once for all concurrent callers', async () => {
  const clock = busyClock();
  const store = memoryStore();
  const plans = new Plans({ store, clock, digest: sha256 }, new DefinitionChecks(createCatalog([noop])));
  await plans.register({ id: 'large', ...(graph() as object) } as WorkflowDefinition);
  clock.turns = 0;
  const asked = [plans.get('large'), plans.get('large')];
  const [first, second] = await Promise.all(asked);
  // A step is eight nodes, a slice about ten steps, and two turns of the event loop follow it.
  expect(clock.turns).toBeGreaterThan(NODES / 50);
  expect(clock.turns).toBeLessThan(NODES / 10);
  expect(first?.root.nodes).toHaveLength(NODES);
  expect(second).toBe(first);
});

it.each([
  ['a newer version of an action', [announcedAction({ id: 'far', version: '1' })]],
  ['an action that was missing', []],
])('[ENG-240] %s that is announced while a plan is compiled is known to the whole plan', async (_, known) => {
  const clock = busyClock();
  const store = memoryStore();
  const catalog = createCatalog([noop]);
  catalog.announce(known);
  const plans = new Plans({ store, clock, digest: sha256 }, new DefinitionChecks(catalog));
  const nodes = Object.fromEntries(Array.from({ length: NODES }, (_, index) => [`n${index}`, { action: 'far' }]));
  await plans.register({ id: 'large', nodes } as unknown as WorkflowDefinition);
  clock.turns = 0;
  const asked = plans.get('large');
  await expect.poll(() => clock.turns, { interval: 1 }).toBeGreaterThan(0);
  expect(plans.cached('large', 1)).toBeUndefined();
  catalog.announce([announcedAction({ id: 'far', version: '2' })]);
  plans.forget();
  const plan = await asked;
  const versions = plan.root.nodes.map(({ work }) => ('action' in work ? work.action.version : undefined));
  expect(new Set(versions)).toEqual(new Set(['2']));
  expect(plans.cached('large', 1)).toBe(plan);
});

it('[ENG-241] a graph that an action returned is compiled in slices before it is decided on', async () => {
  const clock = busyClock();
  const drivers = driversWith(clock);
  let before = 0;
  const run = (): Json => {
    before = clock.turns;
    return graph();
  };
  const engine = createEngine(drivers, { actions: [noop, { ...giver, run }] });
  await engine.open();
  await engine.register({ id: 'giver', nodes: { plan: { dynamic: { action: 'graph' } } } });
  const executionId = await engine.start('giver', undefined, {});
  await expect.poll(async () => (await engine.document(executionId))?.status, { timeout: 20_000 }).toBe('completed');
  // 600 nodes in slices of ten steps, beside the turns of the run itself.
  expect(clock.turns - before).toBeGreaterThan(NODES / 20);
  await engine.close();
});

it('[ENG-275] a long journal is folded in slices', async () => {
  const clock = busyClock();
  const drivers = driversWith(clock);
  const engine = createEngine(drivers, { actions: [noop] });
  await engine.open();
  const each = { forEach: { in: '$input' }, do: { nodes: { say: { action: 'noop' } } } };
  await engine.register({ id: 'long', nodes: { each } });
  const executionId = await engine.start('long', undefined, { input: Array.from({ length: 200 }, () => 0) });
  await expect.poll(async () => (await engine.document(executionId))?.status, { timeout: 20_000 }).toBe('completed');
  await engine.close();
  const frames = (await engine.journal(executionId)).length;
  expect(frames).toBeGreaterThan(150);
  const reader = createExecutionService(drivers, { actions: [noop] });
  clock.turns = 0;
  expect(await reader.document(executionId, frames - 1)).toMatchObject({ status: 'running' });
  expect(clock.turns).toBeGreaterThan(frames / 20);
});

it('[ENG-274] a run whose turn takes long holds up no other run, and is whole when it is written', async () => {
  const drivers = driversWith(realClock);
  const engine = createEngine(drivers, { actions: [noop], sliceMs: 0, concurrency: 4 });
  await engine.open();
  const when = "{{ 'x'.repeat(10).includes('x') }}";
  const wide = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`n${index}`, { set: { [`v${index}`]: index }, when }]),
  );
  await engine.register({ id: 'wide', nodes: { ...wide, last: { action: 'noop', needs: Object.keys(wide) } } });
  await engine.register({ id: 'small', nodes: { a: { action: 'noop' } } });
  const ended: string[] = [];
  engine.on((event) => {
    if (event.type === 'finished') ended.push(event.document.workflowId);
  });
  const started = engine.start('wide', undefined, {});
  await engine.start('small', undefined, {});
  const executionId = await started;
  await engine.waitFor(executionId);
  expect(ended).toEqual(['small', 'wide']);
  const [first] = (await drivers.store.load(executionId))?.frames ?? [];
  expect(JSON.parse(first?.entries ?? '[]')).toHaveLength(302);
  const document = await engine.document(executionId);
  expect(document?.status).toBe('completed');
  expect(document?.nodes.n299).toMatchObject({ status: 'completed', output: { v299: 299 } });
  await engine.close();
});

it('[ENG-274] a cancel that comes while a turn is suspended is decided on after it', async () => {
  const drivers = driversWith(realClock);
  const engine = createEngine(drivers, { actions: [noop], sliceMs: 0 });
  await engine.open();
  const nodes = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`n${index}`, { set: { v: index }, needs: ['go'] }]),
  );
  await engine.register({
    id: 'wide',
    nodes: { go: { wait: { signal: 'go' } }, ...nodes, end: { wait: { for: '1h' } } },
  });
  const executionId = await engine.start('wide', undefined, {});
  await engine.requestSignal(executionId, { signal: 'go', payload: null });
  await engine.requestCancel(executionId, 'enough');
  await engine.waitFor(executionId);
  expect((await engine.document(executionId))?.status).toBe('cancelled');
  await engine.close();
});

it('[ENG-274] a large payload that comes while a turn is suspended is checked after it', async () => {
  const drivers = driversWith(realClock);
  const engine = createEngine(drivers, { actions: [noop], sliceMs: 0 });
  await engine.open();
  const nodes = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`n${index}`, { set: { v: index }, needs: ['go'] }]),
  );
  await engine.register({
    id: 'wide',
    nodes: { go: { wait: { signal: 'go' } }, ...nodes, end: { wait: { signal: 'end', schema: TEXTS } } },
  });
  const executionId = await engine.start('wide', undefined, {});
  const payload = Array.from({ length: 99_000 }, (_, at) => `x${at % 100}`);
  await engine.requestSignal(executionId, { signal: 'go', payload: null });
  // A run in a turn is not shown.
  while (engine.peek(executionId) !== undefined) await new Promise((resolve) => setImmediate(resolve));
  await engine.requestSignal(executionId, { signal: 'end', payload });
  expect(await engine.waitFor(executionId)).toMatchObject({ document: { status: 'completed' } });
  await engine.close();
});

it.each([0, 1_000_000])(
  '[ENG-277] with a slice of %d ms, the event loop runs between a decision and its frame',
  async (sliceMs) => {
    const clock = busyClock();
    const drivers = driversWith(clock);
    const append = drivers.store.append.bind(drivers.store);
    const decidedIn: number[] = [];
    const writtenIn: number[] = [];
    drivers.store.append = (writes) => {
      writtenIn.push(clock.turns);
      return append(writes);
    };
    drivers.queue.poll = ((poll) => (max: number) => {
      decidedIn.push(clock.turns);
      return poll(max);
    })(drivers.queue.poll.bind(drivers.queue));
    const engine = createEngine(drivers, { actions: [noop], sliceMs });
    await engine.open();
    await engine.register({ id: 'one', nodes: { a: { action: 'noop' } } });
    await engine.waitFor(await engine.start('one', undefined, {}));
    await engine.close();
    const later = writtenIn.filter((turn) => !decidedIn.includes(turn));
    expect(later.length > 0).toBe(sliceMs === 0);
  },
);

const TEXTS = { items: { allOf: Array(4).fill({ type: 'string', minLength: 1, maxLength: 9 }) } } as const;
const texts = (count: number): Json => Array.from({ length: count }, () => 'x');
const taker: Action = {
  id: 'take',
  version: '1',
  effect: 'pure',
  input: { properties: { l: TEXTS } },
  run: () => null,
};
const maker: Action = {
  id: 'make',
  version: '1',
  effect: 'pure',
  output: TEXTS,
  run: (_, input) => (input as { l: Json }).l,
};

/** The ways by which a value from outside meets a schema; each takes the value and returns when it was checked. */
const BORDERS: Readonly<Record<string, (engine: Engine, value: Json) => Promise<unknown>>> = {
  'the input of a start': async (engine, value) => {
    await engine.register({ id: 'typed', input: { properties: { l: TEXTS } }, nodes: { a: { action: 'noop' } } });
    return await engine.start('typed', undefined, { input: { l: value } });
  },
  'the input of an action': async (engine, value) => {
    await engine.register({ id: 'takes', nodes: { a: { action: 'take', with: { l: '{{ $input.l }}' } } } });
    return await engine.waitFor(await engine.start('takes', undefined, { input: { l: value } }), 'end');
  },
  'the output of an action': async (engine, value) => {
    await engine.register({ id: 'makes', nodes: { a: { action: 'make', with: { l: '{{ $input.l }}' } } } });
    return await engine.waitFor(await engine.start('makes', undefined, { input: { l: value } }), 'end');
  },
  'the input of an inlined workflow': async (engine, value) => {
    await engine.register({ id: 'typed', input: { properties: { l: TEXTS } }, nodes: { a: { action: 'noop' } } });
    const inlined = { id: 'typed', input: { l: '{{ $input.l }}' } };
    await engine.register({ id: 'inlines', nodes: { a: { workflow: inlined } } });
    return await engine.waitFor(await engine.start('inlines', undefined, { input: { l: value } }), 'end');
  },
  'a signal': async (engine, value) => {
    await engine.register({ id: 'waits', nodes: { a: { wait: { signal: 'go', schema: TEXTS } } } });
    const executionId = await engine.start('waits', undefined, {});
    await engine.waitFor(executionId);
    await engine.requestSignal(executionId, { signal: 'go', payload: value });
    return await engine.waitFor(executionId, 'end');
  },
  'the form of an answer': async (engine, value) => {
    await engine.register({ id: 'asks', nodes: { a: { wait: { approval: { form: { properties: { l: TEXTS } } } } } } });
    const executionId = await engine.start('asks', undefined, {});
    await engine.waitFor(executionId);
    await engine.requestAnswer(executionId, 'a', { approved: true, by: 'ada', form: { l: value } });
    return await engine.waitFor(executionId, 'end');
  },
  'the outcome of a remote worker': async (engine, value) => {
    engine.announce([announcedAction({ id: 'far', version: '1', output: TEXTS as JsonSchema })]);
    await engine.register({ id: 'far', nodes: { a: { action: 'far' } } });
    const executionId = await engine.start('far', undefined, {});
    const request = { holder: 'w', principal: 'p', max: 1, leaseMs: 60_000, waitMs: 5_000, serves: () => true };
    const [task] = await engine.remote.claim(request);
    await engine.remote.end(task?.leaseId ?? '', { status: 'completed', output: value }, 'p');
    return await engine.waitFor(executionId, 'end');
  },
};

it.each(Object.keys(BORDERS))('[ENG-290] a large value is checked in slices: %s', async (name) => {
  const turnsWith = async (count: number): Promise<number> => {
    const clock = busyClock();
    const engine = createEngine(driversWith(clock), { actions: [noop, taker, maker] });
    await engine.open();
    clock.turns = 0;
    const ended = await BORDERS[name]?.(engine, texts(count));
    if (typeof ended === 'object') expect(ended).toMatchObject({ document: { status: 'completed' } });
    await engine.close();
    return clock.turns;
  };
  // 13 steps for each text, 20,000 in a piece, ten pieces in a slice, two turns after it.
  expect((await turnsWith(90_000)) - (await turnsWith(10))).toBeGreaterThan(14);
});

it('[ENG-291] of several pieces of long work, one continues per turn of the event loop', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  count();
  const resumed: number[] = [];
  const work = async (pieces: number): Promise<void> => {
    for (let piece = 0; piece < pieces; piece++) {
      await pause(realClock);
      resumed.push(turn);
    }
  };
  await Promise.all([work(3), work(1), work(2)]);
  isOver = true;
  expect(resumed).toHaveLength(6);
  expect(new Set(resumed).size).toBe(6);
});

it('[ENG-291] requests that wait do not hold up the turns of the engine', async () => {
  const resumed: string[] = [];
  const waits = Array.from({ length: 500 }, () => pause(realClock, 'request').then(() => resumed.push('request')));
  waits.push(...Array.from({ length: 100 }, () => pause(realClock).then(() => resumed.push('work'))));
  waits.push(pause(realClock, 'turn').then(() => resumed.push('turn')));
  await Promise.all(waits);
  expect(resumed.slice(0, 3)).toContain('turn');
  expect(resumed.slice(0, 201).filter((kind) => kind === 'work')).toHaveLength(100);
  expect(resumed).toHaveLength(601);
});

it.each([3, 20_000])(
  '[ENG-292] an output of %d items is stored as the action returned it, whatever the action does to it afterwards',
  async (length) => {
    const changing: Action = {
      id: 'change',
      version: '1',
      effect: 'pure',
      run: () => {
        const list = Array.from({ length }, (_, at) => at);
        const given: Record<string, Json> = { list };
        setImmediate(() => Object.assign(given, { more: true }));
        return given;
      },
    };
    const drivers = driversWith(realClock);
    const engine = createEngine(drivers, { actions: [changing] });
    await engine.open();
    await engine.register({ id: 'changes', nodes: { a: { action: 'change' } } });
    const executionId = await engine.start('changes', undefined, {});
    await engine.waitFor(executionId, 'end');
    await engine.close();
    const document = await createExecutionService(drivers, { actions: [changing] }).document(executionId);
    expect(Object.keys((document?.output as { a?: object } | undefined)?.a ?? {})).toEqual(['list']);
  },
);

it('[ENG-292] a large value that a turn stores many times is one blob', () => {
  const values = new Values({ blobs: memoryBlobs(), digest: sha256, clock: realClock }, 1_000);
  const blobs: NewBlobs = [];
  for (const text of ['x', 'y', 'x', 'x']) values.store(text.repeat(2_000), blobs);
  expect(blobs).toHaveLength(2);
});
