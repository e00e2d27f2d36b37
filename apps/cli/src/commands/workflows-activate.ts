import { ofWorkflow, withApi } from '../api.ts';
import { versionOf } from '../command-options.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [workflowId = '', text]: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const version = versionOf(text);
  return withApi(context, options, 'change', async ({ api }) => {
    const body = version === undefined ? {} : { version };
    const call = api.call('activateWorkflow', { params: { workflowId }, body });
    const summary = await ofWorkflow(api, workflowId, call);
    return printDone(context, options, summary, `${workflowId} v${summary.activeVersion} is active`);
  });
}
