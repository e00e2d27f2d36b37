import { withApiAs } from '../api.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellDone } from '../tell.ts';

export function execute(context: Context, [userId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withApiAs(context, options, 'change', async ({ api }) => {
    await api.call('deleteUser', { params: { userId } });
    return tellDone(context, options, { userId, deleted: true }, `${userId} is gone, with sessions and keys`);
  });
}
