import { tellDone, withOffice } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, [planId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withOffice(context, options, async (office) => {
    await office.call('deletePlan', { params: { planId } });
    return tellDone(context, options, { planId, deleted: true }, `the plan ${planId} is gone`);
  });
}
