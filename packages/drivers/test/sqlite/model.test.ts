/** The same random calls on the reference store and on SQLite give the same answers, whatever happens in between. */
import { FEED_START, FINISHED_STATUSES, positionOf, type Store, type Write } from '@nebula/ports';
import { expect, test } from 'vitest';
import { memoryData, memoryStore, seededRandom } from '../../src/memory/index.ts';
import type { SqliteStore } from '../../src/sqlite/index.ts';
import { tempStore } from './opened.ts';

const STATUSES = ['pending', 'running', 'paused', 'compensating', ...FINISHED_STATUSES] as const;
const CALLS = 500;

type AnyCall = (store: Store) => Promise<unknown>;

function chance(seed: number) {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random.fraction() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const maybe = <T>(value: T): T | undefined => (random.fraction() < 0.4 ? value : undefined);
  return { below, pick, maybe };
}

/** A write that is sometimes valid: heads are guessed from the model. */
function someWrite(draw: ReturnType<typeof chance>, heads: ReadonlyMap<string, number>): Write {
  const executionId = `run-${draw.below(6)}`;
  const head = heads.get(executionId) ?? 0;
  const seq = draw.pick([head + 1, head + 1, head + 1, head, head + 2, 1]);
  const fields = {
    create: draw.maybe({
      ...draw.pick([{}, { project: 'p' }]),
      ...draw.pick([{}, { parent: `run-${draw.below(6)}` }]),
      workflowId: draw.pick(['a', 'b']),
      version: 1,
      createdAt: draw.below(50),
      owner: draw.pick(['w1', 'w2', null]),
    }),
    frame:
      draw.maybe({ seq, at: draw.below(100), entries: `"${draw.below(1_000)}"` }) ??
      draw.maybe({ seq, at: 1, entries: '' }),
    status: draw.maybe({
      status: draw.pick(STATUSES),
      finishedAt: draw.pick([null, 5]),
      expiresAt: draw.pick([null, draw.below(100)]),
    }),
    wakeAt: draw.maybe(draw.pick([null, draw.below(100)])),
    taken: draw.maybe([`m${draw.below(4)}`, `m${draw.below(4)}`]),
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { executionId, ...given };
}

function someCall(draw: ReturnType<typeof chance>, heads: ReadonlyMap<string, number>): AnyCall {
  const executionId = `run-${draw.below(6)}`;
  const [x, y, z] = [draw.below(100), draw.below(100), draw.below(5) + 1];
  const writes = Array.from({ length: draw.below(12) }, () => someWrite(draw, heads));
  const status = draw.maybe([draw.pick(STATUSES), draw.pick(STATUSES)]);
  const scope = {
    ...draw.maybe({ project: draw.pick(['p', 'default']) }),
    ...draw.maybe({ workflowId: draw.pick(['a', 'b']) }),
    ...draw.maybe({ since: x % 50 }),
    ...draw.maybe({ until: y % 50 }),
  };
  const order = draw.pick(['newest', 'oldest'] as const);
  const calls: readonly AnyCall[] = [
    (store) => store.append(writes),
    (store) => store.append(writes),
    (store) => store.append(writes),
    (store) => store.frames(executionId, x % 4),
    (store) => store.feed({ after: positionOf(x), limit: z, ...draw.maybe({ inclusive: true }) }),
    (store) => store.lastPosition(),
    (store) => store.execution(executionId),
    (store) => store.list({ limit: z, ...(status === undefined ? {} : { status }) }),
    (store) => store.list({ limit: z, order, ...scope, ...(status === undefined ? {} : { status }) }),
    (store) => store.counts(scope),
    (store) => store.workflows({ limit: z, ...draw.maybe({ after: 'A' }) }),
    (store) => store.workflowVersions('a', { limit: z, ...draw.maybe({ after: x % 6 }) }),
    (store) => store.deleteExecution(executionId),
    (store) => store.expired(x, z),
    (store) => store.send({ messageId: `m${z}`, executionId, body: `${x}` }, y),
    (store) => store.inbox(executionId),
    (store) => store.claimDue(x, x + y, `w${z}`, z),
    (store) => store.heartbeat([{ worker: `w${z}`, expiresAt: x }]),
    (store) => store.liveWorkers(['w1', 'w2', 'w3'], x),
    (store) => store.reapWorkers(x, 'w1', y, ...(draw.maybe(true) ? ['w'] : [])),
    (store) => store.saveSnapshot(executionId, { seq: x, state: `${y}` }),
    (store) => store.load(executionId, { ...draw.maybe({ after: x % 4 }), ...draw.maybe({ upTo: y % 8 }) }),
    (store) => store.heads([executionId, 'run-1', 'nobody']),
    (store) =>
      store.registerWorkflow({
        workflowId: 'a',
        hash: `h${z}`,
        definition: '{}',
        createdAt: 1,
        ...(x < 50 ? {} : { version: z }),
        ...draw.maybe({ source: { text: `${y}`, format: 'yaml', filename: null } }),
      }),
    (store) => store.workflowSource('a', z),
    (store) => store.recent(['a', 'b', 'none'], z),
    (store) => store.workflowVersion('a', draw.maybe(z)),
  ];
  return draw.pick(calls);
}

for (const [seed, commitsIn] of [
  [1, 'main'],
  [2, 'main'],
  [3, 'thread'],
  [4, 'auto'],
] as const) {
  test(`seed ${seed}, commits in ${commitsIn}`, { timeout: 60_000 }, async () => {
    const draw = chance(seed);
    const { open } = await tempStore();
    const options = { commitsIn, durability: 'relaxed', walLimitBytes: 100_000, slowCommitMs: 0.02 } as const;
    const reference = memoryStore({ data: memoryData() });
    let engine: SqliteStore = await open(options);
    const executions = await open({ engine: false });
    for (let call = 0; call < CALLS; call++) {
      const heads = new Map<string, number>();
      for (const frame of await reference.feed({ after: FEED_START, limit: 100_000 }))
        heads.set(frame.executionId, frame.seq);
      // Drawn twice from the same state, so that a call that draws while it runs does so equally.
      const before = draw.below(2 ** 31);
      const one = someCall(chance(before), heads);
      const two = someCall(chance(before), heads);
      const expected = await one(reference);
      expect({ call, answer: await two(engine) }).toEqual({ call, answer: expected });
      if (draw.below(60) === 0) {
        await engine.close();
        engine = await open(options);
      }
      if (draw.below(20) === 0) {
        const id = `run-${draw.below(6)}`;
        expect(await executions.deleteExecution(id)).toBe(await reference.deleteExecution(id));
        const message = { messageId: 'message', executionId: id, body: 'x' };
        expect(await executions.send(message, 50)).toBe(await reference.send(message, 50));
      }
    }
    expect(await engine.feed({ after: FEED_START, limit: 100_000 })).toEqual(
      await reference.feed({ after: FEED_START, limit: 100_000 }),
    );
    expect(await engine.list({ limit: 100 })).toEqual(await reference.list({ limit: 100 }));
    expect((await reference.feed({ after: FEED_START, limit: 100_000 })).length).toBeGreaterThan(10);
  });
}
