/**
 * Checks one rebuilt state: it is opened, and everything promised before the power cut must be there.
 *
 *  1. The database has the content of exactly one commit: not earlier than the last one promised, not later than the last
 *     one that was complete. So every transaction is there whole or not at all.
 *  2. A promised blob is there. A blob under its name has the content of its name, promised or not.
 *  3. A promised secret can be read, with the last value that was promised or one that was begun after it.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { realClock } from '@nebula/drivers/real';
import { sealedSecrets } from '@nebula/drivers/secrets';
import { fileHash, type Image } from './image.ts';
import type { Promises } from './promises.ts';
import type { RebuiltFolder } from './rebuilt.ts';
import { recover, recoverFile } from './recover.ts';
import type { Reference } from './reference.ts';
import { DATA_FOLDER, DATABASE } from './workload-options.ts';

const DATABASE_FILE = path.join(DATA_FOLDER, DATABASE);
const BLOB = new RegExp(`^${DATA_FOLDER}/blobs/([^/]+)/([0-9a-f]{64})$`);
const SECRETS = ['secrets.json', 'secrets.key', 'secrets.key.new'].map((name) => path.join(DATA_FOLDER, name));

/** The commits between which the content must be. */
export interface Bounds {
  /** -1: nothing was promised, and there need not be a database. */
  readonly promised: number;
  readonly complete: number;
}

/** The databases that an engine may find: a new one where there was none, or the content after one of these commits. */
type Found =
  | { readonly type: 'new' }
  | { readonly type: 'commit'; readonly first: number; readonly last: number }
  | { readonly type: 'damaged'; readonly why: string };

export class StateCheck {
  readonly #rebuilt: RebuiltFolder;
  readonly #reference: Reference;
  readonly #storeEvery: number;
  readonly #found = new Map<string, Found>();
  readonly #secrets = new Map<string, ReadonlyMap<string, string | undefined> | string>();
  readonly #whole = new Map<string, boolean>();

  /** `storeEvery`: every so many states are opened as an engine opens them; the others by SQLite alone. */
  constructor(rebuilt: RebuiltFolder, reference: Reference, storeEvery: number) {
    this.#rebuilt = rebuilt;
    this.#storeEvery = storeEvery;
    this.#reference = reference;
  }

  /** The number of distinct states so far. */
  get distinct(): number {
    return this.#found.size;
  }

  has(hash: string): boolean {
    return this.#found.has(hash);
  }

  /** Returns what is wrong. A state that was opened before is held against the promises of the new cut. */
  async check(files: ReadonlyMap<string, Image>, hash: string, promises: Promises, bounds: Bounds): Promise<string[]> {
    const secrets = await this.#secretsIn(files);
    const found = this.#found.get(hash) ?? (await this.#open(files));
    this.#found.set(hash, found);
    return [
      ...this.#checkBlobs(files, promises),
      ...checkSecrets(secrets, promises),
      ...this.#checkDatabase(found, promises, bounds),
    ];
  }

  async #open(files: ReadonlyMap<string, Image>): Promise<Found> {
    const dataDir = path.join(this.#rebuilt.folder, DATA_FOLDER);
    this.#rebuilt.write(files);
    try {
      if (this.#isForStore(files)) await recover(dataDir);
      else recoverFile(dataDir);
      if (!files.has(DATABASE_FILE)) return { type: 'new' };
      const commit = this.#reference.commits.get(fileHash(path.join(dataDir, DATABASE)));
      if (commit === undefined) return { type: 'damaged', why: 'the database has the content of no commit' };
      return { type: 'commit', ...commit };
    } catch (error) {
      return { type: 'damaged', why: `the database does not open: ${(error as Error).message}` };
    } finally {
      this.#rebuilt.used(DATA_FOLDER);
    }
  }

  /** A store also decides what to do about a database that is missing, empty or being made. */
  #isForStore(files: ReadonlyMap<string, Image>): boolean {
    const size = files.get(DATABASE_FILE)?.length ?? 0;
    return size === 0 || files.has(`${DATABASE_FILE}.new`) || this.distinct % this.#storeEvery === 0;
  }

  #checkDatabase(found: Found, promises: Promises, bounds: Bounds): string[] {
    if (found.type === 'damaged') return [found.why];
    if (found.type === 'new') return bounds.promised < 0 ? [] : ['the database is missing'];
    if (found.first > bounds.complete) return [`commit ${found.first} is there before it was complete`];
    return found.last >= bounds.promised ? [] : this.#lost(promises, found.last);
  }

  #lost(promises: Promises, commit: number): string[] {
    const { factCommit } = this.#reference;
    const lost = promises.facts.filter((promised) => (factCommit.get(promised) ?? 0) > commit);
    return lost.map((promised) => `lost after it was promised: ${promised}`);
  }

  #checkBlobs(files: ReadonlyMap<string, Image>, promises: Promises): string[] {
    const failures: string[] = [];
    for (const blob of promises.blobs) {
      if (!files.has(path.join(DATA_FOLDER, 'blobs', blob))) failures.push(`the blob ${blob} is missing`);
    }
    for (const [file, content] of files) {
      const [, , sha256] = BLOB.exec(file) ?? [];
      if (sha256 !== undefined && !this.#isWhole(content, sha256)) failures.push(`${file} does not have its content`);
    }
    return failures;
  }

  #isWhole(content: Image, sha256: string): boolean {
    const key = `${content.hash()} ${sha256}`;
    const known = this.#whole.get(key);
    if (known !== undefined) return known;
    const isWhole = createHash('sha256').update(content.bytes()).digest('hex') === sha256;
    this.#whole.set(key, isWhole);
    return isWhole;
  }

  /** The secrets by name, or the reason why they cannot be read. */
  async #secretsIn(files: ReadonlyMap<string, Image>): Promise<ReadonlyMap<string, string | undefined> | string> {
    const key = SECRETS.map((file) => files.get(file)?.hash()).join();
    const known = this.#secrets.get(key);
    if (known !== undefined) return known;
    this.#rebuilt.write(files);
    const found = await readSecrets(path.join(this.#rebuilt.folder, DATA_FOLDER));
    this.#secrets.set(key, found);
    return found;
  }
}

function checkSecrets(found: ReadonlyMap<string, string | undefined> | string, promises: Promises): string[] {
  if (typeof found === 'string') return [`the secrets cannot be read: ${found}`];
  return [...promises.secrets].flatMap(([name, { isPromised, values }]) => {
    const value = found.get(name);
    if (value === undefined) return isPromised ? [`the secret ${name} is missing`] : [];
    return values.has(value) ? [] : [`the secret ${name} has an old value`];
  });
}

async function readSecrets(dataDir: string): Promise<ReadonlyMap<string, string | undefined> | string> {
  const secrets = sealedSecrets({ dataDir, clock: realClock, env: {} });
  try {
    const values = new Map<string, string | undefined>();
    for (const { name } of await secrets.list()) values.set(name, await secrets.get(name));
    return values;
  } catch (error) {
    return (error as Error).message;
  }
}
