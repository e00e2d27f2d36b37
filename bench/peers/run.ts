/**
 * `npm run bench --prefix bench/peers -- [--only restate,nebula] [--workloads W1,W3] [--json FILE]`: the same workloads on
 * other engines and on Nebula, one after the other, each in a process of its own with a private server.
 */
import { fork } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CATALOG, type Entry, missing, versionOf } from './catalog.ts';
import type { Task } from './measure-child.ts';
import { type Figures, WORKLOADS } from './peer.ts';
import { stop, stopAll, tail, track } from './processes.ts';
import { formatTable, type Outcome, type Row } from './table.ts';

/** The slowest peer takes about two minutes on two cores. */
const PEER_MS = 15 * 60_000;
const REPOSITORY = path.resolve(import.meta.dirname, '../..');

const { values } = parseArgs({
  options: { only: { type: 'string' }, workloads: { type: 'string' }, json: { type: 'string' } },
});
const names = choose(values.only, Object.keys(CATALOG), 'peer');
const workloads = choose(values.workloads, WORKLOADS, 'workload');

/** On the disk of the repository, not in /tmp, which may be memory. The servers' users must be able to enter it. */
const folder = mkdtempSync(path.join(REPOSITORY, '.nebula-bench-'));
chmodSync(folder, 0o755);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleanUp().then(() => process.exit(130)));
}

try {
  const rows: Row[] = [];
  for (const name of names) rows.push(await row(name, CATALOG[name]!));
  console.log(`\n${formatTable(rows)}\n\n× is how many times better Nebula is.`);
  if (values.json !== undefined) writeFileSync(fromHere(values.json), `${JSON.stringify(report(rows), null, 2)}\n`);
  if (rows.some(({ outcome }) => outcome.kind === 'failed')) process.exitCode = 1;
} finally {
  await cleanUp();
}

async function row(name: string, entry: Entry): Promise<Row> {
  const how = missing(entry);
  console.error(how === null ? `${entry.title} …` : `${entry.title} is not installed: ${how}`);
  const { title, durability } = entry;
  if (how !== null) return { name, title, durability, version: null, outcome: { kind: 'not installed', how } };
  return { name, title, durability, version: versionOf(entry), outcome: await attempt(name, entry) };
}

async function attempt(name: string, entry: Entry): Promise<Outcome> {
  try {
    const home = path.join(folder, name);
    mkdirSync(home);
    const running = await entry.server?.start(home);
    const figures = await measure({ name, workloads, server: running?.server ?? null }, home);
    if (running !== undefined) await stop(running.started);
    rmSync(home, { recursive: true, force: true });
    return { kind: 'measured', figures };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`${entry.title} failed: ${reason}`);
    await stopAll();
    return { kind: 'failed', reason };
  }
}

async function measure(task: Task, home: string): Promise<Figures> {
  const log = path.join(home, 'measure.log');
  const output = openSync(log, 'a');
  const program = path.join(import.meta.dirname, 'measure-child.ts');
  const child = fork(program, [JSON.stringify(task)], { cwd: home, stdio: ['ignore', output, output, 'ipc'] });
  closeSync(output);
  const started = track({ child, log, endBy: 'SIGKILL' });
  let figures: Figures | undefined;
  child.once('message', (message) => {
    figures = message as Figures;
  });
  const deadline = setTimeout(() => void stop(started), PEER_MS);
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal));
  });
  clearTimeout(deadline);
  if (figures === undefined) throw new Error(`its process ended with ${code}\n${tail(log)}`);
  return figures;
}

/** npm runs its scripts in their own folder, and keeps the one it was called in. */
function fromHere(file: string): string {
  return path.resolve(process.env.INIT_CWD ?? '.', file);
}

async function cleanUp(): Promise<void> {
  await stopAll();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

function choose<Name extends string>(list: string | undefined, known: readonly Name[], what: string): readonly Name[] {
  if (list === undefined) return known;
  const chosen = list.split(',');
  const unknown = chosen.filter((name) => !known.includes(name as Name));
  if (unknown.length === 0) return known.filter((name) => chosen.includes(name));
  console.error(`There is no ${what} ${unknown.join(', ')}; there are ${known.join(', ')}.`);
  process.exit(2);
}

function report(rows: readonly Row[]): Record<string, unknown> {
  const [cpu] = cpus();
  const machine = {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  return { date: new Date().toISOString(), machine, workloads, peers: rows };
}
