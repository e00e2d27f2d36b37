/** The composition root: with its neighbours the only place that chooses drivers. */
import { type Catalog, createCatalog, type WorkflowDefinition } from '@nebula/core';
import type { EngineOptions } from '@nebula/engine';
import { DEFAULT_PROJECT, type Secrets, type Store } from '@nebula/ports';
import { openProject } from '../project.ts';
import { holdingServer, readToken } from '../remote/found-server.ts';
import type { DeskSession, EngineSession, OfficeSession, Project, Services } from '../services.ts';
import type { Io } from '../terminal/io.ts';
import { allActions, engineOptions } from './engine-options.ts';
import { announcedIn, driverContext, openDoing, openKeeping, openSecrets } from './keeping.ts';

export function composeServices(io: Io): Services {
  return {
    openProject: (options) => openProject(io, options),
    actions: actionsOf,
    catalog: catalogOf,
    openSecrets: (project, owner) => secretsOf(io, project, owner),
    openDesk,
    openEngine: (project) => openEngine(io, project),
    openOffice: (project) => openOffice(io, project),
    openServer: async (project, options) => (await import('./server.ts')).openServer(project, options, io.env),
  };
}

async function actionsOf(project: Project) {
  if (project.server === undefined) return await allActions(project);
  const { remoteActions } = await import('../remote/session.ts');
  return await remoteActions(await connected(project.server));
}

async function catalogOf(project: Project): Promise<Catalog> {
  if (project.server === undefined) {
    const { retryPolicies, capabilities, labels } = project.config;
    const catalog = createCatalog(await allActions(project), retryPolicies, capabilities, labels);
    catalog.announce(await announcedIn(project));
    return catalog;
  }
  const { remoteCatalog } = await import('../remote/session.ts');
  return await remoteCatalog(await connected(project.server), project);
}

async function connected(place: { readonly url: string; readonly token: string | undefined }) {
  const { connect } = await import('../remote/connection.ts');
  return connect(place);
}

async function secretsOf({ env }: Io, project: Project, owner = DEFAULT_PROJECT): Promise<Secrets> {
  if (project.server === undefined) return await openSecrets(project, await driverContext(project), env);
  const { remoteSecrets } = await import('../remote/secrets.ts');
  const { remoteOffice } = await import('../remote/office.ts');
  return remoteSecrets(remoteOffice(await connected(project.server)), owner);
}

async function openDesk(project: Project): Promise<DeskSession> {
  if (project.server !== undefined) {
    const { remoteDeskSession } = await import('../remote/desk.ts');
    return remoteDeskSession(await connected(project.server));
  }
  const { createDesk } = await import('@nebula/engine');
  const context = await driverContext(project);
  const opened = await openKeeping(project, context, false);
  const [announced, projects] = [await opened.announced(), await opened.projects()];
  const options = { ...(await engineOptions(project)), announced, projects };
  const desk = createDesk({ ...context, ...opened }, options);
  return {
    desk,
    logs: opened.logs,
    workflowIds: () => workflowIdsOf(opened.store),
    definition: (workflowId, version) => definitionOf(opened.store, workflowId, version),
    close: opened.close,
  };
}

async function openEngine(io: Io, project: Project): Promise<EngineSession> {
  if (project.server !== undefined) return await openRemoteEngine(project.server);
  try {
    return await openLocalEngine(project, io.env);
  } catch (error) {
    const found = holdingServer(project.dataDir, error);
    if (found === undefined) throw error;
    return await openRemoteEngine({ url: found.url, token: tokenFor(io, project) });
  }
}

/** Whoever may read the folder of a desktop server is its owner. */
function tokenFor({ env }: Io, { dataDir }: Project): string | undefined {
  return readToken(dataDir) ?? (env.NEBULA_TOKEN || undefined);
}

async function openRemoteEngine(place: Parameters<typeof connected>[0]): Promise<EngineSession> {
  const { remoteEngineSession } = await import('../remote/session.ts');
  return remoteEngineSession(place);
}

async function openLocalEngine(project: Project, env: Io['env']): Promise<EngineSession> {
  const { createEngine, keyedExecutionId } = await import('@nebula/engine');
  const options = await engineOptions(project);
  const { workflowGraphJob } = await import('@nebula/actions');
  // A server hands jobs of workflow-graph to workers; a command that somebody waits for runs them itself.
  const actions = [...options.actions, workflowGraphJob];
  const context = await driverContext(project);
  const opened = await openKeeping(project, context, true);
  try {
    const doing = await openDoing(project, context, env);
    const announced = await opened.announced();
    const projects = await opened.projects();
    const launchPlan: EngineOptions['launchPlan'] = async (...start) => {
      const { launchPlans } = await import('@nebula/server/launch-plan');
      return await launchPlans({ store: opened.store, records: await opened.records() })(...start);
    };
    const own = { ...options, actions, announced, projects, launchPlan };
    const engine = createEngine({ ...context, ...opened, ...doing }, own);
    return {
      desk: engine,
      engine,
      logs: opened.logs,
      workflowIds: () => workflowIdsOf(opened.store),
      newExecutionId: () => context.random.id('exe'),
      ceiling: () => projects.ceilingOf(DEFAULT_PROJECT),
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

async function openOffice(io: Io, project: Project): Promise<OfficeSession> {
  const { openLocalOffice } = await import('./server.ts');
  const { remoteOffice } = await import('../remote/office.ts');
  if (project.server !== undefined) return remoteOffice(await connected(project.server));
  return await openLocalOffice(project, io.env, async (error) => {
    const found = holdingServer(project.dataDir, error);
    const token = tokenFor(io, project);
    // A server with users keeps them in the folder, and who has the folder needs no password: that works beside it.
    return found === undefined || token === undefined
      ? undefined
      : remoteOffice(await connected({ url: found.url, token }));
  });
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
