/**
 * `node serve.ts FOLDER`: a whole server on SQLite in one process, for tests that kill it and for load.
 * On stdout: its address, once it answers. It ends when its stdin does.
 */
import path from 'node:path';
import type { Action } from '@nebula/core';
import { fsBlobs } from '@nebula/drivers/fs';
import { localLeader, memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { memorySecrets } from '@nebula/drivers/secrets';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine } from '@nebula/engine';
import { projectsOf, startServer } from '../../src/index.ts';

const actions: readonly Action[] = [
  { id: 'noop', version: '1', effect: 'pure', run: () => null },
  {
    id: 'nap',
    version: '1',
    effect: 'idempotent',
    run: async (ctx) => {
      await ctx.sleep(5);
      return null;
    },
  },
];

const [folder = ''] = process.argv.slice(2);
process.stdin.on('close', () => process.exit(1)).resume();

const clock = realClock;
const random = realRandom();
const store = await openSqliteStore({
  path: path.join(folder, 'nebula.db'),
  clock,
  engine: true,
  durability: 'strict',
});
const keeping = {
  store,
  records: store.records,
  logs: store.logs,
  secrets: memorySecrets(),
  blobs: fsBlobs({ root: path.join(folder, 'blobs') }),
};
const shared = { ...keeping, clock, random, digest: sha256 };
const sandbox = createInProcessSandbox({ projectDir: folder, clock });
const projects = projectsOf(keeping, { standard: 'all' });
const engine = createEngine(
  { ...shared, queue: memoryQueue({ clock }), sandbox },
  { actions, concurrency: 64, projects },
);
await engine.open();
const server = await startServer(
  { ...shared, executions: engine, engine, projects },
  {
    host: '127.0.0.1',
    port: 0,
    version: '0.0.0',
    preset: 'load',
    token: 'load',
    projectDir: folder,
    leader: localLeader(),
    onTrouble: (error) => console.error(error),
  },
);
process.stdout.write(`${server.url}\n`);

process.once('SIGTERM', () => void end());

async function end(): Promise<void> {
  await server.close(() => engine.close());
  await store.close();
  process.exit(0);
}
