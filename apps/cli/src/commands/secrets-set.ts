import { checkSecret } from '@nebula/ports';
import { writeLines } from '../report-runs.ts';
import { openSecrets, readValue } from '../secrets.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { io } = context;
  // Checked before the value is asked for.
  checkSecret(name);
  const secrets = await openSecrets(context, options);
  await secrets.set(name, await readValue(context, options, name));
  if (options.json === true) io.out.write(jsonDocument({ name, set: true }));
  else writeLines(io.out, [`stored ${name}; use it in a node: credentials: { alias: ${name} }`]);
  return 0;
}
