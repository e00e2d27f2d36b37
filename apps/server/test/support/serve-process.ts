/** A server in a process of its own, on a data folder: so that it can be killed. Arguments: folder, port. */
import path from 'node:path';
import { builtinActions } from '@nebula/actions';

import { fsBlobs } from '@nebula/drivers/fs';
import { localLeader, memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { memorySecrets } from '@nebula/drivers/secrets';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine } from '@nebula/engine';
import { announcedActions, projectsOf, startServer } from '../../src/index.ts';

const [dataDir = '.', port = '0'] = process.argv.slice(2);
const clock = realClock;
const store = await openSqliteStore({ path: path.join(dataDir, 'nebula.db'), clock, engine: true });
const { records, logs } = store;
const drivers = {
  store,
  logs,
  blobs: fsBlobs({ root: path.join(dataDir, 'blobs') }),
  queue: memoryQueue({ clock }),
  sandbox: createInProcessSandbox({ projectDir: dataDir, clock }),
  secrets: memorySecrets(),
  clock,
  random: realRandom(),
  digest: sha256,
};
// Before the engine is open: runs that it continues may name announced actions.
const announced = await announcedActions({ records });
const projects = projectsOf({ records, store }, { standard: 'all' });
const engine = createEngine(drivers, { actions: builtinActions, announced, projects });
await engine.open();
const server = await startServer(
  { ...drivers, records, executions: engine, engine, projects },
  {
    host: '127.0.0.1',
    port: Number(port),
    version: '0.0.0',
    preset: 'desktop',
    token: 'a-token-for-tests',
    projectDir: dataDir,
    leader: localLeader(),
    onTrouble: (error) => console.error(error),
  },
);
console.log(server.url);
