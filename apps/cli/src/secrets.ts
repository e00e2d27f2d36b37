/** What the commands about secrets have in common. A value comes in here and goes nowhere but into the driver. */
import { didYouMean, NebulaError } from '@nebula/core';
import type { Secrets } from '@nebula/ports';
import { placeOf } from './desk.ts';
import type { CommandOptions, Context } from './services.ts';
import type { Io } from './terminal/io.ts';

export async function openSecrets({ services }: Context, options: CommandOptions): Promise<Secrets> {
  return services.openSecrets(await services.openProject(placeOf(options)));
}

/** From whoever sits here, unseen, or from stdin. */
export async function readValue(io: Io, name: string): Promise<string> {
  if (io.ask !== undefined) return io.ask(`Value of ${name} (not shown): `, { hidden: true });
  const bytes = await io.readStdin();
  try {
    // A file, and `echo`, end with a line break that nobody means.
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
