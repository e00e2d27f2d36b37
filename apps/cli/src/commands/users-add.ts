import { NebulaError } from '@nebula/core';
import { allItems, pageOf, passwordOf, tellDone, withOfficeAs } from '../office.ts';
import { rolesOf } from '../people.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [userId = '']: readonly string[], options: CommandOptions): Promise<number> {
  const roles = rolesOf(options);
  return withOfficeAs(
    context,
    options,
    async (office) => {
      const users = await allItems((cursor) => office.call('listUsers', { query: pageOf(cursor) }));
      if (users.some((one) => one.userId === userId)) {
        throw new NebulaError('USER_EXISTS', `there is a user ${userId} already`, {
          hint: `${context.program} users passwd ${userId} gives another password`,
        });
      }
      const password = await passwordOf(context, options, `new password of ${userId}`);
      const body = { password, admin: options.admin === true, roles };
      const user = await office.call('putUser', { params: { userId }, body });
      return tellDone(context, options, user, `${userId} may sign in${user.admin ? ', and do everything' : ''}`);
    },
    { makesFolder: true },
  );
}
