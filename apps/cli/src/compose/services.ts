/** The composition root: with its neighbours the only place that chooses drivers. */
import { type DefinitionChecks, definitionChecks, NebulaError } from '@nebula/core';
import { openProject } from '../project.ts';
import { holdingServer, readToken } from '../remote/found-server.ts';
import type { ApiSession, Project, Purpose, Services, SessionOptions } from '../services.ts';
import type { Io } from '../terminal/io.ts';
import { allActions, commandSettings } from './engine-options.ts';
import { ReservedFiles } from './reserved-files.ts';
import { announcedIn, driverContext, openSecrets, projectSandbox } from './storage.ts';

export function composeServices(io: Io): Services {
  return {
    openProject: (options) => openProject(io, options),
    actions: actionsOf,
    checks: checksOf,
    sandbox: (project) => projectSandbox(project, new ReservedFiles(project, io.env)),
    rotateKey: (project) => rotateKey(io, project),
    backups: {
      verify: async (...given) => (await import('./backups.ts')).backupServices.verify(...given),
      restore: async (...given) => (await import('./backups.ts')).backupServices.restore(...given),
    },
    openApi: (project, purpose, how) => openApi(io, project, purpose, how ?? {}),
    openServer: async (project, options) => (await import('./server.ts')).openServer(project, options, io.env),
    engineHolder: async ({ dataDir }) => (await import('@nebula/drivers/sqlite')).engineHolder(dataDir),
  };
}

async function actionsOf(project: Project) {
  if (project.server === undefined) return await allActions(project);
  const { remoteActions } = await import('../remote/actions.ts');
  return await remoteActions((await serverAt(project.server)).api);
}

async function checksOf(project: Project): Promise<DefinitionChecks> {
  if (project.server === undefined) {
    const { realClock } = await import('@nebula/drivers/real');
    const settings = { ...(await commandSettings(project)), announced: await announcedIn(project) };
    return definitionChecks(settings, () => realClock.now());
  }
  const { remoteChecks } = await import('../remote/actions.ts');
  return await remoteChecks((await serverAt(project.server)).api, project);
}

async function rotateKey({ env }: Io, project: Project): Promise<number | undefined> {
  if (project.server !== undefined) return undefined;
  return await (await openSecrets(project, await driverContext(project), env)).rotateKey?.();
}

async function serverAt(address: { readonly url: string; readonly token: string | undefined }): Promise<ApiSession> {
  const { serverSession } = await import('../remote/connection.ts');
  return serverSession(address);
}

async function openApi(
  io: Io,
  project: Project,
  purpose: Purpose,
  { makesFolder, orEmpty, checks }: SessionOptions,
): Promise<ApiSession> {
  if (project.server !== undefined) return await serverAt(project.server);
  const { openLocalService, openLocalEngine } = await import('./local.ts');
  if (purpose === 'read') return await openLocalService(project, io.env, { orEmpty });
  if (makesFolder !== true) await (await openLocalService(project, io.env)).close();
  try {
    return purpose === 'work'
      ? await openLocalEngine(project, io.env, checks)
      : await openLocalService(project, io.env, { isAlone: true });
  } catch (error) {
    const found = holdingServer(project.dataDir, error);
    const token = tokenFor(io, project);
    // Users of a server are records in the folder, whose owner needs no password: changes work beside the server.
    const isForServer = found !== undefined && (purpose === 'work' || token !== undefined);
    if (isForServer) return await serverAt({ url: found.url, token });
    if (purpose === 'work' || !(error instanceof NebulaError) || error.code !== 'STORE_LOCKED') throw error;
    return await openLocalService(project, io.env);
  }
}

/** A caller who can read the folder of a desktop server is its owner. */
function tokenFor({ env }: Io, { dataDir }: Project): string | undefined {
  return readToken(dataDir) ?? (env.NEBULA_TOKEN || undefined);
}
