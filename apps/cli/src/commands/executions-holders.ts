import { withApi } from '../api.ts';
import { printList } from '../print.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';

/** Lists the runs that hold a concurrency key of this run, and those that wait for it, in the order of granting. */
export function execute(
  context: Context,
  [executionId = '', key = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { colors } = context.io.out;
  return withApi(context, options, 'look', async ({ api }, project) => {
    const query = { key: `key:${key}` };
    const call = api.call('listPlaces', { params: { executionId }, query });
    const { items } = await requested(project, executionId, call);
    return printList(context, options, {
      document: { executionId, key, items },
      headings: [{ title: 'KEY' }, { title: 'EXECUTION' }, { title: 'NODE' }],
      rows: items.map(({ executionId: id, node, isHeld }) => [
        isHeld ? colors.green('held') : colors.dim('waits'),
        id,
        node === '' ? colors.dim('the run') : printableLine(node),
      ]),
      none: `no run holds the key ${printableLine(key)} or waits for it`,
    });
  });
}
