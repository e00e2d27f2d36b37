/**
 * The triggers of a workflow follow its active version. When that changes, one commit deletes the records of the old
 * triggers and writes those of the new ones.
 */
import {
  askedByTrigger,
  type Ceiling,
  entriesOf,
  type Json,
  NebulaError,
  overCeiling,
  parseDuration,
  type TriggerDefinition,
  type WorkflowDefinition,
} from '@nebula/core';
import type { RecordChange, Records } from '@nebula/ports';
import type { Parts } from '../parts.ts';
import { indexChange, readRecord, refuseMany, type WorkflowRecord } from '../records.ts';
import { parseFilePattern } from './file-pattern.ts';
import {
  eventPrefix,
  SCHEDULES,
  type ScheduleRecord,
  type TriggerSource,
  triggerId,
  type WebhookRecord,
} from './records.ts';

/** The records of a workflow's triggers, by workflow. */
interface TriggersRecord {
  readonly owned: readonly { readonly kind: string; readonly id: string }[];
}

interface Made {
  readonly kind: string;
  readonly id: string;
  readonly body: Json;
}

/** Checks triggers before any change. Rejects with `PATH_TAKEN`, `PATH_OUTSIDE`, `OVER_CEILING`. */
export async function checkTriggers(
  { records, projects }: Parts,
  { id: workflowId, triggers = [] }: WorkflowDefinition,
  project: string,
): Promise<void> {
  const own = new Set<string>();
  for (const trigger of triggers) {
    const { webhook, file } = trigger;
    if (file !== undefined) {
      refuseOutside(file.path);
      parseFilePattern(file.path);
      refuseUngranted(trigger, project, await projects.ceilingOf(project));
    }
    if (webhook === undefined) continue;
    const id = webhookId(webhook);
    if (own.has(id)) throw pathTaken(id, { workflowId, project }, project);
    own.add(id);
    const owner = (await readRecord<WebhookRecord>(records, 'webhook', id))?.body;
    if (owner !== undefined && owner.workflowId !== workflowId) throw pathTaken(id, owner, project);
  }
}

/** File triggers may not watch paths outside of the project's folder. */
function refuseOutside(path: string): void {
  if (!/^([/\\]|[a-zA-Z]:)|(^|[/\\])\.\.([/\\]|$)/.test(path)) return;
  throw new NebulaError('PATH_OUTSIDE', `'${path}' is outside of the project folder.`, {
    hint: 'Paths of file triggers are relative to it.',
  });
}

/** A file trigger tells its runs about files: the project must be granted to read what it watches. */
export function refuseUngranted(trigger: TriggerDefinition, project: string, ceiling: Ceiling): void {
  const [over] = overCeiling(askedByTrigger(trigger), ceiling);
  if (over === undefined) return;
  const { list, entry } = over;
  const allowed = ceiling === 'all' ? [] : entriesOf(ceiling, list);
  throw new NebulaError(
    'OVER_CEILING',
    `The trigger on '${trigger.file?.path}' reads ${entry}, and the project '${project}' may read ${allowed.join(', ') || 'nothing'}.`,
    { hint: `An owner of the project can allow it: nebula projects set ${project} --allow ${list}=${entry}` },
  );
}

/** Names the other workflow only within its own project. */
function pathTaken(id: string, owner: Pick<WebhookRecord, 'workflowId' | 'project'>, project: string): NebulaError {
  if (owner.project !== project) {
    return new NebulaError('PATH_TAKEN', `${id} is taken.`, { hint: 'Choose another path.' });
  }
  return new NebulaError('PATH_TAKEN', `${id} belongs to workflow '${owner.workflowId}'.`, {
    hint: 'Choose another path, or deactivate that workflow.',
  });
}

export interface Activation {
  readonly project: string;
  readonly workflowId: string;
  /** Null removes the triggers. */
  readonly active: number | null;
  /** The workflow's record when it was read. */
  readonly record: WorkflowRecord | undefined;
  /** Archives the workflow. An activation brings an archived one back. */
  readonly isArchived?: boolean;
  /** The revision of the workflow's record when it was read; 0: no record. */
  readonly expected: number;
}

/**
 * Changes the active version and its triggers in one commit, fenced by the revisions of all records that
 * it depends on. Returns false after a conflict; rejects as `checkTriggers` does.
 */
export async function activate(parts: Parts, activation: Activation): Promise<boolean> {
  const { project, workflowId, active, expected } = activation;
  const { records } = parts;
  const row = active === null ? undefined : await parts.store.workflowVersion(workflowId, active);
  const definition = row === undefined ? undefined : (JSON.parse(row.definition) as WorkflowDefinition);
  if (definition !== undefined) await checkTriggers(parts, definition, project);
  const before = await readRecord<TriggersRecord>(records, 'triggers', workflowId);
  const source = { project, workflowId, version: active ?? 0 };
  const made = await triggersOf(parts, definition?.triggers ?? [], source);
  if (schedulesIn(made).length > 0) await refuseMany(records, { ...SCHEDULES, project }, schedulesIn(made));
  const owned = made.map(({ kind, id }) => ({ kind, id }));
  const stale = (before?.body.owned ?? []).filter(
    (old) => !made.some(({ kind, id }) => kind === old.kind && id === old.id),
  );
  const changes: RecordChange[] = [
    { kind: 'workflow', id: workflowId, body: JSON.stringify(activated(activation)), expected },
    {
      kind: 'triggers',
      id: workflowId,
      body: owned.length === 0 ? null : JSON.stringify({ owned } satisfies TriggersRecord),
      expected: before?.revision ?? 0,
    },
    ...stale.map(({ kind, id }) => ({ kind, id, body: null })),
    ...schedulesIn(stale).map((id) => indexChange('schedule', project, id, false)),
    ...schedulesIn(made).map((id) => indexChange('schedule', project, id, true)),
  ];
  for (const { kind, id, body } of made) {
    const fence = kind === 'webhook' ? { expected: await ownRevision(records, id, source) } : {};
    changes.push({ kind, id, body: JSON.stringify(body), ...fence });
  }
  return (await records.commit(changes)).ok;
}

function activated({ project, active, record, isArchived = false }: Activation): WorkflowRecord {
  const { archived, ...rest } = record ?? {};
  const isHidden = isArchived || (archived === true && active === null);
  return { ...rest, project, active, ...(isHidden && { archived: true }) };
}

function schedulesIn(all: readonly { readonly kind: string; readonly id: string }[]): readonly string[] {
  return all.flatMap(({ kind, id }) => (kind === 'schedule' ? [id] : []));
}

/** A path has one owner, even with concurrent requests: the commit is fenced by the records that were read. */
async function ownRevision(
  records: Records,
  id: string,
  { workflowId, project }: Pick<WebhookRecord, 'workflowId' | 'project'>,
): Promise<number> {
  const hook = await readRecord<WebhookRecord>(records, 'webhook', id);
  if (hook !== undefined && hook.body.workflowId !== workflowId) throw pathTaken(id, hook.body, project);
  return hook?.revision ?? 0;
}

async function triggersOf(
  parts: Parts,
  triggers: readonly TriggerDefinition[],
  source: Omit<TriggerSource, 'index'>,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const [index, trigger] of triggers.entries()) made.push(await recordOf(parts, trigger, { ...source, index }));
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

/** A schedule with unchanged times keeps its cursor. */
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
