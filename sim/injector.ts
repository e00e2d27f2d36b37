/** Draws whether a fault strikes, counts it, and reports which runs were hit. */
import type { Chance } from './chance.ts';
import type { Coverage, Target } from './coverage.ts';
import { FAULTS, type FaultKind } from './faults.ts';

/** Sites that few lives reach, at which faults are more likely. */
const SELDOM =
  /verify|logs|blobs|digest|workflow|nack|expired|remote\.(extend|log|end)|inbox|execution|publish|feed|snapshot|known/i;

/**
 * The limit on crossings at one moment of simulated time. More of them are calls that wait for time to pass, and keep
 * it from passing.
 */
const MAX_AT_ONE_MOMENT = 20_000;

/** Sites at which nothing changes but the memory of the process, which dies with it. */
const WITHOUT_EFFECT = new Set(['soon', 'digest', 'store.known', 'store.watch', 'store.expired']);

/** A site, and the side of it, at which a process may die. */
export interface Crossing {
  readonly by: string;
  readonly site: string;
  readonly side: 'before' | 'after';
}

export interface InjectorOptions {
  readonly chance: Chance;
  readonly coverage: Coverage;
  /** How much rarer faults are than declared; infinity: none. */
  readonly calm: number;
  /** Instead of a random one: the crossing at which the process dies, counted from 1. */
  readonly crashAt?: number | undefined;
  readonly now: () => number;
  /** The number of events in the world: effects of actions, work of remote workers, writes. */
  readonly events: () => number;
  readonly say: (what: string) => void;
  readonly violated: (what: string) => void;
}

export class Injector {
  readonly injected = new Map<FaultKind, number>();
  /** The number of crossings so far. */
  crossings = 0;
  /** Crossings at which a crash differs from a crash at the one before: something has changed since, or time has passed. */
  readonly distinct: number[] = [];
  isOver = false;
  private last = { by: '', at: 0, events: 0 };
  private moment = { at: 0, crossings: 0 };
  private readonly options: InjectorOptions;
  /** One stream for each kind: a new kind, or fewer chances for one, changes no other. */
  private readonly streams = new Map<FaultKind, Chance>();

  constructor(options: InjectorOptions) {
    this.options = options;
  }

  /** Returns whether the fault strikes now. `targets`: what it hits; asked for only if it strikes. */
  strikes(kind: FaultKind, targets: () => Iterable<Target>): boolean {
    if (!this.draws(kind)) return false;
    this.inject(kind, targets());
    return true;
  }

  /** Returns whether the fault is to strike; its caller injects it. */
  draws(kind: FaultKind): boolean {
    const { calm } = this.options;
    if (this.isOver || calm === Number.POSITIVE_INFINITY) return false;
    return this.stream(kind).oneIn(FAULTS[kind].oneIn * calm);
  }

  inject(kind: FaultKind, targets: Iterable<Target>): void {
    this.injected.set(kind, (this.injected.get(kind) ?? 0) + 1);
    this.options.coverage.hit(kind, targets);
    this.options.say(`fault: ${kind}`);
  }

  /** Returns whether the process dies here. */
  kills({ by, site, side }: Crossing, targets: () => Iterable<Target>): boolean {
    const { crashAt, coverage, calm } = this.options;
    this.crossings++;
    this.compare(by, side === 'after' && !WITHOUT_EFFECT.has(site));
    if (this.isSpinning(site)) return true;
    if (this.isOver) return false;
    const kind = side === 'before' ? 'crash before' : 'crash after';
    const dies =
      crashAt === undefined
        ? calm !== Number.POSITIVE_INFINITY &&
          this.stream(kind).oneIn((FAULTS[kind].oneIn * calm) / (SELDOM.test(site) ? 20 : 1))
        : crashAt === this.crossings;
    if (!dies) return false;
    this.options.say(`dies ${side} ${site}`);
    this.inject(kind, targets());
    coverage.died(site, side);
    return true;
  }

  /** Between two crossings of one process, only its memory changes, unless the world notes an event. */
  private compare(by: string, hasEffect: boolean): void {
    const { last } = this;
    const [at, events] = [this.options.now(), this.options.events()];
    const isSame = !hasEffect && by === last.by && at === last.at && events === last.events;
    if (!isSame) this.distinct.push(this.crossings);
    this.last = { by, at, events };
  }

  private stream(kind: FaultKind): Chance {
    const known = this.streams.get(kind);
    if (known !== undefined) return known;
    const stream = this.options.chance.stream(kind);
    this.streams.set(kind, stream);
    return stream;
  }

  /** Time does not pass while calls repeat endlessly: the caller dies, so that the life ends with a violation. */
  private isSpinning(site: string): boolean {
    const at = this.options.now();
    if (at !== this.moment.at) this.moment = { at, crossings: 0 };
    if (++this.moment.crossings !== MAX_AT_ONE_MOMENT) return this.moment.crossings > MAX_AT_ONE_MOMENT;
    this.options.violated(`${MAX_AT_ONE_MOMENT} calls at one moment, the last one of ${site}: time cannot go on`);
    return true;
  }
}
