import { NebulaError } from '@nebula/core';
import { allItems, pageOf, passwordOf, tellDone, withOfficeAs } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [userId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withOfficeAs(context, options, async (office) => {
    const users = await allItems((cursor) => office.call('listUsers', { query: pageOf(cursor) }));
    if (!users.some((one) => one.userId === userId)) {
      throw new NebulaError('UNKNOWN_USER', `there is no user ${userId}`, { hint: '`nebula users list` shows them' });
    }
    const password = await passwordOf(context, options, `new password of ${userId}`);
    const user = await office.call('putUser', { params: { userId }, body: { password } });
    return tellDone(context, options, user, `${userId} has a new password, and signs in anew`);
  });
}
