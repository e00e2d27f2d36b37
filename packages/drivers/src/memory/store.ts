/**
 * The reference store: the shortest one that keeps every guarantee of the ports. It scans where others have indexes.
 * `memoryStore({ data })` opens data that is there, and several stores on the same data see each other as processes do.
 */
import type {
  CacheCursor,
  CacheRow,
  Definitions,
  Inbox,
  NewWorkflowVersion,
  OutputCache,
  Store,
  TestVersionRow,
  Workers,
} from '@nebula/ports';
import { byCodePoints } from '@nebula/ports/rows';
import { earlier, isFinished, type MemoryData, memoryData, OpenData } from './data.ts';
import { memoryExecutions } from './executions.ts';
import { memoryHumanTasks } from './human-tasks.ts';
import { memoryJournal } from './journal.ts';
import { memoryStatistics } from './statistics.ts';

export interface MemoryStoreOptions {
  readonly data?: MemoryData;
  /** False if several engines share the data. */
  readonly exclusive?: boolean;
}

export function memoryStore({ data = memoryData(), exclusive = true }: MemoryStoreOptions = {}): Store {
  const open = new OpenData(data);
  return {
    exclusive,
    ...memoryJournal(open),
    ...memoryExecutions(open),
    ...memoryInbox(open),
    ...memoryHumanTasks(open),
    ...memoryStatistics(open),
    permits: async (key) => open.get().permits.rows(key),
    ...memoryWorkers(open),
    ...memoryCache(open),
    ...memoryDefinitions(open),
    watch: (onForeignWrite) => open.watch(onForeignWrite),
    close: () => open.close(),
  };
}

function memoryInbox(open: OpenData): Inbox {
  return {
    async send(message, wakeAt) {
      open.get();
      const isKnown = open.deliver(message, wakeAt);
      if (isKnown) open.wrote();
      return isKnown;
    },
    async inbox(executionId) {
      return [...(open.get().runs.get(executionId)?.inbox.values() ?? [])];
    },
    async publish(signal) {
      const executionId = open.get().permits.publish(signal, (message, at) => open.deliver(message, at));
      open.wrote();
      return executionId;
    },
    async forgetSignals(prefix) {
      open.get().permits.forgetSignals(prefix);
      open.wrote();
    },
  };
}

function memoryWorkers(open: OpenData): Workers {
  return {
    async heartbeat(leases) {
      const { workers } = open.get();
      for (const { worker, expiresAt } of leases) workers.set(worker, expiresAt);
    },
    async liveWorkers(workers, now) {
      const leases = open.get().workers;
      return new Set(workers.filter((worker) => (leases.get(worker) ?? Number.NEGATIVE_INFINITY) > now));
    },
    async reapWorkers(now, except, wakeAt, processes) {
      const { workers, runs } = open.get();
      const isGone = (worker: string, expiresAt: number): boolean =>
        expiresAt <= now || (processes !== undefined && worker.startsWith(processes));
      const gone = [...workers].filter(([worker, expiresAt]) => worker !== except && isGone(worker, expiresAt));
      const dead = new Set(gone.map(([worker]) => worker));
      for (const run of runs.values()) {
        const { owner } = run.row;
        if (owner === null || owner === except || isFinished(run.row)) continue;
        if (processes !== undefined || dead.has(owner)) {
          run.row = { ...run.row, wakeAt: earlier(run.row.wakeAt, wakeAt) };
        }
      }
      for (const worker of dead) workers.delete(worker);
      open.wrote();
      return dead.size;
    },
  };
}

function memoryCache(open: OpenData): OutputCache {
  const cachedOutputs: OutputCache['cachedOutputs'] = async ({ prefix, after, limit }) =>
    [...open.get().permits.cache.values()]
      .filter((row) => row.family.startsWith(prefix) && (after === undefined || byCursor(row, after) > 0))
      .sort(byCursor)
      .slice(0, Math.max(0, limit));
  return {
    cachedOutputs,
    async cached(key, now) {
      const row = open.get().permits.cache.get(key);
      return row === undefined || isExpired(row, now) ? undefined : row;
    },
    async newestCached(family, limit) {
      const rows = [...open.get().permits.cache.values()].filter((row) => row.family === family);
      return rows.sort((a, b) => b.at - a.at).slice(0, limit);
    },
    async forgetCached(which, limit) {
      const { cache } = open.get().permits;
      if ('key' in which) return cache.delete(which.key) ? [which.key] : [];
      const gone = await cachedOutputs({ ...which, limit });
      for (const { key } of gone) cache.delete(key);
      return gone.map(({ key }) => key);
    },
    async purgeCache(now, limit) {
      const { cache } = open.get().permits;
      const gone = [...cache.values()].filter((row) => isExpired(row, now)).slice(0, limit);
      for (const { key } of gone) cache.delete(key);
      return gone.map(({ key }) => key);
    },
  };
}

