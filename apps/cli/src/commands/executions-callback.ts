import type { Json } from '@nebula/core';
import { withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { readJson } from '../input.ts';
import { printRecorded } from '../recorded-requests.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

/** Sends the callback that a node waits for. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const [executionId = '', node = ''] = args;
  const text = textOption(options, 'payload');
  const payload: Json = text === undefined ? null : await readJson(context.io, text, '--payload');
  return await withApi(context, options, 'look', async ({ api }, project) => {
    const call = api.call('callBack', { params: { executionId }, body: { node, payload } });
    await requested(project, executionId, call);
    if (options.json === true) out.write(jsonDocument({ executionId, node, requested: true }));
    else printRecorded(context, project, executionId, `Recorded: the callback of ${node}`);
    return 0;
  });
}
