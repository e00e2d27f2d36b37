import { inProject } from '../desk.ts';
import { allItems, pageOf, tellList, withOffice } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';
import { agoText, momentText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const { colors } = io.out;
  return withOffice(context, options, async (office) => {
    const schedules = await allItems((cursor) =>
      office.call('listSchedules', { query: { ...pageOf(cursor), ...inProject(options) } }),
    );
    return tellList(context, options, {
      document: { schedules },
      headings: [{ title: 'SCHEDULE' }, { title: 'STARTS' }, { title: 'WHEN' }, { title: 'LAST' }, { title: 'NEXT' }],
      rows: schedules.map(({ scheduleId, workflowId, plan, cron, every, timezone, lastFiredAt, nextFireAt }) => [
        scheduleId,
        plan === null ? (workflowId ?? '') : `plan ${plan}`,
        cron === null ? `every ${every}` : `${cron} ${colors.dim(timezone)}`,
        lastFiredAt === null ? colors.dim('–') : agoText(Date.parse(lastFiredAt), io.now()),
        nextFireAt === null ? colors.dim('off') : momentText(Date.parse(nextFireAt), io.now()),
      ]),
      none: 'nothing is scheduled here',
    });
  });
}
