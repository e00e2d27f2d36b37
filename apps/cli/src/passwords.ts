/** Reads a password from the terminal without echo, or from stdin. */
import { NebulaError } from '@nebula/core';
import type { Call, Context } from './services.ts';

/** Reads the password from stdin or the terminal. Several passwords are lines of stdin, in the order of the questions. */
export async function passwordOf({ io, options }: Call, what: string): Promise<string> {
  if (options.passwordStdin === true) return (await linesOfStdin(io)).shift() ?? '';
  if (io.ask !== undefined) return await io.ask(`${what} (not shown): `, { hidden: true });
  throw new NebulaError('USAGE', `the ${what} is missing, and there is no terminal to ask for it`, {
    hint: '--password-stdin reads it from stdin',
  });
}

/** The text after the lines with passwords. */
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
    throw new NebulaError('USAGE', 'stdin is not UTF-8 text');
  }
}
