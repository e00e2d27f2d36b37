import { ofWorkflow, tellDone, versionOf, withOffice } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [workflowId = '', text]: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const version = versionOf(text);
  return withOffice(context, options, async (office) => {
    const body = version === undefined ? {} : { version };
    const call = office.call('activateWorkflow', { params: { workflowId }, body });
    const summary = await ofWorkflow(office, workflowId, call);
    return tellDone(context, options, summary, `${workflowId} v${summary.activeVersion} is active`);
  });
}
