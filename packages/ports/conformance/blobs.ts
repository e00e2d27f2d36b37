/** The contract of blobs, by the rules of SPEC.md. */
import { createHash } from 'node:crypto';
import type { Blobs } from '@nebula/ports';
import { describe, expect, test as vitestTest } from 'vitest';

export interface BlobsSubject {
  readonly blobs: Blobs;
  /** Opens the same data again. */
  readonly reopen?: () => Promise<Blobs>;
  /** Damages the stored bytes behind the driver's back. Left out: the suite puts bytes under a wrong hash. */
  readonly corrupt?: (executionId: string, sha256: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

type BlobsTest = (title: string, body: (subject: BlobsSubject) => Promise<void>) => void;

const HOSTILE_IDS = [
  '..',
  '.',
  '../exe_1',
  '/etc/passwd',
  'a/b',
  'a\\b',
  'a\u0000b',
  'con',
  '😀',
  'é',
  'e\u0301',
  '%2e%2e',
  '__proto__',
  'A',
  'a',
  ' ',
  '-rf',
  'x'.repeat(100),
];

export function blobsSuite(name: string, open: () => Promise<BlobsSubject>): void {
  const blobsTest: BlobsTest = (title, body) =>
    vitestTest(title, async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.close();
      }
    });
  describe(`blobs contract: ${name}`, () => blobsTests(blobsTest));
}

function blobsTests(test: BlobsTest): void {
  test('[BLO-1] the bytes come back', async ({ blobs }) => {
    const contents = [
      bytes(''),
      bytes('hello'),
      new Uint8Array([0, 255, 0, 10, 13]),
      bytes('x'.repeat(5 * 1024 * 1024)),
    ];
    for (const data of contents) await blobs.put('exe_1', hash(data), data);
    for (const data of contents) {
      const back = await blobs.get('exe_1', hash(data));
      expect(Buffer.from(back as Uint8Array).equals(Buffer.from(data))).toBe(true);
    }
    expect(await blobs.get('exe_1', hash(bytes('unknown')))).toBeUndefined();
    expect(await blobs.get('exe_2', hash(bytes('hello')))).toBeUndefined();
  });

  test('[BLO-1] neither side can change the bytes afterwards', async ({ blobs }) => {
    const data = bytes('hello');
    const sha256 = hash(data);
    await blobs.put('exe_1', sha256, data);
    data[0] = 0;
    const first = (await blobs.get('exe_1', sha256)) as Uint8Array;
    first[1] = 0;
    expect(Buffer.from((await blobs.get('exe_1', sha256)) as Uint8Array).toString()).toBe('hello');
  });

  test('[BLO-2] the same blob put again, or at the same time, is one', async ({ blobs }) => {
    const data = bytes('x'.repeat(200_000));
    const sha256 = hash(data);
    await Promise.all(Array.from({ length: 10 }, () => blobs.put('exe_1', sha256, data)));
    await blobs.put('exe_1', sha256, data);
    expect((await blobs.get('exe_1', sha256))?.length).toBe(200_000);
    expect(await names(blobs)).toEqual(['exe_1']);
  });

  test('[BLO-3] damaged bytes are refused', async ({ blobs, corrupt }) => {
    const data = bytes('precious');
    const sha256 = corrupt === undefined ? hash(bytes('something else')) : hash(data);
    await blobs.put('exe_1', sha256, data);
    await corrupt?.('exe_1', sha256);
    await expect(blobs.get('exe_1', sha256)).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
  });

  test('[BLO-4] deleting an execution deletes its blobs and no others', async ({ blobs }) => {
    const data = bytes('shared');
    for (const id of ['exe_1', 'exe_10', 'exe']) await blobs.put(id, hash(data), data);
    await blobs.put('exe_1', hash(bytes('more')), bytes('more'));
    await blobs.deleteExecution('exe_1');
    await blobs.deleteExecution('exe_1');
    await blobs.deleteExecution('ghost');
    expect(await blobs.get('exe_1', hash(data))).toBeUndefined();
    expect(await blobs.get('exe_1', hash(bytes('more')))).toBeUndefined();
    expect(await names(blobs)).toEqual(['exe', 'exe_10']);
    await blobs.put('exe_1', hash(data), data);
    expect(await blobs.get('exe_1', hash(data))).toBeDefined();
  });

  test('[BLO-5] executions with blobs are named once', async ({ blobs }) => {
    expect(await names(blobs)).toEqual([]);
    for (const id of ['b', 'a']) {
      for (const text of ['one', 'two']) await blobs.put(id, hash(bytes(text)), bytes(text));
    }
    expect(await names(blobs)).toEqual(['a', 'b']);
  });

  test('[BLO-6] hostile ids are names, not paths', async ({ blobs }) => {
    for (const id of HOSTILE_IDS) await blobs.put(id, hash(bytes(id)), bytes(id));
    expect(await names(blobs)).toEqual([...HOSTILE_IDS].sort());
    for (const id of HOSTILE_IDS) {
      expect(Buffer.from((await blobs.get(id, hash(bytes(id)))) as Uint8Array).toString()).toBe(id);
    }
    await blobs.deleteExecution('..');
    await blobs.deleteExecution('.');
    expect(await names(blobs)).toEqual(HOSTILE_IDS.filter((id) => id !== '..' && id !== '.').sort());
  });

  test('[BLO-7] blobs outlive the driver', async ({ blobs, reopen }) => {
    const data = bytes('lasting');
    await blobs.put('exe_1', hash(data), data);
    if (reopen === undefined) return;
    const again = await reopen();
    expect(Buffer.from((await again.get('exe_1', hash(data))) as Uint8Array).toString()).toBe('lasting');
  });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function hash(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

async function names(blobs: Blobs): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const executionId of blobs.executions()) seen.push(executionId);
  return seen.sort();
}
