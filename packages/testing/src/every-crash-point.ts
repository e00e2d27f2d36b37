/**
 * Kills the engine at every append to the journal, once before the append is durable and once after, continues with a
 * new engine on the same data, and compares the result with that of an undisturbed run.
 */
import { canonicalJson, type Entry, type Json, jsonEquals, NebulaError } from '@nebula/core';
import { Coverage } from './coverage.ts';
import type { WorkflowSource } from './source.ts';
import { TestRun } from './test-run.ts';
import { begin, type InputFor, type OutputFor, type TestOptions, worldOf } from './test-workflow.ts';
import type { Append, World } from './world.ts';

export interface CrashOptions<Input = Json, Output = Json> extends Omit<TestOptions<Input>, 'coverage'> {
  /** External events, applied when the run is idle: signals, approvals, the passing of time. */
  readonly steps?: (run: TestRun<Output>) => Promise<unknown>;
}

export interface CrashReport {
  /** Number of appends of the undisturbed run. */
  readonly boundaries: number;
  /** Number of survived crashes: two per append. */
  readonly crashes: number;
}

/** The crash point and its consequence. */
export interface CrashDifference {
  readonly boundary: number;
  /** Before the append was durable, or after that and before it was acknowledged. */
  readonly side: 'before' | 'after';
  readonly frames: readonly {
    readonly executionId: string;
    readonly seq: number;
    readonly entries: readonly Entry[];
  }[];
  /** `status`, `output`, `error`, `nodes.charge.output`, `effects.charge:0`. */
  readonly what: string;
  readonly expected: Json;
  readonly actual: Json;
}

/** Rejects with `CRASH_DIFFERENCE` at the first crash that changes the result; `details` is a `CrashDifference`. */
export async function everyCrashPoint<W extends WorkflowSource>(
  source: W,
  options: CrashOptions<InputFor<W>, OutputFor<W>> = {},
): Promise<CrashReport> {
  const undisturbed = await play(source, options);
  const { appends } = undisturbed.world;
  const expected = endingOf(undisturbed.world);
  let crashes = 0;
  for (const append of appends) {
    for (const side of ['before', 'after'] as const) {
      const crash = { append: append.number, side };
      const { world, failure } = await play(source, options, crash, expected);
      const difference =
        failure === undefined
          ? differenceOf(expected, endingOf(world))
          : { what: 'test', expected: null, actual: failure };
      if (difference !== undefined)
        throw crashDifference({ ...difference, ...crashPoint(world.appends[append.number - 1], append, side) });
      crashes++;
    }
  }
  return { boundaries: appends.length, crashes };
}

interface Played {
  readonly world: World;
  /** The error that the test itself threw, e.g. for a rejected request or an invalid mock. */
  readonly failure?: string;
}

async function play<Input, Output>(
  source: WorkflowSource,
  options: CrashOptions<Input, Output>,
  crashAt?: World['crashAt'],
  expected?: Ending,
): Promise<Played> {
  const world = await worldOf(source, { ...options, coverage: new Coverage() });
  world.crashAt = crashAt;
  try {
    const run = await begin<Output>(world, options);
    if (expected !== undefined) await settleUnknown(world, expected);
    await options.steps?.(run);
    if (expected !== undefined) await settleUnknown(world, expected);
    return { world };
  } catch (error) {
    if (crashAt === undefined) throw error;
    return { world, failure: (error as Error).message };
  }
}

/** Settles unknown outcomes as a person would, according to what the mock did. */
async function settleUnknown(world: World, expected: Ending): Promise<void> {
  for (let patience = 0; patience < 100; patience++) {
    const open = world.executions.flatMap((executionId) =>
      Object.entries(world.run(executionId).document.nodes)
        .filter(
          ([node, { status }]) =>
            status === 'unknown' && expected.nodes[`${nameIn(world, executionId, node)}.status`] !== 'unknown',
        )
        .map(([node]) => ({ executionId, node })),
    );
    const [first] = open;
    if (first === undefined) return;
    const { executionId, node } = first;
    const last = world.externalWorld.lastCall(executionId, node);
    await new TestRun(world, executionId).settle(
      node,
      last?.outcome === 'completed'
        ? { happened: true, output: last.output ?? null }
        : { happened: false, then: 'retry' },
    );
  }
}

