/** Reads a password from the terminal without echo, or from stdin. */
import { NebulaError } from '@nebula/core';
import type { CommandOptions, Context } from './services.ts';

/** From stdin, else from whoever sits here. Where a command needs two, they are lines in the order of being asked for. */
export async function passwordOf({ io }: Context, options: CommandOptions, what: string): Promise<string> {
  if (options.passwordStdin === true) return (await linesOfStdin(io)).shift() ?? '';
  if (io.ask !== undefined) return await io.ask(`${what} (not shown): `, { hidden: true });
  throw new NebulaError('USAGE', `the ${what} is missing, and nobody can be asked`, {
    hint: '--password-stdin reads it from stdin',
  });
}

/** What comes after the passwords. */
export async function restOfStdin(io: Context['io']): Promise<string> {
  return (await linesOfStdin(io)).join('\n');
}

const stdinLines = new WeakMap<Context['io'], string[]>();

async function linesOfStdin(io: Context['io']): Promise<string[]> {
  const lines = stdinLines.get(io) ?? (await stdinText(io)).split(/\r?\n/);
  stdinLines.set(io, lines);
  return lines;
}

export async function stdinText(io: Context['io']): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await io.readStdin()).replace(/\r?\n$/, '');
  } catch {
    throw new NebulaError('USAGE', 'what comes from stdin is not text in UTF-8');
  }
}
