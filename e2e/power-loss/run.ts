/**
 * `npm run power-loss -- [--states N] [--seed S] [--processes P] [--runs R] [--sabotage NAME] [--keep FOLDER]`:
 * goes through N distinct states that a power cut can leave of a data folder. Ends with 1 at the first that has lost
 * something. `--check FOLDER` rebuilds such a state and checks it again.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { checkKept } from './kept-failure.ts';
import type { ExplorerOptions, Report } from './record-explorer.ts';
import { whyNoRecording } from './recording.ts';
import { SABOTAGES, type WorkloadOptions } from './workload-options.ts';

/** Each record has another seed and another thread of commits. */
const STATES_PER_RECORD = 10_000;
const CONTINUE_EVERY = 500;
const STORE_EVERY = 10;
const PROGRESS_MS = 1_000;
const EXIT_INTERRUPTED = 130;
const EXPLORER = path.join(import.meta.dirname, 'record-explorer.ts');

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    runs: { type: 'string', default: '12' },
    sabotage: { type: 'string' },
    keep: { type: 'string', default: path.join(tmpdir(), 'power-loss') },
    check: { type: 'string' },
  },
});

const explorers = new Set<ChildProcess>();
const scratch = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'power-loss-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
process.exitCode = values.check === undefined ? await explore() : await checkAgain(values.check);

async function checkAgain(folder: string): Promise<number> {
  const { failures } = await checkKept(folder, scratch);
  for (const failure of failures.flatMap(({ failures: found }) => found)) console.log(failure);
  console.log(failures.length === 0 ? 'Nothing is lost in this state.' : `The state is in ${folder}/state.`);
  return failures.length === 0 ? 0 : 1;
}

async function explore(): Promise<number> {
  const why = whyNoRecording();
  if (why !== undefined) throw new Error(`A power loss cannot be tried here: ${why}.`);
  const states = Number(values.states);
  const distinct = new Set<string>();
  const total = { rebuilt: 0, continued: 0, cpuSeconds: 0, operations: 0, commits: 0, records: 0, failures: 0 };
  const beganAt = performance.now();
  const seconds = (): number => (performance.now() - beganAt) / 1000;
  const progress = setInterval(() => {
    if (process.stderr.isTTY)
      process.stderr.write(`\r${distinct.size} of ${states} states, ${Math.round(seconds())} s `);
  }, PROGRESS_MS);
  const queue = recordsOf(states);
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined && total.failures === 0; next = queue.shift()) {
      await exploreRecord(next, (report) => {
        if (report.type === 'states') for (const hash of report.hashes) distinct.add(hash);
        if (report.type === 'failure') failed(report);
        if (report.type === 'recorded') {
          total.records++;
          total.operations += report.operations;
          total.commits += report.commits;
        }
        if (report.type !== 'done') return;
        total.rebuilt += report.rebuilt;
        total.continued += report.continued;
        total.cpuSeconds += report.cpuSeconds;
        if (!process.stderr.isTTY) console.log(`${distinct.size} of ${states} states, ${Math.round(seconds())} s`);
      });
    }
  };
  const failed = ({ failures, kept }: Extract<Report, { type: 'failure' }>): void => {
    total.failures++;
    console.log(`\n${failures.join('\n')}`);
    if (kept !== undefined) console.log(`again: npm run power-loss -- --check ${kept}`);
  };
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const first = await Promise.race([Promise.all(Array.from({ length: Number(values.processes) }, lane)), interrupted]);
  clearInterval(progress);
  queue.length = 0;
  for (const child of explorers) child.kill();
  const { rebuilt, continued, cpuSeconds, operations, commits, records, failures } = total;
  console.log(
    `\n${distinct.size} distinct states (${rebuilt} rebuilt in finished records), ${failures} failed; ${continued} were continued by an engine.`,
  );
  console.log(`${records} records with ${operations} operations and ${commits} commits.`);
  console.log(`${seconds().toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of CPU.`);
  if (failures > 0) return 1;
  return first === 'interrupted' ? EXIT_INTERRUPTED : 0;
}

function recordsOf(states: number): ExplorerOptions[] {
  const count = Math.max(1, Math.ceil(states / STATES_PER_RECORD));
  const threads = ['thread', 'main', 'auto'] as const;
  return Array.from({ length: count }, (_, index) => ({
    workload: workloadOf(Number(values.seed) + index, threads[index % threads.length] ?? 'auto'),
    states: Math.ceil(states / count),
    continueEvery: CONTINUE_EVERY,
    storeEvery: STORE_EVERY,
    scratch: path.join(scratch, String(index)),
    keep: values.keep,
  }));
}

function workloadOf(seed: number, commitsIn: WorkloadOptions['commitsIn']): WorkloadOptions {
  const sabotage = SABOTAGES.find((name) => name === values.sabotage);
  if (values.sabotage !== undefined && sabotage === undefined) {
    throw new Error(`There is no sabotage '${values.sabotage}': choose one of ${SABOTAGES.join(', ')}.`);
  }
  const isOnMain = sabotage === 'sync-off';
  return {
    seed,
    runs: Number(values.runs),
    lives: 2,
    commitsIn: isOnMain ? 'main' : commitsIn,
    ...(sabotage && { sabotage }),
  };
}

function exploreRecord(options: ExplorerOptions, onReport: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(EXPLORER, [JSON.stringify(options)]);
    explorers.add(child);
    child.on('message', (report: Report) => onReport(report));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      explorers.delete(child);
      if (code === 0 || signal === 'SIGTERM') resolve();
      else reject(new Error(`An explorer ended with ${code ?? signal}.`));
    });
  });
}
