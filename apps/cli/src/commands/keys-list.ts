import { allItems, pageOf, tellList, withOfficeAs } from '../office.ts';
import { mayText } from '../people.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withOfficeAs(context, options, async (office) => {
    const keys = await allItems((cursor) => office.call('listKeys', { query: pageOf(cursor) }));
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
