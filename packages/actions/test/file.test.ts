import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effect, Json } from '@nebula/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileRead, fileWrite } from '../src/index.ts';
import { openProject, type Project } from './running.ts';

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
afterEach(() => project.close());

const path = (name: string) => join(project.dir, name);

test('[ACT-21] file.read gives text, base64 or JSON', async () => {
  await writeFile(path('a.json'), '{"ä": [1]}');
  expect(await project.output(fileRead, { path: 'a.json' })).toEqual({
    path: 'a.json',
    bytes: 11,
    content: '{"ä": [1]}',
  });
  expect(await project.output(fileRead, { path: 'a.json', encoding: 'json' })).toMatchObject({ content: { ä: [1] } });
  await writeFile(path('bytes'), new Uint8Array([0, 255, 128]));
  expect(await project.output(fileRead, { path: 'bytes', encoding: 'base64' })).toMatchObject({
    bytes: 3,
    content: 'AP+A',
  });
});

test.each([
  ['bytes', {}, 'FILE_NOT_TEXT'],
  ['bytes', { encoding: 'json' }, 'FILE_NOT_TEXT'],
  ['text', { encoding: 'json' }, 'FILE_NOT_JSON'],
  ['text', { maxBytes: 3 }, 'FILE_TOO_LARGE'],
  ['text', { maxBytes: '3B' }, 'FILE_TOO_LARGE'],
  ['text', { maxBytes: 'three' }, 'INPUT_INVALID'],
  ['text', { encoding: 'latin1' }, 'INPUT_INVALID'],
  ['none', {}, 'FILE_NOT_FOUND'],
  ['folder', {}, 'FILE_NOT_REGULAR'],
  ['../outside', {}, 'CAPABILITY_DENIED'],
])('[ACT-21] reading %s with %j is %s', async (name, options, code) => {
  await writeFile(path('bytes'), new Uint8Array([0, 255, 128]));
  await writeFile(path('text'), 'text');
  await mkdir(path('folder'));
  expect(await project.error(fileRead, { path: name, ...options })).toMatchObject({ code, kind: 'USER' });
});

test('[ACT-22] file.write writes text, bytes and JSON', async () => {
  expect(await project.output(fileWrite, { path: 'out/a.txt', content: 'ä' })).toEqual({ path: 'out/a.txt', bytes: 2 });
  expect(await readFile(path('out/a.txt'), 'utf8')).toBe('ä');
  await project.output(fileWrite, { path: 'b.json', content: { n: [1] } });
  expect(JSON.parse(await readFile(path('b.json'), 'utf8'))).toEqual({ n: [1] });
  await project.output(fileWrite, { path: 'c', content: 'AP+A', encoding: 'base64' });
  expect([...(await readFile(path('c')))]).toEqual([0, 255, 128]);
  expect((await project.error(fileWrite, { path: 'd', content: 'no base64!', encoding: 'base64' })).code).toBe(
    'INPUT_INVALID',
  );
  expect((await readdir(project.dir)).sort()).toEqual(['b.json', 'c', 'out']);
});

test('[ACT-22] file.write appends', async () => {
  for (const content of ['one\n', 'two\n']) await project.output(fileWrite, { path: 'log', content, append: true });
  expect(await readFile(path('log'), 'utf8')).toBe('one\ntwo\n');
});

test('[ACT-22] replacing is idempotent, appending is done once', () => {
  const effect = fileWrite.effect as (input: Json) => Effect;
  expect(effect({ path: 'a', content: 'x' })).toBe('idempotent');
  expect(effect({ path: 'a', content: 'x', append: true })).toBe('once');
});
