/** Disks and data that fail under the real program: a code, a hint, and nothing finished is lost. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nebulaHere } from './support/nebula-here.ts';
import { BIN, nebula, projectFolder, type Result, startNebula } from './support/nebula-process.ts';

const LARGE = 200_000;
const SHORT = `
id: short
nodes:
  large: { action: core.set@1, with: { value: "{{ 'x'.repeat(${LARGE}) }}" } }
  use: { action: core.set@1, needs: [large], with: { value: "{{ $nodes.large.output.length }}" } }
output: "{{ $nodes.use.output }}"
`;
const SLOW = `
id: slow
nodes:
  large: { action: core.set@1, with: { value: "{{ 'x'.repeat(${LARGE}) }}" } }
  wait: { action: core.sleep@1, needs: [large], with: { duration: 2s } }
  use: { action: core.set@1, needs: [wait], with: { value: "{{ $nodes.large.output.length }}" } }
output: "{{ $nodes.use.output }}"
`;
const DATABASE = '.nebula/nebula.db';
const TIMEOUT = { timeout: 60_000 };
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** A project with one finished run. */
async function finishedRun(): Promise<{ readonly cwd: string; readonly executionId: string }> {
  const cwd = projectFolder({ 'short.yaml': SHORT, 'slow.yaml': SLOW });
  const { stdout } = await nebulaHere(['run', 'short.yaml', '--json'], { cwd });
  return { cwd, executionId: JSON.parse(stdout).executionId };
}

/** A project whose run was killed while it waited, after its large value was stored. */
async function killedRun(): Promise<string> {
  const cwd = projectFolder({ 'slow.yaml': SLOW });
  const run = startNebula(['run', 'slow.yaml'], { cwd });
  await run.until('wait started');
  run.child.kill('SIGKILL');
  await run.ended;
  return cwd;
}

function expectRefused({ code, stdout, stderr }: Result, codes: RegExp): void {
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^error [A-Z_]+: .*\nhint: .*\n$/)]);
  expect(stderr).toMatch(codes);
}

describe('a damaged database', () => {
  const overwrite = (file: string, at: number, bytes: Buffer) => {
    const content = readFileSync(file);
    bytes.copy(content, at);
    writeFileSync(file, content);
  };
  test.each([
    ['its beginning overwritten', (file: string) => overwrite(file, 0, Buffer.from('garbage!'.repeat(4)))],
    ['its header blank', (file: string) => overwrite(file, 16, Buffer.alloc(84))],
    ['cut in the middle', (file: string) => truncateSync(file, 8 * 4_096)],
    ['emptied', (file: string) => truncateSync(file, 0)],
    ['cut within a page', (file: string) => truncateSync(file, 5_000)],
    ['pages overwritten', (file: string) => overwrite(file, 4_096, Buffer.alloc(statSync(file).size - 4_096, 0xa5))],
  ])('[CLI-94] %s', TIMEOUT, async (_name, damage) => {
    const { cwd, executionId } = await finishedRun();
    const file = path.join(cwd, DATABASE);
    cpSync(file, `${file}.backup`);
    damage(file);
    const before = readFileSync(file);
    for (const words of [['executions', 'list'], ['run', 'short.yaml', '-q'], ['resume']]) {
      expectRefused(await nebulaHere(words, { cwd }), /STORE_CORRUPT|STORE_NOT_A_DATABASE|STORE_EMPTY/);
    }
    expect(readFileSync(file).equals(before)).toBe(true);
    cpSync(`${file}.backup`, file);
    const shown = await nebulaHere(['executions', 'show', executionId, '--json'], { cwd });
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'completed', output: LARGE });
  });

  test.each([
    ['of another program', 68, 0x12345678, /STORE_NOT_A_DATABASE/],
    ['of a newer Nebula', 60, 999, /STORE_TOO_NEW/],
  ])('[CLI-94] %s', TIMEOUT, async (_name, at, value, code) => {
    const { cwd } = await finishedRun();
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    overwrite(path.join(cwd, DATABASE), at, bytes);
    for (const words of [
      ['executions', 'list'],
      ['run', 'short.yaml', '-q'],
    ]) {
      expectRefused(await nebula(words, { cwd }), code);
    }
  });

  test('[CLI-94] the log after a kill: its torn end is cut, without it the file is as it was', TIMEOUT, async () => {
    const cwd = await killedRun();
    const log = path.join(cwd, `${DATABASE}-wal`);
    const content = readFileSync(log);
    // The next page was half written when the power went.
    writeFileSync(log, Buffer.concat([content, Buffer.alloc(3_000, 0x5a)]));
    writeFileSync(path.join(cwd, `${DATABASE}-shm`), Buffer.alloc(32_768, 0x5a));
    const resumed = await nebula(['resume', '--json'], { cwd });
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(JSON.parse(resumed.stdout).items).toMatchObject([{ status: 'completed', output: LARGE }]);
    const lost = await killedRun();
    rmSync(path.join(lost, `${DATABASE}-wal`));
    const listed = await nebula(['executions', 'list', '--json'], { cwd: lost });
    expect([listed.code, listed.stderr]).toEqual([0, '']);
  });
});

