/** Signals that name no run: they start the workflows with a matching trigger, or go to a waiting run. */
import { canonicalJson, type Json, NebulaError } from '@nebula/core';
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
  /** Two events with the same id are one event. */
  readonly messageId: string;
  /** The project whose workflows it starts and whose runs it reaches. */
  readonly project: string;
}

export interface Delivered {
  /** The run that waited for it. */
  readonly taken: string | undefined;
  readonly started: readonly string[];
  /** Workflows that could not be started, because of the event or of their definition. */
  readonly refused: readonly { readonly workflowId: string; readonly code: string; readonly message: string }[];
}

/** Without an engine there is no launcher, and no workflow is started. */
export async function publishEvent(
  parts: Parts,
  launcher: Launcher | undefined,
  event: PublishedEvent,
): Promise<Delivered> {
  const { name, key, payload, keepMs, messageId, project } = event;
  const started: string[] = [];
  const refusals: { readonly workflowId: string; readonly error: NebulaError }[] = [];
  let reached: string | undefined;
  const trigger = { type: 'event', id: name, at: isoTime(parts.clock.now()), key };
  for await (const { body: source } of everyRecord<EventRecord>(parts.records, 'event', eventPrefix(name))) {
    if (launcher === undefined || source.project !== project) continue;
    try {
      const { executionId, isStarted } = await handOver(parts, launcher, { source, came: payload, trigger }, event);
      if (isStarted) started.push(executionId);
      else reached = executionId;
    } catch (error) {
      // A failed start does not stop the others. Retries are safe: each start has its own execution id.
      if (!(error instanceof NebulaError) || error.retryable) throw error;
      refusals.push({ workflowId: source.workflowId, error });
    }
  }
  const refused = refusals.map(({ workflowId, error: { code, message } }) => ({ workflowId, code, message }));
  // An event that reached or started a run is not sent to other waiting runs, nor to the run that it started.
  if (reached !== undefined || started.length > 0) return { taken: reached, started, refused };
  const [first] = refusals;
  if (first !== undefined) throw first.error;
  const keep = keepMs === undefined ? {} : { keepMs };
  const taken = await parts.executions.publishSignal({ signal: name, key, payload, messageId, project, ...keep });
  return { taken, started, refused };
}

type EventFiring = Pick<Firing, 'source' | 'came' | 'trigger'>;

interface HandedOver {
  readonly executionId: string;
  readonly isStarted: boolean;
}

async function handOver(
  parts: Parts,
  launcher: Launcher,
  firing: EventFiring,
  event: PublishedEvent,
): Promise<HandedOver> {
  const { source, came, trigger } = firing;
  const correlation = await correlationOf(parts, source, came, trigger);
  if (correlation === undefined) {
    const { executionId } = await fire(parts, launcher, { ...firing, idempotencyKey: event.messageId });
    return { executionId, isStarted: true };
  }
  const family = `${source.workflowId} ${event.name} ${canonicalJson(correlation)}`;
  return inTurn(family, () => correlated(parts, launcher, firing, family, event));
}

/** One run per key at a time: the newest run, and the event that started it. */
interface CorrelationRecord {
  readonly executionId: string;
  readonly messageId: string;
}

/** A key without events for this time is forgotten. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;

/** The first event of a key starts its run; later ones reach it as signals until it ends. */
async function correlated(
  parts: Parts,
  launcher: Launcher,
  firing: EventFiring,
  family: string,
  { name, key, payload, messageId }: PublishedEvent,
): Promise<HandedOver> {
  const { records, store, clock, digest, executions } = parts;
  const id = digest(family);
  const before = await readRecord<CorrelationRecord>(records, 'correlation', id);
  if (before !== undefined && before.body.messageId !== messageId) {
    const { executionId } = before.body;
    const row = await store.execution(executionId);
    if (row !== undefined && row.finishedAt === null) {
      await executions.requestSignal(executionId, { signal: name, key, payload });
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

/** Handles the events of one key in order: two at once would both start a run. */
async function inTurn<T>(family: string, act: () => Promise<T>): Promise<T> {
  const mine = (turns.get(family) ?? Promise.resolve()).then(act, act);
  turns.set(family, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(family) === mine) turns.delete(family);
  }
}
