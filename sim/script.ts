/** One life: the requests of people to a world, until it is healed and everything has ended. */
import { CACHING_DEFINITIONS } from './caching.ts';
import { Chance } from './chance.ts';
import { countNodes, randomDefinition, sharedDefinitions } from './definition.ts';
import { People } from './people.ts';
import type { Process } from './process.ts';
import type { LifeEvent, Order, RecordedLife, Shape } from './recorded-life.ts';
import { sendRemote } from './skills.ts';
import { KEYED_DEFINITIONS } from './starts.ts';
import { World } from './world.ts';

const STEPS = 24;
const MIN_RUNS = 5;
const MIN_NODES = 40;
const PATIENCE_ROUNDS = 2_000;
/** The thresholds of engines: from a snapshot with nearly every frame to none. */
const SNAPSHOT_MIN_BYTES = [1, 1, 600, 3_000, null];
/** A published signal that no run waits for is dropped after this time. */
const KEEP_MS = 600_000;
/** Two passes of a sweeper find everything that nothing names. */
const SWEPT_AFTER_MS = 130_000;
const GAUGES = ['engine.cached_runs', 'workflow.parallel_tasks', 'workflow.remote_tasks', 'engine.queue_depth'];

export interface Life {
  readonly world: World;
  readonly runs: number;
  readonly nodes: number;
  readonly record: RecordedLife;
}

export interface LifeOptions {
  /** A single engine that has the store for itself. */
  readonly alone?: boolean;
  readonly keepsTrace?: boolean;
}

/** The life of a seed. */
export function live(seed: number, options: LifeOptions = {}): Promise<Life> {
  return withoutStackTraces(() => {
    const { engines, ...shape } = shapeOf(seed);
    const chance = new Chance(seed).stream('workflows');
    const shared = [...sharedDefinitions(chance), ...structuredClone([...KEYED_DEFINITIONS, ...CACHING_DEFINITIONS])];
    const orders = ordersFor(chance);
    if (shape.workers > 0) {
      for (const one of [...shared, ...orders.map(({ definition }) => definition)]) sendRemote(chance, one);
    }
    return play({ seed, shape: { ...shape, engines: options.alone === true ? 1 : engines }, shared, orders }, options);
  });
}

