import { ofWorkflow, withApi } from '../api.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellDone } from '../tell.ts';

export function execute(
  context: Context,
  [workflowId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withApi(context, options, 'change', async ({ api }) => {
    const call = api.call('deactivateWorkflow', { params: { workflowId } });
    const summary = await ofWorkflow(api, workflowId, call);
    return tellDone(
      context,
      options,
      summary,
      `the triggers of ${workflowId} are off; runs that go on are not touched`,
    );
  });
}
