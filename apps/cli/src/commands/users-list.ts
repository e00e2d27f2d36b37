import { allItems, pageOf, withApiAs } from '../api.ts';
import { rolesText } from '../people.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellList } from '../tell.ts';
import { agoText } from '../views/words.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withApiAs(context, options, 'look', async ({ api }) => {
    const users = await allItems((cursor) => api.call('listUsers', { query: pageOf(cursor) }));
    return tellList(context, options, {
      document: { users },
      headings: [{ title: 'USER' }, { title: 'SINCE' }, { title: 'MAY' }],
      rows: users.map(({ userId, admin, disabled, roles, createdAt }) => [
        userId,
        agoText(Date.parse(createdAt), io.now()),
        disabled
          ? io.out.colors.dim('not sign in')
          : admin
            ? 'everything'
            : rolesText(roles) || io.out.colors.dim('nothing'),
      ]),
      none: `no users yet; ${context.program} users add NAME --admin makes the first`,
    });
  });
}
