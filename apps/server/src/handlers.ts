/** The handler of every operation of the contract; a missing one is a type error. */
import { type Handlers, ok } from './http/handler.ts';
import type { Accounts } from './identity/accounts.ts';
import { auditRoutes } from './identity/audit.ts';
import type { DesktopIdentity } from './identity/desktop.ts';
import { identityRoutes } from './identity/routes.ts';
import type { Launcher } from './launcher.ts';
import type { Feed } from './live/feed.ts';
import type { Followers } from './live/followers.ts';
import { liveRoutes } from './live/routes.ts';
import type { EngineParts } from './parts.ts';
import { actionRoutes } from './routes/actions.ts';
import { backupRoutes } from './routes/backup.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { cacheRoutes } from './routes/cache.ts';
import { draftRoutes } from './routes/drafts.ts';
import { executionReads } from './routes/execution-reads.ts';
import { executionRequests } from './routes/execution-requests.ts';
import { executionRoutes, quiescenceRoutes } from './routes/executions.ts';
import { humanTaskRoutes } from './routes/human-tasks.ts';
import { launchPlanRoutes } from './routes/launch-plans.ts';
import { layoutRoutes } from './routes/layouts.ts';
import { migrationRoutes } from './routes/migrations.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { fireRoutes, scheduleRoutes } from './routes/schedules.ts';
import { secretRoutes } from './routes/secrets.ts';
import { signalRoutes, startRoutes } from './routes/starts.ts';
import { statisticsRoutes } from './routes/statistics.ts';
import { outputRoutes, rehearsalRoutes, testRoutes } from './routes/tests.ts';
import { triggerRoutes } from './routes/triggers.ts';
import { workflowRoutes } from './routes/workflows.ts';
import type { Scheduler } from './triggers/schedules.ts';
import type { Waits } from './waits.ts';
import type { Announced } from './workers/announced.ts';
import { fleetRoutes } from './workers/fleet.ts';
import type { Registry } from './workers/registry.ts';
import { workerRoutes } from './workers/routes.ts';

export interface HandlerParts {
  readonly parts: EngineParts;
  readonly options: {
    readonly version: string;
    readonly preset: string;
    readonly token?: string;
    readonly isSecure?: boolean;
    readonly app?: { readonly origins?: readonly string[] };
  };
  readonly launcher: Launcher;
  readonly waits: Waits;
  readonly feed: Feed;
  readonly followers: Followers;
  readonly accounts: Accounts;
  readonly desktop: DesktopIdentity | undefined;
  readonly scheduler: Scheduler;
  readonly announced: Announced;
  readonly registry: Registry;
}

export function handlersOf(handlerParts: HandlerParts): Handlers {
  const { parts, options, launcher, waits, feed, followers, accounts, scheduler, announced, registry } = handlerParts;
  const { version, preset, token } = options;
  const { engine } = parts;
  return {
    getInfo: async () =>
      ok({
        product: 'nebula',
        version,
        preset,
        parts: ['api', 'scheduler', 'worker'],
        authentication: token === undefined ? 'users' : 'token',
      }),
    ...workflowRoutes(parts, () => scheduler.changed()),
    ...layoutRoutes(parts),
    ...draftRoutes(parts),
    ...startRoutes(parts, launcher, waits),
    ...executionRoutes(parts, waits, (executionId) => engine.peek(executionId)),
    ...executionReads(parts, true),
    ...executionRequests(parts),
    ...migrationRoutes(parts),
    ...bulkRoutes(parts),
    ...quiescenceRoutes(parts, waits, (executionId) => engine.isQuiescent(executionId)),
    ...signalRoutes(parts, launcher),
    ...liveRoutes(parts, feed, followers),
    ...actionRoutes(parts),
    ...secretRoutes(parts),
    ...launchPlanRoutes(parts),
    ...cacheRoutes(parts),
    ...scheduleRoutes(parts, () => scheduler.changed()),
    ...fireRoutes(parts, launcher),
    ...notificationRoutes(parts),
    ...humanTaskRoutes(parts),
    ...statisticsRoutes(parts),
    ...triggerRoutes(parts),
    ...workerRoutes(parts, registry, announced),
    ...testRoutes(parts, waits),
    ...outputRoutes(parts),
    ...rehearsalRoutes(parts),
    ...fleetRoutes(parts),
    ...auditRoutes(parts),
    ...backupRoutes(parts),
    ...identityRoutes(parts, accounts, {
      isSecure: options.isSecure ?? false,
      desktop: handlerParts.desktop,
      origins: options.app?.origins ?? [],
      onRemoved: () => announced.refresh(),
    }),
  };
}
