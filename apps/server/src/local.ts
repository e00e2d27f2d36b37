/**
 * The operations of the contract on a data folder without a server, for commands. Handlers are loaded with the first
 * call that needs them, so that a run starts as fast as without them.
 */
import type { OperationId } from '@nebula/client/contract';
import { auditOf, ROUTES } from '@nebula/client/routes';
import { NebulaError } from '@nebula/core';
import type { Engine } from '@nebula/engine';
import { type AnyHandler, type DirectTransport, directTransport } from './direct.ts';
import type { Handlers } from './http/handler.ts';
import type { Feed } from './live/feed.ts';
import type { EngineParts, Parts } from './parts.ts';
import { Waits } from './waits.ts';

export type { DirectTransport } from './direct.ts';
export type { Parts } from './parts.ts';

export interface LocalApi {
  readonly transport: DirectTransport;
  /** Ends all followers. */
  close(): void;
}

interface Local {
  readonly parts: Parts;
  /** The parts with the engine of this process; undefined without one. */
  readonly withEngine: EngineParts | undefined;
  readonly waits: Waits;
  feed(): Promise<Feed>;
}

type Load = (local: Local) => Promise<Partial<Handlers>>;

/** Handlers that are loaded together. */
const GROUPS = {
  async runs({ parts, withEngine, waits }) {
    const { executionRoutes, quiescenceRoutes } = await import('./routes/executions.ts');
    const isQuiescent = async (executionId: string) => (await withEngine?.engine.isQuiescent(executionId)) ?? false;
    return {
      ...executionRoutes(parts, waits, (executionId) => withEngine?.engine.peek(executionId)),
      ...quiescenceRoutes(parts, waits, isQuiescent),
    };
  },
  reads: async ({ parts, withEngine }) =>
    (await import('./routes/execution-reads.ts')).executionReads(parts, withEngine !== undefined),
  requests: async ({ parts }) => (await import('./routes/execution-requests.ts')).executionRequests(parts),
  migrations: async ({ parts }) => (await import('./routes/migrations.ts')).migrationRoutes(parts),
  bulk: async ({ parts }) => (await import('./routes/bulk.ts')).bulkRoutes(parts),
  async starts({ withEngine, waits }) {
    if (withEngine === undefined) return {};
    const { Launcher } = await import('./launcher.ts');
    const { startRoutes } = await import('./routes/starts.ts');
    return startRoutes(withEngine, new Launcher(withEngine), waits);
  },
  async signals({ parts, withEngine }) {
    const { Launcher } = await import('./launcher.ts');
    const { signalRoutes } = await import('./routes/starts.ts');
    return signalRoutes(parts, withEngine && new Launcher(withEngine));
  },
  async live({ parts, feed }) {
    const { Followers } = await import('./live/followers.ts');
    const { liveRoutes } = await import('./live/routes.ts');
    return liveRoutes(parts, await feed(), new Followers());
  },
  workflows: async ({ parts }) => (await import('./routes/workflows.ts')).workflowRoutes(parts, () => undefined),
  layouts: async ({ parts }) => (await import('./routes/layouts.ts')).layoutRoutes(parts),
  drafts: async ({ parts }) => (await import('./routes/drafts.ts')).draftRoutes(parts),
  actions: async ({ parts }) => (await import('./routes/actions.ts')).actionRoutes(parts),
  secrets: async ({ parts }) => (await import('./routes/secrets.ts')).secretRoutes(parts),
  plans: async ({ parts }) => (await import('./routes/launch-plans.ts')).launchPlanRoutes(parts),
  cache: async ({ parts }) => (await import('./routes/cache.ts')).cacheRoutes(parts),
  async schedules({ parts, withEngine }) {
    const { Launcher } = await import('./launcher.ts');
    const { fireRoutes, scheduleRoutes } = await import('./routes/schedules.ts');
    return {
      ...scheduleRoutes(parts, () => undefined),
      ...(withEngine && fireRoutes(withEngine, new Launcher(withEngine))),
    };
  },
  async tests({ withEngine, waits }) {
    if (withEngine === undefined) return {};
    return (await import('./routes/tests.ts')).testRoutes(withEngine, waits);
  },
  outputs: async ({ parts }) => (await import('./routes/tests.ts')).outputRoutes(parts),
  rehearsals: async ({ parts }) => (await import('./routes/tests.ts')).rehearsalRoutes(parts),
  humanTasks: async ({ parts }) => (await import('./routes/human-tasks.ts')).humanTaskRoutes(parts),
  statistics: async ({ parts }) => (await import('./routes/statistics.ts')).statisticsRoutes(parts),
  triggers: async ({ parts }) => (await import('./routes/triggers.ts')).triggerRoutes(parts),
  audit: async ({ parts }) => (await import('./identity/audit.ts')).auditRoutes(parts),
  notifications: async ({ parts }) => (await import('./routes/notifications.ts')).notificationRoutes(parts),
  backup: async ({ parts }) => (await import('./routes/backup.ts')).backupRoutes(parts),
  async identity({ parts }) {
    const { Accounts } = await import('./identity/accounts.ts');
    const { identityRoutes } = await import('./identity/routes.ts');
    return identityRoutes(parts, new Accounts(parts), { isSecure: false, desktop: undefined, origins: [] });
  },
} satisfies Readonly<Record<string, Load>>;

