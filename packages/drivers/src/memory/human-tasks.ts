import {
  HUMAN_TASK_KINDS,
  type HumanTask,
  type HumanTaskChanges,
  type HumanTaskCounts,
  type HumanTaskFilter,
  type HumanTaskScope,
  type HumanTasks,
  MAX_COUNTED_TASKS,
} from '@nebula/ports';
import { decodeTaskCursor, encodeTaskCursor, NO_DEADLINE } from '@nebula/ports/rows';
import { isFinished, type MemoryData, type OpenData, type StoredRun } from './data.ts';

export function memoryHumanTasks(open: OpenData): HumanTasks {
  return {
    async humanTasks(filter) {
      const sign = filter.order === 'deadline' ? 1 : -1;
      const after = filter.cursor === undefined ? undefined : decodeTaskCursor(filter.cursor);
      const found = within(open.get(), filter)
        .map(({ run, task }) => ({ run, task, at: placeOf(task, filter), number: task.number }))
        .filter((one) => after === undefined || sign * byPlace(one, after) > 0)
        .sort((a, b) => sign * byPlace(a, b));
      const page = found.slice(0, Math.max(1, filter.limit));
      const last = page.at(-1);
      return {
        rows: page.map(({ run: { row }, task: { number: _, ...task } }) => ({
          ...task,
          executionId: row.executionId,
          project: row.project,
          workflowId: row.workflowId,
        })),
        next: last === undefined || found.length === page.length ? null : encodeTaskCursor(last),
      };
    },
    async countHumanTasks(scope) {
      const counts = Object.fromEntries(HUMAN_TASK_KINDS.map((kind) => [kind, 0])) as Record<string, number>;
      for (const { task } of within(open.get(), scope)) {
        counts[task.kind] = Math.min(MAX_COUNTED_TASKS, (counts[task.kind] ?? 0) + 1);
      }
      return counts as HumanTaskCounts;
    },
    async untaskedExecutions() {
      open.get();
      return [];
    },
    async saveHumanTasks(executionId, seq, tasks) {
      const data = open.get();
      const run = data.runs.get(executionId);
      if (run === undefined || run.frames.length !== seq) return false;
      changeTasks(data, run, { isAll: true, add: tasks });
      open.wrote();
      return true;
    },
  };
}

export function changeTasks(
  data: MemoryData,
  run: StoredRun,
  { isAll, add = [], remove = [] }: HumanTaskChanges,
): void {
  const before = new Map(run.tasks);
  if (isAll === true) run.tasks.clear();
  for (const [key, { node }] of run.tasks) if (remove.includes(node)) run.tasks.delete(key);
  for (const task of add) {
    const key = JSON.stringify([task.node, task.event]);
    run.tasks.set(key, { ...task, number: before.get(key)?.number ?? ++data.tasks });
  }
}

function within({ runs }: MemoryData, { projects, workflowId, kinds }: HumanTaskScope) {
  return [...runs.values()]
    .filter(({ row }) => !isFinished(row))
    .filter(({ row }) => projects === undefined || projects.includes(row.project))
    .filter(({ row }) => workflowId === undefined || row.workflowId === workflowId)
    .flatMap((run) => [...run.tasks.values()].map((task) => ({ run, task })))
    .filter(({ task }) => kinds === undefined || kinds.includes(task.kind));
}

function placeOf({ since, deadline }: HumanTask, { order }: HumanTaskFilter): number {
  return order === 'deadline' ? (deadline ?? NO_DEADLINE) : since;
}

function byPlace(a: { at: number; number: number }, b: { at: number; number: number }): number {
  return a.at - b.at || a.number - b.number;
}
