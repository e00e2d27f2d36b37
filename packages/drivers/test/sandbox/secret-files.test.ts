import { link, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActionContext } from '@nebula/core';
import { makeAction, makeInvocation } from '@nebula/ports/conformance';
import { expect, test } from 'vitest';
import { createInProcessSandbox } from '../../src/sandbox-inprocess/index.ts';

test('[SBX-36] no grant leads into the data folder, not even a link', async () => {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  const dataDir = join(projectDir, '.nebula');
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'secrets.key'), 'the key');
  await writeFile(join(dataDir, 'other'), 'something else');
  await writeFile(join(projectDir, 'secrets.txt'), 'not ours');
  await symlink(join(dataDir, 'secrets.key'), join(projectDir, 'link'));
  const sandbox = createInProcessSandbox({ projectDir, dataDir });
  const granted = { files: { read: ['*'], write: ['*'] } };
  const run = (body: (ctx: ActionContext) => unknown) =>
    sandbox.run(makeInvocation(makeAction(body, { capabilities: ['files'] }), { granted }));
  const read = (path: string) => run(async (ctx) => Buffer.from(await ctx.files.read(path)).toString());

  for (const path of ['.nebula/secrets.key', 'link', '.nebula/../.nebula/secrets.json']) {
    expect(await read(path)).toMatchObject({ status: 'failed', error: { code: 'CAPABILITY_DENIED' } });
  }
  expect(await run((ctx) => ctx.files.write('.nebula/secrets.key', 'mine'))).toMatchObject({
    error: { code: 'CAPABILITY_DENIED', message: expect.stringContaining('it is in the data folder') },
  });
  expect(await read('.nebula/other')).toMatchObject({ error: { code: 'CAPABILITY_DENIED' } });
  expect(await read('secrets.txt')).toMatchObject({ output: 'not ours' });
  await rm(projectDir, { recursive: true });
});

test('[SBX-36] a data folder that is a link is closed under both of its names', async () => {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  const elsewhere = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  await writeFile(join(elsewhere, 'secrets.key'), 'the key');
  const dataDir = join(projectDir, '.nebula');
  await symlink(elsewhere, dataDir);
  const sandbox = createInProcessSandbox({ projectDir, dataDir });
  for (const path of ['.nebula/secrets.key', join(elsewhere, 'secrets.key')]) {
    const action = makeAction((ctx) => ctx.files.read(path).then(String), { capabilities: ['files'] });
    const granted = { files: { read: ['*', '/**'] } };
    expect(await sandbox.run(makeInvocation(action, { granted }))).toMatchObject({
      status: 'failed',
      error: { code: 'CAPABILITY_DENIED', message: expect.stringContaining('it is in the data folder') },
    });
  }
  await rm(projectDir, { recursive: true });
  await rm(elsewhere, { recursive: true });
});

test.each([
  '/proc/self/environ',
  '/proc/self/cwd/note.txt',
  '/sys/kernel/hostname',
  '/dev/zero',
  'to-proc/self/environ',
])('[SBX-42] no grant reads %s', async (path) => {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  await writeFile(join(projectDir, 'note.txt'), 'a note');
  await symlink('/proc', join(projectDir, 'to-proc'));
  const sandbox = createInProcessSandbox({ projectDir });
  const granted = { files: { read: ['*', '/**'], write: ['*', '/**'] } };
  const action = makeAction(async (ctx) => Buffer.from(await ctx.files.read(path)).toString(), {
    capabilities: ['files'],
  });
  expect(await sandbox.run(makeInvocation(action, { granted }))).toMatchObject({
    status: 'failed',
    error: { code: 'CAPABILITY_DENIED' },
  });
  await rm(projectDir, { recursive: true });
});

test('[SBX-42] no grant writes a file that the host reserves, not even through a link to its folder', async () => {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  await mkdir(join(projectDir, 'workflows'));
  await symlink(join(projectDir, 'workflows'), join(projectDir, 'elsewhere'));
  const reserved = (path: string) => (path.endsWith('.yaml') ? 'it is a workflow file' : undefined);
  const sandbox = createInProcessSandbox({ projectDir, reserved });
  const granted = { files: { write: ['*'] } };
  const write = (path: string) =>
    sandbox.run(
      makeInvocation(
        makeAction((ctx) => ctx.files.write(path, 'id: planted'), { capabilities: ['files'] }),
        { granted },
      ),
    );
  for (const path of ['workflows/planted.yaml', 'elsewhere/planted.yaml', 'x/../workflows/planted.yaml']) {
    expect(await write(path)).toMatchObject({ error: { message: expect.stringContaining('it is a workflow file') } });
  }
  expect(await write('workflows/notes.txt')).toMatchObject({ status: 'completed' });
  await rm(projectDir, { recursive: true });
});