type Group = keyof typeof GROUPS;

/** The groups that may have the operations of a path, by its first segment. Operations of other paths need a server. */
const GROUPS_AT: Readonly<Record<string, readonly Group[]>> = {
  executions: ['runs', 'starts', 'reads', 'requests', 'migrations', 'bulk', 'outputs'],
  tests: ['tests'],
  signals: ['signals'],
  workflows: ['workflows', 'layouts', 'rehearsals'],
  drafts: ['drafts'],
  actions: ['actions'],
  secrets: ['secrets'],
  plans: ['plans'],
  cache: ['cache'],
  schedules: ['schedules'],
  'human-tasks': ['humanTasks'],
  statistics: ['statistics'],
  triggers: ['triggers'],
  audit: ['audit'],
  backup: ['backup'],
  notifications: ['notifications'],
  me: ['identity'],
  users: ['identity'],
  keys: ['identity'],
  projects: ['identity'],
};

/** Loading the handlers of streams opens the feed, so they are in no other group. */
const STREAMS = /\/(events|stream)$/;

function groupsOf(operation: OperationId): readonly Group[] {
  return STREAMS.test(ROUTES[operation]) ? ['live'] : (GROUPS_AT[segmentOf(operation)] ?? []);
}

function segmentOf(operation: OperationId): string {
  return ROUTES[operation].split('/')[1] ?? '';
}

/** Operations whose requests are checked by the schemas of the contract. Engine and compiler check the others. */
function isChecked(operation: OperationId): boolean {
  return !['executions', 'events', 'signals', 'workflows'].includes(segmentOf(operation));
}

/** `engine`: the engine of this process; without it, runs are read and requests are recorded for another engine. */
export function localApi(parts: Parts, engine: Engine | undefined, onTrouble: (error: unknown) => void): LocalApi {
  const loaded = new Map<Group, Promise<Partial<Handlers>>>();
  let opened: Promise<Feed> | undefined;
  const openFeed = async (): Promise<Feed> => {
    const { Feed } = await import('./live/feed.ts');
    const feed = new Feed({ ...parts, ...(engine && { engine }), onTrouble });
    await feed.open();
    return feed;
  };
  const local: Local = {
    parts,
    withEngine: engine && { ...parts, engine },
    waits: new Waits(parts, engine),
    feed() {
      opened ??= openFeed();
      return opened;
    },
  };
  const transport = directTransport({
    parts,
    async handlerOf(operation) {
      for (const group of groupsOf(operation)) {
        const handlers: Promise<Partial<Handlers>> = loaded.get(group) ?? GROUPS[group](local);
        loaded.set(group, handlers);
        const handler = (await handlers)[operation] as AnyHandler | undefined;
        if (handler !== undefined) return handler;
      }
      throw new NebulaError('NEEDS_SERVER', 'This command needs a running server.', {
        hint: 'Start one with `nebula serve`, or name one with --server.',
      });
    },
    async check(operation, input) {
      if (isChecked(operation)) (await import('./http/validate.ts')).validatorOf(operation)(input);
    },
    async audit(auditedCall) {
      if (auditOf(auditedCall.operation) !== 'always') return;
      const { auditLog } = await import('./identity/audit.ts');
      await auditLog(parts)(auditedCall);
    },
  });
  return { transport, close: () => void opened?.then((feed) => feed.close()) };
}
