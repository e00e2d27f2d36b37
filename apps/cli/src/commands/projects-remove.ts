import { tellDone, withOfficeAs } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(
  context: Context,
  [projectId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withOfficeAs(context, options, async (office) => {
    await office.call('deleteProject', { params: { projectId } });
    return tellDone(context, options, { projectId, deleted: true }, `the project ${projectId} is gone`);
  });
}
