import { withApi } from '../api.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellDone } from '../tell.ts';

export function execute(context: Context, [planId = '']: readonly string[], options: CommandOptions): Promise<number> {
  return withApi(context, options, 'change', async ({ api }) => {
    await api.call('deletePlan', { params: { planId } });
    return tellDone(context, options, { planId, deleted: true }, `the plan ${planId} is gone`);
  });
}
