/**
 * Waits until runs have ended, or nothing moves them any more.
 *
 * To the engine a run whose nodes only wait for other executions is parked, since nothing in its own journal moves it.
 * To somebody who waits for it, it is parked when all these are parked as well.
 */
import type { RunDocument } from '@nebula/core';
import type { Explanation, Settled } from '@nebula/engine';
import { openChildren } from '../run-facts.ts';
import type { EngineSession } from '../services.ts';

/** A run that has come to rest; `inside`: the executions for which it waits, which are parked themselves. */
export type Rest =
  | { readonly parked: false; readonly document: RunDocument }
  | {
      readonly parked: true;
      readonly document: RunDocument;
      readonly waitingFor: readonly Explanation[];
      readonly inside: readonly Rest[];
    };

export class Settling {
  readonly #session: EngineSession;
  readonly #changes = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;

  constructor(session: EngineSession) {
    this.#session = session;
    this.#stop = session.engine.on((event) => {
      if (event.type !== 'changed') return;
      this.#changes.set(event.executionId, this.#changesOf(event.executionId) + 1);
      for (const listener of [...this.#listeners]) listener();
    });
  }

  close(): void {
    this.#stop();
  }

  async rest(executionId: string): Promise<Rest> {
    for (;;) {
      const seen = this.#changesOf(executionId);
      const settled = await this.#session.engine.settled(executionId);
      if (!settled.parked) return settled;
      const children = await openChildren(this.#session.desk, settled.document);
      if (children.length === 0) return { ...settled, inside: [] };
      const ids = children.map((child) => child.executionId);
      const inside = await Promise.race([this.#changedSince(executionId, seen), this.#allParked(ids)]);
      if (inside !== undefined) return { ...settled, inside };
    }
  }

  /** Never, when one of them ends: then the run that waits for it goes on. */
  async #allParked(executionIds: readonly string[]): Promise<readonly Rest[]> {
    const rests = await Promise.all(executionIds.map((id) => this.rest(id)));
    return rests.every(({ parked }) => parked) ? rests : await new Promise<never>(() => {});
  }

  #changesOf(executionId: string): number {
    return this.#changes.get(executionId) ?? 0;
  }

  #changedSince(executionId: string, seen: number): Promise<undefined> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#changesOf(executionId) <= seen) return;
        this.#listeners.delete(look);
        resolve(undefined);
      };
      this.#listeners.add(look);
      look();
    });
  }
}

export function asRest(settled: Settled): Rest {
  return settled.parked ? { ...settled, inside: [] } : settled;
}
