import { allItems, pageOf, withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { atOnceText, startsText } from '../plans.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellList } from '../tell.ts';
import { printableLine } from '../terminal/width.ts';
import { agoText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const { colors } = io.out;
  return withApi(context, options, 'look', async ({ api }) => {
    const plans = await allItems((cursor) =>
      api.call('listPlans', { query: { ...pageOf(cursor), ...inProject(options) } }),
    );
    const hasProjects = plans.some(({ project }) => project !== 'default');
    return tellList(context, options, {
      document: { plans },
      headings: [
        { title: 'PLAN' },
        { title: 'STARTS' },
        { title: 'AT ONCE' },
        { title: 'CHANGED' },
        ...(hasProjects ? [{ title: 'PROJECT' }] : []),
        { title: 'WITH' },
      ],
      rows: plans.map((plan) => [
        plan.planId,
        plan.active ? startsText(plan) : `${startsText(plan)} ${colors.yellow('off')}`,
        atOnceText(plan) ?? colors.dim('–'),
        agoText(Date.parse(plan.updatedAt), io.now()),
        ...(hasProjects ? [plan.project] : []),
        [
          ...Object.keys(plan.inputs).map(printableLine),
          ...Object.keys(plan.fixed).map((name) => `${printableLine(name)} ${colors.dim('(fixed)')}`),
        ].join(', '),
      ]),
      none: `no launch plans; ${context.program} plans set NAME --workflow ID makes one`,
    });
  });
}
