/**
 * Waiting for runs, for callers that come and go.
 *
 *  1 The engine keeps each of its waiters until the run settles. Here all callers that wait for the same thing of a run
 *     are one of them, so requests that time out one after the other leave nothing behind.
 *  2 Beside an engine of another process nobody is told of an end: the row of the run is read again until it has one.
 */
import { NebulaError, parseDuration, type RunDocument } from '@nebula/core';
import type { Engine, Settled } from '@nebula/engine';
import type { Clock } from '@nebula/ports';
import type { Parts } from './parts.ts';

/** Longer than this a request does not wait, whatever it asks for. */
const MAX_WAIT_MS = 5 * 60_000;
const LOOK_MS = 50;

type Until = 'end' | 'rest';

export class Waits {
  private readonly parts: Pick<Parts, 'desk' | 'store' | 'clock'>;
  private readonly engine: Engine | undefined;
  private readonly known = new Map<string, Promise<Settled>>();

  constructor(parts: Pick<Parts, 'desk' | 'store' | 'clock'>, engine?: Engine) {
    this.parts = parts;
    this.engine = engine;
  }

  /** Undefined when the time was over, or the caller went, before. Rejects with `UNKNOWN_EXECUTION`. */
  async of(
    executionId: string,
    until: Until,
    wait: string | undefined,
    signal: AbortSignal,
  ): Promise<Settled | undefined> {
    const waitMs = wait === undefined ? 0 : waitOf(wait);
    if (this.engine === undefined) return await this.looked(executionId, waitMs, signal);
    return await within(this.parts.clock, waitMs, signal, this.settled(this.engine, executionId, until));
  }

  /** The document of a run that has ended within this time. */
  async ended(executionId: string, wait: string | undefined, signal: AbortSignal): Promise<RunDocument | undefined> {
    return wait === undefined ? undefined : (await this.of(executionId, 'end', wait, signal))?.document;
  }

  private settled(engine: Engine, executionId: string, until: Until): Promise<Settled> {
    const key = `${until} ${executionId}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const waiting = engine.settled(executionId, until).finally(() => this.known.delete(key));
    // Every caller may have gone.
    waiting.catch(() => undefined);
    this.known.set(key, waiting);
    return waiting;
  }

  private async looked(executionId: string, waitMs: number, signal: AbortSignal): Promise<Settled | undefined> {
    const { desk, store, clock } = this.parts;
    const until = clock.now() + waitMs;
    for (;;) {
      const row = await store.execution(executionId);
      const document = row?.finishedAt === null ? undefined : await desk.document(executionId);
      if (row === undefined || (row.finishedAt !== null && document === undefined)) {
        throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
      }
      if (document !== undefined) return { parked: false, document };
      if (clock.now() >= until || signal.aborted) return undefined;
      await new Promise<void>((resolve) => clock.timer(LOOK_MS, resolve));
    }
  }
}

function within(
  clock: Clock,
  waitMs: number,
  signal: AbortSignal,
  settled: Promise<Settled>,
): Promise<Settled | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => done(undefined);
    const timer = clock.timer(waitMs, leave);
    const done = (outcome: Settled | undefined): void => {
      timer.cancel();
      signal.removeEventListener('abort', leave);
      resolve(outcome);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) return leave();
    settled.then(done, (error: unknown) => {
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
