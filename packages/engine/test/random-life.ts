/** What is done to a world, and what must be true of it afterwards. */
import { expect } from 'vitest';
import { Chance } from './random-chance.ts';
import { randomDefinition } from './random-definition.ts';
import { type Entry, World } from './random-world.ts';

const STEPS = 25;
/** Clocks of two processes differ by this much at the most. */
const MAX_SKEW_MS = 14_000;
const FINISHED = ['completed', 'failed', 'cancelled', 'timed-out'];

/** Lives through one world and returns it with the runs that were started in it. */
export async function live(seed: number): Promise<{ readonly world: World; readonly started: readonly string[] }> {
  const chance = new Chance(seed);
  const world = new World(chance, { engines: chance.pick([1, 1, 2]), remoteQueue: chance.oneIn(4) });
  const started = new Set<string>();
  for (let step = 0; step < STEPS; step++) {
    await happen(world, chance, started, step);
    await world.clock.advance(chance.pick([0, 1, 30, 300, 2_000, 20_000, 40_000]));
  }
  world.heal();
  await untilAllEnd(world, started);
  return { world, started: [...started] };
}

async function happen(world: World, chance: Chance, started: Set<string>, step: number): Promise<void> {
  const index = chance.below(world.processes.length);
  const process = world.processes[index];
  const executionId = chance.pick([...started, 'exe_0']);
  /** Gives it time, and does not ask what came of it: its engine may die in the middle. */
  const told = async (work: Promise<unknown>): Promise<void> => {
    work.catch(() => {});
    await world.clock.advance(500);
  };
  if (process === undefined) return world.open(index);
  switch (chance.below(8)) {
    case 0:
      return world.kill(index);
    case 1:
      return chance.oneIn(2) ? world.close(index) : undefined;
    case 2:
      return chance.oneIn(2) ? told(process.engine.requestCancel(executionId, 'enough')) : undefined;
    case 3:
      world.ask(`retry ${executionId}`);
      return told(process.engine.requestRetry(executionId));
    case 4:
      return told(process.engine.requestSettle(executionId, `n${chance.below(4)}`, world.settlement()));
    default: {
      const definition = randomDefinition(chance, `wf${step}`);
      const id = `exe_${started.size}`;
      const work = process.engine.register(definition as never).then(({ workflowId, version }) => {
        const input = { text: chance.oneIn(4) ? 'y'.repeat(900) : '' };
        return process.engine.start(workflowId, version, { executionId: id, input });
      });
      await told(work);
      // Whether or not it was told, it may have been written.
      if (world.data.runs.has(id)) started.add(id);
      return;
    }
  }
}

async function untilAllEnd(world: World, started: ReadonlySet<string>): Promise<void> {
  for (let round = 0; round < 120; round++) {
    for (let index = 0; index < world.processes.length; index++) await world.open(index);
    const open = [...started].filter((id) => isOpen(world, id));
    if (open.length === 0) break;
    const engine = world.living()[round % world.living().length]?.engine;
    for (const id of open) {
      for (const node of unknownIn(world.journalOf(id))) {
        // It may have been said before, and wait for an engine that has room for the run.
        await engine?.requestSettle(id, node, world.settlement()).catch(() => {});
      }
    }
    await world.clock.advance(20_000);
  }
  // Whatever is still under way for runs that have ended comes to rest.
  await world.clock.advance(120_000);
}

/** Not at its end, or asked for something. */
function isOpen(world: World, executionId: string): boolean {
  const run = world.data.runs.get(executionId);
  return run !== undefined && (!FINISHED.includes(run.row.status) || run.inbox.size > 0);
}

/** Nodes whose last word is that nobody knows. */
function unknownIn(journal: readonly Entry[]): string[] {
  const unknown = new Set<string>();
  for (const { type, node, outcome } of journal) {
    if (type === 'node.unknown') unknown.add(node as string);
    else if (type === 'node.settled' && outcome !== 'unknown') unknown.delete(node as string);
  }
  return [...unknown];
}