const CODE = [
  'actions/greet.ts',
  'actions/GREET.MTS',
  'lib/a.cjs',
  'lib/a.jsx',
  'build/addon.node',
  'build/a.wasm',
  'nebula.config.ts',
  'workflows/nebula.config.yaml',
  'a/b/Nebula.Config.mjs',
  'a/b.test.yaml',
  'package.json',
  'sub/package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'node_modules/a/index.txt',
  'sub/Node_Modules/a/readme.md',
  '.git/hooks/pre-commit',
  '.github/workflows/ci.yml',
  '.npmrc',
  'data/.env',
  'x/../actions/greet.ts',
  './actions//greet.ts',
  'to-actions/greet.ts',
  'to-greet.txt',
  '/outside/nebula.config.js',
  '/outside/node_modules/a/index.html',
];

test.each(CODE)('[SBX-53] no grant writes %s', async (path) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  const projectDir = join(root, 'project');
  for (const folder of ['project/actions', 'outside']) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(projectDir, 'actions/greet.ts'), 'as it was');
  await symlink('actions', join(projectDir, 'to-actions'));
  await symlink('actions/greet.ts', join(projectDir, 'to-greet.txt'));
  const sandbox = createInProcessSandbox({ projectDir });
  const granted = { files: { read: ['*'], write: ['*', '/**'] } };
  for (const append of [false, true]) {
    const action = makeAction(
      (ctx) => ctx.files.write(path.startsWith('/outside') ? join(root, path) : path, 'x', { append }),
      { capabilities: ['files'] },
    );
    expect(await sandbox.run(makeInvocation(action, { granted }))).toMatchObject({
      status: 'failed',
      error: { code: 'CAPABILITY_DENIED' },
    });
  }
  const reading = makeAction(async (ctx) => Buffer.from(await ctx.files.read('actions/greet.ts')).toString(), {
    capabilities: ['files'],
  });
  expect(await sandbox.run(makeInvocation(reading, { granted }))).toMatchObject({ output: 'as it was' });
  await rm(root, { recursive: true });
});

test.each(['nebula.config.ts', 'sub/Nebula.Config.yaml', 'other/.nebula/token', 'to-token'])(
  '[SBX-53] no grant reads %s',
  async (path) => {
    const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
    await mkdir(join(projectDir, 'other/.nebula'), { recursive: true });
    await writeFile(join(projectDir, 'other/.nebula/token'), 'a token');
    await symlink('other/.nebula/token', join(projectDir, 'to-token'));
    const action = makeAction((ctx) => ctx.files.read(path).then(String), { capabilities: ['files'] });
    const granted = { files: { read: ['*'] } };
    const outcome = await createInProcessSandbox({ projectDir }).run(makeInvocation(action, { granted }));
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'CAPABILITY_DENIED' } });
    await rm(projectDir, { recursive: true });
  },
);

test('[SBX-53] data is written: reports, tables, and names that only look like code', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), '.nebula-sandbox-')));
  const sandbox = createInProcessSandbox({ projectDir: root });
  for (const path of ['out/report.json', 'out/a.yaml', 'posts.md', 'ts', 'notes.ts.txt', 'my-package.json', 'a..b/c']) {
    const action = makeAction((ctx) => ctx.files.write(path, 'x'), { capabilities: ['files'] });
    const granted = { files: { write: ['*'] } };
    expect(await sandbox.run(makeInvocation(action, { granted })), path).toMatchObject({ status: 'completed' });
  }
  await rm(root, { recursive: true });
});

test('[SBX-54] nothing is appended to code through another name of its file', async () => {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-sandbox-')));
  await writeFile(join(projectDir, 'greet.ts'), 'as it was');
  await link(join(projectDir, 'greet.ts'), join(projectDir, 'log.txt'));
  const sandbox = createInProcessSandbox({ projectDir });
  const write = (append: boolean) =>
    sandbox.run(
      makeInvocation(
        makeAction((ctx) => ctx.files.write('log.txt', 'x', { append }), { capabilities: ['files'] }),
        { granted: { files: { write: ['*'] } } },
      ),
    );
  expect(await write(true)).toMatchObject({ error: { code: 'FILE_NOT_REGULAR' } });
  expect(await write(false)).toMatchObject({ status: 'completed' });
  expect(await readFile(join(projectDir, 'greet.ts'), 'utf8')).toBe('as it was');
  await rm(projectDir, { recursive: true });
});
