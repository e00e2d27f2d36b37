import { NebulaError } from '@nebula/core';
import { withApiAs } from '../api.ts';
import { textOption } from '../command-options.ts';
import { writeLines } from '../report-runs.ts';
import { rolesOf } from '../roles.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(context: Context, [name = '']: readonly string[], options: CommandOptions): Promise<number> {
  const { out, err } = context.io;
  const expires = textOption(options, 'expires');
  const roles = rolesOf(options);
  const scopes = Array.isArray(options.scope) ? (options.scope as string[]) : undefined;
  if (textOption(options, 'as') === undefined) {
    throw new NebulaError('USAGE', 'a key belongs to a user: name the user with --as', {
      hint: '`nebula users list` lists users; a desktop server has none and uses the token in the file `token`',
    });
  }
  return withApiAs(context, options, 'change', async ({ api }) => {
    const body = { name, roles, ...(scopes !== undefined && { scopes }), ...(expires !== undefined && { expires }) };
    const key = await api.call('createKey', { body });
    if (options.json === true) {
      out.write(jsonDocument(key));
      return 0;
    }
    writeLines(out, [
      `${out.colors.green('✓')} the key ${name} of ${key.owner}; it is shown only once:`,
      out.colors.bold(key.token),
    ]);
    if (Object.keys(roles).length === 0) {
      writeLines(err, [
        err.colors.yellow('! the key has no role and grants almost no access; add --role default=operator'),
      ]);
    }
    return 0;
  });
}
