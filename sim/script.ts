/** One life: what people do to a world, until it is healed and everything has ended. */
import { randomDefinition } from './definition.ts';
import type { Process } from './process.ts';
import { World } from './world.ts';

const STEPS = 24;
const MIN_RUNS = 5;
const MIN_NODES = 40;
const PATIENCE_ROUNDS = 200;
const GAUGES = ['engine.cached_runs', 'workflow.parallel_tasks', 'engine.queue_depth'];

/** One workflow to be started under an id that people chose. */
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

export async function live(seed: number, { alone = false, keepsTrace = false }: LifeOptions = {}): Promise<Life> {
  const shape = shapeOf(seed);
  const world = new World({
    seed,
    engines: alone ? 1 : shape.engines,
    sharesQueue: shape.sharesQueue,
    calm: shape.calm,
    keepsTrace,
  });
  const orders = ordersFor(world);
  const script = new Script(world, orders);
  for (let step = 0; step < STEPS && !isBroken(world); step++) await script.step();
  if (!isBroken(world)) await script.untilAllEnd();
  return { world, runs: orders.length, nodes: orders.reduce((sum, { nodes }) => sum + nodes, 0) };
}

function shapeOf(seed: number): { engines: number; sharesQueue: boolean; calm: number } {
  return { engines: seed % 5 === 0 ? 3 : 2, sharesQueue: seed % 2 === 0, calm: [0.7, 1.5, 4][seed % 3] as number };
}

function isBroken(world: World): boolean {
  return world.oracle.violations.length > 0;
}

function ordersFor({ chance }: World): Order[] {
  const orders: Order[] = [];
  let nodes = 0;
  for (let index = 0; index < MIN_RUNS || nodes < MIN_NODES; index++) {
    const count = 6 + chance.below(5);
    nodes += count;
    orders.push({
      executionId: `exe_${index}`,
      definition: randomDefinition(chance, `wf${index}`, count),
      nodes: count,
    });
  }
  return orders;
}

class Script {
  private readonly world: World;
  private readonly orders: readonly Order[];

  constructor(world: World, orders: readonly Order[]) {
    this.world = world;
    this.orders = orders;
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
    const process = chance.pick(world.living().concat(world.living()[0] ?? []));
    if (process !== undefined) this.ask(process);
    await this.pass(chance.pick([0, 1, 30, 300, 2_000, 6_000, 20_000]));
  }

  async untilAllEnd(): Promise<void> {
    const { world } = this;
    world.heal();
    for (let round = 0; round < PATIENCE_ROUNDS && !isBroken(world); round++) {
      for (let index = 0; index < world.slots.length; index++) world.open(index);
      await this.pass(100);
      if (round > 0 && this.missing().length === 0 && this.isAtRest()) break;
      const people = world.living();
      const person = people[round % people.length];
      if (person !== undefined) this.help(person);
      await this.pass(20_000);
    }
    this.judge();
  }

  /** Starts what was never started, and settles what nobody knows. */
  private help(person: Process): void {
    const missing = this.missing()[0];
    if (missing !== undefined) this.start(person, missing);
    for (const { executionId } of this.orders) this.settleUnknown(person, executionId);
  }

  private judge(): void {
    const { oracle, broker, options } = this.world;
    if (isBroken(this.world)) return;
    oracle.atTheEnd(this.orders.map(({ executionId }) => executionId));
    for (const { engine, name } of this.world.living()) {
      const { gauges } = engine.metrics();
      for (const gauge of GAUGES) {
        if (gauges[gauge] !== 0) oracle.violated(`${name} is not empty: ${gauge} is ${gauges[gauge]}`);
      }
    }
    if (options.sharesQueue && broker.depth > 0) oracle.violated(`${broker.depth} tasks are left in the queue`);
  }

  private isAtRest(): boolean {
    const { broker, options } = this.world;
    const isEmpty = ({ engine }: Process): boolean => GAUGES.every((gauge) => engine.metrics().gauges[gauge] === 0);
    const isAsleep = ({ executionId }: Order): boolean =>
      !this.isOpen(executionId) && this.world.data.runs.get(executionId)?.row.wakeAt === null;
    if (options.sharesQueue && broker.depth > 0) return false;
    return this.orders.every(isAsleep) && this.world.living().every(isEmpty);
  }

  private ask(process: Process): void {
    const { chance } = this.world;
    const { engine } = process;
    const missing = this.missing();
    const started = this.orders.filter((order) => !missing.includes(order));
    const order = started.length === 0 ? undefined : chance.pick(started);
    if (missing[0] !== undefined && (order === undefined || chance.oneIn(2))) return this.start(process, missing[0]);
    if (order === undefined) return;
    const { executionId } = order;
    switch (chance.below(8)) {
      case 0:
        return nobodyHears(engine.requestCancel(executionId, 'enough'));
      case 1:
      case 2:
        return nobodyHears(engine.requestRetry(executionId));
      case 3:
      case 4:
      case 5:
        return this.settleUnknown(process, executionId);
      case 6:
        return this.start(process, order);
      default:
        return nobodyHears(engine.settled(executionId));
    }
  }

  private start({ engine, runs }: Process, { executionId, definition }: Order): void {
    const { chance } = this.world;
    runs.add(executionId);
    this.world.runs.add(executionId);
    const input = { yes: chance.oneIn(2), text: chance.oneIn(4) ? 'y'.repeat(900) : '' };
    const starting = engine
      .register(definition as never)
      .then(({ workflowId, version }) => engine.start(workflowId, version, { executionId, input }));
    nobodyHears(starting);
  }

  /** A person looks what became of it, and says so. */
  private settleUnknown({ engine }: Process, executionId: string): void {
    for (const [node, { status, attempts }] of this.world.oracle.journal(executionId).nodes) {
      if (status !== 'unknown') continue;
      const settlement = this.world.settlementOf(executionId, node);
      if (settlement !== undefined) nobodyHears(engine.requestSettle(executionId, node, settlement, attempts));
    }
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

/** Whether it went well is seen in the store; its engine may die in the middle. */
function nobodyHears(asked: Promise<unknown>): void {
  asked.catch(() => {});
}
