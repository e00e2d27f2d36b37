import { createHash } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blobsSuite } from '@nebula/ports/conformance';
import { expect, test } from 'vitest';
import { fsBlobs } from '../src/fs/index.ts';
import { temporaryFolder } from './temporary.ts';

blobsSuite('fs', async () => {
  const folder = await temporaryFolder();
  const root = join(folder.path, 'blobs');
  return {
    blobs: fsBlobs({ root }),
    reopen: async () => fsBlobs({ root }),
    corrupt: (executionId, sha256) => writeFile(join(root, executionId, sha256), 'scrawled over'),
    close: folder.remove,
  };
});

const DATA = new TextEncoder().encode('hello');
const SHA = createHash('sha256').update(DATA).digest('hex');

test('blobs have readable paths, and leave no other file behind', async () => {
  const folder = await temporaryFolder();
  const blobs = fsBlobs({ root: join(folder.path, 'deep', 'blobs') });
  await blobs.put('exe_01', SHA, DATA);
  await blobs.put('../evil', SHA, DATA);
  expect((await readdir(folder.path, { recursive: true })).sort()).toEqual([
    'deep',
    'deep/blobs',
    'deep/blobs/%2e%2e%2fevil',
    `deep/blobs/%2e%2e%2fevil/${SHA}`,
    'deep/blobs/exe_01',
    `deep/blobs/exe_01/${SHA}`,
  ]);
  await folder.remove();
});

test('[BLO-6] a hash that is a path is refused', async () => {
  const folder = await temporaryFolder();
  const blobs = fsBlobs({ root: folder.path });
  for (const sha256 of ['../../etc/passwd', SHA.toUpperCase(), '', `${SHA}/x`]) {
    await expect(blobs.put('exe', sha256, DATA)).rejects.toMatchObject({ code: 'BLOB_KEY_INVALID' });
    await expect(blobs.get('exe', sha256)).rejects.toMatchObject({ code: 'BLOB_KEY_INVALID' });
  }
  for (const id of ['', 'x'.repeat(256), '\ud800']) {
    await expect(blobs.put(id, SHA, DATA)).rejects.toMatchObject({ code: 'BLOB_KEY_INVALID' });
  }
  await folder.remove();
});

test('a half-written file of a crash is not taken for a blob', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, 'exe'));
  await writeFile(join(folder.path, 'exe', SHA), DATA.subarray(0, 2));
  const blobs = fsBlobs({ root: folder.path });
  await expect(blobs.get('exe', SHA)).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
  await blobs.put('exe', SHA, DATA);
  expect(await blobs.get('exe', SHA)).toEqual(Buffer.from(DATA));
  await folder.remove();
});

test('half-written files of a dead process are swept', async () => {
  const folder = await temporaryFolder();
  const [old, young] = [join(folder.path, '.tmp-1-0'), join(folder.path, '.tmp-2-0')];
  for (const file of [old, young]) await writeFile(file, 'half');
  await utimes(old, 1_000, 1_000);
  for await (const executionId of fsBlobs({ root: folder.path }).executions()) expect(executionId).toBe('nobody');
  expect(await readdir(folder.path)).toEqual(['.tmp-2-0']);
  await folder.remove();
});

test('a folder that cannot be written is explained', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder.path, 'file'), 'in the way');
  const blobs = fsBlobs({ root: join(folder.path, 'file', 'blobs') });
  await expect(blobs.put('exe', SHA, DATA)).rejects.toThrow(/ENOTDIR|may not write/);
  expect(await blobs.get('exe', SHA)).toBeUndefined();
  await folder.remove();
});
