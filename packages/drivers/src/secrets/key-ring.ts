/**
 * Sources of keys: the environment (`NEBULA_SECRETS_KEY`, and `NEBULA_SECRETS_NEXT_KEY` while it is changed), or a
 * file beside the secrets that is made with the first of them.
 *
 *  1 The sealed file says by id which key it is under; whichever key at hand has that id opens it.
 *  2 A new key is on disk as `secrets.key.new` before anything is sealed under it, and gets its name after everything is.
 *  3 Only who holds the write lock makes, moves or removes keys, and first ends what a process that died left (`settle`).
 */
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NebulaError } from '@nebula/core';
import { replaceFile, syncFolder } from '../fs/durable.ts';
import { SealingKey } from './key.ts';

const KEY = 'NEBULA_SECRETS_KEY';
const NEXT_KEY = 'NEBULA_SECRETS_NEXT_KEY';
/** For the owner only. */
export const PRIVATE_MODE = 0o600;

/** A key to seal everything under, and what to do once that is on disk. */
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

  /** Undefined when no key at hand has this id. */
  async find(id: string): Promise<SealingKey | undefined> {
    // The new file first: when it is gone by then, its key has its final name already.
    const keys = [this.#fromEnv(KEY), this.#fromEnv(NEXT_KEY), await read(this.#newFile), await read(this.#file)];
    return keys.find((key) => key?.id === id);
  }

  async hasAny(): Promise<boolean> {
    return (this.#fromEnv(KEY) ?? this.#fromEnv(NEXT_KEY) ?? (await read(this.#file))) !== undefined;
  }

  /** For the first secret. */
  async first(): Promise<SealingKey> {
    const key = this.#fromEnv(KEY) ?? (await read(this.#file));
    if (key !== undefined) return key;
    const text = SealingKey.newText();
    await replaceFile(this.#file, text, PRIVATE_MODE);
    return SealingKey.parse(text, this.#file);
  }

  /** Ends a change of the key that was broken off after everything had been sealed. */
  async settle(id: string): Promise<void> {
    const key = await read(this.#newFile);
    if (key?.id === id) await this.#adoptNewFile();
  }

  async next(currentId: string): Promise<NextKey> {
    const current = this.#fromEnv(KEY);
    const given = this.#fromEnv(NEXT_KEY) ?? (current?.id === currentId ? undefined : current);
    // A key under which nothing is sealed is deleted, since it could only leak.
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

  #fromEnv(name: string): SealingKey | undefined {
    const text = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined;
    return text === undefined || text === '' ? undefined : SealingKey.parse(text, name);
  }
}

async function read(file: string): Promise<SealingKey | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : SealingKey.parse(text, file);
}
