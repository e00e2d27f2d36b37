import { allItems, pageOf, withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellList } from '../tell.ts';
import { printableLine } from '../terminal/width.ts';
import { agoText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { colors } = context.io.out;
  return withApi(context, options, 'look', async ({ api }) => {
    const workflows = await allItems((cursor) =>
      api.call('listWorkflows', { query: { ...pageOf(cursor), ...inProject(options) } }),
    );
    // A column in which every cell is the same tells nothing.
    const hasProjects = workflows.some(({ project }) => project !== 'default');
    return tellList(context, options, {
      document: { workflows },
      headings: [
        { title: 'WORKFLOW' },
        { title: 'ACTIVE' },
        { title: 'NEWEST' },
        { title: 'CHANGED' },
        ...(hasProjects ? [{ title: 'PROJECT' }] : []),
        { title: 'NAME' },
      ],
      rows: workflows.map(({ workflowId, activeVersion, newestVersion, updatedAt, project, name }) => [
        workflowId,
        activeVersion === null ? colors.dim('–') : colors.green(`v${activeVersion}`),
        `v${newestVersion}`,
        agoText(Date.parse(updatedAt), context.io.now()),
        ...(hasProjects ? [project] : []),
        printableLine(name ?? ''),
      ]),
      none: `no workflow is registered here; ${context.program} workflows register FILE`,
    });
  });
}
