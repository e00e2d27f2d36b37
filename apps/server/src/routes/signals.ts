/** Signals that name no run: they reach a waiting run or start workflows. */
import { type Json, NebulaError, parseDuration } from '@nebula/core';
import { type Handlers, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import type { Launcher } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { publishEvent } from '../triggers/events.ts';

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
