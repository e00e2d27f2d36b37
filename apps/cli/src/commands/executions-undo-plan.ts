import type { UndoPlan } from '@nebula/core';
import { withApi } from '../api.ts';
import { writeLines } from '../report-runs.ts';
import { runNamed } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { jsonDocument } from '../views/json.ts';
import { undoPlanLines } from '../views/undo-plan.ts';

/** Shows the compensations that would run, in order, if the run failed or were cancelled now. */
export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const executionId = args[0] as string;
  return withApi(context, options, 'look', async (session, project) => {
    const { status } = await runNamed(session, project, executionId);
    const plan = (await session.api.call('getUndoPlan', { params: { executionId } })) as UndoPlan;
    if (options.json === true) out.write(jsonDocument({ executionId, status, ...plan }));
    else writeLines(out, undoPlanLines(status, plan, { colors: out.colors, width: readingWidth(out) }));
    return 0;
  });
}