describe('large values on the disk', () => {
  test.each([
    ['missing', (file: string) => rmSync(file), /BLOB_MISSING/],
    ['damaged', (file: string) => writeFileSync(file, 'zzz'), /BLOB_CORRUPT/],
  ])(
    '[CLI-94] a %s blob is reported, and the run continues when it is restored',
    TIMEOUT,
    async (_name, damage, code) => {
      const cwd = await killedRun();
      const root = path.join(cwd, '.nebula/blobs');
      const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const kept = files.map((entry) => path.join(entry.parentPath, entry.name));
      const contents = kept.map((file) => readFileSync(file));
      for (const file of kept) damage(file);
      const { code: exitCode, stdout, stderr } = await nebula(['resume', '-q'], { cwd });
      expect([1, 2]).toContain(exitCode);
      expect(stdout + stderr).toMatch(code);
      expect(stdout + stderr).not.toContain('INTERNAL');
      kept.forEach((file, at) => {
        writeFileSync(file, contents[at] as Buffer);
      });
      const { stdout: list } = await nebulaHere(['executions', 'list', '--json'], { cwd });
      const [{ executionId, status }] = JSON.parse(list).items;
      const again = status === 'failed' ? ['executions', 'retry', executionId] : ['resume', executionId];
      const mended = await nebulaHere([...again, '--json'], { cwd });
      expect(mended.code, mended.stderr + mended.stdout).toBe(0);
      expect(mended.stdout).toContain(`"output": ${LARGE}`);
    },
  );
});

describe('a database that another program holds', () => {
  test('[CLI-94] an exclusive lock of another program', TIMEOUT, async () => {
    const { cwd } = await finishedRun();
    const file = path.join(cwd, DATABASE);
    const script = `const D = require('better-sqlite3'); const d = new D(${JSON.stringify(file)});
d.pragma('locking_mode = EXCLUSIVE'); d.exec('BEGIN EXCLUSIVE'); console.log('held'); setInterval(() => {}, 60000);`;
    const drivers = path.join(import.meta.dirname, '../../../packages/drivers');
    const holder = spawn(process.execPath, ['-e', script], { cwd: drivers, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    expectRefused(await nebula(['run', 'short.yaml', '-q'], { cwd }), /STORE_BUSY/);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect((await nebula(['run', 'short.yaml', '-q'], { cwd })).code).toBe(0);
    const { stdout } = await nebulaHere(['executions', 'list', '--json'], { cwd });
    expect(JSON.parse(stdout).items.length).toBeGreaterThanOrEqual(2);
  });
});

describe('a data folder that takes nothing', () => {
  test('[CLI-37] one that may only be read, for root too', TIMEOUT, async () => {
    const { cwd, executionId } = await finishedRun();
    execFileSync('chmod', ['-R', 'a+rX,a-w', cwd]);
    onTestFinished(() => void execFileSync('chmod', ['-R', 'u+w', cwd]));
    // Root may write everywhere, and can act as somebody who may not.
    const who = { cwd, ...(isRoot && { uid: NOBODY }) };
    expectRefused(await nebula(['run', 'short.yaml', '-q'], who), /DATA_DIR_UNWRITABLE/);
    expectRefused(await nebula(['run', 'short.yaml', '-q', '--data-dir', 'new'], who), /DATA_DIR_UNWRITABLE/);
    const shown = await nebula(['executions', 'show', executionId, '--json'], who);
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'completed' });
  });

  test(
    '[CLI-95] on a full disk the run waits, and continues when there is space, or after a resume',
    TIMEOUT,
    async () => {
      const cwd = projectFolder({ 'long.yaml': longFlow(150) });
      // A limit on the size of a file is a full disk that needs no mounting.
      const line = `ulimit -f 700; exec '${process.execPath}' '${BIN}' run long.yaml -q`;
      const child = spawn('bash', ['-c', line], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      for await (const chunk of child.stderr) {
        said += chunk;
        if (said.includes('Trying again')) child.kill('SIGKILL');
      }
      expect(said).toMatch(/^The store does not take writes: .*nebula\.db.* Trying again\./);
      const unfinished = await nebula(['executions', 'list', '--json'], { cwd });
      expect(JSON.parse(unfinished.stdout).items).toMatchObject([{ status: 'running' }]);
      const resumed = await nebula(['resume', '--json'], { cwd });
      expect(resumed.code, resumed.stderr).toBe(0);
      const { nodes } = JSON.parse(resumed.stdout).items[0];
      expect(
        Object.values(nodes as Record<string, { status: string }>).every((node) => node.status === 'completed'),
      ).toBe(true);
    },
  );

  test('[CLI-95] one that goes away under a run', TIMEOUT, async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    const run = startNebula(['run', 'slow.yaml'], { cwd });
    onTestFinished(() => void run.child.kill('SIGKILL'));
    await run.until('wait started');
    rmSync(path.join(cwd, '.nebula'), { recursive: true });
    const { code, stdout, stderr } = await run.ended;
    expect([0, 1, 2], stdout + stderr).toContain(code);
    expect(stdout + stderr).not.toMatch(/INTERNAL|^\s+at /m);
    expect(existsSync(cwd)).toBe(true);
  });
});

/** One node after the other, each with 30 kB of output, so that the database grows. */
function longFlow(nodes: number): string {
  const lines = Array.from({ length: nodes }, (_, at) => {
    const needs = at === 0 ? '' : `needs: [n${at - 1}], `;
    return `  n${at}: { action: core.set@1, ${needs}with: { value: "{{ 'x'.repeat(30000) }}" } }`;
  });
  return `id: long\nnodes:\n${lines.join('\n')}\n`;
}
