import { NebulaError } from '@nebula/core';
import { commandWriter, writeLines } from '../conclude.ts';
import { documentOf, withDesk } from '../desk.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const executionId = args[0] as string;
  return withDesk(context, options, async (session, project) => {
    const document = await documentOf(session, project, executionId);
    if (!(await session.desk.delete(executionId))) {
      throw new NebulaError(
        'NOT_FINISHED',
        `${executionId} is ${document.status}: only runs that have ended are deleted`,
        {
          hint: `first ${commandWriter(context, project, executionId)('executions cancel')}`,
        },
      );
    }
    if (options.json === true) out.write(jsonDocument({ executionId, deleted: true }));
    else writeLines(out, [`deleted ${executionId}`]);
    return 0;
  });
}
