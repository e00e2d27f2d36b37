/** The commands of `nebula schedules`. */
import type { AnswerOf } from '@nebula/client';
import { type Json, NebulaError } from '@nebula/core';
import { unlessAbsent, withApi } from '../api.ts';
import { definedMembers, inProject, textOption } from '../command-options.ts';
import { jsonOption } from '../input.ts';
import { print, printDone } from '../print.ts';
import { ago, deleteCommand, listCommand } from '../record-commands.ts';
import type { Command } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonLines } from '../views/json.ts';
import { momentText } from '../views/words.ts';

export const list = listCommand({
  operation: 'listSchedules',
  query: inProject,
  columns: {
    SCHEDULE: ({ scheduleId }) => scheduleId,
    STARTS: ({ plan, workflowId }) => (plan === null ? (workflowId ?? '') : `plan ${plan}`),
    WHEN: ({ cron, every, timezone }, { io }) =>
      cron === null ? `every ${every}` : `${cron} ${io.out.colors.dim(timezone)}`,
    LAST: ({ lastFiredAt }, context) =>
      lastFiredAt === null ? context.io.out.colors.dim('–') : ago(lastFiredAt, context),
    NEXT: ({ nextFireAt }, { io }) =>
      nextFireAt === null ? io.out.colors.dim('off') : momentText(Date.parse(nextFireAt), io.now()),
  },
  none: () => 'nothing is scheduled here',
});

export const triggers = listCommand({
  operation: 'listTriggers',
  query: (options) => ({
    ...inProject(options),
    ...definedMembers({ kind: textOption(options, 'kind'), workflowId: textOption(options, 'workflow') }),
    fires: 1,
  }),
  columns: {
    KIND: ({ kind }) => kind,
    STARTS: ({ plan, workflowId }) => (plan == null ? (workflowId ?? '') : `plan ${plan}`),
    ON: ({ kind, cron, every, method, path, event }) => {
      if (kind === 'schedule') return cron == null ? `every ${every}` : cron;
      return printableLine(kind === 'webhook' ? `${method} ${path}` : (event ?? path ?? ''));
    },
    NEXT: ({ kind, nextFires }, { io }) => {
      const next = nextFires?.[0];
      if (kind !== 'schedule') return '';
      return next === undefined ? io.out.colors.dim('off') : momentText(Date.parse(next), io.now());
    },
    PROJECT: ({ project }) => project,
  },
  none: () => 'no workflow has an active trigger',
});

export const show: Command = (call, [scheduleId = '']) =>
  withApi(call, 'read', async ({ api, io: { out } }) => {
    const schedule = await api.call('getSchedule', { params: { scheduleId } });
    const view = { colors: out.colors, width: out.columns() };
    return print(call, schedule, () => jsonLines(schedule as unknown as Json, view).lines);
  });

/** Creates or changes a schedule. Options that are not given keep their value. */
export const set: Command = async (call, [scheduleId = '']) => {
  const { io, options } = call;
  const [plan, cron, every, timezone] = ['plan', 'cron', 'every', 'timezone'].map((name) => textOption(options, name));
  const workflowId = textOption(options, 'workflow');
  const asked = definedMembers({ workflowId, plan, cron, every, timezone, input: await jsonOption(call, 'input') });
  if (options.on === true && options.off === true) throw new NebulaError('USAGE', '--on and --off cannot be combined');
  return await withApi(call, 'change', async ({ api }) => {
    const params = { scheduleId };
    const before = await unlessAbsent(api.call('getSchedule', { params }));
    const kept = before === undefined ? {} : keptOf(before, asked);
    const active = options.off === true ? false : options.on === true || (before?.active ?? true);
    const schedule = await api.call('putSchedule', { params, body: { ...kept, ...asked, active } });
    const next =
      schedule.nextFireAt === null
        ? 'it is switched off'
        : `next ${momentText(Date.parse(schedule.nextFireAt), io.now())}`;
    return printDone(call, schedule, `saved the schedule ${scheduleId}; ${next}`);
  });
};

/** The API replaces a schedule as a whole. `workflowId` and `plan` exclude each other; so do `cron` and `every`. */
function keptOf(before: AnswerOf<'getSchedule'>, asked: object) {
  const { workflowId, plan, cron, every, timezone, catchUp, input } = before;
  const isOther = 'workflowId' in asked || 'plan' in asked;
  const isOtherTime = 'cron' in asked || 'every' in asked;
  return {
    ...(!isOther && workflowId !== null && plan === null && { workflowId }),
    ...(!isOther && plan !== null && { plan }),
    ...(!isOtherTime && cron !== null && { cron }),
    ...(!isOtherTime && every !== null && { every }),
    timezone,
    catchUp,
    input,
  };
}

export const fire: Command = (call, [scheduleId = '']) =>
  withApi(call, 'change', async ({ api }) => {
    const result = await api.call('fireSchedule', { params: { scheduleId } });
    return printDone(call, result, `${result.workflowId} is started: ${result.executionId}`);
  });

export const remove = deleteCommand('deleteSchedule', 'scheduleId', (id) => `removed the schedule ${id}`);
