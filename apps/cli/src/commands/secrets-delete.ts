import { writeLines } from '../report-runs.ts';
import { openSecrets, unknownSecret } from '../secrets.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { io } = context;
  const secrets = await openSecrets(context, options);
  if (!(await secrets.delete(name))) throw await unknownSecret(secrets, name);
  if (options.json === true) io.out.write(jsonDocument({ name, deleted: true }));
  else writeLines(io.out, [`deleted ${name}`]);
  return 0;
}
