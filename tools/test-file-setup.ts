/**
 * Around each test file: a temporary folder of its own, which is removed after it, and a look for processes that it
 * left behind, which fails the file. Files of one worker share a process, so what one leaves the next would find.
 *
 * `TEST_CPU=table.tsv npm test` also writes the CPU seconds of each file: in all, and those of its child processes.
 */
import { appendFileSync, chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The module that programs load first, from test-bundle.ts. */
    redirect?: string;
  }
}

/** A process that was told to end may take as long as this. */
const PATIENCE_MS = 5_000;

const { TMPDIR: outer } = process.env;
const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'f'));
// Some tests run programs as another user.
chmodSync(folder, 0o755);
process.env.TMPDIR = folder;
// Programs that tests start load our packages as bundles.
const redirect = inject('redirect');
if (redirect !== undefined) process.env.NODE_OPTIONS = `--import=${redirect}`;
const cpuBefore = cpuSeconds();

afterAll(async () => {
  try {
    expect(await leftBehind(), 'processes that were left behind').toEqual([]);
  } finally {
    if (outer === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outer;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    const { TEST_CPU: table } = process.env;
    if (table !== undefined) appendFileSync(table, cpuRow());
  }
});

/** The command lines of processes that were started with this file's temporary folder; they are killed. */
async function leftBehind(): Promise<string[]> {
  let left = ownProcesses();
  for (let waitedMs = 0; left.length > 0 && waitedMs < PATIENCE_MS; waitedMs += 50) {
    await sleep(50);
    left = ownProcesses();
  }
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  return left.map(({ command }) => command);
}

/** Only Linux tells the environment of a process. */
function ownProcesses(): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`)) return [];
      return [{ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() }];
    } catch {
      // The process has ended, or belongs to another user.
      return [];
    }
  });
}

/** In all, of child processes, and the file. */
function cpuRow(): string {
  const [own, children] = cpuSeconds().map((seconds, at) => seconds - cpuBefore[at]!) as [number, number];
  const file = path.relative(process.cwd(), expect.getState().testPath ?? '');
  return `${(own + children).toFixed(2)}\t${children.toFixed(2)}\t${file}\n`;
}

/** The CPU time of this process and of its ended children, in ticks of 10 ms. */
function cpuSeconds(): readonly [number, number] {
  if (process.platform !== 'linux') return [process.cpuUsage().user / 1e6, 0];
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user, system, childUser, childSystem] = fields.split(' ').slice(11, 15).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return [(user + system) / 100, (childUser + childSystem) / 100];
}
