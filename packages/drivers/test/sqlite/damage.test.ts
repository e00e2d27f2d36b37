/** Bytes that change on the disk, page by page: a coded error or the data, never anything else. */
import { readFile, writeFile } from 'node:fs/promises';
import { NebulaError } from '@nebula/core';
import { FEED_START } from '@nebula/ports';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/memory/index.ts';
import { PAGE_SIZE_BYTES } from '../../src/sqlite/connection.ts';
import { creating, tempStore } from './opened.ts';

const RUNS = 60;

test('damage in any page is reported with a code and a hint', { timeout: 120_000 }, async () => {
  const { open, path } = await tempStore();
  const store = await open();
  const text = (run: number) => JSON.stringify(['x'.repeat(600), run]);
  await store.append(
    Array.from({ length: RUNS }, (_, run) => creating(`run-${run}`, { frame: { seq: 1, at: 1, entries: text(run) } })),
  );
  await store.close();
  const whole = await readFile(path);
  const random = seededRandom(7);
  const codes = new Set<string>();
  for (let page = 0; page < whole.length / PAGE_SIZE_BYTES; page++) {
    const damaged = Buffer.from(whole);
    const from = page * PAGE_SIZE_BYTES;
    // The heads of pages, where their structure is; in the middle of a page lies text, which has no check sum.
    for (let at = 0; at < 40; at++) damaged[from + at] = Math.floor(random.fraction() * 256);
    await writeFile(path, damaged);
    for (const engine of [false, true]) {
      const opening = open({ engine });
      const reading = opening.then(async (opened) => {
        try {
          await opened.list({ limit: 100 });
          await opened.feed({ after: FEED_START, limit: 1_000 });
          for (let run = 0; run < RUNS; run++) await opened.frames(`run-${run}`, 0);
          return 'read';
        } finally {
          await opened.close();
        }
      });
      const outcome = await reading.catch((error: unknown) => error);
      if (outcome === 'read') continue;
      expect(outcome, `page ${page}`).toBeInstanceOf(NebulaError);
      const { code, hint } = outcome as NebulaError;
      expect(hint, code).toMatch(/\w/);
      codes.add(code);
    }
  }
  expect([...codes].sort()).toEqual(expect.arrayContaining(['STORE_CORRUPT', 'STORE_NOT_A_DATABASE']));
  await writeFile(path, whole);
  const mended = await open();
  expect((await mended.list({ limit: 100 })).rows).toHaveLength(RUNS);
  expect((await mended.frames('run-7', 0))[0]?.entries).toBe(text(7));
});
