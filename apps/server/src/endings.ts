/** Who waits for the end of a run. One listener at the engine serves all of them; it goes with the last. */
import { isFinished, NebulaError, type RunDocument } from '@nebula/core';
import type { Parts } from './parts.ts';

type Waiter = (document: RunDocument | undefined) => void;

const known = new WeakMap<Parts['engine'], Endings>();

/** One for each engine, made when somebody waits for the first time. */
export function endingsAt(parts: Pick<Parts, 'engine' | 'clock'>): Endings {
  let endings = known.get(parts.engine);
  if (endings === undefined) {
    endings = new Endings(parts);
    known.set(parts.engine, endings);
  }
  return endings;
}

class Endings {
  private readonly parts: Pick<Parts, 'engine' | 'clock'>;
  private readonly waiters = new Map<string, Set<Waiter>>();
  private stop: (() => void) | undefined;

  constructor(parts: Pick<Parts, 'engine' | 'clock'>) {
    this.parts = parts;
  }

  /** Undefined when the time was over, or the caller went, before it ended. */
  of(executionId: string, waitMs: number, signal: AbortSignal): Promise<RunDocument | undefined> {
    const { engine, clock } = this.parts;
    return new Promise((resolve, reject) => {
      const waiters = this.waitersOf(executionId);
      const leave = (): void => done(undefined);
      const timer = clock.timer(waitMs, leave);
      const done: Waiter = (document) => {
        waiters.delete(done);
        if (waiters.size === 0) this.leave(executionId, waiters);
        timer.cancel();
        signal.removeEventListener('abort', leave);
        resolve(document);
      };
      waiters.add(done);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) return leave();
      // One that is in memory and goes on will tell. Any other may have ended before anybody listened.
      const live = engine.peek(executionId);
      if (live !== undefined && !isFinished(live.status)) return;
      engine
        .document(executionId)
        .then((document) => {
          if (document === undefined)
            throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
          if (isFinished(document.status)) done(document);
        })
        .catch((error: unknown) => {
          done(undefined);
          reject(error);
        });
    });
  }

  private waitersOf(executionId: string): Set<Waiter> {
    this.stop ??= this.parts.engine.on((event) => {
      if (event.type !== 'finished') return;
      for (const done of this.waiters.get(event.executionId) ?? []) done(event.document);
    });
    const waiters = this.waiters.get(executionId) ?? new Set();
    this.waiters.set(executionId, waiters);
    return waiters;
  }

  private leave(executionId: string, waiters: Set<Waiter>): void {
    if (this.waiters.get(executionId) === waiters) this.waiters.delete(executionId);
    if (this.waiters.size > 0) return;
    this.stop?.();
    this.stop = undefined;
  }
}
