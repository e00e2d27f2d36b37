/** The server: API, triggers and live updates over the ports that it is given. */
import type { AddressInfo } from 'node:net';
import type { OperationId } from '@nebula/client/contract';
import type { Leader } from '@nebula/ports';
import type { FastifyRequest } from 'fastify';
import { callbackKey, callbackRoutes } from './callbacks.ts';
import { type AppOptions, buildApp } from './http/app.ts';
import type { Handlers } from './http/handler.ts';
import { publicRoutes } from './http/public.ts';
import { Repeats } from './http/repeats.ts';
import { Accounts } from './identity/accounts.ts';
import { auditLog, auditRoutes } from './identity/audit.ts';
import { desktopIdentity } from './identity/desktop.ts';
import type { Principal } from './identity/principal.ts';
import { identityRoutes } from './identity/routes.ts';
import { Launcher } from './launcher.ts';
import { Feed } from './live/feed.ts';
import { liveRoutes } from './live/routes.ts';
import { liveSocket } from './live/socket.ts';
import type { Parts } from './parts.ts';
import { actionRoutes } from './routes/actions.ts';
import { cacheRoutes } from './routes/cache.ts';
import { credentialRoutes } from './routes/credentials.ts';
import { executionRoutes } from './routes/executions.ts';
import { planRoutes } from './routes/plans.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { signalRoutes } from './routes/signals.ts';
import { systemRoutes } from './routes/system.ts';
import { workflowRoutes } from './routes/workflows.ts';
import { activateTriggers } from './triggers/activation.ts';
import { FileWatch } from './triggers/files.ts';
import { Scheduler } from './triggers/schedules.ts';
import { webhookRoutes } from './triggers/webhooks.ts';

export { callbackAddresses, callbackKey } from './callbacks.ts';
export type { Parts } from './parts.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly version: string;
  readonly preset: string;
  /** Desktop: whoever has this token owns the machine. Otherwise users sign in. */
  readonly token?: string;
  /** Cookies go over HTTPS only. */
  readonly isSecure?: boolean;
  /** Files of triggers are relative to it. */
  readonly projectDir: string;
  readonly app?: Partial<AppOptions>;
  readonly leader: Leader;
  onTrouble(error: unknown): void;
  onRequest?(operation: OperationId, status: number, milliseconds: number): void;
}

export interface NebulaServer {
  readonly url: string;
  /** For tests: a request without a socket. */
  readonly inject: ReturnType<typeof buildApp>['inject'];
  close(): Promise<void>;
}

const DEFAULTS: AppOptions = { bodyLimitBytes: 16 * 1024 * 1024, origins: [], hosts: null };

export async function startServer(parts: Parts, options: ServerOptions): Promise<NebulaServer> {
  const { onTrouble, leader, token, version, preset } = options;
  const launcher = new Launcher(parts);
  const feed = new Feed({ ...parts, onTrouble });
  const accounts = new Accounts(parts);
  const scheduler = new Scheduler({ parts, launcher, leader, onTrouble });
  const files = new FileWatch({
    parts,
    launcher,
    projectDir: options.projectDir,
    isLeader: () => scheduler.isLeader,
    onTrouble,
  });
  const authenticate: (request: Pick<FastifyRequest, 'headers' | 'method'>) => Promise<Principal> =
    token === undefined ? accounts.authenticate : desktopIdentity(token);
  const handlers = {
    ...systemRoutes({
      product: 'nebula',
      version,
      preset,
      parts: ['api', 'scheduler', 'worker'],
      authentication: token === undefined ? 'users' : 'token',
    }),
    ...workflowRoutes(parts, async (workflowId, active) => {
      await activateTriggers(parts, workflowId, active);
      scheduler.changed();
    }),
    ...executionRoutes(parts, launcher),
    ...signalRoutes(parts, launcher),
    ...liveRoutes(parts, feed),
    ...actionRoutes(parts),
    ...credentialRoutes(parts),
    ...planRoutes(parts),
    ...cacheRoutes(parts),
    ...scheduleRoutes(parts, launcher, () => scheduler.changed()),
    ...auditRoutes(parts),
    ...identityRoutes(parts, accounts, { isSecure: options.isSecure ?? false }),
  } satisfies Partial<Handlers> as unknown as Handlers;
  let isClosing = false;
  const app = buildApp(
    {
      parts,
      handlers,
      authenticate,
      repeats: new Repeats(parts),
      audit: auditLog(parts),
      onFault: onTrouble,
      ...(options.onRequest && { onRequest: options.onRequest }),
    },
    { ...DEFAULTS, ...options.app },
  );
  publicRoutes(app, version, {
    isAlive: () => !isClosing,
    troubles: async () => (isClosing ? { server: 'it is closing' } : await storeTrouble(parts)),
  });
  webhookRoutes(app, parts, launcher);
  callbackRoutes(app, parts, await callbackKey(parts.records));
  await liveSocket(app, { parts, feed, authenticate, origins: options.app?.origins ?? [] });
  await feed.open();
  scheduler.open();
  files.open();
  await app.listen({ host: options.host, port: options.port });
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    inject: app.inject.bind(app),
    async close() {
      isClosing = true;
      files.close();
      await scheduler.close();
      feed.close();
      await app.close();
    },
  };
}

async function storeTrouble({ store }: Parts): Promise<Record<string, string>> {
  try {
    await store.lastPosition();
    return {};
  } catch (error) {
    return { store: error instanceof Error ? error.message : String(error) };
  }
}
