/** Signals that name no run: they start the workflows that are triggered by them, or go to whoever waits. */
import { canonicalJson, type Json } from '@nebula/core';
import type { Launcher } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { parsed } from '../records.ts';
import { isoTime } from '../routes/times.ts';
import { correlationOf, fire } from './fire.ts';
import { type EventRecord, eventPrefix } from './records.ts';

export interface PublishedEvent {
  readonly name: string;
  readonly key: string;
  readonly payload: Json;
  readonly keepMs: number | undefined;
  /** The same is the same event. */
  readonly messageId: string;
  /** May the caller start runs of this project? */
  mayStart(project: string): boolean;
}

export interface Delivered {
  /** The run that waited for it. */
  readonly taken: string | undefined;
  readonly started: readonly string[];
}

export async function publishEvent(parts: Parts, launcher: Launcher, event: PublishedEvent): Promise<Delivered> {
  const { name, key, payload, keepMs, messageId } = event;
  const started: string[] = [];
  let told: string | undefined;
  const trigger = { type: 'event', id: name, at: isoTime(parts.clock.now()), key };
  for (const row of await parts.records.list('event', { prefix: eventPrefix(name), limit: 1_000 })) {
    const { body: source } = parsed<EventRecord>(row);
    if (!event.mayStart(source.project)) continue;
    const correlation = await correlationOf(parts, source, payload, trigger);
    if (correlation === undefined) {
      const { executionId } = await fire(parts, launcher, {
        source,
        came: payload,
        trigger,
        idempotencyKey: messageId,
      });
      started.push(executionId);
      continue;
    }
    // One run per key: the first event starts it, later ones reach it as signals for as long as it goes on.
    const family = `${source.workflowId} ${name} ${canonicalJson(correlation)}`;
    const executionId = `exe_e${parts.digest(family).slice(0, 40)}`;
    const before = await parts.store.execution(executionId);
    if (before !== undefined && before.finishedAt === null) {
      await parts.engine.requestSignal(executionId, { signal: name, key, payload });
      told = executionId;
    } else {
      const fresh = before === undefined ? { executionId } : { idempotencyKey: `${family} ${messageId}` };
      started.push((await fire(parts, launcher, { source, came: payload, trigger, ...fresh })).executionId);
    }
  }
  if (told !== undefined) return { taken: told, started };
  // What has started a run is not kept for one that might wait for it some day.
  const keep = started.length > 0 ? { keepMs: 0 } : keepMs === undefined ? {} : { keepMs };
  const taken = await parts.engine.publishSignal({ signal: name, key, payload, messageId, ...keep });
  return { taken, started };
}
