import { ofWorkflow, withApi } from '../api.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [workflowId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withApi(context, options, 'change', async ({ api }) => {
    const call = api.call('deactivateWorkflow', { params: { workflowId } });
    const summary = await ofWorkflow(api, workflowId, call);
    return printDone(context, options, summary, `the triggers of ${workflowId} are off; open runs continue`);
  });
}
