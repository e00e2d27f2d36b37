import type { Json } from '@nebula/core';
import { withApi } from '../api.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument, jsonLines } from '../views/json.ts';

export function execute(
  context: Context,
  [scheduleId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { out } = context.io;
  return withApi(context, options, 'look', async ({ api }) => {
    const schedule = await api.call('getSchedule', { params: { scheduleId } });
    if (options.json === true) out.write(jsonDocument(schedule));
    else writeLines(out, jsonLines(schedule as unknown as Json, { colors: out.colors, width: out.columns() }).lines);
    return 0;
  });
}
