/**
 * Waiters for runs, until a run has ended or is parked.
 *
 *  1 Each waiter is notified once and then removed.
 *  2 A run that waits for other executions is parked when all of these are: its children, and the holders of the
 *    permits that its nodes wait for. They are waited for one after the other, and by one look per run at a time: with
 *    10,000 children each is waited for once.
 */

import { type ExecutionId, NebulaError, type RunDocument } from '@nebula/core';
import {
  delayedNodes,
  documentOf,
  explainNode,
  isFinished,
  isParked,
  isParkedExceptChildren,
  isPaused,
  isQuiescent,
  openChildren,
  pathOf,
  permitKey,
} from '@nebula/core/run';
import { later } from '@nebula/ports';
import type { WaitResult } from '../api.ts';
import type { EngineContext } from '../context.ts';
import type { StoreExecutionService } from '../requests/execution-service.ts';
import type { LiveRun } from '../turn/live-run.ts';
import { sharedName } from '../turn/messages.ts';

/** Pause before a child that does not exist yet is looked for again. */
const CHILD_AGAIN_MS = 1_000;
/** How long a run is quiet before the holders of its permits are checked: in a large loop they change often. */
const QUIET_MS = 150;

/** The most delayed nodes that are explained. */
const MAX_EXPLAINED = 10;

interface Waiter {
  readonly until: 'end' | 'parked';
  resolve(result: WaitResult): void;
  reject(error: unknown): void;
}

export class RunWaiters {
  private readonly context: EngineContext;
  private readonly executions: StoreExecutionService;
  private readonly waiters = new Map<ExecutionId, Waiter[]>();
  /** Runs whose children are being checked, with the run if it has come to rest again since. */
  private readonly checks = new Map<ExecutionId, LiveRun | undefined>();

  constructor(context: EngineContext, executions: StoreExecutionService) {
    this.context = context;
    this.executions = executions;
  }

