/** The runs that this engine works on: all of them, unless it was opened for some. */
import type { ExecutionId } from '@nebula/core';
import type { Clock } from '@nebula/ports';
import type { Effects } from './effects.ts';

export class Selection {
  private readonly clock: Clock;
  private readonly effects: Effects;
  private only: Set<ExecutionId> | undefined;

  constructor({ clock, effects }: { readonly clock: Clock; readonly effects: Effects }) {
    this.clock = clock;
    this.effects = effects;
  }

  /** Undefined: all runs. */
  limitTo(executionIds: readonly ExecutionId[] | undefined): void {
    this.only = executionIds && new Set(executionIds);
  }

  /** Adds a run that was started here to those that the engine was opened for. */
  include(executionId: ExecutionId): void {
    if (this.only === undefined || this.only.has(executionId)) return;
    this.only.add(executionId);
    this.effects.wake(this.clock.now());
  }

  has(executionId: ExecutionId): boolean {
    return this.only?.has(executionId) ?? true;
  }

  /** The selected runs; undefined if all are. */
  list(): readonly ExecutionId[] | undefined {
    return this.only && [...this.only];
  }
}
