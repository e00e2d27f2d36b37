import type { Ceiling } from '@nebula/core';
import { allItems, pageOf, withApiAs } from '../api.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellList } from '../tell.ts';
import { printableLine } from '../terminal/width.ts';
import { ceilingText } from '../views/ceiling.ts';
import { agoText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withApiAs(context, options, 'look', async ({ api }) => {
    const projects = await allItems((cursor) => api.call('listProjects', { query: pageOf(cursor) }));
    return tellList(context, options, {
      document: { projects },
      headings: [{ title: 'PROJECT' }, { title: 'SINCE' }, { title: 'NAME' }, { title: 'GRANTS AT MOST' }],
      rows: projects.map(({ projectId, name, createdAt, ceiling }) => [
        projectId,
        agoText(Date.parse(createdAt), io.now()),
        printableLine(name),
        ceilingText(ceiling as Ceiling),
      ]),
      none: `no project besides default; ${context.program} projects set NAME makes one`,
    });
  });
}
