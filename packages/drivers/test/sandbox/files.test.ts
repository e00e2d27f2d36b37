/** File access of the host API against links, races of names, and files that are none. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActionContext, Capabilities } from '@nebula/core';
import { errorOf, makeAction, makeInvocation, type OpenSandbox } from '@nebula/ports/conformance';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSandbox } from './opened.ts';

let host: OpenSandbox;
let outside: string;
beforeEach(async () => {
  host = await openSandbox();
  outside = await mkdtemp(join(tmpdir(), 'nebula-outside-'));
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await mkdir(join(host.projectDir, 'data'));
});
afterEach(async () => {
  await host.close();
  await rm(outside, { recursive: true });
});

const ALL: Capabilities['files'] = { read: ['*'], write: ['*'] };

function through(use: (files: ActionContext['files']) => Promise<unknown>, files = ALL, signal?: AbortSignal) {
  const action = makeAction(async (ctx) => use(ctx.files), { capabilities: ['files'] });
  return host.sandbox.run(makeInvocation(action, { granted: { ...(files && { files }) }, ...(signal && { signal }) }));
}

const text = (path: string) => async (files: ActionContext['files']) =>
  new TextDecoder().decode(await files.read(path));
const inProject = (path: string) => join(host.projectDir, path);

test('[SBX-24] a link to a file outside is neither read nor written', async () => {
  await symlink(join(outside, 'secret.txt'), inProject('data/link.txt'));
  const reading = errorOf(await through(text('data/link.txt')));
  expect(reading).toMatchObject({ code: 'CAPABILITY_DENIED' });
  expect(reading.message).toContain('leads to');
  expect(errorOf(await through((files) => files.write('data/link.txt', 'x'))).code).toBe('CAPABILITY_DENIED');
  expect(errorOf(await through((files) => files.write('data/link.txt', 'x', { append: true }))).code).toBe(
    'CAPABILITY_DENIED',
  );
  expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
});

test('[SBX-24] a link to a folder outside is not passed, nor are folders made behind it', async () => {
  await symlink(outside, inProject('data/out'));
  expect(errorOf(await through(text('data/out/secret.txt'))).code).toBe('CAPABILITY_DENIED');
  expect(errorOf(await through((files) => files.write('data/out/new/file.txt', 'x'))).code).toBe('CAPABILITY_DENIED');
  expect(await readdir(outside)).toEqual(['secret.txt']);
});

test('[SBX-24] a link that leads nowhere yet does not create its target', async () => {
  await symlink(join(outside, 'new.txt'), inProject('dangling'));
  expect(await through((files) => files.write('dangling', 'x'))).toMatchObject({ status: 'completed' });
  expect((await through((files) => files.write('dangling', 'y', { append: true }))).status).toBe('completed');
  expect(await readdir(outside)).toEqual(['secret.txt']);
  await symlink(join(outside, 'other.txt'), inProject('appended'));
  expect((await through((files) => files.write('appended', 'y', { append: true }))).status).toBe('failed');
  expect(await readdir(outside)).toEqual(['secret.txt']);
});

test('[SBX-24] a link inside the grant works, one to a path outside does not', async () => {
  await mkdir(inProject('private'));
  await writeFile(inProject('private/p.txt'), 'private');
  await writeFile(inProject('data/d.txt'), 'data');
  await symlink('d.txt', inProject('data/same.txt'));
  await symlink('../private', inProject('data/private'));
  const granted = { read: ['data/**'] };
  expect(await through(text('data/same.txt'), granted)).toMatchObject({ output: 'data' });
  expect(errorOf(await through(text('data/private/p.txt'), granted))).toMatchObject({
    code: 'CAPABILITY_DENIED',
    details: { wanted: 'private/p.txt' },
  });
});

test('[SBX-24] a refusal does not tell whether the file exists', async () => {
  const [there, missing] = [join(outside, 'secret.txt'), join(outside, 'nothing.txt')];
  const [a, b] = [errorOf(await through(text(there))), errorOf(await through(text(missing)))];
  expect(a.message.replaceAll(there, 'X')).toBe(b.message.replaceAll(missing, 'X'));
});

test('[SBX-24] an absolute path outside can be granted', async () => {
  expect(await through(text(join(outside, 'secret.txt')), { read: [`${outside}/**`] })).toMatchObject({
    output: 'secret',
  });
});

test.each(['', 'a\0b'])('[SBX-24] %j is not a path', async (path) => {
  expect(errorOf(await through(text(path))).code).toBe('PATH_INVALID');
});

test('[SBX-25] folders and pipes are not read', async () => {
  execFileSync('sh', ['-c', 'mkfifo pipe'], { cwd: host.projectDir });
  for (const path of ['data', 'pipe']) expect(errorOf(await through(text(path))).code).toBe('FILE_NOT_REGULAR');
});

test('[SBX-25] reading stops at the limit', async () => {
  await writeFile(inProject('big'), Buffer.alloc(2_000));
  expect(errorOf(await through((files) => files.read('big', { maxBytes: 1_999 }))).code).toBe('FILE_TOO_LARGE');
  expect((await through(async (files) => (await files.read('big', { maxBytes: 2_000 })).length)).status).toBe(
    'completed',
  );
});

test('[SBX-25] a replaced file keeps its mode, and nothing is left beside it', async () => {
  await writeFile(inProject('run.sh'), 'old');
  await chmod(inProject('run.sh'), 0o750);
  await through((files) => files.write('run.sh', new Uint8Array([110, 101, 119])));
  expect(await readFile(inProject('run.sh'), 'utf8')).toBe('new');
  expect((await stat(inProject('run.sh'))).mode & 0o777).toBe(0o750);
  expect((await readdir(host.projectDir)).sort()).toEqual(['data', 'run.sh']);
});

test('[SBX-25] a write that fails leaves the old file and nothing else', async () => {
  await mkdir(inProject('folder/inside'), { recursive: true });
  expect((await through((files) => files.write('folder', 'x'))).status).toBe('failed');
  expect((await readdir(host.projectDir)).sort()).toEqual(['data', 'folder']);
});

test('[SBX-25] a concurrent reader sees the old content or the new one', async () => {
  const [old, fresh] = ['a'.repeat(300_000), 'b'.repeat(300_000)];
  await writeFile(inProject('f'), old);
  const writing = through((files) => files.write('f', fresh));
  const states = new Set<string>();
  for (let reads = 0; reads < 50; reads++) states.add(await readFile(inProject('f'), 'utf8'));
  await writing;
  states.add(await readFile(inProject('f'), 'utf8'));
  for (const state of states) expect([old, fresh]).toContain(state);
  expect(states).toContain(fresh);
});
