/** Whether runs have come to rest, and who holds what they wait for. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError, parseDuration } from '@nebula/core';
import type { Settled } from '@nebula/engine';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';

/** Longer than this a request does not wait, whatever it asks for. */
const MAX_WAIT_MS = 5 * 60_000;

export function restRoutes(parts: Parts): Pick<Handlers, 'awaitRest' | 'listPlaces'> {
  const { engine, clock } = parts;
  /** The engine keeps everybody who waits for a run; here many requests, one after the other, are one of them. */
  const waits = new Map<string, Promise<Settled>>();

  const settled = (executionId: string): Promise<Settled> => {
    const known = waits.get(executionId);
    if (known !== undefined) return known;
    const waiting = engine.settled(executionId).finally(() => waits.delete(executionId));
    // Whoever asked may have gone.
    waiting.catch(() => undefined);
    waits.set(executionId, waiting);
    return waiting;
  };

  const within = (executionId: string, waitMs: number, signal: AbortSignal): Promise<Settled | undefined> =>
    new Promise((resolve, reject) => {
      const leave = (): void => done(undefined);
      const timer = clock.timer(waitMs, leave);
      signal.addEventListener('abort', leave, { once: true });
      const done = (rest: Settled | undefined): void => {
        timer.cancel();
        signal.removeEventListener('abort', leave);
        resolve(rest);
      };
      settled(executionId).then(done, (error: unknown) => {
        done(undefined);
        reject(error);
      });
    });

  return {
    async awaitRest({ params: { executionId }, query: { wait }, signal }) {
      const waitMs = wait === undefined ? 0 : waitOf(wait);
      const rest = await within(executionId, waitMs, signal);
      return ok({
        executionId,
        settled: rest !== undefined,
        parked: rest?.parked ?? false,
        resting: await engine.isResting(executionId),
        waitingFor: (rest?.parked ? rest.waitingFor : []) as AnswerOf<'awaitRest'>['waitingFor'],
        inside: rest?.parked ? rest.inside.map(({ document }) => document.executionId) : [],
      });
    },

    async listPlaces({ params: { executionId }, query: { key } }) {
      const rows = await engine.places(executionId, key);
      return ok({
        items: rows.map(({ node, isHeld, executionId: holder }) => ({ executionId: holder, node, isHeld })),
      });
    },
  };
}

function waitOf(text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === 'number') return Math.min(ms, MAX_WAIT_MS);
  throw new NebulaError('QUERY_INVALID', `wait: ${ms.message}`, { hint: ms.hint });
}
