import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { extractBackup, folderBackups, type Manifest } from '@nebula/drivers/backup';
import { fsBlobs } from '@nebula/drivers/fs';
import { realClock } from '@nebula/drivers/real';
import { sealedSecrets } from '@nebula/drivers/secrets';
import { copyDatabase, integrityProblem, openSqliteStore, type SqliteStore } from '@nebula/drivers/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { END_OF_TAR, tarEntries, tarHeader, tarPadding } from '../src/backup/tar.ts';
import { temporaryFolder } from './temporary.ts';

let folder: string;
let remove: () => Promise<void>;
let store: SqliteStore;
const dataDir = (): string => join(folder, 'data');
const file = (): string => join(folder, 'b.tar');
const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

beforeEach(async () => {
  ({ path: folder, remove } = await temporaryFolder());
  store = await openSqliteStore({ path: join(dataDir(), 'nebula.db'), clock: realClock, engine: true });
});
afterEach(async () => {
  await store.close();
  await remove();
});

const create = (withKey = false) =>
  folderBackups({ dataDir: dataDir(), version: '1.2.3', clock: realClock }).create({ withKey });

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function startRun(executionId: string): Promise<void> {
  await store.append([
    {
      executionId,
      create: { project: 'default', workflowId: 'w', version: 1, createdAt: 0, owner: null },
      frame: { seq: 1, at: 0, entries: '[]' },
      status: { status: 'completed', finishedAt: 0, expiresAt: null },
    },
  ]);
}

async function putBlob(executionId: string, text: string): Promise<string> {
  const data = Buffer.from(text);
  await fsBlobs({ root: join(dataDir(), 'blobs') }).put(executionId, sha256(data), data);
  return sha256(data);
}

const extract = (from = file()): Promise<Manifest> =>
  extractBackup(from, { fileFor: (name) => join(folder, 'restored', name) });

/** An archive of these files. */
function tarOf(files: readonly (readonly [string, string | Buffer])[]): Buffer {
  const parts = files.flatMap(([name, content]) => {
    const data = Buffer.from(content as string);
    return [tarHeader(name, data.length), data, tarPadding(data.length)];
  });
  return Buffer.concat([...parts, END_OF_TAR]);
}

async function filesOf(tar: Buffer): Promise<[string, Buffer][]> {
  const files: [string, Buffer][] = [];
  for await (const { name, content } of tarEntries(Readable.from([tar]))) {
    files.push([name, await collect(content)]);
  }
  return files;
}

