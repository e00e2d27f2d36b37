/**
 * Runs in separate processes, because the effect of an unhandled rejection on a process can be seen only from outside.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlive, until } from './processes.ts';

const SANDBOX = new URL('../../src/sandbox-inprocess/index.ts', import.meta.url).href;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nebula-strays-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Script {
  /** The function of the action. */
  readonly run: string;
  /** Code of the host, run at each log line, and once the action has ended. */
  readonly onLog?: string;
  readonly finally?: string;
}

/** Prints the outcome, then the log of the next 200 ms. */
async function runScript(script: Script): Promise<{ code: number; lines: string[]; stderr: string }> {
  const file = join(folder, 'script.ts');
  const source = `
    import { createInProcessSandbox } from ${JSON.stringify(SANDBOX)};
    const sandbox = createInProcessSandbox({ projectDir: ${JSON.stringify(folder)} });
    const logs = [];
    const outcome = await sandbox.run({
      action: { id: 'test.action', version: '1', run: ${script.run}, capabilities: ['shell'] },
      input: null, granted: { shell: ['sh'] }, executionId: 'e', workflowId: 'w', node: 'n', attempt: 1, idempotencyKey: 'k',
      signal: new AbortController().signal,
      onLog: (level, message) => { logs.push(level + ': ' + message); ${script.onLog ?? ''} },
      onProgress() {}, onHeartbeat() {}, credential: async () => 'secret',
    });
    console.log(JSON.stringify(outcome));
    setTimeout(() => console.log(JSON.stringify(logs)), 200);
    ${script.finally ?? ''}
  `;
  await writeFile(file, source);
  return new Promise((resolve) => {
    execFile(process.execPath, [file], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, lines: stdout.trim().split('\n'), stderr });
    });
  });
}

test('[SBX-20] a promise that is not awaited does not end the process, now or later', async () => {
  const run = `(ctx) => {
    Promise.reject(new Error('at once'));
    setTimeout(() => Promise.reject(new Error('later')), 20);
    (async () => { await ctx.sleep(5); throw new Error('from a function'); })();
    fetch('http://127.0.0.1:1');
    return 'done';
  }`;
  const { code, lines, stderr } = await runScript({ run });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(JSON.parse(lines[0] as string)).toEqual({ status: 'completed', output: 'done' });
  const logs: string[] = JSON.parse(lines[1] as string);
  for (const reason of ['at once', 'later', 'from a function', 'fetch failed']) {
    expect(logs.find((line) => line.startsWith('error: a promise') && line.includes(reason))).toBeDefined();
  }
});

test('[SBX-20] a rejection from outside of any action still ends the process', async () => {
  const { code, stderr } = await runScript({
    run: '() => 1',
    finally: `Promise.reject(new Error('of the host'));`,
  });
  expect(code).toBe(1);
  expect(stderr).toContain('of the host');
});

test('[SBX-20] a fault of the host, called by an action, stays a fault of the host', async () => {
  const { code, stderr } = await runScript({
    run: `(ctx) => ctx.log.info('x')`,
    onLog: `if (logs.length === 1) Promise.reject(new Error('in the log driver'));`,
  });
  expect(code).toBe(1);
  expect(stderr).toContain('in the log driver');
});

test('[SBX-27] a program does not outlive the process that started it', async () => {
  const run = `(ctx) => {
    ctx.shell('sh', ['-c', 'echo $$ > leader; (sleep 30; true) & echo $! > child; sleep 30; true']).catch(() => {});
    return ctx.sleep(300);
  }`;
  const { code } = await runScript({ run, finally: 'process.exit(3);' });
  expect(code).toBe(3);
  for (const name of ['leader', 'child']) {
    const pid = Number(await readFile(join(folder, name), 'utf8'));
    expect(pid).toBeGreaterThan(0);
    await until(async () => !(await isAlive(pid)), `the ${name} is dead`);
  }
});
