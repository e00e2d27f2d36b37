import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { changed, creating, tempStore } from './opened.ts';

const CHILD = new URL('./child-engine.ts', import.meta.url).pathname;

test('a second engine is told who owns the directory and what to do', async () => {
  const { folder, open } = await tempStore();
  const first = await open();
  const refused = await open().catch((error) => error);
  expect(refused).toMatchObject({ name: 'NebulaError', code: 'STORE_LOCKED' });
  expect(refused.message).toContain(`process id ${process.pid}`);
  expect(refused.message).toContain(folder);
  expect(refused.hint).toContain(`kill ${process.pid}`);
  await first.close();
  expect(existsSync(join(folder, 'engine.json'))).toBe(false);
  const second = await open();
  expect(await second.append([creating('a')])).toMatchObject([{ ok: true }]);
});

test('the engine of another process is named, and its lock ends when it is killed', async () => {
  const { path, open } = await tempStore();
  const child = spawn(process.execPath, [CHILD, path, 'idle'], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await expect(open()).rejects.toMatchObject({ code: 'STORE_LOCKED', details: { pid: child.pid } });
  const executions = await open({ engine: false });
  expect((await executions.list({ limit: 5 })).rows).toHaveLength(1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const engine = await open();
  expect((await engine.list({ limit: 5 })).rows).toHaveLength(1);
});

test('those beside an engine look, send and delete, but do not append', async () => {
  const { open } = await tempStore();
  const engine = await open();
  await engine.append([creating('a'), creating('b', { status: changed('completed') })]);
  const executions = await open({ engine: false });
  expect(engine.exclusive).toBe(true);
  expect(executions.exclusive).toBe(false);
  expect(await executions.send({ messageId: 'm', executionId: 'a', body: 'cancel' }, 5)).toBe(true);
  expect(await engine.inbox('a')).toHaveLength(1);
  expect(await executions.deleteExecution('b')).toBe(true);
  await expect(executions.append([creating('c')])).rejects.toMatchObject({ code: 'STORE_NOT_ENGINE' });
  const reader = await open({ engine: false, readonly: true });
  expect((await reader.list({ limit: 5 })).rows).toHaveLength(1);
  await expect(reader.send({ messageId: 'n', executionId: 'a', body: '' }, 5)).rejects.toMatchObject({
    code: 'STORE_READONLY',
  });
});

test('a lock that could not be taken is not left behind by a failed opening', async () => {
  const { path, folder, open } = await tempStore();
  const { mkdir, rm, writeFile } = await import('node:fs/promises');
  await mkdir(folder, { recursive: true });
  await writeFile(path, 'this is certainly not a database file, just some text of a fair length. '.repeat(20));
  await expect(open()).rejects.toMatchObject({ code: 'STORE_NOT_A_DATABASE' });
  await rm(path);
  const engine = await open();
  expect(await engine.append([creating('a')])).toMatchObject([{ ok: true }]);
});
