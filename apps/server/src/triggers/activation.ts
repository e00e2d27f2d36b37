/**
 * The triggers of a workflow follow its active version: with another one, or none, the records of the old triggers go
 * and those of the new ones come, in one commit.
 */
import { type Json, NebulaError, parseDuration, type TriggerDefinition, type WorkflowDefinition } from '@nebula/core';
import type { RecordChange } from '@nebula/ports';
import { projectOfWorkflow } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { readRecord } from '../records.ts';
import { eventPrefix, type ScheduleRecord, type TriggerSource, triggerId, type WebhookRecord } from './records.ts';

/** By workflow: the records that its triggers have. */
interface TriggersRecord {
  readonly owned: readonly { readonly kind: string; readonly id: string }[];
}

interface Made {
  readonly kind: string;
  readonly id: string;
  readonly body: Json;
}

/** Before anything is changed: a path can belong to one workflow only. Rejects with `PATH_TAKEN`. */
export async function checkTriggers(parts: Parts, definition: WorkflowDefinition): Promise<void> {
  for (const { webhook } of definition.triggers ?? []) {
    if (webhook === undefined) continue;
    const id = webhookId(webhook);
    const owner = await readRecord<WebhookRecord>(parts.records, 'webhook', id);
    if (owner === undefined || owner.body.workflowId === definition.id) continue;
    throw new NebulaError('PATH_TAKEN', `${id} belongs to workflow '${owner.body.workflowId}'.`, {
      hint: 'Choose another path, or deactivate that workflow.',
    });
  }
}

export async function activateTriggers(parts: Parts, workflowId: string, version: number | null): Promise<void> {
  const { records } = parts;
  const before = await readRecord<TriggersRecord>(records, 'triggers', workflowId);
  const made = version === null ? [] : await triggersOf(parts, workflowId, version);
  const stale = (before?.body.owned ?? []).filter(
    (old) => !made.some(({ kind, id }) => kind === old.kind && id === old.id),
  );
  const owned = made.map(({ kind, id }) => ({ kind, id }));
  const changes: RecordChange[] = [
    ...stale.map(({ kind, id }) => ({ kind, id, body: null })),
    ...made.map(({ kind, id, body }) => ({ kind, id, body: JSON.stringify(body) })),
    { kind: 'triggers', id: workflowId, body: owned.length === 0 ? null : JSON.stringify({ owned }) },
  ];
  await records.commit(changes);
}

async function triggersOf(parts: Parts, workflowId: string, version: number): Promise<Made[]> {
  const row = await parts.store.workflowVersion(workflowId, version);
  if (row === undefined) return [];
  const { triggers = [] } = JSON.parse(row.definition) as WorkflowDefinition;
  const project = await projectOfWorkflow(parts, workflowId);
  const made: Made[] = [];
  for (const [index, trigger] of triggers.entries()) {
    made.push(await recordOf(parts, trigger, { project, workflowId, version, index }));
  }
  return made;
}

async function recordOf(parts: Parts, trigger: TriggerDefinition, source: TriggerSource): Promise<Made> {
  const { webhook, event, file } = trigger;
  if (webhook !== undefined) {
    const { respond = 'immediate', signature } = webhook;
    const proof = {
      header: 'x-signature',
      scheme: 'hmac',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: '',
      ...signature,
    };
    return {
      kind: 'webhook',
      id: webhookId(webhook),
      body: { ...source, respond, signature: signature === undefined ? null : proof },
    };
  }
  if (event !== undefined) {
    return { kind: 'event', id: `${eventPrefix(event.name)}${triggerId(source)}`, body: { ...source } };
  }
  if (file !== undefined) return { kind: 'file', id: triggerId(source), body: { ...source, path: file.path } };
  const record = await scheduleOf(parts, trigger, source);
  return { kind: 'schedule', id: triggerId(source), body: record as unknown as Json };
}

/** One whose times have not changed goes on where it was. */
async function scheduleOf(parts: Parts, trigger: TriggerDefinition, source: TriggerSource): Promise<ScheduleRecord> {
  const { schedule, interval } = trigger;
  const now = parts.clock.now();
  const times = {
    cron: schedule?.cron ?? null,
    everyMs: interval === undefined ? null : (parseDuration(interval.every) as number),
    timezone: schedule?.timezone ?? 'UTC',
  };
  const before = await readRecord<ScheduleRecord>(parts.records, 'schedule', triggerId(source));
  const isSame =
    before?.body.trigger != null &&
    before.body.cron === times.cron &&
    before.body.everyMs === times.everyMs &&
    before.body.timezone === times.timezone;
  const kept = isSame ? before.body : { cursor: now, anchor: now, lastFiredAt: null };
  return {
    project: source.project,
    trigger: source,
    workflowId: source.workflowId,
    plan: null,
    ...times,
    catchUp: schedule?.catchUp ?? 'none',
    input: null,
    active: true,
    cursor: kept.cursor,
    anchor: kept.anchor,
    lastFiredAt: kept.lastFiredAt,
  };
}

function webhookId({ method = 'POST', path }: { readonly method?: string; readonly path: string }): string {
  return `${method} ${path}`;
}
