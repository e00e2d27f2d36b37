import { withApi } from '../api.ts';
import { filterOf } from '../bulk.ts';
import { printList } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  return withApi(context, options, 'look', async ({ api }) => {
    const { counts } = await api.call('countExecutions', { query: filterOf(options) });
    const rows = Object.entries(counts).filter(([, count]) => count > 0);
    return printList(context, options, {
      document: { counts },
      headings: [{ title: 'STATUS' }, { title: 'RUNS', align: 'right' }],
      rows: rows.map(([status, count]) => [status, count.toLocaleString('en')]),
      none: 'no run matches',
    });
  });
}
