/**
 * Waits until runs have ended, or nothing moves them any more.
 *
 * The engine knows of one run at a time: one that waits for other executions is not parked, whatever these do. To
 * somebody who waits for it, it is parked when all of these are, and nothing else goes on in it. These are the
 * executions that run for its nodes, and those that hold a place for which it waits.
 *
 *  1 `#children` has the executions that run for nodes of a run: from its journal once, and from its events afterwards.
 *  2 A child is in there until the run has taken up its result, so nobody takes a run that is about to for parked.
 */
import { permitKey, type RunDocument, type TimelineEvent } from '@nebula/core';
import type { Explanation } from '@nebula/engine';
import { openChildren, waitsOf } from '../run-waits.ts';
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
  /** Of each run by node. */
  readonly #children = new Map<string, Map<string, string>>();
  /** Of each run the nodes that wait for a place, with its key. */
  readonly #gates = new Map<string, Map<string, string>>();
  readonly #resting = new Map<string, Promise<Rest>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stop: () => void;

  constructor(session: EngineSession) {
    this.#session = session;
    this.#stop = session.engine.on((event) => {
      if (event.type === 'timeline') this.#hear(event.executionId, event.event);
      if (event.type !== 'changed') return;
      this.#changes.set(event.executionId, this.#changesOf(event.executionId) + 1);
      const listeners = this.#listeners.get(event.executionId);
      this.#listeners.delete(event.executionId);
      for (const listener of listeners ?? []) listener();
    });
  }

  close(): void {
    this.#stop();
  }

  rest(executionId: string): Promise<Rest> {
    const known = this.#resting.get(executionId);
    if (known !== undefined) return known;
    const resting = this.#rest(executionId).finally(() => this.#resting.delete(executionId));
    this.#resting.set(executionId, resting);
    quietly(resting);
    return resting;
  }

  async #rest(executionId: string): Promise<Rest> {
    const own = this.#session.engine.settled(executionId);
    quietly(own);
    const ended: Promise<Rest> = own;
    await Promise.race([ended, this.#learn(executionId)]);
    for (;;) {
      const seen = this.#changesOf(executionId);
      const moved = this.#changedSince(executionId, seen);
      const first = await Promise.race([ended, moved, this.#parkedInside(executionId, seen)]);
      if (first === undefined) continue;
      if (!('inside' in first) || first.waitingFor !== undefined) return first as Rest;
      const document = await this.#standing(executionId, first.inside);
      if (document !== undefined && this.#changesOf(executionId) === seen) {
        return { parked: true, document, waitingFor: [], inside: first.inside };
      }
      const later = await Promise.race([ended, moved, aLittle()]);
      if (later !== undefined) return later;
    }
  }

  /** Never, when there are none, or when one of them ends: then the run that waits for it goes on. */
  async #parkedInside(executionId: string, seen: number): Promise<{ inside: readonly Rest[]; waitingFor?: undefined }> {
    const children = [...(this.#children.get(executionId)?.values() ?? [])];
    const inside = await Promise.all(children.map((child) => this.#restOfChild(child)));
    const isHeld = await this.#isHeldAtRest(executionId, seen);
    const isParked =
      isHeld && inside.length + this.#gatesOf(executionId).size > 0 && inside.every(({ parked }) => parked);
    return isParked ? { inside } : await new Promise<never>(() => {});
  }

  /**
   * Whoever holds what its nodes wait for is parked, or is gone on with by nobody here. Asked only when nothing has
   * happened for a while: in a large loop places change hands all the time.
   */
  async #isHeldAtRest(executionId: string, seen: number): Promise<boolean> {
    if (this.#gatesOf(executionId).size === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    if (this.#changesOf(executionId) !== seen) return false;
    for (const key of new Set(this.#gatesOf(executionId).values())) {
      for (const holder of await this.#session.desk.places(executionId, key)) {
        if (!holder.isHeld || holder.executionId === executionId) continue;
        if (!(await this.#isAtRest(holder.executionId))) return false;
      }
    }
    return true;
  }

  async #isAtRest(executionId: string): Promise<boolean> {
    const resting = this.#resting.get(executionId);
    if (resting !== undefined) return (await resting).parked;
    // A server goes on with all of its runs; an engine of a command only with those in its memory.
    if (this.#session.server === undefined && this.#session.engine.peek(executionId) === undefined) return true;
    return (await waitsOf((id) => this.#session.desk.document(id), executionId, Date.now()))?.parked === true;
  }

  /** It is asked for before it is there. One that cannot be started never is, and the run that asked for it goes on. */
  async #restOfChild(executionId: string): Promise<Rest> {
    const seen = this.#changesOf(executionId);
    const isThere = seen > 0 || (await this.#session.desk.document(executionId)) !== undefined;
    if (!isThere) await this.#changedSince(executionId, seen);
    return await this.rest(executionId);
  }

  /**
   * The run, if nothing but people, signals and other executions could move it. Those that run for it are asked last:
   * the run may have told them something since they came to rest.
   */
  async #standing(executionId: string, inside: readonly Rest[]): Promise<RunDocument | undefined> {
    const { desk, engine } = this.#session;
    for (const one of [executionId, ...inside.map(({ document }) => document.executionId)]) {
      if (!(await engine.isResting(one))) return undefined;
    }
    return await desk.document(executionId);
  }

  async #learn(executionId: string): Promise<void> {
    const seen = this.#changesOf(executionId);
    const document = await this.#session.desk.document(executionId);
    if (document === undefined) return;
    // What has happened meanwhile is told by events, and may be newer than what was read.
    if (this.#changesOf(executionId) !== seen) return await this.#learn(executionId);
    for (const child of openChildren(document)) this.#childrenOf(executionId).set(child.node, child.executionId);
    for (const [node, { waitsFor }] of Object.entries(document.nodes)) {
      const key = waitsFor?.kind === 'gate' ? permitKey(waitsFor.gate) : undefined;
      if (key !== undefined) this.#gatesOf(executionId).set(node, key);
    }
  }

  #hear(executionId: string, { type, node, details }: TimelineEvent): void {
    if (node === null) return;
    if (type === 'ChildRequested') this.#childrenOf(executionId).set(node, details.executionId);
    else if (OVER.has(type)) this.#children.get(executionId)?.delete(node);
    const key = type === 'NodeGated' ? permitKey(details) : undefined;
    if (key !== undefined) this.#gatesOf(executionId).set(node, key);
    else this.#gates.get(executionId)?.delete(node);
  }

  #gatesOf(executionId: string): Map<string, string> {
    const gates = this.#gates.get(executionId) ?? new Map<string, string>();
    this.#gates.set(executionId, gates);
    return gates;
  }

  #childrenOf(executionId: string): Map<string, string> {
    const children = this.#children.get(executionId) ?? new Map<string, string>();
    this.#children.set(executionId, children);
    return children;
  }

  #changesOf(executionId: string): number {
    return this.#changes.get(executionId) ?? 0;
  }

  #changedSince(executionId: string, seen: number): Promise<undefined> {
    if (this.#changesOf(executionId) > seen) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const listeners = this.#listeners.get(executionId) ?? new Set();
      this.#listeners.set(
        executionId,
        listeners.add(() => resolve(undefined)),
      );
    });
  }
}

/** So long nothing happens in a run before its holders are asked. */
const QUIET_MS = 150;

/** What is happening to a run need not change it: then nobody is told, and it is looked at again. */
const LOOK_AGAIN_MS = 50;

function aLittle(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), LOOK_AGAIN_MS));
}

const OVER: ReadonlySet<string> = new Set(['NodeCompleted', 'NodeFailed', 'NodeCancelled', 'NodeRetried']);

/** Whoever asked may have stopped waiting long before the engine is closed. */
function quietly(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}
