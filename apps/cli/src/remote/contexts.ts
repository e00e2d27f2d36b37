/**
 * Contexts: saved servers, in a file of the user's configuration folder that only the user can read, because it
 * contains tokens. Commands without another option use the current context.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { didYouMean, isJsonObject, NebulaError } from '@nebula/core';
import type { Io } from '../terminal/io.ts';

export interface SavedContext {
  readonly url: string;
  readonly token?: string;
}

export interface Contexts {
  /** Null: commands work on the data folder. */
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, SavedContext>>;
}

/** The name with which `context use` selects no server. */
export const LOCAL = 'local';

const NONE: Contexts = { current: null, contexts: {} };
const NAME = /^[\w.-]{1,100}$/;

function contextsFile({ env }: Pick<Io, 'env'>): string {
  const base = env.XDG_CONFIG_HOME || env.APPDATA || path.join(env.HOME || homedir(), '.config');
  return path.join(base, 'nebula', 'contexts.json');
}

export async function readContexts(io: Pick<Io, 'env'>): Promise<Contexts> {
  const file = contextsFile(io);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return NONE;
    throw broken(file, `cannot be read: ${(error as Error).message}`);
  }
  try {
    const { current, contexts } = JSON.parse(text) as Partial<Contexts>;
    if (!isJsonObject(contexts)) throw new Error('it has no `contexts`');
    return { current: typeof current === 'string' ? current : null, contexts };
  } catch (error) {
    throw broken(file, `is damaged: ${(error as Error).message}`);
  }
}

export async function writeContexts(io: Pick<Io, 'env'>, contexts: Contexts): Promise<void> {
  const file = contextsFile(io);
  const temporary = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    throw broken(file, `cannot be written: ${(error as Error).message}`);
  }
}

export function checkContextName(name: string): void {
  if (NAME.test(name) && name !== LOCAL) return;
  throw new NebulaError('USAGE', `'${name}' cannot be the name of a context`, {
    hint:
      name === LOCAL
        ? `${LOCAL} is reserved: it means no server`
        : 'letters, digits, dots, _ and -, at most 100 of them',
  });
}

export function contextNamed({ contexts }: Contexts, name: string): SavedContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return found;
  const guess = didYouMean(name, Object.keys(contexts));
  throw new NebulaError('UNKNOWN_CONTEXT', `there is no context ${name}`, {
    hint: guess === undefined ? '`nebula context list` shows them' : `did you mean ${guess}?`,
  });
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  // A file of another user counts as missing.
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES';
}

function broken(file: string, what: string): NebulaError {
  return new NebulaError('CONTEXTS_UNUSABLE', `${file} ${what}`, { hint: 'repair or delete it' });
}
