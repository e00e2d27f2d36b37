/** The server: API, triggers and live updates over the ports that it is given. */
import type { AddressInfo } from 'node:net';
import { auditOf } from '@nebula/client/contract';
import { loadModules } from '@nebula/core';
import type { Leader } from '@nebula/ports';
import type { FastifyRequest } from 'fastify';
import { callbackKey, callbackRoutes } from './callbacks.ts';
import type { TokenlessPrograms } from './compat/access.ts';
import { compatRoutes } from './compat/routes.ts';
import { type AnyHandler, type DirectTransport, directTransport } from './direct.ts';
import { type HandlerParts, handlersOf } from './handlers.ts';
import { type AppOptions, type AppParts, buildApp } from './http/app.ts';
import { publicRoutes } from './http/docs-page.ts';
import { IdempotentRequests } from './http/idempotency.ts';
import { DEFAULT_PROJECT } from './http/subject.ts';
import { validatorOf } from './http/validate.ts';
import { HumanTaskBackfill } from './human-task-backfill.ts';
import { Accounts } from './identity/accounts.ts';
import { auditLog } from './identity/audit.ts';
import { DesktopIdentity } from './identity/desktop.ts';
import type { Principal } from './identity/principal.ts';
import { Launcher } from './launcher.ts';
import { HTTP_LIMITS } from './limits.ts';
import { Feed } from './live/feed.ts';
import { Followers } from './live/followers.ts';
import { liveSocket } from './live/socket.ts';
import { storeConfigured } from './notifications/configured.ts';
import { Notifier } from './notifications/notifier.ts';
import { Observability, type ObservabilityOptions } from './observability/observability.ts';
import type { EngineParts } from './parts.ts';
import type { ProjectRecord } from './records.ts';
import { type StudioSource, studioRoutes } from './studio/studio-pages.ts';
import { sweeping } from './sweeper.ts';
import { FileWatch } from './triggers/files.ts';
import { Scheduler } from './triggers/schedules.ts';
import { webhookRoutes } from './triggers/webhooks.ts';
import { Waits } from './waits.ts';
import { Announced } from './workers/announced.ts';
import { Registry } from './workers/registry.ts';
import { type WorkflowOrigins, workflowOrigins } from './workflow-origins.ts';

export { callbackKey, callbackUrls } from './callbacks.ts';
export { launchPlans } from './launch-plan.ts';
export type { LogLevel } from './observability/log.ts';
export type { TracesHost } from './observability/observability.ts';
export type { EngineParts, Parts, WorkflowFiles } from './parts.ts';
export { type Ceilings, projectsOf } from './projects.ts';
export type { FileOrigin } from './records.ts';
export type { StudioSource, StudioState } from './studio/studio-pages.ts';
export { announcedActions } from './workers/announced.ts';
export type { WorkflowOrigins } from './workflow-origins.ts';

export interface ServerOptions extends ObservabilityOptions {
  readonly host: string;
  /** The port; 0: any free one. */
  readonly port: number;
  /** The token of the owner of a desktop server. If absent, users sign in. */
  readonly token?: string;
  /** Sends cookies over HTTPS only. */
  readonly isSecure?: boolean;
  /** Admits programs of workflow-graph without a token; omitted: none. */
  readonly tokenless?: TokenlessPrograms | undefined;
  /** The folder to which paths of file triggers are relative. */
  readonly projectDir: string;
  /** The reason why file triggers tell no run of a file or folder: of the data folder and of the configuration. */
  readonly reserved?: (file: string) => string | undefined;
  readonly app?: Partial<AppOptions>;
  readonly leader: Leader;
  /** The Studio. Without one, `/` leads to the reference of the API. */
  readonly studio?: StudioSource | undefined;
  /** Called when the server listens, before it handles requests. Omitted if the engine is open already. */
  openEngine?(url: string): Promise<void>;
}

export interface NebulaServer {
  readonly url: string;
  /** Makes a request without a socket, for tests. */
  readonly inject: ReturnType<typeof buildApp>['inject'];
  /** The number of followers of live updates. */
  listeners(): number;
  /** Counts open sockets, for tests. */
  connections(tell: (count: number) => void): void;
  /** The operations without HTTP, as the owner, for the process that runs the server. */
  readonly direct: DirectTransport;
  /** The files that workflows come from, for the process that registers them. */
  readonly origins: WorkflowOrigins;
  /** Rejects further requests. `stopEngine` runs before the last spans are sent: they include handed-back attempts. */
  close(stopEngine?: () => Promise<void>): Promise<void>;
}

const DEFAULTS: AppOptions = { bodyLimitBytes: HTTP_LIMITS.maxBodyBytes, origins: [], hosts: null, trustProxy: [] };

