import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
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