function isExpired({ expiresAt }: CacheRow, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function byCursor(a: CacheCursor, b: CacheCursor): number {
  return byCodePoints(a.family, b.family) || a.at - b.at || byCodePoints(a.key, b.key);
}

function memoryDefinitions(open: OpenData): Definitions {
  const keepSource = ({ workflowId, source }: NewWorkflowVersion, version: number): void => {
    if (source === undefined) return;
    open.get().sources.set(`${workflowId} ${version}`, source);
    open.wrote();
  };
  return {
    async registerWorkflow(row) {
      const data = open.get();
      const versions = data.workflows.filter((other) => other.workflowId === row.workflowId);
      const same = versions.find((other) => other.hash === row.hash);
      if (same !== undefined) {
        if (same !== versions.at(-1)) {
          data.workflows = [...data.workflows.filter((other) => other !== same), same];
          open.wrote();
        }
        keepSource(row, same.version);
        return { ok: true, version: same.version, created: false };
      }
      const version = row.version ?? 1 + Math.max(0, ...versions.map((other) => other.version));
      if (versions.some((other) => other.version === version)) return { ok: false, reason: 'version-taken' };
      const { source: _, ...stored } = row;
      data.workflows.push({ ...stored, version });
      keepSource(row, version);
      open.wrote();
      return { ok: true, version, created: true };
    },
    async storeTestVersion(row) {
      const { testVersions } = open.get();
      const key = `${row.workflowId} ${row.version}`;
      const { createdAt } = row;
      testVersions.set(key, { ...(testVersions.get(key) ?? row), createdAt });
      open.wrote();
    },
    async purgeTestVersions(before, limit) {
      const { testVersions, runs } = open.get();
      const isGone = ([, row]: [string, TestVersionRow]) => row.createdAt < before && !runs.has(row.executionId);
      const gone = [...testVersions].filter(isGone).slice(0, Math.max(0, limit));
      for (const [key] of gone) testVersions.delete(key);
      if (gone.length > 0) open.wrote();
      return gone.length;
    },
    async workflowVersion(workflowId, version) {
      const { workflows, testVersions } = open.get();
      if (version !== undefined && version < 0) {
        const { executionId: _, ...test } = testVersions.get(`${workflowId} ${version}`) ?? {};
        return 'hash' in test ? test : undefined;
      }
      return workflows.findLast(
        (row) => row.workflowId === workflowId && (version === undefined || row.version === version),
      );
    },
    async workflowSource(workflowId, version) {
      return open.get().sources.get(`${workflowId} ${version}`);
    },
    async workflows({ after, workflowId: only, limit }) {
      const byId = Map.groupBy(open.get().workflows, (row) => row.workflowId);
      return [...byId.entries()]
        .filter(([workflowId]) => only === undefined || workflowId === only)
        .filter(([workflowId]) => after === undefined || byCodePoints(workflowId, after) > 0)
        .sort(([a], [b]) => byCodePoints(a, b))
        .slice(0, Math.max(0, limit))
        .flatMap(([workflowId, rows]) => {
          const newest = rows.at(-1);
          return newest === undefined ? [] : [{ workflowId, version: newest.version, versions: rows.length }];
        });
    },
    async workflowVersions(workflowId, { after = Number.POSITIVE_INFINITY, limit }) {
      return open
        .get()
        .workflows.filter((row) => row.workflowId === workflowId && row.version < after)
        .sort((a, b) => b.version - a.version)
        .slice(0, Math.max(0, limit))
        .map(({ definition: _, ...head }) => head);
    },
    async durations(workflowId) {
      return new Map(open.get().durations.get(workflowId));
    },
  };
}
