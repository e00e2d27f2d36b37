import { NebulaError } from '@nebula/core';
import { allItems, pageOf, withApiAs } from '../api.ts';
import { passwordOf } from '../passwords.ts';
import { printDone } from '../print.ts';
import { rolesOf } from '../roles.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [userId = '']: readonly string[], options: CommandOptions): Promise<number> {
  const roles = rolesOf(options);
  return withApiAs(
    context,
    options,
    'change',
    async ({ api }) => {
      const users = await allItems((cursor) => api.call('listUsers', { query: pageOf(cursor) }));
      if (users.some((one) => one.userId === userId)) {
        throw new NebulaError('USER_EXISTS', `there is a user ${userId} already`, {
          hint: `${context.program} users passwd ${userId} gives another password`,
        });
      }
      const password = await passwordOf(context, options, `new password of ${userId}`);
      const body = { password, admin: options.admin === true, roles };
      const user = await api.call('putUser', { params: { userId }, body });
      return printDone(context, options, user, `${userId} may sign in${user.admin ? ', and do everything' : ''}`);
    },
    { makesFolder: true },
  );
}
