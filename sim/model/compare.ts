/**
 * Runs a workflow in the core and in the reference interpreter at once, event by event, and reports the first
 * difference.
 */
import { CoreRun } from './core-run.ts';
import { Interpreter, type WorkflowKeys } from './interpreter.ts';
import type { Happening } from './random.ts';

const ERRORS = {
  'fail A': { code: 'A', kind: 'USER', message: 'A' },
  'fail B': { code: 'B', kind: 'SYSTEM', message: 'B' },
} as const;
const LOST = { code: 'WORKER_LOST', kind: 'SYSTEM', message: 'lost' };
const UNRUN = ['pending', 'skipped', 'cancelled'];
const LONG_MS = 3_600_000;
const MAX_STEPS = 400;

export interface Comparison {
  readonly difference: string | undefined;
  /** The language does not specify what happens. */
  readonly isUnspecified: boolean;
  /** The events, and the state after them. */
  readonly events: readonly string[];
  readonly stand: string;
}

/**
 * Random events, then everything succeeds: the run must end. `isSuspended`: turns of the core are suspended after each
 * step.
 */
export function compare(definition: WorkflowKeys, happenings: readonly Happening[], isSuspended: boolean): Comparison {
  const pair = new Pair(definition, isSuspended);
  for (const happening of happenings) if (!pair.isOver) pair.happen(happening);
  for (let step = 0; step < MAX_STEPS && !pair.isOver; step++)
    pair.happen({ kind: pair.model.running().length === 0 ? 'tick' : 'complete', pick: 0 });
  if (!pair.isOver) pair.difference = 'it does not end';
  return pair.comparison();
}

/** Events by name: `complete a`, `fail A a`, `break off a`, `cancel`, `lose`, `tick`. */
export function follow(definition: WorkflowKeys, events: readonly string[]): Comparison {
  const pair = new Pair(definition);
  for (const event of events) pair.apply(event);
  return pair.comparison();
}

class Pair {
  readonly model: Interpreter;
  difference: string | undefined;
  private readonly core: CoreRun;
  private readonly events: string[] = [];
  private readonly slots: number;

  constructor(definition: WorkflowKeys, isSuspended = false) {
    this.slots = definition.config?.maxParallelism ?? 25;
    this.core = new CoreRun(definition, { yes: true }, isSuspended);
    this.model = new Interpreter(definition, { yes: true });
    this.look();
  }

  get isOver(): boolean {
    const { status, isUnspecified } = this.model;
    return this.difference !== undefined || isUnspecified || (status !== 'running' && status !== 'compensating');
  }

  comparison(): Comparison {
    const { difference, events, model } = this;
    return {
      difference,
      events,
      isUnspecified: model.isUnspecified,
      stand: this.statusText(model.status, model.running(), model.statuses()),
    };
  }

  happen({ kind, pick }: Happening): void {
    const { model } = this;
    const running = model.running();
    const path = running[pick % running.length];
    if (kind === 'cancel') {
      if (model.status === 'running') this.apply('cancel');
      return;
    }
    if (kind === 'lose' || kind === 'tick' || path === undefined) return this.apply(kind === 'lose' ? kind : 'tick');
    const isStopping = model.stopping().includes(path);
    this.apply(kind !== 'complete' && isStopping ? `break off ${path}` : `${kind} ${path}`, pick % 2);
  }

  apply(event: string, v = 0): void {
    if (this.isOver) return;
    const { model, core } = this;
    const [, kind = event, path = ''] = /^(complete|fail A|fail B|break off) (.*)$/.exec(event) ?? [];
    this.events.push(event);
    switch (kind) {
      case 'cancel':
        core.cancel();
        model.cancel();
        break;
      case 'lose':
        core.loseWorker();
        core.advance(LONG_MS);
        model.lose(LOST);
        model.tick();
        break;
      case 'tick':
        core.advance(LONG_MS);
        model.tick();
        break;
      case 'break off':
        core.breakOff(path);
        model.breakOff(path);
        break;
      case 'complete':
        core.complete(path, { v });
        model.complete(path, { v });
        break;
      default: {
        const error = ERRORS[kind as keyof typeof ERRORS];
        core.fail(path, error);
        model.fail(path, error);
      }
    }
    this.look();
  }

  private look(): void {
    const { model, core, slots } = this;
    // The core chooses which of several nodes go first; the number is given by the slots.
    for (const path of core.running()) model.start(path);
    const running = model.running();
    if (running.length > slots) this.difference = `${running} run at once`;
    if (running.length < slots && model.queued().length > 0)
      this.difference = `${model.queued()} could run beside ${running}`;
    const expected = this.statusText(model.status, running, model.statuses());
    const got = this.statusText(core.status, core.running().sort(), core.statuses());
    if (expected !== got) this.difference = `expected ${expected}\n     got ${got}`;
  }

  private statusText(status: string, running: readonly string[], statuses: Readonly<Record<string, string>>): string {
    const list = Object.keys(this.model.statuses()).map((id) => `${id} ${this.word(id, statuses[id] ?? 'pending')}`);
    return `${status}; running ${running.join(' ') || 'nothing'}; ${list.join(', ')}`;
  }

  /**
   * While a run ends early, a node that never started may show as pending, skipped or cancelled: the language does not
   * say.
   */
  private word(id: string, status: string): string {
    return this.model.isUnrun(id) && UNRUN.includes(status) ? 'unrun' : status;
  }
}
