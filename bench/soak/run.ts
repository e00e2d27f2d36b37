/**
 * `npm run soak -- --minutes N [--retention SECONDS] [--seed N] [--json FILE]`: mixed workflows for a long time, in one
 * worker that is never killed and in one that is killed all the time. Ends with 1 when anything that must hold does not.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chanceFrom } from '../../e2e/kill-plan.ts';
import { quantile } from '../measure.ts';
import { benchFolder } from '../session.ts';
import { Lane } from './lane.ts';
import { measureDatabase } from './measure-database.ts';
import { tableOf, verdictsOf, type Window } from './report.ts';

const MINUTE_MS = 60_000;
const WINDOWS = 60;
const SHORTEST_WINDOW_MS = 2_000;
const LINE_EVERY_MS = 10_000;
const LAST_RUNS_MS = 60_000;
const SHOWN_PROBLEMS = 20;
const MB = 1_048_576;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    retention: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    json: { type: 'string' },
  },
});
const durationMs = Number(values.minutes) * MINUTE_MS;
const retentionMs = Number(values.retention) * 1_000;
const seed = Number(values.seed);
if (!(durationMs > 0) || !(retentionMs > 0) || !Number.isInteger(seed)) {
  console.error('--minutes and --retention take a number above 0, --seed a whole number.');
  process.exit(2);
}
const windowMs = Math.max(SHORTEST_WINDOW_MS, durationMs / WINDOWS);

const root = benchFolder();
const calm = openLane('calm', false, seed);
const killed = openLane('killed', true, seed + 1);
const windows: Window[] = [];
const shownProblems = new Set<string>();
let isInterrupted = false;
process.on('SIGINT', () => {
  isInterrupted = true;
});

console.log(`Soak for ${values.minutes} min, runs kept for ${values.retention} s, seed ${seed}`);
try {
  await soak();
  process.stdout.write(process.stdout.isTTY ? '\r\u001b[2K' : '');
  await Promise.all([calm.lane.stop(LAST_RUNS_MS), killed.lane.stop(LAST_RUNS_MS)]);
  process.exitCode = reportVerdicts();
} finally {
  rmSync(root, { recursive: true, force: true });
}

function openLane(name: string, kills: boolean, laneSeed: number): { readonly folder: string; readonly lane: Lane } {
  const folder = path.join(root, name);
  mkdirSync(folder);
  return { folder, lane: new Lane({ folder, retentionMs, kills, chance: chanceFrom(laneSeed) }) };
}

async function soak(): Promise<void> {
  const begin = Date.now();
  calm.lane.start();
  killed.lane.start();
  let lineAt = LINE_EVERY_MS;
  for (let end = windowMs; end <= durationMs && !isInterrupted; end += windowMs) {
    await new Promise((resolve) => setTimeout(resolve, begin + end - Date.now()));
    windows.push(await measureWindow(end));
    showNewProblems();
    if (process.stdout.isTTY) process.stdout.write(`\r\u001b[2K${progress().slice(0, process.stdout.columns - 1)}`);
    else if (end >= lineAt) {
      console.log(progress());
      lineAt = end + LINE_EVERY_MS;
    }
  }
}

/** At once, and not only at the end of hours. */
function showNewProblems(): void {
  const found = problems().slice(0, SHOWN_PROBLEMS);
  for (const problem of found.filter((one) => !shownProblems.has(one))) {
    shownProblems.add(problem);
    console.log(`${process.stdout.isTTY ? '\r\u001b[2K' : ''}${clock(windows.at(-1)?.atMs ?? 0)} ${problem}`);
  }
}

async function measureWindow(atMs: number): Promise<Window> {
  const { heapBytes, residentBytes } = await calm.lane.memory();
  const latencies = calm.lane.takeLatencies();
  return {
    atMs,
    heapMb: heapBytes / MB,
    residentMb: residentBytes / MB,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    calm: { ...measureDatabase(calm.folder), ended: calm.lane.ledger.ended },
    killed: { ...measureDatabase(killed.folder), ended: killed.lane.ledger.ended },
  };
}

function progress(): string {
  const last = windows.at(-1) as Window;
  const { SIGKILL, SIGTERM } = killed.lane.signals;
  return [
    `${clock(last.atMs)} of ${clock(durationMs)}`,
    `${calm.lane.ledger.ended} + ${killed.lane.ledger.ended} runs`,
    `${SIGKILL} SIGKILL, ${SIGTERM} SIGTERM`,
    `heap ${last.heapMb.toFixed(1)} MB`,
    `p50 ${last.p50Ms.toFixed(1)} ms, p99 ${last.p99Ms.toFixed(1)} ms`,
    `database ${(last.calm.bytes / MB).toFixed(1)} + ${(last.killed.bytes / MB).toFixed(1)} MB`,
    `${problems().length} problems`,
  ].join(' · ');
}

function reportVerdicts(): number {
  const verdicts = verdictsOf(windows, windows.at(-1)?.atMs ?? 0, retentionMs);
  const found = problems();
  const { SIGKILL, SIGTERM } = killed.lane.signals;
  console.log(`\n${tableOf(verdicts)}\n`);
  console.log(`runs that ended: ${calm.lane.ledger.ended} calm, ${killed.lane.ledger.ended} killed`);
  console.log(`signals: ${SIGKILL} SIGKILL, ${SIGTERM} SIGTERM; attempts repeated: ${killed.lane.ledger.repeated}`);
  console.log('every run ends as its definition says, effects once per key, nothing finished runs again:');
  console.log(found.length === 0 ? '  holds' : `  broken ${found.length} times`);
  for (const problem of found.slice(0, SHOWN_PROBLEMS)) console.log(`  ${problem}`);
  const growing = verdicts.filter(({ isFailed }) => isFailed);
  for (const { name } of growing) console.log(`grows: ${name}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ seed, windows, found }, null, 2)}\n`);
  const isFailed = found.length > 0 || growing.length > 0;
  console.log(isFailed ? '\nfailed' : '\npassed');
  return isFailed ? 1 : 0;
}

function problems(): string[] {
  return [
    ...calm.lane.ledger.problems.map((problem) => `calm: ${problem}`),
    ...killed.lane.ledger.problems.map((problem) => `killed: ${problem}`),
  ];
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
