import { withApi } from '../api.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [scheduleId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withApi(context, options, 'change', async ({ api }) => {
    const result = await api.call('fireSchedule', { params: { scheduleId } });
    return printDone(context, options, result, `${result.workflowId} is started: ${result.executionId}`);
  });
}