/** The life of a script of events. */
export function replay(life: RecordedLife, options: Pick<LifeOptions, 'keepsTrace'> = {}): Promise<Life> {
  return withoutStackTraces(() => play(life, options));
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

/** Without events, people decide what happens. */
async function play(
  given: Omit<RecordedLife, 'events'> & Partial<RecordedLife>,
  { keepsTrace = false }: LifeOptions,
): Promise<Life> {
  const { seed, shape, orders, shared, events } = given;
  const world = new World({ seed, ...shape, snapshotMinBytes: SNAPSHOT_MIN_BYTES, keepsTrace });
  const script = new Script(world, orders, shared);
  if (events === undefined) {
    const people = new People({ world, orders, shared, perform: (event) => script.perform(event) });
    for (let step = 0; step < STEPS && !isBroken(world); step++) await people.step();
  }
  for (const event of events ?? []) if (!isBroken(world)) await script.perform(event);
  if (!isBroken(world)) await script.untilAllEnd();
  const nodes = orders.reduce((sum, order) => sum + order.nodes, 0);
  return { world, runs: orders.length, nodes, record: { seed, shape, orders, shared, events: script.performed } };
}

function shapeOf(seed: number): Shape {
  const chance = new Chance(seed).stream('shape');
  return {
    engines: seed % 5 === 0 ? 3 : 2,
    sharesQueue: seed % 2 === 0,
    calm: [0.7, 1.5, 4][seed % 3] as number,
    workers: chance.oneIn(3) ? 1 + chance.below(4) : 0,
    retentionMs: chance.oneIn(4) ? chance.pick([5_000, 60_000]) : null,
  };
}

function isBroken(world: World): boolean {
  return world.oracle.violations.length > 0;
}

function ordersFor(chance: Chance): Order[] {
  const orders: Order[] = [];
  let nodes = 0;
  for (let index = 0; index < MIN_RUNS || nodes < MIN_NODES; index++) {
    const definition = randomDefinition(chance, `wf${index}`);
    const count = countNodes(definition);
    nodes += count;
    const input = { yes: chance.oneIn(2), text: chance.oneIn(4) ? 'y'.repeat(900) : '' };
    orders.push({ executionId: `exe_${index}`, definition, input, nodes: count });
  }
  return orders;
}

class Script {
  private readonly world: World;
  /** Draws of people who act: how they answer, and whether they publish a signal. */
  private readonly answers: Chance;
  private readonly orders: readonly Order[];
  /** Workflows that the ordered ones run. */
  private readonly shared: readonly Record<string, unknown>[];
  private signals = 0;
  private numbered = 0;
  /** Runs that people reopened: people continue them, whoever started them. */
  private readonly retried = new Set<string>();
  /** Processes that may still create a run. */
  private readonly starting = new Map<string, Set<{ readonly process: Process }>>();
  readonly performed: LifeEvent[] = [];

  constructor(world: World, orders: readonly Order[], shared: readonly Record<string, unknown>[]) {
    this.world = world;
    this.answers = world.chance.stream('answers');
    this.orders = orders;
    this.shared = shared;
  }

  /** Lets an event happen. An event of a process that is gone, or of a run that is unknown, has no effect. */
  async perform(event: LifeEvent): Promise<void> {
    this.performed.push(event);
    const { world } = this;
    switch (event.do) {
      case 'pass':
        return this.pass(event.ms);
      case 'open':
        return world.open(event.slot);
      case 'hire':
        return world.hire(event.slot);
      case 'start by key':
        return this.startByKey(event);
      default: {
        const process = world.slots[event.slot];
        if (process !== undefined) this.performAt(process, event);
      }
    }
  }

  private performAt(
    process: Process,
    event: Exclude<LifeEvent, { do: 'pass' | 'open' | 'hire' | 'start by key' }>,
  ): void {
    const { world } = this;
    const { engine } = process;
    switch (event.do) {
      case 'close':
        world.faults.inject('close', process.targets());
        return world.close(event.slot);
      case 'steal lease':
        world.faults.inject('lease stolen', process.targets());
        return world.stealLease(event.slot);
      case 'follow':
        return world.follower.read(process);
      case 'forget cached':
        return nobodyHears(engine.forgetCached({ prefix: '' }));
      case 'start cached':
        return this.startCached(process, event);
      case 'register':
        return nobodyHears(engine.register(event.definition as never));
      default:
        return this.request(process, event);
    }
  }

  private request(process: Process, event: Extract<LifeEvent, { run: string }>): void {
    const { engine } = process;
    const { run } = event;
    switch (event.do) {
      case 'start': {
        const order = this.orders.find(({ executionId }) => executionId === run);
        return order === undefined ? undefined : this.start(process, order);
      }
      case 'wait':
        return nobodyHears(engine.waitFor(run));
      case 'delete':
        return this.delete(process, run);
      case 'retry':
        this.retried.add(run);
        return nobodyHears(engine.requestRetry(run));
      case 'replay':
        this.retried.add(run);
        return nobodyHears(engine.requestReplay(run, event.node, event.input));
      case 'cancel':
        return nobodyHears(engine.requestCancel(run, 'enough', { compensate: event.compensate }));
      case 'pause':
        return nobodyHears(engine.requestPause(run));
      case 'resume':
        return nobodyHears(engine.requestResume(run));
      case 'signal':
        return this.signal(process, run, event.signal, event.key);
      case 'settle':
        return this.settleUnknown(process, run);
      case 'answer':
        return this.answer(process, run);
    }
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
    if (!isBroken(world)) await this.judgeStorage();
  }

  /** Lets everything expire and be swept, and reads the feed to its end. */
  private async judgeStorage(): Promise<void> {
    const { follower, oracle, options } = this.world;
    await this.pass(SWEPT_AFTER_MS + (options.retentionMs ?? 0));
    for (let page = 0; page < PATIENCE_ROUNDS && !follower.isLevel && !isBroken(this.world); page++) {
      const [process] = this.world.living();
      if (process !== undefined) follower.read(process);
      await this.pass(10);
    }
    if (isBroken(this.world)) return;
    follower.atTheEnd();
    await oracle.storage.atTheEnd(this.world.clock.now());
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
    // A run whose deletion was asked for before its start was accepted is started by nobody.
    const isStarted = (executionId: string): boolean =>
      this.world.created.has(executionId) || !oracle.storage.isAsked(executionId);
    const ordered = this.orders.map(({ executionId }) => executionId).filter(isStarted);
    oracle.atTheEnd(new Set([...ordered, ...this.runs()]));
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

  /** Sends a signal with its own number; some do not fit the schema. */
  private signal({ engine }: Process, executionId: string, signal: string, key: string): void {
    const fits = this.world.faults.isOver || this.answers.oneIn(2);
    const payload = { signal: ++this.signals, ...(fits ? { fits } : {}) };
    if (this.publishes) return nobodyHears(engine.publishSignal({ signal, key, payload, keepMs: KEEP_MS }));
    nobodyHears(engine.requestSignal(executionId, { signal, key, payload }));
  }

  /** Answers waits in one way or another. */
  private answer(process: Process, executionId: string): void {
    const chance = this.answers;
    const { faults } = this.world;
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
      if (this.answers.oneIn(oneIn)) this.signal(process, executionId, signal, this.answers.pick(['', '', 'a']));
    }
  }

  /**
   * A start after the run was deleted would create another run with the same id. People do not start a run that they
   * have asked to delete, nor, if runs expire, one that some process may still be about to start.
   */
  private start(process: Process, { executionId, definition, input }: Order): void {
    const { engine } = process;
    const { oracle, options } = this.world;
    if (oracle.storage.isAsked(executionId)) return;
    if ((options.retentionMs ?? null) !== null && this.mayBeCreated(executionId)) return;
    const starters = this.starting.get(executionId) ?? new Set();
    const starter = { process };
    this.starting.set(executionId, starters.add(starter));
    const start = async (): Promise<void> => {
      for (const one of this.unregistered()) await engine.register(one as never);
      const { workflowId, version } = await engine.register(definition as never);
      await engine.start(workflowId, version, { executionId, input });
      if (!this.world.faults.isOver) this.signalEarly(process, executionId);
    };
    nobodyHears(start().finally(() => starters.delete(starter)));
  }

  /**
   * Asks to delete a run, whether it has ended or not. A run that some process may still be asked to create is left
   * alone: with the same id it would be another run.
   */
  private delete({ engine }: Process, executionId: string): void {
    if (this.mayBeCreated(executionId)) return;
    const { storage } = this.world.oracle;
    storage.onAsked(executionId);
    nobodyHears(
      engine.delete(executionId).then((isDeleted) => (isDeleted ? storage.onConfirmed(executionId) : undefined)),
    );
  }

  private mayBeCreated(executionId: string): boolean {
    return [...(this.starting.get(executionId) ?? [])].some(({ process }) => !process.isDead);
  }

  /** Starts a workflow whose outputs are cached; one is of another project. */
  private startCached({ engine }: Process, { workflow, text }: Extract<LifeEvent, { do: 'start cached' }>): void {
    const start = async (): Promise<unknown> => {
      for (const one of this.unregistered()) await engine.register(one as never);
      return engine.start(workflow, undefined, { input: { text } });
    };
    nobodyHears(start());
  }

  /** Two people start at once, at different processes: one run, or one that is delayed. */
  private startByKey({ slots, workflow, key }: Extract<LifeEvent, { do: 'start by key' }>): void {
    for (const slot of slots) {
      const engine = this.world.slots[slot]?.engine;
      const input = { key, n: ++this.numbered };
      if (engine === undefined) continue;
      const start = async (): Promise<unknown> => {
        for (const one of this.unregistered()) await engine.register(one as never);
        return engine.start(workflow, undefined, { input });
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
    return this.orders.filter(({ executionId }) => !this.world.created.has(executionId));
  }

  /** In half of the lives most signals name no run: the store finds one that waits. */
  private get publishes(): boolean {
    return this.world.options.seed % 4 < 2 && (this.world.faults.isOver || !this.answers.oneIn(4));
  }

  private isOpen(executionId: string): boolean {
    const run = this.world.data.runs.get(executionId);
    return run !== undefined && (run.row.finishedAt === null || run.inbox.size > 0);
  }

  private pass(ms: number, until = () => isBroken(this.world)): Promise<void> {
    return this.world.clock.advance(ms, until);
  }
}

/** Success is seen in the store; the engine may die in the middle. */
function nobodyHears(asked: Promise<unknown>): void {
  asked.catch(() => {});
}
