/**
 * `node workload.ts FOLDER OPTIONS`: a real engine on the real drivers, in a data folder that it creates. All that it is
 * promised, and all effects, become marks of the record. Two lives: the second one opens what the first has closed.
 */
import path from 'node:path';
import { fsBlobs } from '@nebula/drivers/fs';
import { memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { sealedSecrets } from '@nebula/drivers/secrets';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine, type Engine } from '@nebula/engine';
import type { Records } from '@nebula/ports';
import Database from 'better-sqlite3';
import { chanceFrom } from '../kill-plan.ts';
import { acknowledgingBlobs, acknowledgingRecords, acknowledgingStore, setSecret } from './acknowledging.ts';
import { fact, markingInto } from './marks.ts';
import { actionsOn, executionIdOf, INLINE_LIMIT_BYTES, WORKFLOWS, type WorkflowName } from './workflows.ts';
import { DATA_FOLDER, DATABASE, type WorkloadOptions } from './workload-options.ts';

const CONCURRENCY = 8;
const WIDTH = 3;
/** Above a megabyte a log is checkpointed; so this is as often as possible. */
const WAL_LIMIT_BYTES = 1_000_000;
const SNAPSHOT_MIN_BYTES = 400;
/** A record this large, once removed, leaves enough free pages for the database file to shrink. */
const BALLAST_BYTES = 300_000;
const CLOSE_GRACE_MS = 60_000;

const [folder = '', optionsText = '{}'] = process.argv.slice(2);
const options = JSON.parse(optionsText) as WorkloadOptions;
const dataDir = path.join(folder, DATA_FOLDER);
const mark = markingInto(process.env.POWER_MARKS ?? '');
const chance = chanceFrom(options.seed);
const effects = new Set<string>();
const world = {
  has: (key: string) => effects.has(key),
  add(key: string) {
    effects.add(key);
    mark({ type: 'effect', key });
  },
};

if (options.sabotage === 'sync-off') withoutSyncs();
for (let life = 0; life < options.lives; life++) await live(life);

async function live(life: number): Promise<void> {
  const secrets = sealedSecrets({ dataDir, clock: realClock, env: {} });
  if (life === 0) await setSecret(secrets, mark, 'first', 'set before there is a database');
  const store = await openSqliteStore({
    path: path.join(dataDir, DATABASE),
    clock: realClock,
    engine: true,
    commitsIn: options.commitsIn,
    walLimitBytes: WAL_LIMIT_BYTES,
    ...(options.sabotage === 'sync-normal' && { durability: 'relaxed' }),
  });
  const queue = memoryQueue({ clock: realClock });
  const drivers = {
    store: acknowledgingStore(store, mark, options.sabotage === 'early-acknowledgement'),
    logs: store.logs,
    blobs: acknowledgingBlobs(fsBlobs({ root: path.join(dataDir, 'blobs') }), mark),
    queue,
    sandbox: createInProcessSandbox({ projectDir: folder, clock: realClock }),
    clock: realClock,
    random: realRandom(),
    digest: sha256,
  };
  const engine = createEngine(drivers, {
    actions: actionsOn(world),
    concurrency: CONCURRENCY,
    inlineLimitBytes: INLINE_LIMIT_BYTES,
    snapshotMinBytes: SNAPSHOT_MIN_BYTES,
  });
  await engine.open();
  for (const definition of Object.values(WORKFLOWS)) await engine.register(definition);
  const records = acknowledgingRecords(store.records, mark);
  const perLife = Math.ceil(options.runs / options.lives);
  const numbers = Array.from({ length: perLife }, (_, n) => life * perLife + n);
  const lane = async (): Promise<void> => {
    for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) {
      await oneRun(engine, records, n);
      if (n % 5 === 2) await setSecret(secrets, mark, `secret-${n % 2}`, `value ${n}`);
      if (n % 4 === 1) await logLine(store.logs, n);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
  if (life === options.lives - 1) await shrink(records);
  while (await store.reclaimSpace());
  await engine.close({ graceMs: CLOSE_GRACE_MS });
  await queue.close();
  await store.close();
}

async function oneRun(engine: Engine, records: Records, n: number): Promise<void> {
  const names: readonly WorkflowName[] = ['chain', 'bulk', 'bulk', 'waiting'];
  // Every record has each of them.
  const name = names[n < names.length ? n : Math.floor(chance() * names.length)] ?? 'chain';
  const executionId = executionIdOf(name, n);
  if (name === 'waiting' && n % 2 === 0) await sendSignal(engine, n);
  await engine.start(name, undefined, { executionId, input: { n } });
  if (name === 'waiting' && n % 2 === 1) await sendSignal(engine, n);
  const schedule = { kind: 'schedule', id: `daily-${n % 4}` };
  await records.commit([{ ...schedule, body: JSON.stringify({ last: executionId, next: n + 1 }) }]);
  await engine.waitFor(executionId, 'end');
  if (n % 3 === 0) await engine.delete(executionId);
}

async function shrink(records: Records): Promise<void> {
  const ballast = { kind: 'ballast', id: 'ballast' };
  await records.commit([{ ...ballast, body: JSON.stringify('·'.repeat(BALLAST_BYTES / 2)) }]);
  await records.commit([{ ...ballast, body: null }]);
}

async function sendSignal(engine: Engine, n: number): Promise<void> {
  await engine.publishSignal({ signal: 'go', key: String(n), payload: `go${n}` });
}

async function logLine(logs: Awaited<ReturnType<typeof openSqliteStore>>['logs'], n: number): Promise<void> {
  const message = `line ${n}`;
  logs.append({ executionId: 'log', node: null, attempt: null, at: realClock.now(), level: 'info', message });
  await logs.flush();
  mark({ type: 'promised', facts: [fact.line('log', message)] });
}

/** Real SQLite, told not to sync. The commit thread has its own copy of the driver: commits are on the main thread. */
function withoutSyncs(): void {
  const pragma = Database.prototype.pragma;
  Database.prototype.pragma = function off(this: Database.Database, source: string, ...more: never[]) {
    return pragma.call(this, source.replace('synchronous = FULL', 'synchronous = OFF'), ...more);
  };
}
