/** Opens the drivers: SQLite and files in the data folder, unless the configuration names others. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Action, type Ceiling, NebulaError } from '@nebula/core';
import type { Drivers, Projects } from '@nebula/engine';
import {
  type Backups,
  DEFAULT_PROJECT,
  type Outgoing,
  type Records,
  type Sandbox,
  type Secrets,
  type Store,
} from '@nebula/ports';
import type { DriverContext, NebulaConfig } from '@nebula/sdk';
import type { Ceilings } from '@nebula/server/projects';
import { ownVersion } from '../own-version.ts';
import type { Project } from '../services.ts';
import { concealWith } from '../terminal/concealed.ts';
import type { Io } from '../terminal/io.ts';
import { ReservedFiles } from './reserved-files.ts';

const DATABASE = 'nebula.db';
const BLOBS = 'blobs';

export type OpenContext = DriverContext & Pick<Drivers, 'digest'>;

export async function driverContext({ dir, dataDir }: Project): Promise<OpenContext> {
  const { realClock, realRandom, sha256 } = await import('@nebula/drivers/real');
  return { projectDir: dir, dataDir, clock: realClock, random: realRandom(), digest: sha256 };
}

export interface Storage extends Pick<Drivers, 'store' | 'blobs' | 'logs'> {
  /** Opened on first use. */
  records(): Promise<Records>;
  /** Like `records`; if the configuration has a store without records, there are none, and none can be created. */
  recordsOrNone(): Promise<Records>;
  /** Actions that remote workers have announced to a server on the same folder. */
  announced(): Promise<readonly Action[]>;
  /** Projects of workflows and their ceilings. */
  projects(preset?: string): Promise<Projects>;
  close(): Promise<void>;
}

export async function openStorage({ config }: Project, context: DriverContext, forEngine: boolean): Promise<Storage> {
  const { drivers = {} } = config;
  const own = drivers.store === undefined ? await openDatabase(context, forEngine, config.durability) : undefined;
  const store = own ?? ((await drivers.store?.(context)) as Store);
  const logs = (await drivers.logs?.(context)) ?? own?.logs ?? (await volatileLogs());
  const blobs = (await drivers.blobs?.(context)) ?? (await folderBlobs(context));
  return storageOn(config, { store, logs, blobs }, async () => (await drivers.records?.(context)) ?? own?.records);
}

/** A data folder that does not exist, as if it were empty. */
export async function emptyStorage({ config }: Project, { clock }: DriverContext): Promise<Storage> {
  const { memoryBlobs, memoryLogs, memoryRecords, memoryStore } = await import('@nebula/drivers/memory');
  const drivers = { store: memoryStore(), logs: memoryLogs(), blobs: memoryBlobs() };
  return storageOn(config, drivers, async () => memoryRecords({ clock }));
}

function storageOn(
  config: NebulaConfig,
  { store, logs, blobs }: Pick<Drivers, 'store' | 'blobs' | 'logs'>,
  recordsOf: () => Promise<Records | undefined>,
): Storage {
  return {
    store,
    logs,
    blobs,
    records: async () => (await recordsOf()) ?? noRecords(),
    recordsOrNone: async () => (await recordsOf()) ?? NO_RECORDS,
    async announced() {
      const records = await recordsOf();
      if (records === undefined) return [];
      const { announcedActions } = await import('@nebula/server/announced');
      return await announcedActions({ records });
    },
    projects: async (preset) => projectsIn(config, store, await recordsOf(), preset),
    async close() {
      await logs.close();
      await store.close();
    },
  };
}