export async function startServer(given: EngineParts, options: ServerOptions): Promise<NebulaServer> {
  const { version, preset } = options;
  loadModules();
  await storeConfigured(given);
  let isClosing = false;
  const { promise: opened, resolve: letIn } = Promise.withResolvers<void>();
  const seen = new Observability(given, options, {
    subscribers: () => made.feed.size,
    scheduler: () => made.scheduler.health(),
    notifications: () => made.notifier.figures(),
    isClosing: () => isClosing,
  });
  const parts = withOutput(given, seen);
  await seen.openTraces(parts);
  // Work in progress may find the store closed while the server closes; that is not reported.
  const onTrouble = (error: unknown): void => {
    if (!isClosing) seen.onTrouble(error);
  };
  const made = makeParts(parts, options, seen, onTrouble);
  const { feed, accounts, scheduler, files, announced, sweeper, notifier, backfill } = made;
  const audit = auditLog(parts);
  const authenticate: (request: Pick<FastifyRequest, 'headers' | 'method'>) => Promise<Principal> =
    made.desktop?.authenticate ?? accounts.authenticate;
  const own = { ...made, parts, options };
  const handlers = handlersOf(own);
  const app = await appOf({ ...own, handlers, authenticate, audit, seen, opened });
  await ensureDefaultProject(parts);
  await announced.open();
  await feed.open();
  const close = async (stopEngine?: () => Promise<void>): Promise<void> => {
    isClosing = true;
    files.close();
    sweeper.close();
    backfill.close();
    announced.close();
    await scheduler.close();
    await notifier.close();
    feed.close();
    await app.close();
    try {
      await stopEngine?.();
    } finally {
      await seen.close();
    }
  };
  try {
    await app.listen({ host: options.host, port: options.port });
    await options.openEngine?.(urlOf(app, options));
  } catch (error) {
    await close();
    throw error;
  }
  scheduler.open();
  files.open();
  sweeper.open();
  notifier.open();
  backfill.open();
  letIn();
  const url = urlOf(app, options);
  seen.log.info({ url, version, preset }, 'listening');
  return {
    url,
    inject: app.inject.bind(app),
    listeners: () => feed.size,
    origins: workflowOrigins(parts),
    connections: (tell) => app.server.getConnections((_, count) => tell(count)),
    direct: directTransport({
      parts,
      handlerOf: async (operation) => handlers[operation] as AnyHandler,
      check: async (operation, input) => validatorOf(operation)(input),
      audit: async (auditedCall) => {
        if (auditOf(auditedCall.operation) !== 'never') await audit(auditedCall);
      },
    }),
    close,
  };
}

/** Logs the output of commands of notifications. */
function withOutput(parts: EngineParts, { log }: Observability): EngineParts {
  const { configured } = parts;
  if (configured === undefined) return parts;
  const onOutput = (notification: string, exitCode: number, output: string): void =>
    log.info({ notification, exitCode, output }, 'the command of a notification has ended');
  return { ...parts, configured: { ...configured, onOutput } };
}

function makeParts(
  parts: EngineParts,
  { leader, projectDir, reserved, token }: ServerOptions,
  { onFire }: Observability,
  onTrouble: (error: unknown) => void,
) {
  const launcher = new Launcher(parts);
  const scheduler = new Scheduler({ parts, launcher, leader, onTrouble, onFire });
  return {
    launcher,
    scheduler,
    waits: new Waits(parts, parts.engine),
    feed: new Feed({ ...parts, onTrouble }),
    followers: new Followers(),
    accounts: new Accounts(parts),
    desktop: token === undefined ? undefined : new DesktopIdentity(parts, token),
    files: new FileWatch({ parts, launcher, projectDir, reserved, isLeader: () => scheduler.isLeader, onTrouble }),
    announced: new Announced(parts, onTrouble),
    registry: new Registry(parts),
    sweeper: sweeping(parts, onTrouble),
    notifier: new Notifier({ parts, leader, onTrouble }),
    backfill: new HumanTaskBackfill(parts, onTrouble),
  };
}

interface OfApp extends HandlerParts, Pick<AppParts, 'handlers' | 'audit' | 'opened'> {
  readonly options: ServerOptions;
  readonly seen: Observability;
  authenticate(request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal>;
}

/** The application with all its routes, not yet listening. */
async function appOf(own: OfApp): Promise<ReturnType<typeof buildApp>> {
  const { parts, options, seen, authenticate, launcher, waits, feed, followers } = own;
  const { origins = [], limits } = options.app ?? {};
  const app = buildApp(
    {
      ...own,
      studio: options.studio,
      idempotentRequests: new IdempotentRequests(parts),
      onFault: seen.onFault,
      onRequest: seen.onRequest,
    },
    { ...DEFAULTS, ...options.app },
  );
  publicRoutes(app, options.version);
  if (options.studio === undefined) app.get('/', async (_request, reply) => reply.redirect('/api/docs'));
  else studioRoutes(app, options.studio);
  seen.routes(app, authenticate);
  webhookRoutes(app, { parts, launcher, waits }, origins);
  compatRoutes(app, { ...own, tokenless: options.tokenless, onRequest: seen.onRequest });
  callbackRoutes(app, parts, await callbackKey(parts.records));
  const { pingMs } = { ...HTTP_LIMITS, ...limits };
  await liveSocket(app, { parts, feed, followers, authenticate, origins, pingMs });
  return app;
}

function urlOf({ server }: ReturnType<typeof buildApp>, { host }: ServerOptions): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The default project always exists, so lists include it. */
async function ensureDefaultProject({ records, clock }: EngineParts): Promise<void> {
  const body: ProjectRecord = { name: DEFAULT_PROJECT, createdAt: clock.now() };
  await records.commit([{ kind: 'project', id: DEFAULT_PROJECT, body: JSON.stringify(body), expected: 0 }]);
}
