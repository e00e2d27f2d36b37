/** The composition root: the only place that chooses drivers. */
import path from 'node:path';
import {
  type Action,
  createCatalog,
  NebulaError,
  parseDuration,
  parseSize,
  type WorkflowDefinition,
} from '@nebula/core';
import type { Drivers, EngineOptions } from '@nebula/engine';
import type { Store } from '@nebula/ports';
import type { DriverContext, NebulaConfig } from '@nebula/sdk';
import { openProject } from './project.ts';
import type { DeskSession, EngineSession, Project, Services } from './services.ts';
import type { Io } from './terminal/io.ts';

const DATABASE = 'nebula.db';
const BLOBS = 'blobs';

export function composeServices(io: Io): Services {
  return {
    openProject: (options) => openProject(io, options),
    actions: allActions,
    catalog: async (project) =>
      createCatalog(await allActions(project), project.config.retryPolicies, project.config.capabilities),
    openDesk,
    openEngine,
  };
}

async function allActions({ config }: Project): Promise<readonly Action[]> {
  const { builtinActions } = await import('@nebula/actions');
  return [...builtinActions, ...(config.actions ?? [])];
}

async function openDesk(project: Project): Promise<DeskSession> {
  const { createDesk } = await import('@nebula/engine');
  const context = await driverContext(project);
  const opened = await openKeeping(project, context, false);
  const desk = createDesk({ ...context, ...opened }, await engineOptions(project));
  return {
    desk,
    logs: opened.logs,
    permits: (key) => opened.store.permits(key),
    workflowIds: () => workflowIdsOf(opened.store),
    definition: (workflowId, version) => definitionOf(opened.store, workflowId, version),
    close: opened.close,
  };
}

async function openEngine(project: Project): Promise<EngineSession> {
  const { createEngine, keyedExecutionId } = await import('@nebula/engine');
  const options = await engineOptions(project);
  const context = await driverContext(project);
  const opened = await openKeeping(project, context, true);
  try {
    const doing = await openDoing(project, context);
    const engine = createEngine({ ...context, ...opened, ...doing }, options);
    return {
      desk: engine,
      engine,
      logs: opened.logs,
      permits: (key) => opened.store.permits(key),
      workflowIds: () => workflowIdsOf(opened.store),
      newExecutionId: () => context.random.id('exe'),
      keyedExecutionId: (workflowId, key) => keyedExecutionId(context.digest, workflowId, key),
      definition: (workflowId, version) => definitionOf(opened.store, workflowId, version),
      async close() {
        await engine.close();
        await doing.queue.close();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function driverContext(project: Project): Promise<DriverContext & Pick<Drivers, 'digest'>> {
  const { realClock, realRandom, sha256 } = await import('@nebula/drivers/real');
  return { projectDir: project.dir, dataDir: project.dataDir, clock: realClock, random: realRandom(), digest: sha256 };
}

type Keeping = Pick<Drivers, 'store' | 'blobs' | 'logs'> & { close(): Promise<void> };

/** Where runs are kept: SQLite and files in the data folder, unless the project's configuration says otherwise. */
async function openKeeping({ config }: Project, context: DriverContext, forEngine: boolean): Promise<Keeping> {
  const { drivers = {} } = config;
  const own = drivers.store === undefined ? await openDatabase(context, forEngine, config.durability) : undefined;
  const store = own ?? ((await drivers.store?.(context)) as Store);
  const logs = (await drivers.logs?.(context)) ?? own?.logs ?? (await volatileLogs());
  const blobs = (await drivers.blobs?.(context)) ?? (await folderBlobs(context));
  return {
    store,
    logs,
    blobs,
    async close() {
      await logs.close();
      await store.close();
    },
  };
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
    // Looking needs no permission to write; a request then fails with the store's own words.
    if (engine || !(error instanceof NebulaError) || error.code !== 'DATA_DIR_UNWRITABLE') throw error;
    return await openSqliteStore({ ...options, readonly: true });
  }
}

async function folderBlobs({ dataDir }: DriverContext) {
  const { fsBlobs } = await import('@nebula/drivers/fs');
  return fsBlobs({ root: path.join(dataDir, BLOBS) });
}

/** A project with a store of its own and no logs beside it keeps what is said for as long as the process lives. */
async function volatileLogs() {
  const { memoryLogs } = await import('@nebula/drivers/memory');
  return memoryLogs();
}

/** What runs nodes: a queue in this process and a sandbox that checks capabilities. */
async function openDoing({ config }: Project, context: DriverContext): Promise<Pick<Drivers, 'queue' | 'sandbox'>> {
  const { drivers = {} } = config;
  const { memoryQueue } = await import('@nebula/drivers/memory');
  const { createInProcessSandbox } = await import('@nebula/drivers/sandbox-inprocess');
  return {
    queue: (await drivers.queue?.(context)) ?? memoryQueue({ clock: context.clock }),
    sandbox: (await drivers.sandbox?.(context)) ?? createInProcessSandbox(context),
  };
}

async function engineOptions(project: Project): Promise<EngineOptions> {
  const { retryPolicies, capabilities, concurrency, expressionLimits } = project.config;
  const retentionMs = retentionOf(project.config);
  const inlineLimitBytes = inlineLimitOf(project.config);
  return {
    actions: await allActions(project),
    ...(retryPolicies !== undefined && { retryPolicies }),
    ...(capabilities !== undefined && { capabilities }),
    ...(concurrency !== undefined && { concurrency }),
    ...(expressionLimits !== undefined && { expressionLimits }),
    ...(retentionMs !== undefined && { retentionMs }),
    ...(inlineLimitBytes !== undefined && { inlineLimitBytes }),
  };
}

function retentionOf({ retention }: NebulaConfig): number | null | undefined {
  return typeof retention === 'string' ? measured('retention', parseDuration(retention)) : retention;
}

function inlineLimitOf({ inlineLimit }: NebulaConfig): number | undefined {
  return typeof inlineLimit === 'string' ? measured('inlineLimit', parseSize(inlineLimit)) : inlineLimit;
}

function measured(key: string, value: number | { readonly message: string; readonly hint: string }): number {
  if (typeof value === 'number') return value;
  throw new NebulaError('CONFIG_INVALID', `${key} in the configuration: ${value.message}`, { hint: value.hint });
}

async function definitionOf(
  store: Store,
  workflowId: string,
  version?: number,
): Promise<WorkflowDefinition | undefined> {
  const row = await store.workflowVersion(workflowId, version);
  return row === undefined
    ? undefined
    : { ...(JSON.parse(row.definition) as WorkflowDefinition), version: row.version };
}

/** More than anybody has in one project. */
const MAX_WORKFLOWS = 100_000;

async function workflowIdsOf(store: Store): Promise<readonly string[]> {
  return (await store.workflows({ limit: MAX_WORKFLOWS })).map(({ workflowId }) => workflowId);
}
