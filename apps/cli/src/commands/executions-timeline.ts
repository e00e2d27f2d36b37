import { withApi } from '../api.ts';
import { writeLines } from '../report-runs.ts';
import { runNamed, timelineOf } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { timelineEventLines, timelineLines } from '../views/timeline.ts';

/** The number of bars shown without `--all`. */
const MAX_ROWS = 100;

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out, now } = { out: context.io.out, now: context.io.now() };
  const executionId = args[0] as string;
  return withApi(context, options, 'look', async (session, project) => {
    await runNamed(session, project, executionId);
    const events = await timelineOf(session.api, executionId);
    if (options.json === true) out.write(jsonDocument({ executionId, events }));
    else if (options.events === true) writeLines(out, timelineEventLines(events, out.colors));
    else {
      const maxRows = options.all === true ? {} : { maxRows: MAX_ROWS };
      writeLines(out, timelineLines(events, { colors: out.colors, width: out.columns(), now, ...maxRows }));
    }
    return 0;
  });
}
