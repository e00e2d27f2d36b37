/** The operations of the contract on a data folder, by handlers of this process. */
import { NebulaClient } from '@nebula/client';
import { type DefinitionChecks, NebulaError } from '@nebula/core';
import type { Engine, EngineOptions, ExecutionService } from '@nebula/engine';
import type { Secrets } from '@nebula/ports';
import type { DirectTransport, Parts } from '@nebula/server/local';
import type { ApiSession, Project } from '../services.ts';
import type { Io } from '../terminal/io.ts';
import { commandSettings, engineOptions } from './engine-options.ts';
import {
  driverContext,
  emptyStorage,
  lazyOutgoing,
  type OpenContext,
  openBackups,
  openRuntime,
  openSecrets,
  openStorage,
  type Storage,
} from './storage.ts';

/**
 * Reads runs and records requests. With `isAlone` no engine may own the folder meanwhile, and a missing folder is created.
 * With `orEmpty` a missing folder is taken for an empty one; otherwise it rejects with `DATA_DIR_MISSING`.
 */
export async function openLocalService(
  project: Project,
  env: Io['env'],
  { isAlone = false, orEmpty = false }: { readonly isAlone?: boolean; readonly orEmpty?: boolean | undefined } = {},
): Promise<ApiSession> {
  const { createExecutionService } = await import('@nebula/engine');
  const options = await engineOptions(project);
  const open = async (context: OpenContext): Promise<Storage> =>
    await openStorage(project, context, isAlone).catch((error: unknown) => {
      if (!orEmpty || !(error instanceof NebulaError) || error.code !== 'DATA_DIR_MISSING') throw error;
      return emptyStorage(project, context);
    });
  return await openLocal(project, env, open, options, async (context, opened, known) => ({
    executions: createExecutionService({ ...context, ...opened }, known),
    stop: async () => undefined,
    close: async () => undefined,
  }));
}

/** Opens an engine in this process. Rejects with `STORE_LOCKED` if another engine owns the folder. */
export async function openLocalEngine(
  project: Project,
  env: Io['env'],
  checks: DefinitionChecks | undefined,
): Promise<ApiSession> {
  const { createEngine } = await import('@nebula/engine');
  const options = { ...(await engineOptions(project)), ...(await commandSettings(project)), ...(checks && { checks }) };
  const open = (context: OpenContext): Promise<Storage> => openStorage(project, context, true);
  return await openLocal(project, env, open, options, async (context, opened, known) => {
    const runtime = await openRuntime(project, context, env);
    const launchPlan: EngineOptions['launchPlan'] = async (...start) => {
      const { launchPlans } = await import('@nebula/server/launch-plan');
      return await launchPlans({ store: opened.store, records: await opened.records() })(...start);
    };
    const engine = createEngine({ ...context, ...opened, ...runtime }, { ...known, launchPlan });
    return { executions: engine, engine, stop: (grace) => engine.close(grace), close: () => runtime.queue.close() };
  });
}

interface Doing {
  readonly executions: ExecutionService;
  readonly engine?: Engine;
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  close(): Promise<void>;
}

type Compose = (context: OpenContext, opened: Storage, options: EngineOptions) => Promise<Doing>;

async function openLocal(
  project: Project,
  env: Io['env'],
  open: (context: OpenContext) => Promise<Storage>,
  given: EngineOptions,
  compose: Compose,
): Promise<ApiSession> {
  const context = await driverContext(project);
  const opened = await open(context);
  try {
    const [announced, projects] = [await opened.announced(), await opened.projects()];
    const options = { ...given, announced, projects };
    const runtime = await compose(context, opened, options);
    const { clock, random, digest } = context;
    const { store, blobs, logs } = opened;
    const secrets = lazySecrets(() => openSecrets(project, context, env));
    const records = await opened.recordsOrNone();
    const { executions } = runtime;
    const backups = openBackups(project, context);
    const parts = {
      executions,
      store,
      records,
      secrets,
      blobs,
      logs,
      clock,
      random,
      digest,
      projects,
      backups,
      outgoing: lazyOutgoing,
    };
    return await sessionOn(parts, runtime, opened.close);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function sessionOn(parts: Parts, runtime: Doing, closeStore: () => Promise<void>): Promise<ApiSession> {
  const { localApi } = await import('@nebula/server/local');
  const { engine } = runtime;
  const local = localApi(parts, engine, () => undefined);
  let isClosed = false;
  const sessionAs = (transport: DirectTransport): ApiSession => ({
    api: new NebulaClient(transport),
    server: undefined,
    as: async (user) => sessionAs(await transport.as(user)),
    async work(only) {
      if (engine === undefined) throw new NebulaError('INTERNAL', 'this command has no engine');
      await engine.open(only === undefined ? {} : { only });
    },
    onTrouble(listener) {
      const stop = engine?.on((event) => {
        if (event.type === 'trouble') listener(event.error);
      });
      return () => stop?.();
    },
    stop: (grace) => runtime.stop(grace),
    async close() {
      if (isClosed) return;
      isClosed = true;
      local.close();
      await runtime.stop();
      await runtime.close();
      await closeStore();
    },
  });
  return sessionAs(local.transport);
}

/** Opens the secrets at first use: most commands need none. */
function lazySecrets(open: () => Promise<Secrets>): Secrets {
  let opened: Promise<Secrets> | undefined;
  const secrets = (): Promise<Secrets> => {
    opened ??= open();
    return opened;
  };
  return {
    list: async () => await (await secrets()).list(),
    get: async (name) => await (await secrets()).get(name),
    set: async (name, value) => await (await secrets()).set(name, value),
    rotate: async (name, value) => await (await secrets()).rotate(name, value),
    delete: async (name) => await (await secrets()).delete(name),
  };
}
