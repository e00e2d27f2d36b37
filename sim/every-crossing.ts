/**
 * Runs a scenario with exactly one crash, at each crash point. Wherever the crash is, the scenario
 * ends as it would without it.
 */
import type { Json, Plan, RunDocument } from '@nebula/core';
import type { Engine } from '@nebula/engine';
import type { Process } from './process.ts';
import { plannedCourse, type Scenario } from './scenarios.ts';
import { withoutStackTraces } from './script.ts';
import { World } from './world.ts';

const EXECUTION = 'exe_0';
const PATIENCE_STEPS = 400;
const STEP_MS = 500;

/** How the scenario ended. */
export interface Ending {
  readonly status: string;
  readonly output: Json;
  readonly nodes: Readonly<Record<string, { readonly status: string; readonly output: Json }>>;
  /** How often each effect happened. */
  readonly effects: Readonly<Record<string, number>>;
}

export interface Outcome {
  readonly ending: Ending;
  /** The crossings at which a crash makes a difference. */
  readonly crossings: readonly number[];
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

export interface ScenarioOptions {
  readonly engines: number;
  readonly sharesQueue: boolean;
  /** The crossing at which the process dies, counted from 1. */
  readonly crashAt?: number;
  readonly keepsTrace?: boolean;
  /** Plans that an earlier run of the scenario compiled. */
  readonly compiled?: Map<string, Plan>;
}

export function play(scenario: Scenario, options: ScenarioOptions): Promise<Outcome> {
  return withoutStackTraces(() => playToTheEnd(scenario, options));
}

async function playToTheEnd(scenario: Scenario, options: ScenarioOptions): Promise<Outcome> {
  const world = new World({
    seed: 1,
    workers: scenario.workers ?? 0,
    calm: Number.POSITIVE_INFINITY,
    ...options,
    courseOf: plannedCourse,
    keepsTrace: options.keepsTrace ?? false,
  });
  if (options.crashAt === undefined) world.faults.isOver = true;
  for (let step = 0; step < PATIENCE_STEPS && !isOver(world, scenario); step++) {
    for (let index = 0; index < world.slots.length; index++) world.open(index);
    for (let index = 0; index < world.workers.length; index++) world.hire(index);
    await world.clock.advance(1);
    for (const person of world.living().slice(0, 1)) {
      world.events++;
      act(world, scenario, person);
    }
    await world.clock.advance(STEP_MS);
  }
  // Remote workers ask between crossings.
  const { distinct, crossings: count } = world.faults;
  const crossings = world.workers.length === 0 ? [...distinct] : Array.from({ length: count }, (_, at) => at + 1);
  // Hanging calls stay so: nothing after the end may change it.
  world.faults.isOver = true;
  for (let index = 0; index < world.slots.length; index++) world.open(index);
  await world.clock.advance(60_000);
  world.oracle.atTheEnd(world.data.runs.keys());
  const document = await world.living()[0]?.engine.document(EXECUTION);
  if (document === undefined) throw new Error(`${scenario.name} was never started`);
  return { ending: endingOf(world, document), crossings, violations: world.oracle.violations, trace: world.trace };
}

/** Requests of people, repeated until they see the effect. */
function act(world: World, scenario: Scenario, { engine }: Process): void {
  const run = world.data.runs.get(EXECUTION);
  const { nodes, status, reopenings, isStopping, pauses } = world.oracle.journal(EXECUTION);
  if (run === undefined) return ask(start(engine, scenario));
  if (run.inbox.size > 0) return;
  for (const [node, { status: of, attempts, waits }] of nodes) {
    const settlement = of === 'unknown' ? world.settlementOf(EXECUTION, node) : undefined;
    if (settlement !== undefined) ask(engine.requestSettle(EXECUTION, node, settlement, attempts));
    const [wait] = of === 'listening' ? waits : [];
    if (wait?.kind === 'signal') ask(engine.requestSignal(EXECUTION, { ...wait, payload: 'go' }));
    if (wait?.kind === 'approval') ask(engine.requestAnswer(EXECUTION, node, { approved: true, by: 'ann' }));
  }
  const isBusy = (node: string | undefined): boolean =>
    node !== undefined && ['running', 'child'].includes(nodes.get(node)?.status ?? '');
  const { cancelWhenRunning, pauseWhenRunning, retryWhenFailed = false } = scenario;
  if (isBusy(cancelWhenRunning) && !isStopping && status === 'running') ask(engine.requestCancel(EXECUTION, 'enough'));
  if (isBusy(pauseWhenRunning) && pauses === 0) ask(engine.requestPause(EXECUTION));
  if (status === 'paused' && !isBusy(pauseWhenRunning)) ask(engine.requestResume(EXECUTION));
  if (retryWhenFailed && status === 'failed' && reopenings === 0) ask(engine.requestRetry(EXECUTION));
}

async function start(engine: Engine, { definition, others = [], input = {} }: Scenario): Promise<void> {
  for (const other of others) await engine.register(other as never);
  const { workflowId, version } = await engine.register({ id: 'scenario', ...definition } as never);
  await engine.start(workflowId, version, { executionId: EXECUTION, input });
}

/** Success is seen in the journal, so errors are ignored. */
function ask(asked: Promise<unknown>): void {
  asked.catch(() => {});
}

function isOver(world: World, { retryWhenFailed = false }: Scenario): boolean {
  const { isFinished, reopenings } = world.oracle.journal(EXECUTION);
  return isFinished && (!retryWhenFailed || reopenings > 0);
}

function endingOf(world: World, { status, output, nodes }: RunDocument): Ending {
  const short = Object.entries(nodes).map(
    ([path, node]) => [path, { status: node.status, output: node.output }] as const,
  );
  const effects = [...world.externalWorld.effects].map(([key, { times }]) => [key, times] as const);
  const ending = { status, output, nodes: Object.fromEntries(short), effects: Object.fromEntries(effects.sort()) };
  return JSON.parse(nameless(JSON.stringify(ending), world)) as Ending;
}

/** Replaces times and drawn ids, which differ after a crash. */
function nameless(text: string, world: World): string {
  let replaced = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'some time');
  for (const [executionId, node] of world.oracle.family.nodes())
    replaced = replaced.replaceAll(executionId, `for ${node}`);
  return replaced;
}
