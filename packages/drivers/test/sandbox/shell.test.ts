/** Programs of the host API: trees that must die, output that must not fill the memory, environments that must not leak. */
import { access, chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActionContext, Capabilities, ShellOptions, ShellResult } from '@nebula/core';
import { errorOf, makeAction, makeInvocation, type OpenSandbox } from '@nebula/ports/conformance';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSandbox } from './opened.ts';
import { isAlive, until } from './processes.ts';

let host: OpenSandbox;
beforeEach(async () => {
  host = await openSandbox({
    env: { PATH: process.env.PATH ?? '', API_KEY: 'hidden', AWS_REGION: 'eu', AWS_KEY: 'hidden' },
  });
});
afterEach(() => host.close());

const SH: Capabilities = { shell: ['sh'] };

function shell(program: string, args: string[], options?: ShellOptions, granted = SH, signal?: AbortSignal) {
  const body = (ctx: ActionContext) => ctx.shell(program, args, options);
  const action = makeAction(body, { capabilities: ['shell', 'env'] });
  return host.sandbox.run(makeInvocation(action, { granted, ...(signal && { signal }) }));
}

async function sh(script: string, options?: ShellOptions, granted?: Capabilities): Promise<ShellResult> {
  const outcome = await shell('sh', ['-c', script], options, granted);
  if (outcome.status !== 'completed') throw new Error(outcome.error.message);
  return outcome.output as unknown as ShellResult;
}

/** Starts the script, which writes pids into the file `pids`, and aborts it as soon as there are `count` of them. */
async function abortTree(script: string, count: number) {
  const stopper = new AbortController();
  const pending = shell('sh', ['-c', script], {}, SH, stopper.signal);
  const file = join(host.projectDir, 'pids');
  const pids = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
  await until(async () => (await pids()).length === count, 'the tree is up');
  stopper.abort();
  const outcome = await pending;
  for (const pid of await pids()) await until(async () => !(await isAlive(pid)), `${pid} is dead`);
  return outcome;
}

test('[SBX-27] children and grandchildren die with the program', async () => {
  const script = `
    sh -c 'echo $$ >> pids; sh -c "echo \\$\\$ >> pids; sleep 100; true"; true' &
    echo $$ >> pids; sleep 100; true`;
  const outcome = await abortTree(script, 3);
  expect(outcome).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } });
});

test('[SBX-27] a program that does not want to end is killed', async () => {
  const outcome = await abortTree(`trap 'echo asked >> asked' TERM; echo $$ >> pids; while :; do sleep 0.1; done`, 1);
  expect(outcome.status).toBe('aborted');
  expect(await readFile(join(host.projectDir, 'asked'), 'utf8')).toBe('asked\n');
});

test('[SBX-27] a child that ignores SIGTERM dies with a leader that does not', async () => {
  const script = `sh -c 'trap "" TERM; echo $$ >> pids; exec >/dev/null 2>&1; while :; do sleep 1; done' & echo $$ >> pids; sleep 100`;
  const outcome = await abortTree(script, 2);
  expect(outcome.status).toBe('aborted');
});

test('[SBX-27] a descendant that left the group cannot hold the attempt', async () => {
  const script = `setsid sh -c 'echo $$ > escaped; sleep 30' & until [ -s escaped ]; do sleep 0.1; done; echo $$ >> pids; sleep 100`;
  const outcome = await abortTree(script, 1);
  expect(outcome.status).toBe('aborted');
  const escaped = Number(await readFile(join(host.projectDir, 'escaped'), 'utf8'));
  if (await isAlive(escaped)) process.kill(-escaped, 'SIGKILL');
});

test('[SBX-28] endless output is cut, memory stays bounded, the program runs to its end', async () => {
  const before = process.memoryUsage().rss;
  const result = await sh('head -c 300000000 /dev/zero; echo done > finished; echo late >&2', {
    maxOutputBytes: 1_000,
  });
  expect(result).toMatchObject({ exitCode: 0, stderr: 'late\n', truncated: true });
  expect(result.stdout).toHaveLength(1_000);
  await access(join(host.projectDir, 'finished'));
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

test('[SBX-28] a character is not cut in two', async () => {
  const { stdout } = await sh(`printf 'ää'`, { maxOutputBytes: 3 });
  expect(stdout).toBe('ä');
});

test('[SBX-26] a program sees no environment variable but PATH and the granted ones', async () => {
  const granted = { ...SH, env: ['AWS_REGION'] };
  const { stdout } = await sh('env', { env: { OWN: 'x' } }, granted);
  expect(stdout).not.toContain('hidden');
  expect(stdout).toContain('AWS_REGION=eu');
  expect(stdout).toContain('OWN=x');
  for (const name of ['HOME', 'USER', 'NODE_OPTIONS', 'VITEST'])
    expect(stdout).not.toMatch(new RegExp(`^${name}=`, 'm'));
  expect((await sh('echo $AWS_KEY', {}, { ...SH, env: ['AWS_*'] })).stdout).toBe('hidden\n');
});

test('[SBX-26] a PATH of the action does not choose the program', async () => {
  const evil = join(host.projectDir, 'bin');
  await mkdir(evil);
  await writeFile(join(evil, 'sh'), '#!/bin/sh\necho evil');
  await chmod(join(evil, 'sh'), 0o755);
  const { stdout } = await sh('echo good', { env: { PATH: evil } });
  expect(stdout).toBe('good\n');
});

test('[SBX-26] a program by path needs a grant by path', async () => {
  const file = join(host.projectDir, 'sh');
  await writeFile(file, '#!/bin/sh\necho mine');
  await chmod(file, 0o755);
  expect(errorOf(await shell('./sh', [])).code).toBe('CAPABILITY_DENIED');
  expect(await shell('./sh', [], {}, { shell: ['./sh'] })).toMatchObject({ output: { stdout: 'mine\n' } });
});

test('[SBX-26] a missing program is reported as such', async () => {
  expect(errorOf(await shell('no-such-program', [], {}, { shell: ['*'] })).code).toBe('PROGRAM_NOT_FOUND');
});

test('[SBX-26] it starts in the project folder or below, links followed', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'nebula-outside-'));
  await mkdir(join(host.projectDir, 'sub'));
  await symlink(outside, join(host.projectDir, 'link'));
  expect((await sh('pwd')).stdout.trim()).toBe(host.projectDir);
  expect((await sh('pwd', { cwd: 'sub' })).stdout.trim()).toBe(join(host.projectDir, 'sub'));
  for (const cwd of ['..', '/', 'link']) {
    expect(errorOf(await shell('sh', ['-c', 'pwd'], { cwd })).code).toBe('CAPABILITY_DENIED');
  }
  expect(errorOf(await shell('sh', ['-c', 'pwd'], { cwd: 'none' })).code).toBe('FOLDER_NOT_FOUND');
  await rm(outside, { recursive: true });
});

test('[SBX-26] a program need not read its input', async () => {
  expect(await sh('exit 0', { stdin: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 0 });
});
