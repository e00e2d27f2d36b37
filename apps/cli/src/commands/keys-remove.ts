import { tellDone, withOfficeAs } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [keyId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withOfficeAs(context, options, async (office) => {
    await office.call('deleteKey', { params: { keyId } });
    return tellDone(context, options, { keyId, deleted: true }, `the key ${keyId} is good for nothing from now on`);
  });
}
