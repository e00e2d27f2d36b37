import type { ExecutionId, WorkflowId } from '@nebula/core';
import {
  CHILD_TRIGGER,
  EXECUTION_STATUSES,
  type ExecutionCounts,
  type ExecutionFilter,
  type ExecutionRow,
  type ExecutionScope,
  type ExecutionStatus,
  type Executions,
  MAX_FOUND_IDS,
  type StalledFilter,
  type StalledRow,
  UNFINISHED_STATUSES,
} from '@nebula/ports';
import { byCodePoints, byCreation, decodeCursor, encodeCursor } from '@nebula/ports/rows';
import { earlier, isFinished, type MemoryData, type OpenData, type StoredRun } from './data.ts';

const MOVING: readonly ExecutionStatus[] = UNFINISHED_STATUSES.filter((status) => status !== 'paused');

export function memoryExecutions(open: OpenData): Executions {
  return {
    async execution(executionId) {
      return open.get().runs.get(executionId)?.row;
    },
    async known(executionIds) {
      const { runs } = open.get();
      return new Set(executionIds.filter((executionId) => runs.has(executionId)));
    },
    async list(filter) {
      const { status, order, cursor } = filter;
      const after = cursor === undefined ? undefined : decodeCursor(cursor);
      const sign = order === 'oldest' ? 1 : -1;
      const runs = found(within(open.get(), filter), filter)
        .filter(({ row }) => status === undefined || status.includes(row.status))
        .filter((run) => fits(run, filter))
        .map((run) => ({ row: run.row, number: run.number, createdAt: run.row.createdAt }))
        .filter((run) => after === undefined || sign * byCreation(run, after) > 0)
        .sort((a, b) => sign * byCreation(a, b));
      const page = runs.slice(0, Math.max(1, filter.limit));
      const last = page.at(-1);
      return {
        rows: page.map((run) => run.row),
        next: last === undefined || runs.length === page.length ? null : encodeCursor(last),
      };
    },
    async recent(workflowIds, limit) {
      return [...new Set(workflowIds)].flatMap((workflowId) => newestOf(open.get(), workflowId, limit));
    },
    async counts(scope) {
      const counts = Object.fromEntries(EXECUTION_STATUSES.map((status) => [status, 0])) as Record<string, number>;
      for (const { row } of within(open.get(), scope)) counts[row.status] = (counts[row.status] ?? 0) + 1;
      return counts as ExecutionCounts;
    },
    async claimDue(now, until, owner, limit, only) {
      const all = [...open.get().runs.values()];
      const runs = only === undefined ? all : all.filter((run) => only.includes(run.row.executionId));
      const due = runs
        .filter((run) => run.row.wakeAt !== null && run.row.wakeAt <= now)
        .sort((a, b) => (a.row.wakeAt as number) - (b.row.wakeAt as number) || a.number - b.number)
        .slice(0, limit);
      const dueSince = due[0]?.row.wakeAt ?? null;
      for (const run of due) run.row = { ...run.row, wakeAt: until, owner };
      if (due.length > 0) open.wrote();
      const nextWakeAt = runs.reduce<number | null>((next, run) => earlier(next, run.row.wakeAt), null);
      return { executionIds: due.map((run) => run.row.executionId), nextWakeAt, dueSince };
    },
    async deleteExecution(executionId) {
      const isDeleted = deleteFrom(open.get(), executionId);
      if (isDeleted) open.wrote();
      return isDeleted;
    },
    async expired(now, limit) {
      return [...open.get().runs.values()]
        .map((run) => run.row)
        .filter((row) => isFinished(row) && row.expiresAt !== null && row.expiresAt <= now)
        .sort((a, b) => (a.expiresAt as number) - (b.expiresAt as number))
        .slice(0, limit)
        .map((row) => row.executionId);
    },
    async stalled(filter) {
      return stalledIn(open.get(), filter);
    },
    async reclaimSpace() {
      open.get();
      return false;
    },
  };
}

function newestOf(data: MemoryData, workflowId: WorkflowId, limit: number): readonly ExecutionRow[] {
  return within(data, { workflowId })
    .map(({ row, number }) => ({ row, number, createdAt: row.createdAt }))
    .sort((a, b) => byCreation(b, a))
    .slice(0, Math.max(0, limit))
    .map(({ row }) => row);
}

/** The executions that `search` finds. */
function found(runs: readonly StoredRun[], { search }: ExecutionFilter): readonly StoredRun[] {
  if (search === undefined) return runs;
  const byId = runs
    .filter(({ row }) => row.executionId.startsWith(search))
    .sort((a, b) => byCodePoints(a.row.executionId, b.row.executionId));
  return byId.length > 0 ? byId.slice(0, MAX_FOUND_IDS) : runs.filter(({ row }) => row.workflowId === search);
}

function fits({ row, parent: starter }: StoredRun, { trigger, errorCode, parent, isRoot }: ExecutionFilter): boolean {
  const isChild = starter !== undefined && row.trigger === CHILD_TRIGGER;
  return (
    (trigger === undefined || row.trigger === trigger) &&
    (errorCode === undefined || row.errorCode === errorCode) &&
    (parent === undefined || (isChild && row.parent === parent)) &&
    (isRoot === undefined || !isChild)
  );
}

function deleteFrom(data: MemoryData, executionId: ExecutionId): boolean {
  const run = data.runs.get(executionId);
  if (run === undefined || !isFinished(run.row)) return false;
  data.runs.delete(executionId);
  for (const [key, test] of data.testVersions) if (test.executionId === executionId) data.testVersions.delete(key);
  run.parent?.deletedChildren.add(executionId);
  for (const other of data.runs.values()) if (other.parent === run) other.row = { ...other.row, parent: null };
  data.permits.forget(executionId);
  data.journal = data.journal.filter((frame) => frame.executionId !== executionId);
  return true;
}

function stalledIn({ runs }: MemoryData, { dueBy, movedBefore, limit }: StalledFilter): readonly StalledRow[] {
  return [...runs.values()]
    .map(({ row, frames }) => ({ ...row, movedAt: frames.at(-1)?.at ?? row.createdAt }))
    .filter(({ status, wakeAt }) => wakeAt !== null && wakeAt <= dueBy && MOVING.includes(status))
    .filter(({ movedAt }) => movedAt < movedBefore)
    .sort((a, b) => (a.wakeAt as number) - (b.wakeAt as number))
    .slice(0, limit);
}

function within({ runs }: MemoryData, { project, workflowId, since, until }: ExecutionScope): readonly StoredRun[] {
  return [...runs.values()]
    .filter(({ row }) => project === undefined || row.project === project)
    .filter(({ row }) => workflowId === undefined || row.workflowId === workflowId)
    .filter(({ row }) => row.createdAt >= (since ?? Number.NEGATIVE_INFINITY))
    .filter(({ row }) => row.createdAt < (until ?? Number.POSITIVE_INFINITY));
}