/** Reads announced actions without opening anything else. A folder without a readable database has none. */
export async function announcedIn({ config, dataDir }: Project): Promise<readonly Action[]> {
  if (config.drivers?.store !== undefined || !existsSync(path.join(dataDir, DATABASE))) return [];
  const { realClock: clock } = await import('@nebula/drivers/real');
  const { openSqliteStore } = await import('@nebula/drivers/sqlite');
  const { announcedActions } = await import('@nebula/server/announced');
  try {
    const store = await openSqliteStore({ path: path.join(dataDir, DATABASE), clock, engine: false, readonly: true });
    try {
      return await announcedActions(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof NebulaError) return [];
    throw error;
  }
}

const NO_RECORDS: Records = {
  get: async () => undefined,
  list: async () => [],
  commit: async () => noRecords(),
  purge: async () => 0,
};

/** Rejects writes of records instead of dropping them silently. */
function noRecords(): never {
  throw new NebulaError(
    'CONFIG_INVALID',
    'drivers.store is configured without drivers.records, so this change cannot be stored',
    {
      hint: 'add drivers: { records: (context) => … } to the configuration',
    },
  );
}

async function openDatabase(
  { dataDir, clock }: DriverContext,
  engine: boolean,
  durability: NebulaConfig['durability'],
) {
  const { openSqliteStore } = await import('@nebula/drivers/sqlite');
  const options = { path: path.join(dataDir, DATABASE), clock, engine, ...(durability && { durability }) };
  try {
    return await openSqliteStore(options);
  } catch (error) {
    // Reading needs no permission to write; a request then fails with the error of the store.
    if (engine || !(error instanceof NebulaError) || error.code !== 'DATA_DIR_UNWRITABLE') throw error;
    return await openSqliteStore({ ...options, readonly: true });
  }
}

async function folderBlobs({ dataDir }: DriverContext) {
  const { fsBlobs } = await import('@nebula/drivers/fs');
  return fsBlobs({ root: path.join(dataDir, BLOBS) });
}

/** Connections of notifications. Loaded at first use. */
export const lazyOutgoing: Outgoing = {
  async post(request) {
    const { outgoingRequests } = await import('@nebula/drivers/outgoing');
    return await outgoingRequests.post(request);
  },
  async connect(connection) {
    const { outgoingRequests } = await import('@nebula/drivers/outgoing');
    return await outgoingRequests.connect(connection);
  },
  async run(program) {
    const { outgoingRequests } = await import('@nebula/drivers/outgoing');
    return await outgoingRequests.run(program);
  },
};

/** Undefined where the configuration puts data elsewhere than into the data folder. Loaded at first use. */
export function openBackups({ config, dataDir }: Project, { clock }: DriverContext): Backups | undefined {
  const { store, blobs, logs, records } = config.drivers ?? {};
  if ([store, blobs, logs, records].some((driver) => driver !== undefined)) return undefined;
  return {
    async *create(options) {
      const { folderBackups } = await import('@nebula/drivers/backup');
      yield* folderBackups({ dataDir, clock, version: await ownVersion() }).create(options);
    },
  };
}

/** A project with its own store and no logs driver keeps log lines as long as the process lives. */
async function volatileLogs() {
  const { memoryLogs } = await import('@nebula/drivers/memory');
  return memoryLogs();
}

/** A sealed file in the data folder, unless the project's configuration says otherwise. */
export async function openSecrets({ config }: Project, context: DriverContext, env: Io['env']): Promise<Secrets> {
  const own = await config.drivers?.secrets?.(context);
  if (own !== undefined) return own;
  const { sealedSecrets } = await import('@nebula/drivers/secrets');
  return sealedSecrets({ dataDir: context.dataDir, clock: context.clock, env });
}

/** Opens the drivers that run nodes: a queue in this process, a sandbox that checks capabilities, and secrets. */
export async function openRuntime(
  project: Project,
  context: DriverContext,
  env: Io['env'],
  reserved = new ReservedFiles(project, env),
): Promise<Pick<Drivers, 'queue' | 'sandbox' | 'secrets'>> {
  const { drivers = {} } = project.config;
  const { rememberingSecrets } = await import('@nebula/drivers/secrets');
  const { secrets, conceal } = rememberingSecrets(await openSecrets(project, context, env));
  concealWith(conceal);
  const { memoryQueue } = await import('@nebula/drivers/memory');
  return {
    queue: (await drivers.queue?.(context)) ?? memoryQueue({ clock: context.clock }),
    sandbox: (await drivers.sandbox?.(context)) ?? (await projectSandbox(project, reserved)),
    secrets,
  };
}

/** A sandbox whose grants reach neither the data folder nor workflow files. */
export async function projectSandbox(project: Project, reserved: ReservedFiles): Promise<Sandbox> {
  const { createInProcessSandbox } = await import('@nebula/drivers/sandbox-inprocess');
  const { dir: projectDir, dataDir } = project;
  return createInProcessSandbox({ projectDir, dataDir, reserved: (file, access) => reserved.why(file, access) });
}

/** On the machine of their author, workflows get what they ask for; elsewhere an owner decides. */
function ceilingsOf({ projects = {}, capabilities, server }: NebulaConfig, preset?: string): Ceilings {
  const configured: Record<string, Ceiling> = {};
  for (const [name, { ceiling }] of Object.entries(projects)) if (ceiling !== undefined) configured[name] = ceiling;
  return {
    standard: (preset ?? server?.preset ?? 'desktop') === 'desktop' ? 'all' : {},
    configured,
    ...(capabilities && { ofDefault: capabilities }),
  };
}

/** Without records there is one project. */
async function projectsIn(
  config: NebulaConfig,
  store: Store,
  records: Records | undefined,
  preset?: string,
): Promise<Projects> {
  const { ceilingIn, projectsOf } = await import('@nebula/server/projects');
  const ceilings = ceilingsOf(config, preset);
  if (records !== undefined) return projectsOf({ records, store }, ceilings);
  return {
    projectOf: async () => DEFAULT_PROJECT,
    ceilingOf: async (project) => ceilingIn(project, undefined, ceilings),
  };
}
