import { tellDone, withOffice } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [scheduleId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withOffice(context, options, async (office) => {
    const result = await office.call('fireSchedule', { params: { scheduleId } });
    return tellDone(context, options, result, `${result.workflowId} is started: ${result.executionId}`);
  });
}
