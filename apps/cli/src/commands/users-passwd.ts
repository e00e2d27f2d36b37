import { NebulaError } from '@nebula/core';
import { allItems, pageOf, withApiAs } from '../api.ts';
import { passwordOf } from '../passwords.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [userId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withApiAs(context, options, 'change', async ({ api }) => {
    const users = await allItems((cursor) => api.call('listUsers', { query: pageOf(cursor) }));
    if (!users.some((one) => one.userId === userId)) {
      throw new NebulaError('UNKNOWN_USER', `there is no user ${userId}`, { hint: '`nebula users list` shows them' });
    }
    const password = await passwordOf(context, options, `new password for ${userId}`);
    const user = await api.call('putUser', { params: { userId }, body: { password } });
    return printDone(context, options, user, `${userId} has a new password; all sessions have ended`);
  });
}
