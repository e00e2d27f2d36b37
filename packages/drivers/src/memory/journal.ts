import {
  comparePositions,
  DEFAULT_PROJECT,
  type ExecutionRow,
  FEED_START,
  type InboxRow,
  type Journal,
  positionOf,
  type Write,
  type WriteOutcome,
} from '@nebula/ports';
import { earlier, type MemoryData, type OpenData, type StoredRun } from './data.ts';
import { changeTasks } from './human-tasks.ts';

export function memoryJournal(open: OpenData): Journal {
  return {
    async append(writes) {
      const data = open.get();
      const outcomes = writes.map((write) => append(open, data, write));
      open.wrote();
      return outcomes;
    },
    async load(executionId, { after, upTo = Number.POSITIVE_INFINITY } = {}) {
      const run = open.get().runs.get(executionId);
      if (run === undefined) return undefined;
      const { row } = run;
      const snapshot = after === undefined && (run.snapshot?.seq ?? 0) <= upTo ? run.snapshot : undefined;
      const from = after ?? (snapshot === undefined ? 0 : snapshot.seq - 1);
      const frames = run.frames
        .slice(Math.max(0, from))
        .filter(({ seq }) => seq <= upTo)
        .map(({ seq, at, entries }) => ({ seq, at, entries }));
      return { row, snapshot, frames, inbox: [...run.inbox.values()] };
    },
    async frames(executionId, afterSeq, limit = Number.POSITIVE_INFINITY) {
      const from = Math.max(0, afterSeq);
      return (
        open
          .get()
          .runs.get(executionId)
          ?.frames.slice(from, from + limit) ?? []
      );
    },
    async framesBefore(executionId, beforeSeq, limit) {
      const frames = open.get().runs.get(executionId)?.frames ?? [];
      const end = Math.min(frames.length, Math.max(0, beforeSeq - 1));
      return frames.slice(Math.max(0, end - limit), end).reverse();
    },
    async heads(executionIds) {
      const { runs } = open.get();
      const heads = new Map<string, number>();
      for (const executionId of executionIds) {
        const run = runs.get(executionId);
        if (run !== undefined) heads.set(executionId, run.frames.length);
      }
      return heads;
    },
    async feed({ after, inclusive = false, limit }) {
      const { journal } = open.get();
      const isBefore = inclusive ? (order: number) => order < 0 : (order: number) => order <= 0;
      const from = journal.findLastIndex(({ position }) => isBefore(comparePositions(position, after))) + 1;
      return journal.slice(from, from + limit);
    },
    async lastPosition() {
      return open.get().journal.at(-1)?.position ?? FEED_START;
    },
    async saveSnapshot(executionId, snapshot) {
      const run = open.get().runs.get(executionId);
      if (run !== undefined && snapshot.seq > (run.snapshot?.seq ?? 0)) run.snapshot = { ...snapshot };
    },
  };
}

function append(open: OpenData, data: MemoryData, write: Write): WriteOutcome {
  const { executionId } = write;
  const known = data.runs.get(executionId);
  const conflict = (write.create === undefined) === (known === undefined);
  if (conflict || (write.frame !== undefined && write.frame.seq !== (known?.frames.length ?? 0) + 1)) {
    return { ok: false };
  }
  const parent = write.create?.parent === undefined ? undefined : data.runs.get(write.create.parent);
  const isChild = write.create?.parent !== undefined;
  if (isChild && (parent === undefined || parent.deletedChildren.has(executionId))) return { ok: false, isGone: true };
  const heldBy = write.permits && data.permits.inTheWay(executionId, write.permits);
  if (heldBy !== undefined) return { ok: false, heldBy };
  if (write.create !== undefined || write.frame !== undefined) data.position++;
  const run = known ?? newRun(write, data.position, parent);
  data.runs.set(executionId, run);
  if (write.frame !== undefined) {
    const frame = { executionId, ...write.frame, position: positionOf(data.position) };
    run.frames.push(frame);
    data.journal.push(frame);
  }
  for (const messageId of write.taken ?? []) run.inbox.delete(messageId);
  run.row = changed(run.row, write, run.inbox.size > 0);
  for (const { wakeAt, ...message } of write.sends ?? []) open.deliver(message, wakeAt);
  for (const row of write.cache ?? []) data.permits.cache.set(row.key, { ...row });
  for (const { workflowId, node, ms } of write.durations ?? []) {
    const durations = data.durations.get(workflowId) ?? new Map<string, number>();
    data.durations.set(workflowId, durations.set(node, ms));
  }
  const deliver = (message: InboxRow, at: number): void => void open.deliver(message, at);
  if (write.humanTasks !== undefined) changeTasks(data, run, write.humanTasks);
  if (write.subscriptions !== undefined) data.permits.listen(executionId, write.subscriptions, deliver);
  if (write.permits === undefined) return { ok: true };
  const rates = data.permits.change(executionId, write.permits, deliver);
  return rates.length === 0 ? { ok: true } : { ok: true, rates };
}

function newRun({ executionId, create }: Write, number: number, parent: StoredRun | undefined): StoredRun {
  if (create === undefined) throw new Error('invariant broken: a run without its creation');
  const row: ExecutionRow = {
    executionId,
    project: create.project ?? DEFAULT_PROJECT,
    workflowId: create.workflowId,
    version: create.version,
    status: 'pending',
    createdAt: create.createdAt,
    finishedAt: null,
    wakeAt: null,
    owner: create.owner,
    expiresAt: null,
    trigger: create.trigger ?? null,
    startedAt: null,
    parent: create.parent ?? null,
    errorCode: null,
    errorNode: null,
    errorMessage: null,
  };
  return {
    number,
    row,
    frames: [],
    snapshot: undefined,
    inbox: new Map(),
    parent,
    deletedChildren: new Set(),
    tasks: new Map(),
  };
}

function changed(row: ExecutionRow, write: Write, messagesWait: boolean): ExecutionRow {
  const { status, version = row.version, wakeAt = row.wakeAt } = write;
  // A message that arrived while this write was decided keeps its wake-up.
  const next = { ...row, version, wakeAt: messagesWait ? earlier(row.wakeAt, wakeAt) : wakeAt };
  if (status === undefined) return next;
  const { error, startedAt = null, ...rest } = status;
  return {
    ...next,
    ...rest,
    startedAt: row.startedAt ?? startedAt,
    errorCode: error?.code ?? null,
    errorNode: error?.node ?? null,
    errorMessage: error?.message ?? null,
  };
}
