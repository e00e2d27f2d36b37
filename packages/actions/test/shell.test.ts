import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shellRun } from '../src/index.ts';
import { openProject, type Project } from './running.ts';

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
afterEach(() => project.close());

test('[ACT-18] a program gets its arguments as they are', async () => {
  const args = ['$(touch hacked)', '; touch hacked', '*'];
  expect(await project.output(shellRun, { program: 'printf', args: ['%s|', ...args] })).toEqual({
    exitCode: 0,
    stdout: `${args.join('|')}|`,
    stderr: '',
    truncated: false,
  });
  await expect(readFile(join(project.dir, 'hacked'))).rejects.toThrow();
});

test('[ACT-18] a command is read by sh, which must be granted', async () => {
  expect(await project.output(shellRun, { command: 'echo a b | wc -w' })).toMatchObject({
    stdout: expect.stringMatching(/^\s*2\n/),
  });
  const error = await project.error(shellRun, { command: 'echo' }, { granted: { shell: ['echo'] } });
  expect(error).toMatchObject({ code: 'CAPABILITY_DENIED' });
  expect(error.message).toContain('config: { capabilities: { shell: [sh] } }');
});

test('[ACT-18] it takes a folder, variables and input', async () => {
  await mkdir(join(project.dir, 'sub'));
  const input = { command: 'pwd; echo $NAME; cat', cwd: 'sub', env: { NAME: 'Ada' }, stdin: 'in' };
  expect(await project.output(shellRun, input)).toMatchObject({ stdout: `${join(project.dir, 'sub')}\nAda\nin` });
});

test('[ACT-18] either a program or a command', async () => {
  for (const input of [{}, { program: 'a', command: 'b' }, { command: 'a', args: ['b'] }]) {
    expect((await project.error(shellRun, input)).code).toBe('INPUT_INVALID');
  }
  expect(shellRun.effect).toBe('once');
});

test('[ACT-19] other exit codes are errors, unless they are good', async () => {
  const command = 'echo partial; echo went wrong >&2; exit 3';
  expect(await project.error(shellRun, { command })).toEqual({
    code: 'EXIT_3',
    kind: 'USER',
    message: 'sh ended with exit code 3: went wrong',
    details: { exitCode: 3, stdout: 'partial\n', stderr: 'went wrong\n' },
    node: 'node',
  });
  expect(await project.output(shellRun, { command, okExitCodes: [0, 3] })).toMatchObject({ exitCode: 3 });
  expect(await project.output(shellRun, { command, okExitCodes: [] })).toMatchObject({ exitCode: 3 });
  expect((await project.error(shellRun, { command: 'true', okExitCodes: [1] })).code).toBe('EXIT_0');
});

test('[ACT-19] of much output the end is kept with the error', async () => {
  const error = await project.error(shellRun, { command: 'seq 100000 >&2; exit 1' });
  const { stderr } = error.details as { stderr: string };
  expect(stderr).toHaveLength(2_001);
  expect(stderr.endsWith('100000\n')).toBe(true);
});

test('[ACT-20] output beyond the limit is left out', async () => {
  const output = await project.output(shellRun, { command: 'seq 100000', maxOutputBytes: '1KiB' });
  expect(output).toMatchObject({ exitCode: 0, truncated: true });
  expect((output as { stdout: string }).stdout).toHaveLength(1_024);
});

test('[ACT-18] an abort ends the program', async () => {
  const stopper = new AbortController();
  const pending = project.run(shellRun, { command: 'touch begun; exec sleep 60' }, { signal: stopper.signal });
  await expect.poll(() => existsSync(join(project.dir, 'begun'))).toBe(true);
  stopper.abort();
  expect(await pending).toMatchObject({ status: 'aborted' });
});
