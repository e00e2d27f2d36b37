import { ofWorkflow, withApi } from '../api.ts';
import { versionOf } from '../command-options.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { fit, printableLine } from '../terminal/width.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(
  context: Context,
  [workflowId = '', first, second]: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { out } = context.io;
  const from = versionOf(first) as number;
  const to = versionOf(second);
  return withApi(context, options, 'look', async ({ api }) => {
    const query = { from, ...(to !== undefined && { to }) };
    const call = api.call('diffWorkflow', { params: { workflowId }, query });
    const difference = await ofWorkflow(api, workflowId, call);
    if (options.json === true) {
      out.write(jsonDocument({ workflowId, ...difference }));
      return 0;
    }
    const { colors } = out;
    const { changes } = difference;
    if (changes.length === 0) writeLines(out, [`v${difference.from} and v${difference.to} are equal`]);
    for (const { path, change, before, after } of changes) {
      const lines = [
        ...(change === 'added' ? [] : [colors.red(`- ${path}: ${valueText(before)}`)]),
        ...(change === 'removed' ? [] : [colors.green(`+ ${path}: ${valueText(after)}`)]),
      ];
      writeLines(
        out,
        lines.map((line) => fit(line, readingWidth(out))),
      );
    }
    return 0;
  });
}

function valueText(value: unknown): string {
  return printableLine(JSON.stringify(value) ?? '');
}
