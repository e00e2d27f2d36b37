/**
 * Waits for runs, on behalf of callers that come and go.
 *
 *  1 All callers that wait for the same event of a run share one waiter of the engine, which ends with the last of
 *    them.
 *  2 Beside an engine of another process there is no notification of an end: the row of the run is polled.
 */
import { NebulaError, parseDuration, type RunDocument } from '@nebula/core';
import type { Engine, WaitResult } from '@nebula/engine';
import { type Clock, later } from '@nebula/ports';
import type { Parts } from './parts.ts';

/** The longest wait of a request. */
const MAX_WAIT_MS = 5 * 60_000;
const LOOK_MS = 50;

type Until = 'end' | 'parked';

interface Shared {
  readonly result: Promise<WaitResult>;
  readonly stop: AbortController;
  callers: number;
}

export class Waits {
  private readonly parts: Pick<Parts, 'executions' | 'store' | 'clock'>;
  private readonly engine: Engine | undefined;
  private readonly shared = new Map<string, Shared>();

  constructor(parts: Pick<Parts, 'executions' | 'store' | 'clock'>, engine?: Engine) {
    this.parts = parts;
    this.engine = engine;
  }

  /** Returns undefined if the time was over, or the caller disconnected, before. Rejects with `UNKNOWN_EXECUTION`. */
  async of(
    executionId: string,
    until: Until,
    wait: string | undefined,
    signal: AbortSignal,
  ): Promise<WaitResult | undefined> {
    const waitMs = wait === undefined ? 0 : waitOf(wait);
    if (this.engine === undefined) return await this.polled(executionId, waitMs, signal);
    const key = `${until} ${executionId}`;
    const shared = this.shared.get(key) ?? this.wait(this.engine, key, executionId, until);
    shared.callers++;
    try {
      return await within(this.parts.clock, waitMs, signal, shared.result);
    } finally {
      if (--shared.callers === 0) this.leave(key, shared);
    }
  }

  /** The document of a run that has ended within this time. */
  async ended(executionId: string, wait: string | undefined, signal: AbortSignal): Promise<RunDocument | undefined> {
    return wait === undefined ? undefined : (await this.of(executionId, 'end', wait, signal))?.document;
  }

  private wait(engine: Engine, key: string, executionId: string, until: Until): Shared {
    const stop = new AbortController();
    const result = engine.waitFor(executionId, until, stop.signal);
    // All callers may have disconnected.
    result.catch(() => undefined);
    const shared = { result, stop, callers: 0 };
    this.shared.set(key, shared);
    return shared;
  }

  private leave(key: string, shared: Shared): void {
    if (this.shared.get(key) === shared) this.shared.delete(key);
    shared.stop.abort();
  }

  private async polled(executionId: string, waitMs: number, signal: AbortSignal): Promise<WaitResult | undefined> {
    const { executions, store, clock } = this.parts;
    const until = clock.now() + waitMs;
    for (;;) {
      const row = await store.execution(executionId);
      const document = row?.finishedAt === null ? undefined : await executions.document(executionId);
      if (row === undefined || (row.finishedAt !== null && document === undefined)) {
        throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
      }
      if (document !== undefined) return { parked: false, document };
      if (clock.now() >= until || signal.aborted) return undefined;
      await later(clock, LOOK_MS);
    }
  }
}

function within(
  clock: Clock,
  waitMs: number,
  signal: AbortSignal,
  result: Promise<WaitResult>,
): Promise<WaitResult | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => done(undefined);
    const timer = clock.timer(waitMs, leave);
    const done = (outcome: WaitResult | undefined): void => {
      timer.cancel();
      signal.removeEventListener('abort', leave);
      resolve(outcome);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) return leave();
    result.then(done, (error: unknown) => {
      reject(error);
      done(undefined);
    });
  });
}

function waitOf(text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === 'number') return Math.min(ms, MAX_WAIT_MS);
  throw new NebulaError('QUERY_INVALID', `wait: ${ms.message}`, { hint: ms.hint });
}
