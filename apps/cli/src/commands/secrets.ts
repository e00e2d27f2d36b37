/** The commands of `nebula secrets`. A value passes from here only to the driver. */
import { didYouMean, NebulaError } from '@nebula/core';
import { checkSecret, DEFAULT_PROJECT, type Secrets, secretsIn } from '@nebula/ports';
import { textOption } from '../command-options.ts';
import { locationOf } from '../location.ts';
import { passwordOf, restOfStdin } from '../passwords.ts';
import { print, printList } from '../print.ts';
import { remoteSecrets } from '../remote/secrets.ts';
import type { Call, Command } from '../services.ts';
import { agoText, plural } from '../views/words.ts';

export const set: Command = async (call, [name = '']) => {
  // Checked before the value is asked for.
  checkSecret(name);
  const secrets = await openSecrets(call);
  await secrets.set(name, await readValue(call, name));
  const words = `stored ${name}; use it in a node: credentials: { alias: ${name} }`;
  return print(call, { name, set: true }, () => [words]);
};

export const list: Command = async (call) => {
  const { io, program } = call;
  const { colors } = io.out;
  const all = await (await openSecrets(call)).list();
  const items = all.map(({ name, updatedAt }) => {
    return { name, updatedAt: updatedAt === null ? null : new Date(updatedAt).toISOString() };
  });
  const rows = all.map(({ name, updatedAt }) => {
    return [name, updatedAt === null ? colors.dim('–') : agoText(updatedAt, io.now())];
  });
  const none = `no secrets yet; store one with ${colors.bold(`${program} secrets set NAME`)}`;
  return printList(call, { items }, ['NAME', 'UPDATED'], rows, none);
};

export const rotate: Command = async (call, [name]) => {
  if ((call.options.key === true) === (name !== undefined)) {
    throw new NebulaError('USAGE', 'give the name of a secret, or --key', {
      hint: 'a name replaces one value; --key encrypts all values with a new key',
    });
  }
  const secrets = await openSecrets(call);
  if (name === undefined) return await rotateKey(call, secrets);
  checkSecret(name);
  // Checked before the value is asked for.
  if (!(await secrets.list()).some((one) => one.name === name)) throw await unknownSecret(secrets, name);
  if (!(await secrets.rotate(name, await readValue(call, name)))) throw await unknownSecret(secrets, name);
  return print(call, { name, rotated: true }, () => [`${name} has a new value; new attempts use it`]);
};

async function rotateKey(call: Call, secrets: Secrets): Promise<number> {
  if (secrets.rotateKey === undefined) {
    throw new NebulaError('SECRETS_KEY_FOREIGN', 'the key of these secrets cannot be changed from here', {
      hint: "change a server's key on its machine, with --data-dir; a driver in drivers.secrets of nebula.config.ts manages its own key",
    });
  }
  const resealed = await secrets.rotateKey();
  return print(call, { resealed }, () => [`${plural(resealed, 'secret')} encrypted with a new key`]);
}

export const remove: Command = async (call, [name = '']) => {
  const secrets = await openSecrets(call);
  if (!(await secrets.delete(name))) throw await unknownSecret(secrets, name);
  return print(call, { name, deleted: true }, () => [`deleted ${name}`]);
};

/** Opens the secrets of a project, signed in as the user of `--as` if it is given. */
async function openSecrets(call: Call): Promise<Secrets> {
  const { services, options } = call;
  const owner = textOption(options, 'project') ?? DEFAULT_PROJECT;
  const project = await services.openProject(locationOf(options));
  const user = textOption(options, 'as');
  if (user === undefined) {
    const secrets = await services.openSecrets(project, owner);
    if (project.server !== undefined) return secrets;
    const { rotateKey } = secrets;
    return { ...secretsIn(secrets, owner), ...(rotateKey && { rotateKey: () => rotateKey.call(secrets) }) };
  }
  if (project.server === undefined) {
    throw new NebulaError('USAGE', '--as needs a server: a data folder has no sign-in');
  }
  const session = await services.openApi(project, 'change');
  return remoteSecrets((await session.as(user, await passwordOf(call, `password of ${user}`))).api, owner);
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

async function unknownSecret(secrets: Secrets, name: string): Promise<NebulaError> {
  const names = (await secrets.list()).map((one) => one.name);
  const near = didYouMean(name, names);
  return new NebulaError('SECRET_NOT_FOUND', `there is no secret '${name.slice(0, 100)}'`, {
    hint: near === undefined ? '`nebula secrets list` shows what there is' : `did you mean '${near}'?`,
  });
}
