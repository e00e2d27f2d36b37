/** Signals that name no run: they start the workflows that are triggered by them, or go to whoever waits. */
import { canonicalJson, type Json } from '@nebula/core';
import type { Launcher } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { everyRecord, readRecord } from '../records.ts';
import { isoTime } from '../routes/times.ts';
import { correlationOf, type Firing, fire } from './fire.ts';
import { type EventRecord, eventPrefix } from './records.ts';

export interface PublishedEvent {
  readonly name: string;
  readonly key: string;
  readonly payload: Json;
  readonly keepMs: number | undefined;
  /** The same is the same event. */
  readonly messageId: string;
  /** Whose workflows it starts, and whose runs it reaches. */
  readonly project: string;
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
  for await (const { body: source } of everyRecord<EventRecord>(parts.records, 'event', eventPrefix(name))) {
    if (source.project !== event.project) continue;
    const correlation = await correlationOf(parts, source, payload, trigger);
    const firing = { source, came: payload, trigger };
    if (correlation === undefined) {
      started.push((await fire(parts, launcher, { ...firing, idempotencyKey: messageId })).executionId);
      continue;
    }
    const family = `${source.workflowId} ${name} ${canonicalJson(correlation)}`;
    const outcome = await inTurn(family, () => correlated(parts, launcher, firing, family, event));
    if (outcome.isStarted) started.push(outcome.executionId);
    else told = outcome.executionId;
  }
  // What has reached a run, or begun one, is not meant for somebody else who waits: nor for the run it has begun.
  if (told !== undefined || started.length > 0) return { taken: told, started };
  const keep = keepMs === undefined ? {} : { keepMs };
  return {
    taken: await parts.engine.publishSignal({ signal: name, key, payload, messageId, project: event.project, ...keep }),
    started,
  };
}

/** One run per key at a time: which is the newest, and which event began it. */
interface CorrelationRecord {
  readonly executionId: string;
  readonly messageId: string;
}

/** As long as nothing has come for a key for this long, its next run is its first. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;

/** The first event of a key starts its run, later ones reach it as signals for as long as it goes on. */
async function correlated(
  parts: Parts,
  launcher: Launcher,
  firing: Pick<Firing, 'source' | 'came' | 'trigger'>,
  family: string,
  { name, key, payload, messageId }: PublishedEvent,
): Promise<{ readonly executionId: string; readonly isStarted: boolean }> {
  const { records, store, clock, digest, engine } = parts;
  const id = digest(family);
  const before = await readRecord<CorrelationRecord>(records, 'correlation', id);
  if (before !== undefined && before.body.messageId !== messageId) {
    const { executionId } = before.body;
    const row = await store.execution(executionId);
    if (row !== undefined && row.finishedAt === null) {
      await engine.requestSignal(executionId, { signal: name, key, payload });
      return { executionId, isStarted: false };
    }
  }
  const executionId = `exe_e${digest(`${family} ${messageId}`).slice(0, 40)}`;
  const launched = await fire(parts, launcher, { ...firing, executionId });
  const body = JSON.stringify({ executionId: launched.executionId, messageId } satisfies CorrelationRecord);
  await records.commit([{ kind: 'correlation', id, body, expiresAt: clock.now() + REMEMBERED_MS }]);
  return { executionId: launched.executionId, isStarted: true };
}

const turns = new Map<string, Promise<unknown>>();

/** Events of one key are looked at one after the other: two at once would both be the first. */
async function inTurn<T>(family: string, act: () => Promise<T>): Promise<T> {
  const mine = (turns.get(family) ?? Promise.resolve()).then(act, act);
  turns.set(family, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(family) === mine) turns.delete(family);
  }
}
