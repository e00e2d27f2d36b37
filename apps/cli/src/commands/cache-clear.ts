import { withApiAs } from '../api.ts';
import { textOption } from '../command-options.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';
import { plural } from '../views/words.ts';

export function execute(context: Context, [key]: readonly string[], options: CommandOptions): Promise<number> {
  const action = textOption(options, 'action');
  const query = { ...(key !== undefined && { key }), ...(action !== undefined && { action }) };
  return withApiAs(context, options, 'change', async ({ api }) => {
    const answer = await api.call('forgetCache', { query });
    return printDone(context, options, answer, `${plural(answer.forgotten, 'cached output')} removed`);
  });
}
