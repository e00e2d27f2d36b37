import { textOption } from '../desk.ts';
import { tellDone, withOfficeAs } from '../office.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';

export function execute(
  context: Context,
  [projectId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const name = textOption(options, 'name');
  return withOfficeAs(
    context,
    options,
    async (office) => {
      const body = name === undefined ? {} : { name };
      const project = await office.call('putProject', { params: { projectId }, body });
      const called = project.name === projectId ? '' : `, called ${printableLine(project.name)}`;
      return tellDone(context, options, project, `the project ${projectId} is there${called}`);
    },
    { makesFolder: true },
  );
}