describe('backups of a data folder', () => {
  test('[STO-130] a backup has the database, all blobs and the sealed secrets; the key only if it is asked for', async () => {
    const secrets = sealedSecrets({ dataDir: dataDir(), clock: realClock, env: {} });
    await secrets.set('bank', 'a value of a secret');
    await startRun('exe_1');
    const long = 'x'.repeat(250);
    const blobs = [await putBlob('exe_1', 'one'), await putBlob(long, 'two'), await putBlob('a b/c', 'three')];
    writeFileSync(file(), await collect(create()));
    const manifest = await extract();
    expect(manifest).toMatchObject({
      product: 'nebula',
      version: '1.2.3',
      executions: 1,
      blobs: { count: 3 },
      key: null,
    });
    const at = (name: string): string => join(folder, 'restored', name);
    expect(readdirSync(join(folder, 'restored')).sort()).toEqual(['blobs', 'nebula.db', 'secrets.json']);
    expect(readFileSync(at(`blobs/exe_1/${blobs[0]}`), 'utf8')).toBe('one');
    expect(readFileSync(at(`blobs/${long}/${blobs[1]}`), 'utf8')).toBe('two');
    expect(readFileSync(at(`blobs/a%20b%2fc/${blobs[2]}`), 'utf8')).toBe('three');
    expect(integrityProblem(at('nebula.db'))).toBe(undefined);
    const withKey = await collect(create(true));
    expect((await filesOf(withKey)).map(([name]) => name)).toContain('secrets.key');
    expect(readdirSync(dataDir())).not.toContain('backup.db');
  });

  test('[STO-131] the database of a backup is of one point in time, while another connection writes', async () => {
    let number = 0;
    let isDone = false;
    const writing = (async () => {
      // Two runs in one commit: a copy of several points in time would have one of them alone.
      while (!isDone) {
        const pair = [`exe_a${number}`, `exe_b${number}`];
        number++;
        await store.append(
          pair.map((executionId) => ({
            executionId,
            create: { project: 'default', workflowId: 'w', version: 1, createdAt: 0, owner: null },
            frame: { seq: 1, at: 0, entries: JSON.stringify(['.'.repeat(2_000)]) },
            status: { status: 'running' as const, finishedAt: null, expiresAt: null },
          })),
        );
      }
    })();
    for (let copies = 0; copies < 4; copies++) {
      const before = number;
      await expect.poll(() => number).toBeGreaterThan(before + 20);
      const to = join(folder, `copy-${copies}.db`);
      const { executions } = await copyDatabase(join(dataDir(), 'nebula.db'), to);
      expect(executions % 2).toBe(0);
      expect(executions).toBeGreaterThanOrEqual(2 * before);
      expect(integrityProblem(to)).toBe(undefined);
    }
    isDone = true;
    await writing;
  });

  test('[STO-132] blobs are not deleted while a backup copies them, and one backup runs at a time', async () => {
    const blobs = fsBlobs({ root: join(dataDir(), 'blobs') });
    await startRun('exe_1');
    const name = await putBlob('exe_1', 'one');
    const running = create()[Symbol.asyncIterator]();
    await running.next();
    await expect(collect(create())).rejects.toMatchObject({ code: 'BACKUP_RUNNING' });
    await store.deleteExecution('exe_1');
    await blobs.deleteExecution('exe_1');
    const rest: Uint8Array[] = [];
    for (let next = await running.next(); next.done !== true; next = await running.next()) rest.push(next.value);
    expect(Buffer.concat(rest).toString('latin1')).toContain(`blobs/exe_1/${name}`);
    expect(await blobs.get('exe_1', name)).toBeDefined();
    await blobs.deleteExecution('exe_1');
    expect(await blobs.get('exe_1', name)).toBe(undefined);
    expect((await collect(create())).length).toBeGreaterThan(0);
  });

  test('[STO-132] a caller that stops reading releases the blobs, and leaves no copy', async () => {
    const running = create()[Symbol.asyncIterator]();
    await running.next();
    expect(existsSync(join(dataDir(), 'backup.db'))).toBe(true);
    await running.return?.();
    expect(existsSync(join(dataDir(), 'backup.db'))).toBe(false);
    await collect(create());
  });

  test('[STO-133] a blob that is damaged already is named in the manifest, and not copied', async () => {
    await startRun('exe_1');
    const name = await putBlob('exe_1', 'one');
    writeFileSync(join(dataDir(), 'blobs/exe_1', name), 'other');
    writeFileSync(file(), await collect(create()));
    expect(await extract()).toMatchObject({ blobs: { count: 0 }, damaged: { count: 1, names: [`exe_1/${name}`] } });
  });

  test('[STO-134] a folder without data, and a key that is elsewhere, are refused and stay as they are', async () => {
    const empty = join(folder, 'empty');
    await mkdir(empty);
    const options = { dataDir: empty, version: '1', clock: realClock };
    await expect(collect(folderBackups(options).create({ withKey: false }))).rejects.toMatchObject({
      code: 'DATA_DIR_MISSING',
    });
    expect(readdirSync(empty)).toEqual([]);
    const env = { NEBULA_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
    await sealedSecrets({ dataDir: dataDir(), clock: realClock, env }).set('bank', 'value');
    await expect(collect(create(true))).rejects.toMatchObject({ code: 'SECRETS_KEY_MISSING' });
  });
});

describe('[STO-135] what is not a whole backup is refused', () => {
  let tar: Buffer;
  let files: [string, Buffer][];

  beforeEach(async () => {
    await startRun('exe_1');
    await putBlob('exe_1', 'one');
    await putBlob('exe_1', 'two');
    tar = await collect(create());
    files = await filesOf(tar);
  });

  const refusal = async (content: Buffer): Promise<unknown> => {
    writeFileSync(file(), content);
    await rm(join(folder, 'restored'), { recursive: true, force: true });
    return await extract().then(
      () => 'accepted',
      (error: { code?: unknown }) => error.code,
    );
  };

  test('cut off at any place', async () => {
    expect(await refusal(Buffer.alloc(0))).toBe('BACKUP_INVALID');
    for (let at = 512; at < tar.length; at += 5_003)
      expect(await refusal(tar.subarray(0, at))).toBe('BACKUP_INCOMPLETE');
    expect(await refusal(tar.subarray(0, tar.length - 1024))).toBe('BACKUP_INCOMPLETE');
    expect(await refusal(tar.subarray(0, tar.length - 1))).toBe('BACKUP_INCOMPLETE');
  });

  test('a changed byte of any file', async () => {
    for (const [name, data] of files.filter(([, { length }]) => length > 0)) {
      if (name.endsWith('.json')) continue;
      const changed = Buffer.from(data);
      changed[data.length >> 1] = (changed[data.length >> 1] ?? 0) ^ 1;
      expect(await refusal(tarOf(files.map(([n, d]) => [n, n === name ? changed : d])))).toBe('BACKUP_DAMAGED');
    }
  });

  test('a missing, additional or replaced file', async () => {
    expect(await refusal(tarOf(files))).toBe('accepted');
    for (const [name] of files.slice(1, -1)) {
      expect(await refusal(tarOf(files.filter(([other]) => other !== name))), name).toBe('BACKUP_DAMAGED');
    }
    expect(await refusal(tarOf(files.slice(0, -1)))).toBe('BACKUP_INCOMPLETE');
    expect(await refusal(tarOf(files.slice(1)))).toBe('BACKUP_INVALID');
    expect(await refusal(tarOf([...files, ...files.slice(1, 2)]))).toBe('BACKUP_INVALID');
    const data = Buffer.from('three');
    const more: [string, Buffer] = [`blobs/exe_1/${sha256(data)}`, data];
    expect(await refusal(tarOf([...files.slice(0, 3), more, ...files.slice(3)]))).toBe('BACKUP_DAMAGED');
  });

  test('names that lead elsewhere', async () => {
    const hash = sha256(Buffer.from('x'));
    const names = [
      '../evil',
      '/etc/evil',
      'blobs/../evil',
      `blobs/../${hash}`,
      `blobs/./${hash}`,
      'token',
      'blobs/x',
      '',
    ];
    for (const name of [...names, `blobs/a/b/${hash}`, `blobs/a\\b/${hash}`, `blobs/${'x'.repeat(300)}/${hash}`]) {
      const evil = tarOf([files[0] as [string, Buffer], [name, 'x'], ...files.slice(1)]);
      expect(await refusal(evil), name).toBe('BACKUP_INVALID');
    }
    expect(existsSync(join(folder, 'evil'))).toBe(false);
  });

  test('other files, links and newer formats', async () => {
    expect(await refusal(Buffer.from('id: a\nnodes: {}\n'))).toBe('BACKUP_INVALID');
    expect(await refusal(Buffer.alloc(4096, 7))).toBe('BACKUP_INVALID');
    expect(await refusal(readFileSync(join(dataDir(), 'nebula.db')))).toBe('BACKUP_INVALID');
    expect(await refusal(tarOf([['hello.txt', 'hello']]))).toBe('BACKUP_INVALID');
    expect(await refusal(Buffer.alloc(1024))).toBe('BACKUP_INCOMPLETE');
    const newer = JSON.stringify({ product: 'nebula', format: 2 });
    expect(
      await refusal(
        tarOf([
          ['backup.json', newer],
          ['more', 'x'],
        ]),
      ),
    ).toBe('BACKUP_TOO_NEW');
    const link = Buffer.from(tar);
    link.write('2', 156);
    expect(await refusal(link)).toBe('BACKUP_INVALID');
    for (const manifest of ['', '[]', '{}', '{"database": 1}', '{"database": {"bytes": -1}}']) {
      expect(await refusal(tarOf([...files.slice(0, -1), ['manifest.json', manifest]]))).toBe('BACKUP_INVALID');
    }
  });
});
