import { tellDone, withOfficeAs } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [userId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withOfficeAs(context, options, async (office) => {
    await office.call('deleteUser', { params: { userId } });
    return tellDone(context, options, { userId, deleted: true }, `${userId} is gone, with sessions and keys`);
  });
}