/** The final result of everything. Attempts and times are excluded, because a crash may change them. */
interface Ending {
  readonly status: string;
  readonly output: Json;
  readonly error: string | null;
  readonly nodes: Readonly<Record<string, Json>>;
  /** By idempotency key: the number of times that a `once` effect happened; for other effects, whether it happened. */
  readonly effects: Readonly<Record<string, number>>;
}

function endingOf(world: World): Ending {
  const { document } = world.run();
  const nodes: Record<string, Json> = {};
  const effects: Record<string, number> = {};
  for (const executionId of world.executions) {
    const chronicle = world.run(executionId);
    const once = new Set<string>();
    for (const { entries } of chronicle.frames) {
      for (const entry of entries) if (entry.type === 'node.started' && entry.effect === 'once') once.add(entry.node);
    }
    for (const [path, node] of Object.entries(chronicle.document.nodes)) {
      const name = nameIn(world, executionId, path);
      nodes[`${name}.status`] = node.status;
      nodes[`${name}.output`] = withoutTimes(node.output);
    }
    for (const call of world.externalWorld.calls) {
      if (call.executionId !== executionId || call.outcome !== 'completed') continue;
      const key = nameIn(world, executionId, call.idempotencyKey.slice(executionId.length + 1));
      effects[key] = once.has(call.node) ? (effects[key] ?? 0) + 1 : 1;
    }
  }
  return {
    status: document.status,
    output: withoutTimes(document.output),
    error: document.error?.code ?? null,
    nodes,
    effects,
  };
}

/** Names a child after the node that started it, because its id is random. */
function nameIn(world: World, executionId: string, path: string): string {
  const { parent } = world.run(executionId).state;
  return parent === null ? path : nameIn(world, parent.executionId, `${parent.node}>${path}`);
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Replaces timestamps, because a crash takes time. */
function withoutTimes(value: Json): Json {
  if (typeof value === 'string') return MOMENT.test(value) ? '(a moment)' : value;
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutTimes(member as Json)]));
}

type Finding = Pick<CrashDifference, 'what' | 'expected' | 'actual'>;

function differenceOf(expected: Ending, actual: Ending): Finding | undefined {
  for (const what of ['status', 'error', 'output'] as const) {
    if (!jsonEquals(expected[what], actual[what])) return { what, expected: expected[what], actual: actual[what] };
  }
  for (const group of ['nodes', 'effects'] as const) {
    for (const key of new Set([...Object.keys(expected[group]), ...Object.keys(actual[group])])) {
      const [before = null, now = null] = [expected[group][key], actual[group][key]];
      if (!jsonEquals(before, now)) return { what: `${group}.${key}`, expected: before, actual: now };
    }
  }
  return undefined;
}

function crashPoint(
  reached: Append | undefined,
  planned: Append,
  side: 'before' | 'after',
): Pick<CrashDifference, 'boundary' | 'side' | 'frames'> {
  return { boundary: planned.number, side, frames: (reached ?? planned).frames };
}

function crashDifference(difference: CrashDifference): NebulaError {
  const { boundary, side, frames, what, expected, actual } = difference;
  const where = frames.map(
    ({ executionId, seq, entries }) => `frame ${seq} of ${executionId}: ${entries.map(short).join(', ')}`,
  );
  const lines = [
    `a crash ${side === 'before' ? 'before append' : 'after append'} ${boundary} changes the result: ${what}`,
    ...(where.length === 0 ? ['  (an append without entries)'] : where.map((line) => `  ${line}`)),
    `  undisturbed: ${canonicalJson(expected)}`,
    `  after crash: ${canonicalJson(actual)}`,
  ];
  return new NebulaError('CRASH_DIFFERENCE', lines.join('\n'), {
    details: JSON.parse(JSON.stringify(difference)) as Json,
    hint: 'Make the effect of the action depend only on its input and its idempotency key',
  });
}

function short(entry: Entry): string {
  const subject =
    'node' in entry
      ? entry.node
      : 'nodes' in entry
        ? (entry.nodes ?? []).join(' ')
        : 'scope' in entry
          ? entry.scope
          : '';
  return subject === '' ? entry.type : `${entry.type} ${subject}`;
}
