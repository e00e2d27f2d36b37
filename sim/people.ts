/** The events in the life of a seed: people draw requests, and processes are closed and opened again. */
import { CACHING_DEFINITIONS } from './caching.ts';
import type { Chance } from './chance.ts';
import type { LifeEvent, Order } from './recorded-life.ts';
import { DEBOUNCED, SINGLETON } from './starts.ts';
import type { World } from './world.ts';

export interface PeopleParts {
  readonly world: World;
  readonly orders: readonly Order[];
  readonly shared: readonly Record<string, unknown>[];
  readonly perform: (event: LifeEvent) => Promise<void>;
}

export class People {
  private readonly parts: PeopleParts;
  private readonly chance: Chance;
  private versions = 0;

  constructor(parts: PeopleParts) {
    this.parts = parts;
    this.chance = parts.world.chance.stream('people');
  }

  async step(): Promise<void> {
    const { chance } = this;
    const { world, perform } = this.parts;
    const { faults, slots, workers } = world;
    for (const [slot, process] of slots.entries()) {
      if (process === undefined) {
        if (chance.oneIn(2)) await perform({ do: 'open', slot });
      } else if (faults.draws('close')) await perform({ do: 'close', slot });
      else if (slots.length > 1 && faults.draws('lease stolen')) await perform({ do: 'steal lease', slot });
    }
    for (const [slot, worker] of workers.entries()) {
      if (worker === undefined && chance.oneIn(2)) await perform({ do: 'hire', slot });
    }
    const living = this.living();
    const slot = chance.pick(living.concat(living[0] ?? []));
    if (slot !== undefined) {
      const event = this.request(slot);
      if (event !== undefined) await perform(event);
      if (chance.oneIn(2)) await perform({ do: 'follow', slot });
    }
    await perform({ do: 'pass', ms: chance.pick([0, 1, 30, 300, 2_000, 6_000, 20_000]) });
  }

  private living(): number[] {
    const living = new Set(this.parts.world.living());
    return [...this.parts.world.slots.entries()].flatMap(([slot, one]) => (one && living.has(one) ? [slot] : []));
  }

  private request(slot: number): LifeEvent | undefined {
    const { chance } = this;
    const { world, orders } = this.parts;
    const [missing] = orders.filter(({ executionId }) => !world.created.has(executionId));
    const runs = [...world.data.runs.keys()];
    if (missing !== undefined && (runs.length === 0 || chance.oneIn(2)))
      return { do: 'start', slot, run: missing.executionId };
    if (chance.oneIn(4)) return this.startByKey();
    if (chance.oneIn(10))
      return { do: 'start cached', slot, workflow: chance.pick(CACHING_DEFINITIONS).id, text: chance.pick(['', 'y']) };
    if (chance.oneIn(12)) return this.register(slot);
    if (chance.oneIn(20)) return { do: 'forget cached', slot };
    if (runs.length === 0) return undefined;
    const run = chance.pick(runs);
    const { isFinished, status } = world.oracle.journal(run);
    if (isFinished) return this.begin(slot, run);
    if (status === 'paused' && chance.oneIn(2)) return { do: 'resume', slot, run };
    return this.interfere(slot, run);
  }

  /** Two people start at once, at different processes: one run, or one that is delayed. */
  private startByKey(): LifeEvent {
    const { chance } = this;
    const workflow = chance.pick([SINGLETON, DEBOUNCED]);
    const key = chance.pick(['a', 'b']);
    return { do: 'start by key', slots: this.living().slice(0, 1 + chance.below(2)), workflow, key };
  }

  /** Registers another version of a workflow; runs of the one before go on. */
  private register(slot: number): LifeEvent | undefined {
    const { world, orders, shared } = this.parts;
    const known = new Set(world.data.workflows.map(({ workflowId }) => workflowId));
    const all = [...shared, ...orders.map(({ definition }) => definition)];
    const fitting = all.filter(({ id }) => known.has(id as string));
    if (fitting.length === 0) return undefined;
    const { nodes, ...rest } = this.chance.pick(fitting);
    const added = { [`v${++this.versions}`]: { action: 'look@1' } };
    return { do: 'register', slot, definition: { ...rest, nodes: { ...(nodes as object), ...added } } };
  }

  /** Retries, replays, starts again or deletes a run that has ended. */
  private begin(slot: number, run: string): LifeEvent | undefined {
    const { chance } = this;
    const { world, orders } = this.parts;
    switch (chance.below(7)) {
      case 0:
        return { do: 'wait', slot, run };
      case 1: {
        const isOrdered = orders.some(({ executionId }) => executionId === run);
        return isOrdered && (world.options.retentionMs ?? null) === null ? { do: 'start', slot, run } : undefined;
      }
      case 2:
        return { do: 'delete', slot, run };
      case 3: {
        const nodes = [...world.oracle.journal(run).nodes.keys()].filter((path) => !path.includes('~undo'));
        const edited = chance.oneIn(2) ? { input: { edited: true, graph: { nodes: {} } } } : {};
        return nodes.length === 0 ? undefined : { do: 'replay', slot, run, node: chance.pick(nodes), ...edited };
      }
      default:
        return { do: 'retry', slot, run };
    }
  }

  private interfere(slot: number, run: string): LifeEvent {
    const { chance } = this;
    switch (chance.below(17)) {
      case 0:
        return { do: 'cancel', slot, run, compensate: true };
      case 1:
        return { do: 'cancel', slot, run, compensate: false };
      case 2:
      case 3:
        return { do: 'pause', slot, run };
      case 4:
        return { do: 'wait', slot, run };
      case 5:
      case 6:
      case 7:
      case 8:
        return { do: 'settle', slot, run };
      case 9:
      case 10:
        return { do: 'signal', slot, run, signal: chance.pick(['s', 't']), key: chance.pick(['', 'a', 'b']) };
      case 11:
        return { do: 'delete', slot, run };
      default:
        return { do: 'answer', slot, run };
    }
  }
}
