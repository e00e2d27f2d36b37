/**
 * Acts on the events that the parts of an engine report.
 *
 *  E1 A durable frame is carried out in one order: waiters for the start, outcomes of remote workers, observers, children,
 *     `verify`, release. The release comes last, because the run may leave memory then.
 *  E2 A run stays in memory while it has mail, a draft or attempts here, children in memory, leases of remote workers, or a
 *     wake time within a second.
 */
import { type ExecutionId, NebulaError, type NodePath, type RunDocument } from '@nebula/core';
import { isFinished } from '@nebula/core/run';
import { STORE_GONE } from '@nebula/ports';
import type { Attempts } from './attempts/attempts.ts';
import type { EngineContext } from './context.ts';
import type { Effects } from './effects.ts';
import { untilDone } from './lifecycle.ts';
import type { Observers } from './observe/observers.ts';
import type { RemoteAttempts } from './remote/remote-attempts.ts';
import type { Children } from './start/children.ts';
import type { Draft, LiveRun } from './turn/live-run.ts';
import type { RunWaiters } from './wake/run-waiters.ts';
import type { Waker } from './wake/waker.ts';

/** A run whose next timer is further away than this need not stay in memory. */
const EVICT_BEYOND_MS = 1_000;

export interface EffectsParts {
  readonly attempts: Attempts;
  readonly children: Children;
  readonly remote: RemoteAttempts;
  readonly waiters: RunWaiters;
  readonly waker: Waker;
  /** Stops the engine, because its data is gone. */
  stop(error: NebulaError): void;
}

export class EngineEffects implements Effects {
  private readonly observers: Observers;
  private context!: EngineContext;
  private parts!: EffectsParts;
  /** When the store last accepted a write. */
  wroteAt: number | null = null;
  /** The last error since then. */
  lastTrouble: unknown = null;

  constructor(observers: Observers) {
    this.observers = observers;
  }

  /** The parts get the effects when they are made, so the effects get the parts afterwards. */
  connect(context: EngineContext, parts: EffectsParts): void {
    this.context = context;
    this.parts = parts;
  }

  decided(run: LiveRun, draft: Draft, isWritten: boolean): void {
    const { attempts, remote, children } = this.parts;
    if (isWritten) for (const done of run.onCreated.splice(0)) done();
    remote.onDecided(draft);
    if (isWritten) {
      this.observers.frame(run, draft);
      for (const child of draft.turn.children) children.start(run, child);
    }
    attempts.verifyUnknown(run);
    const hasEnded = isWritten && draft.turn.entries.at(-1)?.type === 'run.finished';
    this.releaseIfIdle(run, isWritten ? draft.turn.now : this.context.clock.now(), hasEnded);
    if (isWritten && !isFinished(run.state.phase.status)) this.snapshot(run);
  }

  private snapshot(run: LiveRun): void {
    const { runs, meter } = this.context;
    void runs.snapshotIfHeavy(run).then(
      (taken) => taken && meter.add('engine.snapshots'),
      (error: unknown) => this.trouble(error),
    );
  }

  loaded(run: LiveRun): void {
    const adopt = this.parts.children.adoption(run);
    run.childrenInDoubt++;
    untilDone(this.context, async () => {
      await adopt();
      run.childrenInDoubt--;
    });
  }

  /** Lets a run leave memory between frames if it has ended, or nothing here can move it. */
  private releaseIfIdle(run: LiveRun, at: number, hasEnded: boolean): void {
    if (run.mailbox.length > 0) return;
    const { runs } = this.context;
    const { children, remote, waiters } = this.parts;
    const { executionId } = run;
    if (isFinished(run.state.phase.status)) {
      runs.forget(run);
      const tell = (document: RunDocument): void => this.observers.publish({ type: 'finished', executionId, document });
      waiters.end(run, hasEnded && this.observers.hasListeners ? tell : undefined);
      return;
    }
    waiters.turnEnded(run);
    const wakeAt = run.storedWakeAt;
    const isFar = wakeAt === null || wakeAt === undefined || wakeAt - at > EVICT_BEYOND_MS;
    if (!isFar || !runs.isIdle(run) || children.areHere(run) || remote.has(executionId)) return;
    runs.forget(run);
    // This child may have been the only reason to keep its parent in memory.
    if (run.state.parent !== null) this.released(run.state.parent.executionId);
  }

  released(executionId: ExecutionId): void {
    const { runs, clock } = this.context;
    const run = runs.get(executionId);
    if (run !== undefined && runs.isIdle(run)) this.releaseIfIdle(run, clock.now(), false);
  }

  wake(at: number): void {
    this.parts.waker.wakeAt(at);
  }

  written(): void {
    this.wroteAt = this.context.clock.now();
    this.lastTrouble = null;
  }

  trouble(error: unknown): void {
    this.lastTrouble = error;
    this.observers.publish({ type: 'trouble', error });
    const isGone = error instanceof NebulaError && error.code === STORE_GONE;
    if (isGone && this.context.lifecycle.lost === undefined) this.parts.stop(error);
  }

  fault(executionId: ExecutionId, error: unknown): void {
    this.observers.publish({ type: 'fault', executionId, error });
    this.parts.waiters.reject(executionId, error);
    this.parts.remote.onFault(error, executionId);
  }

  progress(executionId: ExecutionId, node: NodePath, fraction: number, message: string | undefined): void {
    if (!this.observers.hasListeners) return;
    const more = message === undefined ? {} : { message };
    this.observers.publish({ type: 'progress', executionId, node, fraction, ...more });
  }
}
