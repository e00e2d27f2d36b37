import { printDone } from '../print.ts';
import { contextNamed, readContexts, writeContexts } from '../remote/contexts.ts';
import type { CommandOptions, Context } from '../services.ts';

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const saved = await readContexts(context.io);
  contextNamed(saved, name);
  const { [name]: _, ...contexts } = saved.contexts;
  const isCurrent = saved.current === name;
  await writeContexts(context.io, { current: isCurrent ? null : saved.current, contexts });
  const after = isCurrent ? '; commands now use the data folder' : '';
  return printDone(context, options, { name, removed: true }, `removed ${name} and its token${after}`);
}
