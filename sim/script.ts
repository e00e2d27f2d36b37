/** One life: the requests of people to a world, until it is healed and everything has ended. */
import { Chance } from './chance.ts';
import { countNodes, randomDefinition, sharedDefinitions } from './definition.ts';
import type { Process } from './process.ts';
import { sendRemote } from './skills.ts';
import { DEBOUNCED, KEYED_DEFINITIONS, SINGLETON } from './starts.ts';
import { World } from './world.ts';

const STEPS = 24;
const MIN_RUNS = 5;
const MIN_NODES = 40;
const PATIENCE_ROUNDS = 2_000;
const GAUGES = ['engine.cached_runs', 'workflow.parallel_tasks', 'workflow.remote_tasks', 'engine.queue_depth'];

/** A workflow to start under an id that people chose. */
interface Order {
  readonly executionId: string;
  readonly definition: Record<string, unknown>;
  readonly nodes: number;
}

export interface Life {
  readonly world: World;
  readonly runs: number;
  readonly nodes: number;
}

export interface LifeOptions {
  /** A single engine that has the store for itself. */
  readonly alone?: boolean;
  readonly keepsTrace?: boolean;
}

export function live(seed: number, options: LifeOptions = {}): Promise<Life> {
  return withoutStackTraces(() => liveToTheEnd(seed, options));
}

