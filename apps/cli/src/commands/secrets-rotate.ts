import { NebulaError } from '@nebula/core';
import { checkSecret, type Secrets } from '@nebula/ports';
import { writeLines } from '../report-runs.ts';
import { openSecrets, readValue, unknownSecret } from '../secrets.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { plural } from '../views/words.ts';

export async function execute(context: Context, [name]: readonly string[], options: CommandOptions): Promise<number> {
  const isKey = options.key === true;
  if (isKey === (name !== undefined)) {
    throw new NebulaError('USAGE', 'give the name of a secret, or --key', {
      hint: 'a name replaces one value; --key encrypts all values with a new key',
    });
  }
  const secrets = await openSecrets(context, options);
  return isKey ? rotateKey(context, secrets, options) : rotateValue(context, secrets, name as string, options);
}

async function rotateValue(context: Context, secrets: Secrets, name: string, options: CommandOptions): Promise<number> {
  const { io } = context;
  checkSecret(name);
  // Checked before the value is asked for.
  if (!(await secrets.list()).some((one) => one.name === name)) throw await unknownSecret(secrets, name);
  if (!(await secrets.rotate(name, await readValue(context, options, name)))) throw await unknownSecret(secrets, name);
  if (options.json === true) io.out.write(jsonDocument({ name, rotated: true }));
  else writeLines(io.out, [`${name} has a new value; new attempts use it`]);
  return 0;
}

async function rotateKey({ io }: Context, secrets: Secrets, options: CommandOptions): Promise<number> {
  if (secrets.rotateKey === undefined) {
    throw new NebulaError('SECRETS_KEY_FOREIGN', 'the key of these secrets cannot be changed from here', {
      hint: "change a server's key on its machine, with --data-dir; a driver in drivers.secrets of nebula.config.ts manages its own key",
    });
  }
  const count = await secrets.rotateKey();
  if (options.json === true) io.out.write(jsonDocument({ resealed: count }));
  else writeLines(io.out, [`${plural(count, 'secret')} encrypted with a new key`]);
  return 0;
}
