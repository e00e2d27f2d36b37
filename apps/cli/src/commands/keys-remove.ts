import { withApiAs } from '../api.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellDone } from '../tell.ts';

export function execute(context: Context, [keyId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withApiAs(context, options, 'change', async ({ api }) => {
    await api.call('deleteKey', { params: { keyId } });
    return tellDone(context, options, { keyId, deleted: true }, `the key ${keyId} is good for nothing from now on`);
  });
}