/** A life throws thousands of errors, and nobody reads where they came from. Stacks are logged, so all lives are without. */
export async function withoutStackTraces<T>(work: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function liveToTheEnd(seed: number, { alone = false, keepsTrace = false }: LifeOptions): Promise<Life> {
  const shape = shapeOf(seed);
  const world = new World({
    seed,
    engines: alone ? 1 : shape.engines,
    sharesQueue: shape.sharesQueue,
    workers: shape.workers,
    calm: shape.calm,
    keepsTrace,
  });
  const shared = [...sharedDefinitions(world.chance), ...structuredClone(KEYED_DEFINITIONS)];
  const orders = ordersFor(world);
  if (shape.workers > 0) {
    for (const one of [...shared, ...orders.map(({ definition }) => definition)]) sendRemote(world.chance, one);
  }
  const script = new Script(world, orders, shared);
  for (let step = 0; step < STEPS && !isBroken(world); step++) await script.step();
  if (!isBroken(world)) await script.untilAllEnd();
  return { world, runs: orders.length, nodes: orders.reduce((sum, { nodes }) => sum + nodes, 0) };
}

/** Chosen so that seeds pinned before there were remote workers are lives without them. */
const SALT = 532;

interface Shape {
  readonly engines: number;
  readonly sharesQueue: boolean;
  readonly calm: number;
  readonly workers: number;
}

function shapeOf(seed: number): Shape {
  // A stream of its own: lives without remote workers do not depend on their existence.
  const chance = new Chance(seed + SALT * 1_000_003);
  return {
    engines: seed % 5 === 0 ? 3 : 2,
    sharesQueue: seed % 2 === 0,
    calm: [0.7, 1.5, 4][seed % 3] as number,
    workers: chance.oneIn(3) ? 1 + chance.below(4) : 0,
  };
}

function isBroken(world: World): boolean {
  return world.oracle.violations.length > 0;
}

function ordersFor({ chance }: World): Order[] {
  const orders: Order[] = [];
  let nodes = 0;
  for (let index = 0; index < MIN_RUNS || nodes < MIN_NODES; index++) {
    const definition = randomDefinition(chance, `wf${index}`);
    const count = countNodes(definition);
    nodes += count;
    orders.push({ executionId: `exe_${index}`, definition, nodes: count });
  }
  return orders;
}

class Script {
  private readonly world: World;
  private readonly orders: readonly Order[];
  /** Workflows that the ordered ones run. */
  private readonly shared: readonly Record<string, unknown>[];
  private signals = 0;
  private numbered = 0;
  /** Runs that people reopened: people continue them, whoever started them. */
  private readonly retried = new Set<string>();

  constructor(world: World, orders: readonly Order[], shared: readonly Record<string, unknown>[]) {
    this.world = world;
    this.orders = orders;
    this.shared = shared;
  }

  async step(): Promise<void> {
    const { world } = this;
    const { chance } = world;
    world.slots.forEach((process, index) => {
      if (process === undefined) {
        if (chance.oneIn(2)) world.open(index);
      } else if (world.faults.strikes('close', process.runs)) world.close(index);
      else if (world.slots.length > 1 && world.faults.strikes('lease stolen', process.runs)) world.stealLease(index);
    });
    world.workers.forEach((worker, index) => {
      if (worker === undefined && chance.oneIn(2)) world.hire(index);
    });
    const process = chance.pick(world.living().concat(world.living()[0] ?? []));
    if (process !== undefined) this.ask(process);
    await this.pass(chance.pick([0, 1, 30, 300, 2_000, 6_000, 20_000]));
  }

  async untilAllEnd(): Promise<void> {
    const { world } = this;
    world.heal();
    for (let iteration = 0; iteration < PATIENCE_ROUNDS && !isBroken(world); iteration++) {
      for (let index = 0; index < world.slots.length; index++) world.open(index);
      for (let index = 0; index < world.workers.length; index++) world.hire(index);
      await this.pass(100);
      if (iteration > 0 && this.missing().length === 0 && (await this.isAtRest())) break;
      const users = world.living();
      const person = users[iteration % users.length];
      if (person !== undefined) this.help(person);
      await this.pass(20_000);
    }
    await this.judge();
  }

  /** Starts what was never started, settles unknown outcomes, and answers waits. */
  private help(person: Process): void {
    const missing = this.missing()[0];
    if (missing !== undefined) this.start(person, missing);
    for (const executionId of this.runs()) {
      this.settleUnknown(person, executionId);
      // A run that its parent gave up is not helped: it must end by itself.
      if (this.world.oracle.family.isLeft(executionId) && !this.retried.has(executionId)) continue;
      if (this.world.oracle.journal(executionId).status === 'paused')
        nobodyHears(person.engine.requestResume(executionId));
      this.answer(person, executionId);
    }
  }

  private async judge(): Promise<void> {
    const { oracle, broker, options } = this.world;
    if (isBroken(this.world)) return;
    oracle.atTheEnd(new Set([...this.orders.map(({ executionId }) => executionId), ...this.runs()]));
    for (const { engine, name } of this.world.living()) {
      const { gauges } = await engine.metrics();
      for (const gauge of GAUGES) {
        if (gauges[gauge] !== 0) oracle.violated(`${name} is not empty: ${gauge} is ${gauges[gauge]}`);
      }
    }
    if (options.sharesQueue && broker.depth > 0) oracle.violated(`${broker.depth} tasks are left in the queue`);
  }

  private async isAtRest(): Promise<boolean> {
    const { broker, options } = this.world;
    const isAsleep = (executionId: string): boolean =>
      !this.isOpen(executionId) && this.world.data.runs.get(executionId)?.row.wakeAt === null;
    if (options.sharesQueue && broker.depth > 0) return false;
    if (!this.runs().every(isAsleep)) return false;
    const metrics = await Promise.all(this.world.living().map(({ engine }) => engine.metrics()));
    return metrics.every(({ gauges }) => GAUGES.every((gauge) => gauges[gauge] === 0));
  }

  private ask(process: Process): void {
    const { chance } = this.world;
    const missing = this.missing();
    const runs = this.runs();
    if (missing[0] !== undefined && (runs.length === 0 || chance.oneIn(2))) return this.start(process, missing[0]);
    if (chance.oneIn(4)) return this.startByKey();
    if (runs.length === 0) return;
    const executionId = chance.pick(runs);
    const { isFinished, status } = this.world.oracle.journal(executionId);
    if (isFinished) return this.begin(process, executionId);
    if (status === 'paused' && chance.oneIn(2)) return nobodyHears(process.engine.requestResume(executionId));
    this.interfere(process, executionId);
  }

  /** Retries or replays a run that has ended. */
  private begin(process: Process, executionId: string): void {
    const { chance, oracle } = this.world;
    const { engine } = process;
    const order = this.orders.find((one) => one.executionId === executionId);
    switch (chance.below(6)) {
      case 0:
        return nobodyHears(engine.waitFor(executionId));
      case 1:
        if (order !== undefined) this.start(process, order);
        return;
      case 2: {
        const nodes = [...oracle.journal(executionId).nodes.keys()].filter((path) => !path.includes('~undo'));
        const input = chance.oneIn(2) ? { edited: true, graph: { nodes: {} } } : undefined;
        if (nodes.length === 0) return;
        this.retried.add(executionId);
        return nobodyHears(engine.requestReplay(executionId, chance.pick(nodes), input));
      }
      default:
        this.retried.add(executionId);
        return nobodyHears(engine.requestRetry(executionId));
    }
  }

  private interfere(process: Process, executionId: string): void {
    const { chance } = this.world;
    const { engine } = process;
    switch (chance.below(16)) {
      case 0:
        return nobodyHears(engine.requestCancel(executionId, 'enough'));
      case 1:
        return nobodyHears(engine.requestCancel(executionId, 'enough', { compensate: false }));
      case 2:
      case 3:
        return nobodyHears(engine.requestPause(executionId));
      case 4:
        return nobodyHears(engine.waitFor(executionId));
      case 5:
      case 6:
      case 7:
      case 8:
        return this.settleUnknown(process, executionId);
      case 9:
      case 10:
        return this.signal(process, executionId, chance.pick(['s', 't']), chance.pick(['', 'a', 'b']));
      default:
        return this.answer(process, executionId);
    }
  }

  /** Sends a signal with its own number; some do not fit the schema. */
  private signal({ engine }: Process, executionId: string, signal: string, key: string): void {
    const fits = this.world.faults.isOver || this.world.chance.oneIn(2);
    const payload = { signal: ++this.signals, ...(fits ? { fits } : {}) };
    nobodyHears(engine.requestSignal(executionId, { signal, key, payload }));
  }

  /** Answers waits in one way or another. */
  private answer(process: Process, executionId: string): void {
    const { chance, faults } = this.world;
    const { engine } = process;
    for (const [node, { status, waits }] of this.world.oracle.journal(executionId).nodes) {
      if (status !== 'listening') continue;
      const wait = waits.find(({ kind }) => kind !== 'time');
      if (wait?.kind === 'signal') this.signal(process, executionId, wait.signal, wait.key);
      if (wait?.kind === 'callback') nobodyHears(engine.requestCallback(executionId, node, { called: true }));
      if (wait?.kind !== 'approval') continue;
      const by = faults.isOver || !chance.oneIn(4) ? 'ann' : 'eve';
      nobodyHears(engine.requestAnswer(executionId, node, { approved: faults.isOver || !chance.oneIn(3), by }));
    }
  }

  /** Sends some signals before any node waits for them. */
  private signalEarly(process: Process, executionId: string): void {
    for (const signal of ['s', 't']) {
      // Remote work takes time: lives with it reach few waits, so a signal is sent for each.
      const oneIn = this.world.workers.length > 0 ? 1 : 2;
      if (this.world.chance.oneIn(oneIn))
        this.signal(process, executionId, signal, this.world.chance.pick(['', '', 'a']));
    }
  }

  private start(process: Process, { executionId, definition }: Order): void {
    const { chance } = this.world;
    const { engine, runs } = process;
    runs.add(executionId);
    this.world.runs.add(executionId);
    const input = { yes: chance.oneIn(2), text: chance.oneIn(4) ? 'y'.repeat(900) : '' };
    const start = async (): Promise<void> => {
      for (const one of this.unregistered()) await engine.register(one as never);
      const { workflowId, version } = await engine.register(definition as never);
      await engine.start(workflowId, version, { executionId, input });
      if (!this.world.faults.isOver) this.signalEarly(process, executionId);
    };
    nobodyHears(start());
  }

  /** Two people start at once, at different processes: one run, or one that is delayed. */
  private startByKey(): void {
    const { chance } = this.world;
    const workflowId = chance.pick([SINGLETON, DEBOUNCED]);
    const key = chance.pick(['a', 'b']);
    for (const { engine } of this.world.living().slice(0, 1 + chance.below(2))) {
      const input = { key, n: ++this.numbered };
      const start = async (): Promise<unknown> => {
        for (const one of this.unregistered()) await engine.register(one as never);
        return engine.start(workflowId, undefined, { input });
      };
      nobodyHears(start());
    }
  }

  /** A person checks an unknown outcome, and settles it. */
  private settleUnknown({ engine }: Process, executionId: string): void {
    for (const [node, { status, attempts }] of this.world.oracle.journal(executionId).nodes) {
      if (status !== 'unknown') continue;
      const settlement = this.world.settlementOf(executionId, node);
      if (settlement !== undefined) nobodyHears(engine.requestSettle(executionId, node, settlement, attempts));
    }
  }

  private unregistered(): readonly Record<string, unknown>[] {
    const known = new Set(this.world.data.workflows.map(({ workflowId }) => workflowId));
    return this.shared.filter(({ id }) => !known.has(id as string));
  }

  /** All runs, including those that other runs started. */
  private runs(): string[] {
    return [...this.world.data.runs.keys()];
  }

  private missing(): Order[] {
    return this.orders.filter(({ executionId }) => !this.world.data.runs.has(executionId));
  }

  private isOpen(executionId: string): boolean {
    const run = this.world.data.runs.get(executionId);
    return run === undefined || run.row.finishedAt === null || run.inbox.size > 0;
  }

  private pass(ms: number, until = () => isBroken(this.world)): Promise<void> {
    return this.world.clock.advance(ms, until);
  }
}

/** Success is seen in the store; the engine may die in the middle. */
function nobodyHears(asked: Promise<unknown>): void {
  asked.catch(() => {});
}
