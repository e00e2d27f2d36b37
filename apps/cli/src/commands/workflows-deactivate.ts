import { ofWorkflow, tellDone, withOffice } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [workflowId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withOffice(context, options, async (office) => {
    const call = office.call('deactivateWorkflow', { params: { workflowId } });
    const summary = await ofWorkflow(office, workflowId, call);
    return tellDone(
      context,
      options,
      summary,
      `the triggers of ${workflowId} are off; runs that go on are not touched`,
    );
  });
}
