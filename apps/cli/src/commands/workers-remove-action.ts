import { withApiAs } from '../api.ts';
import { textOption } from '../command-options.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [actionId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const project = textOption(options, 'project') ?? 'default';
  return withApiAs(context, options, 'change', async ({ api }) => {
    await api.call('removeAnnouncedAction', { params: { actionId }, query: { project } });
    return printDone(context, options, { actionId, project, removed: true }, `removed ${actionId}`);
  });
}
