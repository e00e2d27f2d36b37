/**
 * `node drivers-alone.ts FOLDER CASE`: one driver, in a folder where another process has died before it synced what it
 * had made.
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fsBlobs } from '@nebula/drivers/fs';
import { realClock } from '@nebula/drivers/real';
import { sealedSecrets } from '@nebula/drivers/secrets';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { acknowledgingBlobs, acknowledgingStore, setSecret } from './acknowledging.ts';
import { markingInto } from './marks.ts';
import { DATA_FOLDER, DATABASE } from './workload-options.ts';

const [folder = '', name = ''] = process.argv.slice(2);
const dataDir = path.join(folder, DATA_FOLDER);
const mark = markingInto(process.env.POWER_MARKS ?? '');

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  /** The first blobs of all, two of them at the same time in the same new folder. */
  async blobs() {
    makeDataFolder();
    const blobs = acknowledgingBlobs(fsBlobs({ root: path.join(dataDir, 'blobs') }), mark);
    await Promise.all(['one', 'two'].map((text) => blobs.put('exe', sha256Of(text), Buffer.from(text))));
    await blobs.put('other', sha256Of('three'), Buffer.from('three'));
  },
  /** The blob is there under its name, and no folder was synced. */
  async 'blobs-again'() {
    makeDataFolder();
    const file = path.join(dataDir, 'blobs', 'exe', sha256Of('one'));
    mkdirSync(path.join(dataDir, 'blobs'));
    mkdirSync(path.dirname(file));
    const temporary = path.join(dataDir, 'blobs', '.tmp-dead');
    writeFileSync(temporary, 'one');
    sync(temporary);
    renameSync(temporary, file);
    const blobs = acknowledgingBlobs(fsBlobs({ root: path.join(dataDir, 'blobs') }), mark);
    await blobs.put('exe', sha256Of('one'), Buffer.from('one'));
  },
  /** The data folder is there, and the one above it was not synced. */
  async store() {
    mkdirSync(dataDir);
    const open = await openSqliteStore({ path: path.join(dataDir, DATABASE), clock: realClock, engine: true });
    const store = acknowledgingStore(open, mark, false);
    await store.heartbeat([{ worker: 'worker', expiresAt: 1 }]);
    await store.close();
  },
  /** The data folder is made for the first secret. */
  async secrets() {
    await setSecret(sealedSecrets({ dataDir, clock: realClock, env: {} }), mark, 'first', 'value');
  },
};

const run = CASES[name];
if (run === undefined) throw new Error(`There is no case '${name}'.`);
await run();

function makeDataFolder(): void {
  mkdirSync(dataDir);
  sync(folder);
}

function sync(file: string): void {
  const handle = openSync(file, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