  async waitFor(
    executionId: ExecutionId,
    until: Waiter['until'] = 'parked',
    signal?: AbortSignal,
  ): Promise<WaitResult> {
    this.context.lifecycle.assertNotClosed();
    const { promise: waiting, ...resolvers } = Promise.withResolvers<WaitResult>();
    const waiter = { ...resolvers, until };
    this.waiters.set(executionId, [...(this.waiters.get(executionId) ?? []), waiter]);
    // The engine may be closed during the query, before the caller awaits this promise.
    waiting.catch(() => {});
    const leave = (): void => {
      this.remove(executionId, waiter);
      waiter.reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    const forget = (): void => signal?.removeEventListener('abort', leave);
    waiting.then(forget, forget);
    const run = this.context.runs.get(executionId);
    // The run is under way: its waiters are notified when it rests or ends.
    if (run !== undefined && !(isQuiescent(run.state, this.context.clock.now()) && this.context.runs.isIdle(run))) {
      return waiting;
    }
    try {
      await this.checkInStore(executionId);
    } catch (error) {
      this.remove(executionId, waiter);
      throw error;
    }
    return waiting;
  }

  /** Returns whether only people, signals, children and far times move the run. */
  async isQuiescent(executionId: ExecutionId): Promise<boolean> {
    const { store, runs, clock } = this.context;
    if ((await store.inbox(executionId)).length > 0) return false;
    const live = runs.get(executionId);
    if (live !== undefined) return runs.isIdle(live) && isQuiescent(live.state, clock.now());
    const state = await this.executions.state(executionId);
    // A run that came into memory while its journal was read is under way.
    return state !== undefined && runs.get(executionId) === undefined && isQuiescent(state, clock.now());
  }

  /** Checks a run that is not under way here: it may have ended, or be parked. */
  private async checkInStore(executionId: ExecutionId): Promise<void> {
    const { store, runs } = this.context;
    const row = await store.execution(executionId);
    if (row === undefined) {
      return this.reject(executionId, new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`));
    }
    // A request in its inbox may move the run: the waiters are notified after that.
    if ((await store.inbox(executionId)).length > 0) return;
    const isHere = runs.get(executionId) !== undefined;
    const run = await runs.load(executionId);
    // After the turn of a run that is under way its waiters are notified.
    if (run === undefined || !runs.isIdle(run)) return;
    if (isFinished(run.state.phase.status)) {
      runs.forget(run);
      this.end(run, undefined);
    } else {
      this.turnEnded(run);
      if (!isHere) runs.forget(run);
    }
  }

  /** Handles the end of a turn of a run that has not ended. */
  turnEnded(run: LiveRun): void {
    const { executionId, state } = run;
    if (!this.isAwaitedUntilParked(executionId)) return;
    // With an attempt under way the run is not parked at any time: nearly every turn ends here, without a look at the clock.
    if (state.running.size > 0) {
      if (this.checks.has(executionId)) this.checks.set(executionId, run);
      return;
    }
    const now = this.context.clock.now();
    if (isParked(state, now)) this.park(run, []);
    else if (this.checks.has(executionId)) this.checks.set(executionId, run);
    else if (isParkedExceptChildren(state, now) || (isQuiescent(state, now) && permitKeys(run).length > 0))
      void this.checkInside(run);
  }

  /** Handles the end of a run; `tell` gets its document too. */
  end(run: LiveRun, tell: ((document: RunDocument) => void) | undefined): void {
    const waiters = this.take(run.executionId);
    if (waiters.length === 0 && tell === undefined) return;
    const { state } = run;
    // The document is that of this end, because the run may be retried while large values are fetched.
    const document =
      state.spilled === 0
        ? Promise.resolve(documentOf(state, this.context.values.lookup))
        : this.executions.documentIn(state);
    void document.then(
      (ended) => {
        tell?.(ended);
        for (const waiter of waiters) waiter.resolve({ parked: false, document: ended });
      },
      (error: unknown) => {
        for (const waiter of waiters) waiter.reject(error);
      },
    );
  }

  reject(executionId: ExecutionId, error: unknown): void {
    for (const waiter of this.take(executionId)) waiter.reject(error);
  }

  rejectAll(error: unknown): void {
    for (const executionId of [...this.waiters.keys()]) this.reject(executionId, error);
  }

  /** Parks the run if all executions that it waits for are parked. When a child ends, the run rests again after that turn. */
  private async checkInside(run: LiveRun): Promise<void> {
    const { executionId } = run;
    this.checks.set(executionId, undefined);
    // A child that cannot be read is reported as a fault of the child.
    const inside = await this.parkedInside(run).catch(() => undefined);
    const moved = this.checks.get(executionId);
    this.checks.delete(executionId);
    if (moved !== undefined) this.turnEnded(moved);
    // A run that is in a turn rests again after it.
    else if (inside !== undefined && run.isDurable) this.park(run, inside);
  }

  /** Returns undefined if one of them has ended, or continues. */
  private async parkedInside(run: LiveRun): Promise<WaitResult[] | undefined> {
    const { executionId, state } = run;
    const inside: WaitResult[] = [];
    const keys = permitKeys(run);
    if (keys.length > 0 && !(await this.areHoldersQuiescent(run, keys))) return undefined;
    for (const child of openChildren(state)) {
      const result = await this.childResult(executionId, child.executionId);
      if (result?.parked !== true) return undefined;
      inside.push(result);
    }
    return inside;
  }

  /** Returns whether every holder of these permits is parked, or not worked on by this engine. */
  private async areHoldersQuiescent({ executionId, project }: LiveRun, keys: readonly string[]): Promise<boolean> {
    await later(this.context.clock, QUIET_MS);
    for (const key of keys) {
      if (this.checks.get(executionId) !== undefined) return false;
      for (const holder of await this.context.store.permits(sharedName(project, key))) {
        if (!holder.isHeld || holder.executionId === executionId) continue;
        if (!this.context.selection.has(holder.executionId)) continue;
        if (!(await this.waitFor(holder.executionId)).parked) return false;
      }
    }
    return true;
  }

  /** Waits for a child. The journal of the parent names it before it exists. */
  private async childResult(parentId: ExecutionId, executionId: ExecutionId): Promise<WaitResult | undefined> {
    while (this.isAwaitedUntilParked(parentId)) {
      if ((await this.context.store.known([executionId])).has(executionId)) return this.waitFor(executionId);
      await later(this.context.clock, CHILD_AGAIN_MS);
    }
    return undefined;
  }

  private park(run: LiveRun, inside: readonly WaitResult[]): void {
    const waiters = this.take(run.executionId, 'parked');
    const { state } = run;
    const now = this.context.clock.now();
    const nodes = [...state.unknown, ...delayedNodes(state, MAX_EXPLAINED)];
    const waitingFor = nodes.flatMap((node) => explainNode(state, pathOf(node), now) ?? []);
    const document = documentOf(state, this.context.values.glance, now);
    for (const waiter of waiters) waiter.resolve({ parked: true, document, waitingFor, inside });
  }

  private remove(executionId: ExecutionId, waiter: Waiter): void {
    const others = (this.waiters.get(executionId) ?? []).filter((other) => other !== waiter);
    if (others.length > 0) this.waiters.set(executionId, others);
    else this.waiters.delete(executionId);
  }

  private isAwaitedUntilParked(executionId: ExecutionId): boolean {
    return this.waiters.get(executionId)?.some(({ until }) => until === 'parked') ?? false;
  }

  /** Removes and returns waiters; without `until`, all of them. */
  private take(executionId: ExecutionId, until?: Waiter['until']): Waiter[] {
    const waiters = this.waiters.get(executionId) ?? [];
    const left = until === undefined ? [] : waiters.filter((waiter) => waiter.until !== until);
    if (left.length > 0) this.waiters.set(executionId, left);
    else this.waiters.delete(executionId);
    return left.length > 0 ? waiters.filter((waiter) => waiter.until === until) : waiters;
  }
}

/** Keys of the permits that nodes of a run wait for; none if a node waits for another grant. */
function permitKeys({ state }: LiveRun): string[] {
  if (isPaused(state)) return [];
  const keys: (string | undefined)[] = [];
  for (const { phase } of state.gated) {
    if (phase.status === 'gated' && phase.until === null) keys.push(permitKey(phase.gate));
  }
  const known = keys.flatMap((key) => key ?? []);
  return known.length === keys.length ? [...new Set(known)] : [];
}
