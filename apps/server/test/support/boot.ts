/** A whole server in this process, on memory drivers or SQLite, with a client that talks to it over a real socket. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtinActions } from '@nebula/actions';
import { createClient, type NebulaClient } from '@nebula/client';
import type { Action, Ceiling } from '@nebula/core';
import { folderBackups } from '@nebula/drivers/backup';
import { fsBlobs } from '@nebula/drivers/fs';
import { localLeader, memoryBlobs, memoryLogs, memoryQueue, memoryRecords, memoryStore } from '@nebula/drivers/memory';
import { outgoingRequests } from '@nebula/drivers/outgoing';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox, type InProcessSandboxOptions, loadHostApi } from '@nebula/drivers/sandbox-inprocess';
import { memorySecrets } from '@nebula/drivers/secrets';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine } from '@nebula/engine';
import type { Backups, Clock } from '@nebula/ports';
import {
  callbackKey,
  callbackUrls,
  type EngineParts,
  launchPlans,
  type NebulaServer,
  projectsOf,
  type ServerOptions,
  startServer,
} from '../../src/index.ts';

/** The drivers that outlive a server. */
export type Keeping = Pick<EngineParts, 'store' | 'records' | 'secrets' | 'blobs' | 'logs' | 'backups'>;

export interface Booted {
  readonly client: NebulaClient;
  readonly server: NebulaServer;
  readonly parts: EngineParts;
  readonly keeping: Keeping;
  readonly troubles: unknown[];
  close(): Promise<void>;
}

export const TOKEN = 'a-token-for-tests';

export interface BootOptions extends Partial<ServerOptions> {
  readonly actions?: readonly Action[];
  /** People sign in; without it, `TOKEN` gives full access. */
  readonly users?: true;
  readonly keeping?: Keeping;
  readonly clock?: Clock;
  /** The ceiling of projects that have none; default: everything without users, otherwise nothing. */
  readonly ceiling?: Ceiling;
  readonly sandbox?: Partial<InProcessSandboxOptions>;
  /** Notifications of the configuration, with the current folder for commands. */
  readonly notifications?: NonNullable<EngineParts['configured']>['list'];
  readonly publicUrl?: string;
}

export function memoryKeeping(clock: Clock = realClock): Keeping {
  return {
    store: memoryStore(),
    records: memoryRecords({ clock }),
    secrets: memorySecrets(),
    blobs: memoryBlobs(),
    logs: memoryLogs(),
    backups: memoryBackups,
  };
}

/** Memory has no files to copy. */
const memoryBackups: Backups = {
  async *create() {
    yield new TextEncoder().encode('a backup');
  },
};

/** In a folder of its own, which goes with `remove`. */
export async function sqliteKeeping(): Promise<{ readonly keeping: Keeping; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nebula-server-'));
  const store = await openSqliteStore({ path: path.join(folder, 'nebula.db'), clock: realClock, engine: true });
  const { logs, records } = store;
  return {
    keeping: {
      store,
      records,
      logs,
      secrets: memorySecrets(),
      blobs: fsBlobs({ root: path.join(folder, 'blobs') }),
      backups: folderBackups({ dataDir: folder, version: '0.0.0', clock: realClock }),
    },
    async remove() {
      await logs.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function boot(options: BootOptions = {}): Promise<Booted> {
  const { actions: own = [], users, clock = realClock, keeping = memoryKeeping(clock), ...others } = options;
  const { openEngine, ceiling = users ? {} : 'all', sandbox = {}, notifications = [], publicUrl, ...rest } = others;
  const random = realRandom();
  const actions = [...builtinActions, ...own];
  await loadHostApi();
  const drivers = {
    ...keeping,
    queue: memoryQueue({ clock }),
    sandbox: createInProcessSandbox({ projectDir: process.cwd(), clock, ...sandbox }),
    clock,
    random,
    digest: sha256,
  };
  let url = '';
  const callbacks = callbackUrls(await callbackKey(keeping.records), () => url);
  const projects = projectsOf(keeping, { standard: ceiling });
  const engine = createEngine(drivers, { actions, callbacks, projects, launchPlan: launchPlans(keeping) });
  const troubles: unknown[] = [];
  const parts: EngineParts = {
    ...keeping,
    executions: engine,
    engine,
    clock,
    random,
    digest: sha256,
    projects,
    outgoing: outgoingRequests,
    configured: { list: notifications, folder: process.cwd() },
    ...(publicUrl !== undefined && { publicUrl }),
  };
  const server = await startServer(parts, {
    host: '127.0.0.1',
    port: 0,
    version: '0.0.0',
    preset: 'desktop',
    projectDir: process.cwd(),
    leader: localLeader(),
    log: { level: 'silent' },
    onTrouble: (error) => troubles.push(error),
    ...(users ? {} : { token: TOKEN }),
    ...rest,
    async openEngine(at) {
      url = at;
      await engine.open();
      await openEngine?.(at);
    },
  }).catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  const client = createClient({ url: server.url, retries: 0, ...(users ? {} : { token: TOKEN }) });
  return {
    client,
    server,
    parts,
    keeping,
    troubles,
    async close() {
      await server.close(() => engine.close());
    },
  };
}
