/** Starts executions. */
import type { Json } from '@nebula/core';
import { type Call, created, type Handlers, ok } from '../http/handler.ts';
import { type Launcher, traceparentIn } from '../launcher.ts';
import type { EngineParts } from '../parts.ts';
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
