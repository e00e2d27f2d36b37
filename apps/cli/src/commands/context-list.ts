import { printList } from '../print.ts';
import { LOCAL, readContexts } from '../remote/contexts.ts';
import type { CommandOptions, Context } from '../services.ts';

export async function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { colors } = context.io.out;
  const { current, contexts } = await readContexts(context.io);
  const all = Object.entries(contexts).map(([name, { url, token }]) => ({
    name,
    url,
    current: name === current,
    hasToken: token !== undefined,
  }));
  const sign = (isCurrent: boolean): string => (isCurrent ? colors.green('✓') : ' ');
  return printList(context, options, {
    document: { current, items: all },
    headings: [{ title: 'CONTEXT' }, { title: 'SERVER' }, { title: 'TOKEN' }],
    rows: [
      ...all.map((one) => [`${sign(one.current)} ${one.name}`, one.url, one.hasToken ? 'yes' : colors.dim('no')]),
      [`${sign(current === null)} ${LOCAL}`, colors.dim('the data folder'), ''],
    ],
    none: '',
  });
}
