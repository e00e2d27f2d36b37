import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActionContext } from '@nebula/core';
import { makeAction, makeInvocation } from '@nebula/ports/conformance';
import { expect, test } from 'vitest';
import { createInProcessSandbox } from '../../src/sandbox-inprocess/index.ts';

test('[SBX-36] no grant leads to the files of secrets, not even a link', async () => {
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
    error: { code: 'CAPABILITY_DENIED', message: expect.stringContaining('it keeps secrets') },
  });
  expect(await read('.nebula/other')).toMatchObject({ output: 'something else' });
  expect(await read('secrets.txt')).toMatchObject({ output: 'not ours' });
  await rm(projectDir, { recursive: true });
});
