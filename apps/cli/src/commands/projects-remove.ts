import { withApiAs } from '../api.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellDone } from '../tell.ts';

export function execute(
  context: Context,
  [projectId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  return withApiAs(context, options, 'change', async ({ api }) => {
    await api.call('deleteProject', { params: { projectId } });
    return tellDone(context, options, { projectId, deleted: true }, `the project ${projectId} is gone`);
  });
}
