import { withApi } from '../api.ts';
import { unknownExecution } from '../location.ts';
import { writeLines } from '../report-runs.ts';
import { journalOf } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { journalLines } from '../views/journal.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const executionId = args[0] as string;
  return withApi(context, options, 'look', async ({ api }, project) => {
    const frames = await journalOf(api, executionId);
    if (frames.length === 0) unknownExecution(project, executionId);
    if (options.json === true) out.write(jsonDocument({ executionId, frames }));
    else writeLines(out, journalLines(frames, { colors: out.colors, width: readingWidth(out) }));
    return 0;
  });
}
