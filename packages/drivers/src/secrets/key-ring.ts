/**
 * Sources of keys: the environment (`NEBULA_SECRETS_KEY`, and `NEBULA_SECRETS_NEXT_KEY` during a rotation), a file that
 * the environment names (the same names with `_FILE`), or a file beside the secrets that is created with the first
 * secret.
 *
 *  1 The sealed file names its key by id; any available key with that id opens it.
 *  2 A new key is on disk as `secrets.key.new` before anything is sealed under it, and gets its final name after
 *    everything is.
 *  3 Only the holder of the write lock makes, moves or removes keys, and it first completes the rotation of a process
 *    that died (`finishRotation`).
 */
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NebulaError } from '@nebula/core';
import { replaceFile, syncFolder } from '../fs/durable.ts';
import { SealingKey } from './key.ts';

const KEY = 'NEBULA_SECRETS_KEY';
const NEXT_KEY = 'NEBULA_SECRETS_NEXT_KEY';
const FILE = '_FILE';
/** Files that only the owner may read. */
export const PRIVATE_MODE = 0o600;

/** A key to seal everything under, and the step to take once that is on disk. */
export interface NextKey {
  readonly key: SealingKey;
  adopt(): Promise<void>;
}

export class KeyRing {
  readonly #file: string;
  readonly #newFile: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(file: string, env: Readonly<Record<string, string | undefined>>) {
    this.#file = file;
    this.#newFile = `${file}.new`;
    this.#env = env;
  }

  /** Returns undefined if no available key has this id. */
  async find(id: string): Promise<SealingKey | undefined> {
    // The new file is read first: if it is gone by then, its key has its final name already.
    const given = [await this.#given(KEY), await this.#given(NEXT_KEY)];
    const keys = [...given, await read(this.#newFile), await read(this.#file)];
    return keys.find((key) => key?.id === id);
  }

  async hasAny(): Promise<boolean> {
    return ((await this.#given(KEY)) ?? (await this.#given(NEXT_KEY)) ?? (await read(this.#file))) !== undefined;
  }

  /** The key for the first secret. */
  async first(): Promise<SealingKey> {
    const key = (await this.#given(KEY)) ?? (await read(this.#file));
    if (key !== undefined) return key;
    const text = SealingKey.newText();
    await replaceFile(this.#file, text, PRIVATE_MODE);
    return SealingKey.parse(text, this.#file);
  }

  /** Completes a key rotation that was interrupted after everything had been sealed. */
  async finishRotation(id: string): Promise<void> {
    const key = await read(this.#newFile);
    if (key?.id === id) await this.#adoptNewFile();
  }

  async next(currentId: string): Promise<NextKey> {
    const current = await this.#given(KEY);
    const given = (await this.#given(NEXT_KEY)) ?? (current?.id === currentId ? undefined : current);
    // A key under which nothing is sealed is deleted, because it could only leak.
    if (given !== undefined) return { key: given, adopt: () => this.#removeFiles() };
    if (current !== undefined) {
      throw new NebulaError('SECRETS_KEY_MISSING', `the key is that of ${KEY}, and there is no next one`, {
        hint: `Set ${NEXT_KEY} beside it ($(openssl rand -base64 32)), repeat this, and then make it ${KEY} everywhere.`,
      });
    }
    const text = SealingKey.newText();
    await replaceFile(this.#newFile, text, PRIVATE_MODE);
    return { key: SealingKey.parse(text, this.#newFile), adopt: () => this.#adoptNewFile() };
  }

  async #adoptNewFile(): Promise<void> {
    await rename(this.#newFile, this.#file);
    await syncFolder(dirname(this.#file));
  }

  async #removeFiles(): Promise<void> {
    for (const file of [this.#newFile, this.#file]) await rm(file, { force: true });
  }

  /** The key in a variable, or in the file that the variable with `_FILE` names. */
  async #given(name: string): Promise<SealingKey | undefined> {
    const text = this.#variable(name);
    if (text !== undefined) return SealingKey.parse(text, name);
    const file = this.#variable(name + FILE);
    if (file === undefined) return undefined;
    const key = await read(file);
    if (key !== undefined) return key;
    throw new NebulaError('SECRETS_KEY_MISSING', `there is no ${file}, which ${name}${FILE} names`, {
      hint: 'Make the file with the key available to this process, or unset the variable.',
    });
  }

  #variable(name: string): string | undefined {
    return (Object.hasOwn(this.#env, name) ? this.#env[name] : undefined) || undefined;
  }
}

async function read(file: string): Promise<SealingKey | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : SealingKey.parse(text, file);
}
