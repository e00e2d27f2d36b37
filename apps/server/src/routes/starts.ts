/** Starts executions. */
import { type Json, NebulaError, parseDuration } from '@nebula/core';
import { type Call, created, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import { type Launcher, traceparentIn } from '../launcher.ts';
import type { EngineParts, Parts } from '../parts.ts';
import { publishEvent } from '../triggers/events.ts';
import type { Waits } from '../waits.ts';
import { resultOf } from './executions.ts';

export function startRoutes(parts: EngineParts, launcher: Launcher, waits: Waits) {
  const { engine } = parts;
  return {
    async startExecution(call) {
      const { body, query, headers, signal, repeatId } = call;
      const traceparent = traceparentIn(headers);
      const own = repeatId === undefined ? {} : { idempotencyKey: repeatId };
      const { executionId, isNew } = await launcher.start({ ...own, ...body, traceparent }, triggerOf(call));
      const ended = await waits.ended(executionId, query.wait, signal);
      const answer = await resultOf(parts, executionId, ended ?? engine.peek(executionId));
      return isNew ? created(answer) : ok(answer);
    },

    async relaunchExecution({ params: { executionId }, body, who, repeatId }) {
      const trigger = { type: 'relaunch', by: who.name, executionId };
      const again = await launcher.relaunch(executionId, { ...body, idempotencyKey: repeatId }, trigger);
      return created(await resultOf(parts, again, engine.peek(again)));
    },
  } satisfies Partial<Handlers>;
}

/** Marks a run that the owner of a data folder starts. */
function triggerOf({ isLocal, who }: Call<'startExecution'>): Json {
  return isLocal ? { type: 'manual', from: 'cli' } : { type: 'api', by: who.name };
}

export function signalRoutes(parts: Parts, launcher: Launcher | undefined) {
  return {
    async publishSignal({ body: { signal, key = '', payload, keep }, who, project, headers }) {
      const keepMs = keep === undefined ? undefined : parseDuration(keep);
      if (typeof keepMs === 'object')
        throw new NebulaError('BODY_INVALID', `keep: ${keepMs.message}`, { hint: keepMs.hint });
      const repeated = headers['idempotency-key'];
      const messageId =
        typeof repeated === 'string'
          ? `msg_${parts.digest(`${who.name} ${signal} ${repeated}`).slice(0, 40)}`
          : parts.random.id('msg');
      const { taken, started, refused } = await publishEvent(parts, launcher, {
        name: signal,
        key,
        payload: (payload ?? null) as Json,
        keepMs,
        messageId,
        project: project ?? DEFAULT_PROJECT,
      });
      return reply(202, {
        taken: taken ?? null,
        started: [...started],
        ...(refused.length > 0 && { refused: [...refused] }),
      });
    },
  } satisfies Partial<Handlers>;
}
