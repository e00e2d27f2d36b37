/** Schedules: those of triggers, and those created with the API. */
import type { AnswerOf } from '@nebula/client/contract';
import {
  cronProblem,
  formatDuration,
  isTimezone,
  type Json,
  MIN_INTERVAL_MS,
  NebulaError,
  parseDuration,
} from '@nebula/core';
import { pause } from '@nebula/ports';
import { created, gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import { visibleProjects } from '../identity/principal.ts';
import type { Launcher } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import {
  etagOf,
  idTaken,
  indexChange,
  listRecords,
  putRecord,
  type Read,
  readRecord,
  refuseMany,
  removeRecord,
} from '../records.ts';
import { fireSchedule } from '../triggers/fire.ts';
import { isTriggerId, SCHEDULES, type ScheduleRecord } from '../triggers/records.ts';
import { firesOf, nextTime } from '../triggers/schedules.ts';
import { resultOf } from './executions.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

export function scheduleRoutes(parts: Parts, onChange: () => void) {
  const { records, clock } = parts;
  const firesIn = async ({ body }: Read<ScheduleRecord>, count: number | undefined) =>
    count === undefined ? undefined : await firesOf(body, clock, count);
  return {
    async listSchedules({ query, who, project }) {
      const visible = project === undefined ? visibleProjects(who) : [project];
      const isShown = ({ body }: Read<ScheduleRecord>): boolean => visible?.includes(body.project) ?? true;
      const { items, next } = await listRecords(records, 'schedule', query, isShown);
      const documents: AnswerOf<'listSchedules'>['items'] = [];
      for (const schedule of items) {
        // The next fire is searched for: other work runs in between.
        await pause(clock, 'request');
        documents.push(documentOf(schedule, clock.now(), await firesIn(schedule, query.fires)));
      }
      return ok({ items: documents, next });
    },

    async getSchedule({ params: { scheduleId }, query: { fires } }) {
      const schedule = await scheduleNamed(parts, scheduleId);
      return ok(documentOf(schedule, clock.now(), await firesIn(schedule, fires)), { etag: etagOf(schedule) });
    },

    async putSchedule({ params: { scheduleId }, body, project, headers }) {
      if (isTriggerId(scheduleId)) {
        const taken = await readRecord<ScheduleRecord>(records, 'schedule', scheduleId);
        throw taken?.body.trigger == null ? reserved(scheduleId) : ofWorkflow(scheduleId, taken.body);
      }
      const times = timesOf(body);
      if ((body.workflowId === undefined) === (body.plan === undefined)) {
        throw new NebulaError('BODY_INVALID', 'A schedule starts either a workflow or a launch plan.', {
          hint: 'Give one of `workflowId` and `plan`.',
        });
      }
      const now = clock.now();
      const home = project ?? DEFAULT_PROJECT;
      const target = { kind: 'schedule', id: scheduleId, ifMatch: headers['if-match'] };
      const made = async (before: Read<ScheduleRecord> | undefined): Promise<ScheduleRecord> => {
        if (before === undefined) await refuseMany(records, { ...SCHEDULES, project: home }, [scheduleId]);
        else if (before.body.project !== home) throw idTaken(scheduleId);
        return recordOf(body, { home, times, now, before: before?.body });
      };
      const index = indexChange('schedule', home, scheduleId, true);
      const put = await putRecord<ScheduleRecord>(records, target, made, [index]);
      onChange();
      return reply(put.isNew ? 201 : 200, documentOf({ id: scheduleId, body: put.body }, now), { etag: etagOf(put) });
    },

    async deleteSchedule({ params: { scheduleId }, headers }) {
      const { body } = await scheduleNamed(parts, scheduleId);
      if (body.trigger !== null) throw ofWorkflow(scheduleId, body);
      const index = indexChange('schedule', body.project, scheduleId, false);
      await removeRecord(records, 'schedule', scheduleId, headers['if-match'], [index]);
      onChange();
      return gone();
    },
  } satisfies Partial<Handlers>;
}

export function fireRoutes(parts: Parts, launcher: Launcher) {
  return {
    async fireSchedule({ params: { scheduleId }, who, repeatId }) {
      const { body } = await scheduleNamed(parts, scheduleId);
      const trigger = { type: 'schedule', id: scheduleId, at: isoTime(parts.clock.now()), by: who.name };
      const own = repeatId === undefined ? undefined : `exe_r${repeatId.slice(0, 40)}`;
      const { executionId } = await fireSchedule(parts, launcher, body, trigger, own);
      return created(await resultOf(parts, executionId, undefined));
    },
  } satisfies Partial<Handlers>;
}

async function scheduleNamed({ records }: Parts, scheduleId: string): Promise<Read<ScheduleRecord>> {
  const schedule = await readRecord<ScheduleRecord>(records, 'schedule', scheduleId);
  if (schedule === undefined) throw new NebulaError('UNKNOWN_SCHEDULE', `There is no schedule '${scheduleId}'.`);
  return schedule;
}

type Body = Parameters<Handlers['putSchedule']>[0]['body'];

function timesOf({ cron, every, timezone = 'UTC' }: Body): Pick<ScheduleRecord, 'cron' | 'everyMs' | 'timezone'> {
  const invalidMember = (member: string, detail: string, hint: string): NebulaError =>
    new NebulaError('BODY_INVALID', `${member}: ${detail}`, {
      hint,
      details: { errors: [{ pointer: `/${member}`, detail }] },
    });
  if ((cron === undefined) === (every === undefined))
    throw invalidMember('cron', 'exactly one of `cron` and `every` is required', 'Give `cron` or `every`.');
  const problem = cron === undefined ? undefined : cronProblem(cron);
  if (problem !== undefined) throw invalidMember('cron', problem, 'minute hour day month weekday, e.g. "0 6 * * *".');
  if (!isTimezone(timezone))
    throw invalidMember('timezone', `there is no time zone '${timezone}'`, 'E.g. Europe/Berlin.');
  const everyMs = every === undefined ? null : parseDuration(every);
  if (typeof everyMs === 'object' && everyMs !== null) throw invalidMember('every', everyMs.message, everyMs.hint);
  if (everyMs !== null && everyMs < MIN_INTERVAL_MS)
    throw invalidMember('every', 'is shorter than a second', 'Use a second or more.');
  return { cron: cron ?? null, everyMs, timezone };
}

function recordOf(
  { workflowId, plan, catchUp, input, active }: Body,
  { home, times, now, before }: Circumstances,
): ScheduleRecord {
  const isGoingOn = before !== undefined && goesOn(before, times);
  return {
    project: home,
    trigger: null,
    workflowId: workflowId ?? null,
    plan: plan ?? null,
    ...times,
    catchUp: catchUp ?? 'none',
    input: (input ?? null) as Json,
    active: active ?? true,
    cursor: isGoingOn ? before.cursor : now,
    anchor: before?.everyMs === times.everyMs ? before.anchor : now,
    lastFiredAt: before?.lastFiredAt ?? null,
  };
}

interface Circumstances {
  readonly home: string;
  readonly times: ReturnType<typeof timesOf>;
  readonly now: number;
  readonly before: ScheduleRecord | undefined;
}

/** A schedule with unchanged times keeps its cursor. A schedule that was off does not catch up the times it was off. */
function goesOn(before: ScheduleRecord, { cron, everyMs, timezone }: ReturnType<typeof timesOf>): boolean {
  return before.active && before.cron === cron && before.everyMs === everyMs && before.timezone === timezone;
}

function reserved(scheduleId: string): NebulaError {
  return new NebulaError('BODY_INVALID', `'${scheduleId}' looks like the id of a trigger.`, {
    hint: 'Ids that end in -- and a number are reserved for triggers: choose another one.',
  });
}

function ofWorkflow(scheduleId: string, { workflowId }: ScheduleRecord): NebulaError {
  return new NebulaError('SCHEDULE_OF_WORKFLOW', `'${scheduleId}' is a trigger of workflow '${workflowId}'.`, {
    hint: 'Change the definition and register it, or deactivate the workflow.',
  });
}

function documentOf(
  { id, body }: Pick<Read<ScheduleRecord>, 'id' | 'body'>,
  now: number,
  nextFires?: readonly number[],
): AnswerOf<'getSchedule'> {
  const { project, trigger, workflowId, plan, cron, everyMs, timezone, catchUp, input, active, lastFiredAt } = body;
  return {
    scheduleId: id,
    project,
    source: trigger === null ? 'api' : 'workflow',
    workflowId,
    plan,
    cron,
    every: everyMs === null ? null : formatDuration(everyMs),
    timezone,
    catchUp,
    input,
    active,
    lastFiredAt: isoTimeOrNull(lastFiredAt),
    nextFireAt: active ? isoTimeOrNull(nextTime(body, Math.max(now, body.cursor))) : null,
    ...(nextFires !== undefined && { nextFires: nextFires.map(isoTime) }),
  };
}
