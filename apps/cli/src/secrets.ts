/** Shared by the commands about secrets. A value passes from here only to the driver. */
import { didYouMean, NebulaError } from '@nebula/core';
import { DEFAULT_PROJECT, type Secrets, secretsIn } from '@nebula/ports';
import { textOption } from './command-options.ts';
import { locationOf } from './location.ts';
import { passwordOf, restOfStdin } from './passwords.ts';
import { remoteSecrets } from './remote/secrets.ts';
import type { CommandOptions, Context } from './services.ts';

/** Opens the secrets of a project, signed in as the user of `--as` if it is given. */
export async function openSecrets(context: Context, options: CommandOptions): Promise<Secrets> {
  const { services } = context;
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
  const password = await passwordOf(context, options, `password of ${user}`);
  return remoteSecrets((await session.as(user, password)).api, owner);
}

/** Reads the value from the terminal without echo, or from stdin, where a password may come first. */
export async function readValue(context: Context, options: CommandOptions, name: string): Promise<string> {
  const { io } = context;
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

export async function unknownSecret(secrets: Secrets, name: string): Promise<NebulaError> {
  const names = (await secrets.list()).map((one) => one.name);
  const near = didYouMean(name, names);
  return new NebulaError('SECRET_NOT_FOUND', `there is no secret '${name.slice(0, 100)}'`, {
    hint: near === undefined ? '`nebula secrets list` shows what there is' : `did you mean '${near}'?`,
  });
}
