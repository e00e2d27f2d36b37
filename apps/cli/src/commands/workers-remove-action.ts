import { textOption } from '../desk.ts';
import { tellDone, withOfficeAs } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [actionId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const project = textOption(options, 'project') ?? 'default';
  return withOfficeAs(context, options, async (office) => {
    await office.call('removeAnnouncedAction', { params: { actionId }, query: { project } });
    return tellDone(context, options, { actionId, project, removed: true }, `${actionId} is not announced any more`);
  });
}
