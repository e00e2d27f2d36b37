import type { BodyOf } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import { found, withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { readJson } from '../input.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';
import { momentText } from '../views/words.ts';

/** Creates or changes a schedule. Options that are not given keep their value. */
export async function execute(
  context: Context,
  [scheduleId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { io } = context;
  const input = textOption(options, 'input');
  const given = {
    ...textOf(options, 'workflow', 'workflowId'),
    ...textOf(options, 'plan', 'plan'),
    ...textOf(options, 'cron', 'cron'),
    ...textOf(options, 'every', 'every'),
    ...textOf(options, 'timezone', 'timezone'),
    ...(input !== undefined && { input: await readJson(io, input, '--input') }),
  };
  if (options.on === true && options.off === true) throw new NebulaError('USAGE', '--on and --off cannot be combined');
  return await withApi(context, options, 'change', async ({ api }) => {
    const params = { scheduleId };
    const before = await found(api.call('getSchedule', { params }));
    const kept = before === undefined ? {} : keptOf(before, given);
    const active = options.off === true ? false : options.on === true || (before?.active ?? true);
    const schedule = await api.call('putSchedule', { params, body: { ...kept, ...given, active } });
    const next = schedule.nextFireAt === null ? 'off' : `next ${momentText(Date.parse(schedule.nextFireAt), io.now())}`;
    return printDone(context, options, schedule, `saved the schedule ${scheduleId}; ${next}`);
  });
}

function textOf<Name extends string>(
  options: CommandOptions,
  option: string,
  name: Name,
): Partial<Readonly<Record<Name, string>>> {
  const text = textOption(options, option);
  return text === undefined ? {} : ({ [name]: text } as Record<Name, string>);
}

interface Before {
  readonly workflowId: string | null;
  readonly plan: string | null;
  readonly cron: string | null;
  readonly every: string | null;
  readonly timezone: string;
  readonly catchUp: NonNullable<BodyOf<'putSchedule'>['catchUp']>;
  readonly input: unknown;
}

/** The API replaces a schedule as a whole. `workflowId` and `plan` exclude each other; so do `cron` and `every`. */
function keptOf(before: Before, given: object) {
  const { workflowId, plan, cron, every, timezone, catchUp, input } = before;
  const isOther = 'workflowId' in given || 'plan' in given;
  const isOtherTime = 'cron' in given || 'every' in given;
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
