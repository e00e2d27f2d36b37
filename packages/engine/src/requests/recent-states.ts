/**
 * The states of large runs that were read a short time ago: a person who looks at such a run asks for one part after the
 * other, and a run of 100,000 nodes takes about a second to fold.
 *
 *  1 A state belongs to a run, by its id and time of creation, and to a frame: that of `at`, or the newest one. It is
 *    never changed: callers only read it.
 *  2 Only states with at least `MIN_NODES` nodes are kept, at most `MAX_NODES` nodes together, the last used ones.
 *  3 A state that was not used for `KEPT_MS` is dropped.
 */
import type { ExecutionId } from '@nebula/core';
import type { RunState } from '@nebula/core/run';
import type { Clock, Store, Timer } from '@nebula/ports';

const MIN_NODES = 2_000;
const MAX_NODES = 150_000;
const KEPT_MS = 30_000;

interface Recent {
  readonly createdAt: number;
  readonly state: RunState;
  readonly nodes: number;
  usedAt: number;
}

export class RecentStates {
  readonly #drivers: { readonly store: Store; readonly clock: Clock };
  /** By run and frame, the last used one last. */
  readonly #states = new Map<string, Recent>();
  #timer: Timer | undefined;

  constructor(drivers: { readonly store: Store; readonly clock: Clock }) {
    this.#drivers = drivers;
  }

  async get(
    executionId: ExecutionId,
    at: number | undefined,
    read: () => Promise<RunState | undefined>,
  ): Promise<RunState | undefined> {
    if (this.#states.size === 0) return this.#keep(executionId, at, await read());
    const { store, clock } = this.#drivers;
    const key = keyOf(executionId, at ?? (await store.heads([executionId])).get(executionId));
    const known = this.#states.get(key);
    if (known === undefined || (await store.execution(executionId))?.createdAt !== known.createdAt) {
      return this.#keep(executionId, at, await read());
    }
    known.usedAt = clock.now();
    this.#states.delete(key);
    this.#states.set(key, known);
    return known.state;
  }

  async #keep(
    executionId: ExecutionId,
    at: number | undefined,
    state: RunState | undefined,
  ): Promise<RunState | undefined> {
    if (state === undefined) return undefined;
    const nodes = countNodes(state);
    if (nodes < MIN_NODES || nodes > MAX_NODES) return state;
    const { store, clock } = this.#drivers;
    const row = await store.execution(executionId);
    if (row === undefined) return state;
    // A frame beyond the end names the newest state, which may change.
    const frame = at === undefined || at > state.seq ? state.seq : at;
    const key = keyOf(executionId, frame);
    this.#states.delete(key);
    this.#states.set(key, { createdAt: row.createdAt, state, nodes, usedAt: clock.now() });
    let kept = 0;
    for (const [other, recent] of [...this.#states].reverse()) {
      kept += recent.nodes;
      if (kept > MAX_NODES) this.#states.delete(other);
    }
    this.#dropLater();
    return state;
  }

  #dropLater(): void {
    this.#timer ??= this.#drivers.clock.timer(
      KEPT_MS,
      () => {
        this.#timer = undefined;
        const since = this.#drivers.clock.now() - KEPT_MS;
        for (const [key, { usedAt }] of this.#states) if (usedAt <= since) this.#states.delete(key);
        if (this.#states.size > 0) this.#dropLater();
      },
      { background: true },
    );
  }
}

function keyOf(executionId: ExecutionId, seq: number | undefined): string {
  return `${executionId} ${seq}`;
}

function countNodes({ scopes }: RunState): number {
  let count = 0;
  for (const { nodes } of scopes.values()) count += nodes.length;
  return count;
}
