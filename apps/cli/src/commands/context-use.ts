import { printDone } from '../print.ts';
import { contextNamed, LOCAL, readContexts, writeContexts } from '../remote/contexts.ts';
import type { CommandOptions, Context } from '../services.ts';

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const saved = await readContexts(context.io);
  if (name === LOCAL) {
    if (saved.current !== null) await writeContexts(context.io, { ...saved, current: null });
    return printDone(context, options, { current: null }, 'commands now use the data folder');
  }
  const { url } = contextNamed(saved, name);
  await writeContexts(context.io, { ...saved, current: name });
  return printDone(context, options, { current: name, url }, `commands now use ${url}`);
}
