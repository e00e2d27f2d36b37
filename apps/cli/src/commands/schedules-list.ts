import { allItems, pageOf, withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellList } from '../tell.ts';
import { agoText, momentText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const { colors } = io.out;
  return withApi(context, options, 'look', async ({ api }) => {
    const schedules = await allItems((cursor) =>
      api.call('listSchedules', { query: { ...pageOf(cursor), ...inProject(options) } }),
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
