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
        throw new NebulaError('USER_EXISTS', `the user ${userId} exists already`, {
          hint: `${context.program} users passwd ${userId} changes the password`,
        });
      }
      const password = await passwordOf(context, options, `new password for ${userId}`);
      const body = { password, admin: options.admin === true, roles };
      const user = await api.call('putUser', { params: { userId }, body });
      return printDone(context, options, user, `added ${userId}${user.admin ? ' as an administrator' : ''}`);
    },
    { makesFolder: true },
  );
}
