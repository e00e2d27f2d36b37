/** The commands of `nebula secrets`. A value passes from here only to the driver. */
import type { NebulaClient } from '@nebula/client';
import { didYouMean, NebulaError } from '@nebula/core';
import { checkSecret, DEFAULT_PROJECT } from '@nebula/ports';
import { allItems, pageOf, unlessAbsent, withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { locationOf } from '../location.ts';
import { restOfStdin } from '../passwords.ts';
import { print, printList } from '../print.ts';
import { ago } from '../record-commands.ts';
import type { Call, Command } from '../services.ts';
import { plural } from '../views/words.ts';

export const set: Command = async (call, [name = '']) => {
  // Checked before the value is asked for.
  checkSecret(name);
  return await withSecrets(call, async ({ api, query }) => {
    await put(call, api, query, name);
    const words = `stored ${name}; use it in a node: credentials: { alias: ${name} }`;
    return print(call, { name, set: true }, () => [words]);
  });
};

export const list: Command = (call) =>
  withSecrets(call, async ({ api, query }) => {
    const { colors } = call.io.out;
    const items = await secretsOf(api, query);
    const rows = items.map(({ name, updatedAt }) => [
      name,
      updatedAt === null ? colors.dim('–') : ago(updatedAt, call),
    ]);
    const none = `no secrets yet; store one with ${colors.bold(`${call.program} secrets set NAME`)}`;
    return printList(call, { items }, ['NAME', 'UPDATED'], rows, none);
  });

export const rotate: Command = async (call, [name]) => {
  if ((call.options.key === true) === (name !== undefined)) {
    throw new NebulaError('USAGE', 'give the name of a secret, or --key', {
      hint: 'a name replaces one value; --key encrypts all values with a new key',
    });
  }
  if (name === undefined) return await rotateKey(call);
  checkSecret(name);
  return await withSecrets(call, async ({ api, query }) => {
    // Checked before the value is asked for.
    const names = (await secretsOf(api, query)).map((one) => one.name);
    if (!names.includes(name)) throw unknownSecret(names, name);
    await put(call, api, query, name);
    return print(call, { name, rotated: true }, () => [`${name} has a new value; new attempts use it`]);
  });
};

/** Only the process that has the key can change it, so this is no operation of the contract. */
async function rotateKey(call: Call): Promise<number> {
  const resealed = await call.services.rotateKey(await call.services.openProject(locationOf(call.options)));
  if (resealed === undefined) {
    throw new NebulaError('SECRETS_KEY_FOREIGN', 'the key of these secrets cannot be changed from here', {
      hint: "change a server's key on its machine, with --data-dir; a driver in drivers.secrets of nebula.config.ts manages its own key",
    });
  }
  return print(call, { resealed }, () => [`${plural(resealed, 'secret')} encrypted with a new key`]);
}

export const remove: Command = (call, [name = '']) =>
  withSecrets(call, async ({ api, query }) => {
    if ((await unlessAbsent(api.call('deleteSecret', { params: { name }, query }))) === undefined) {
      const names = (await secretsOf(api, query)).map((one) => one.name);
      throw unknownSecret(names, name);
    }
    return print(call, { name, deleted: true }, () => [`deleted ${name}`]);
  });

interface Owner {
  readonly project: string;
}

/** Opens the secrets of the project in `--project`. A data folder need not exist: secrets may be there first. */
function withSecrets(
  call: Call,
  work: (open: { readonly api: NebulaClient; readonly query: Owner }) => Promise<number>,
): Promise<number> {
  const query = { project: textOption(call.options, 'project') ?? DEFAULT_PROJECT };
  return withApi(call, 'read', ({ api }) => work({ api, query }), { orEmpty: true });
}

export function secretsOf(api: NebulaClient, query: Owner) {
  return allItems((cursor) => api.call('listSecrets', { query: { ...pageOf(cursor), ...query } }));
}

async function put(call: Call, api: NebulaClient, query: Owner, name: string): Promise<void> {
  const value = await readValue(call, name);
  checkSecret(name, value);
  await api.call('putSecret', { params: { name }, query, body: { value } });
}

/** Reads the value from the terminal without echo, or from stdin, where a password may come first. */
async function readValue({ io, options }: Call, name: string): Promise<string> {
  if (options.passwordStdin === true) return await restOfStdin(io);
  if (io.ask !== undefined) return io.ask(`Value of ${name} (not shown): `, { hidden: true });
  const bytes = await io.readStdin();
  try {
    // Files and `echo` end with a line break that is not part of the value.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new NebulaError('SECRET_INVALID', `the value of '${name}' is not text in UTF-8`, {
      hint: 'encode bytes first, e.g. with base64',
    });
  }
}

function unknownSecret(names: readonly string[], name: string): NebulaError {
  const near = didYouMean(name, names);
  return new NebulaError('SECRET_NOT_FOUND', `there is no secret '${name.slice(0, 100)}'`, {
    hint: near === undefined ? '`nebula secrets list` shows what there is' : `did you mean '${near}'?`,
  });
}
