import { allItems, pageOf, withApiAs } from '../api.ts';
import { mayText } from '../people.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellList } from '../tell.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withApiAs(context, options, 'look', async ({ api }) => {
    const keys = await allItems((cursor) => api.call('listKeys', { query: pageOf(cursor) }));
    return tellList(context, options, {
      document: { keys },
      headings: [{ title: 'KEY' }, { title: 'NAME' }, { title: 'OWNER' }, { title: 'ENDS' }, { title: 'MAY' }],
      rows: keys.map(({ keyId, name, owner, expiresAt, roles, scopes }) => [
        keyId,
        printableLine(name),
        owner,
        expiresAt === null ? io.out.colors.dim('never') : momentText(Date.parse(expiresAt)),
        mayText(roles, scopes) || io.out.colors.dim('nothing'),
      ]),
      none: 'no keys',
    });
  });
}