export async function expectSound({ world, started }: Awaited<ReturnType<typeof live>>): Promise<void> {
  expect(world.faults).toEqual([]);
  for (const { executionId, node, attempt, journal } of world.calls) {
    const name = `${executionId} ${node}#${attempt}`;
    const own = journal.filter((entry) => entry.node === node);
    expect(own.findLast(({ type }) => type === 'node.started')?.attempt, `${name} is durable`).toBe(attempt);
    expect(
      own.map(({ type }) => type),
      `${name} has not completed`,
    ).not.toContain('node.completed');
  }
  const called = world.calls.map(({ executionId, node, attempt }) => `${executionId} ${node}#${attempt}`);
  expect(new Set(called).size, 'no attempt runs twice').toBe(called.length);
  for (const executionId of started) {
    await expectRun(world, executionId);
    if (world.processes.length === 1) expectNoneLost(world, executionId);
  }
  for (const { engine, queue } of world.living()) {
    const { gauges } = engine.metrics();
    expect(gauges['engine.cached_runs'], 'memory is empty').toBe(0);
    expect(gauges['workflow.parallel_tasks'], 'nothing runs').toBe(0);
    expect(queue.depth(), 'the queue is empty').toBe(0);
  }
}

async function expectRun(world: World, executionId: string): Promise<void> {
  const run = world.data.runs.get(executionId);
  const journal = world.journalOf(executionId);
  const document = await world.living()[0]?.engine.document(executionId);
  expect(FINISHED, `${executionId} has ended`).toContain(run?.row.status);
  expect(document?.status).toBe(run?.row.status);
  expect(run?.row).toMatchObject({ wakeAt: null, finishedAt: expect.any(Number) });
  expect(run?.inbox.size).toBe(0);
  const times = run?.frames.map(({ at }) => at) ?? [];
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const count = (type: string): number => journal.filter((entry) => entry.type === type).length;
  expect(count('run.started')).toBe(1);
  expect(count('run.finished')).toBe(count('run.reopened') + 1);
  expect(count('run.reopened'), 'retries').toBeLessThanOrEqual(world.asked.get(`retry ${executionId}`) ?? 0);
  for (const node of Object.keys(document?.nodes ?? {})) expectNode(journal, node);
}

/** What an action reports to a living engine is journalled as it was, whatever the store does. */
function expectNoneLost(world: World, executionId: string): void {
  const attempts = new Map<string, number>();
  for (const { type, node = '', attempt = 0, error, at } of world.journalOf(executionId)) {
    if (type === 'node.started') attempts.set(node, attempt);
    if (error?.code !== 'WORKER_LOST' || (type !== 'node.retrying' && type !== 'node.unknown')) continue;
    const call = world.calls.find(
      (one) => one.executionId === executionId && one.node === node && one.attempt === attempts.get(node),
    );
    if (call === undefined) continue;
    const { endedAt = Number.POSITIVE_INFINITY, skewMs } = call.process;
    const name = `${executionId} ${node}#${call.attempt}`;
    expect(endedAt + Math.min(0, skewMs), `${name} was lost by a living engine`).toBeLessThanOrEqual(at + MAX_SKEW_MS);
  }
}

/** A node completes once, and after an unknown outcome it starts again only when somebody has said so. */
function expectNode(journal: readonly Entry[], node: string): void {
  let isUnknown = false;
  let isDone = false;
  for (const { type, node: named, outcome } of journal) {
    if (named !== node) continue;
    if (type === 'node.started') expect({ isUnknown, isDone }, node).toEqual({ isUnknown: false, isDone: false });
    if (type === 'node.unknown') isUnknown = true;
    if (type === 'node.settled' && outcome !== 'unknown') isUnknown = false;
    if (type === 'node.completed') {
      expect(isDone, `${node} completes once`).toBe(false);
      isDone = true;
    }
  }
}
