/**
 * W6: DAGs that were recorded on real clusters, with 16 slots and sleeps scaled to a lower bound of about 10 s.
 * Beside the makespan: the lower bound, and what a list schedule by critical path takes with no overhead at all.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Heap } from '@nebula/core';
import { round } from '../measure.ts';
import { openSession } from '../session.ts';

const CORPUS = path.join(import.meta.dirname, '../../../shared/corpora/wfinstances');
const SLOTS = 16;
const BOUND_MS = 10_000;

interface Task {
  readonly id: string;
  readonly parents: readonly string[];
  readonly ms: number;
}

export async function w6(): Promise<Record<string, number>> {
  if (!existsSync(CORPUS)) return {};
  const figures: Record<string, number> = {};
  const ratios: number[] = [];
  for (const file of readdirSync(CORPUS).filter((name) => name.endsWith('.json'))) {
    const tasks = scaled(read(file));
    const { bound, ideal } = schedule(tasks);
    const tookMs = await run(tasks);
    const name = file.replace(/-chameleon|-\d+\.json$/g, '');
    figures[`${name} ÷ bound`] = round(tookMs / bound, 3);
    figures[`${name} ÷ list schedule`] = round(tookMs / ideal, 3);
    ratios.push(tookMs / ideal);
  }
  figures.worstToListSchedule = round(Math.max(...ratios), 3);
  return figures;
}

function read(file: string): Task[] {
  const { workflow } = JSON.parse(readFileSync(path.join(CORPUS, file), 'utf8')) as {
    workflow: {
      specification: { tasks: { id: string; parents: string[] }[] };
      execution: { tasks: { id: string; runtimeInSeconds: number }[] };
    };
  };
  const seconds = new Map(workflow.execution.tasks.map((task) => [task.id, task.runtimeInSeconds]));
  const ids = new Map(workflow.specification.tasks.map((task, index) => [task.id, `t${index}`]));
  return workflow.specification.tasks.map((task) => ({
    id: ids.get(task.id) as string,
    parents: task.parents.flatMap((parent) => ids.get(parent) ?? []),
    ms: (seconds.get(task.id) ?? 0) * 1_000,
  }));
}

function scaled(tasks: readonly Task[]): Task[] {
  const factor = BOUND_MS / schedule(tasks).bound;
  return tasks.map((task) => ({ ...task, ms: Math.max(1, Math.round(task.ms * factor)) }));
}

/** The lower bound, and the makespan of a list schedule by critical path. */
function schedule(tasks: readonly Task[]): { bound: number; ideal: number } {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const children = new Map<string, string[]>(tasks.map((task) => [task.id, []]));
  for (const task of tasks) for (const parent of task.parents) children.get(parent)?.push(task.id);
  const rank = new Map<string, number>();
  const rankOf = (id: string): number => {
    const known = rank.get(id);
    if (known !== undefined) return known;
    const below = Math.max(0, ...(children.get(id) ?? []).map(rankOf));
    const own = (byId.get(id)?.ms ?? 0) + below;
    rank.set(id, own);
    return own;
  };
  const critical = Math.max(...tasks.map((task) => rankOf(task.id)));
  const work = tasks.reduce((sum, task) => sum + task.ms, 0);
  const open = new Map(tasks.map((task) => [task.id, task.parents.length]));
  const ready = new Heap<Task>((a, b) => rankOf(a.id) > rankOf(b.id));
  const running = new Heap<{ at: number; id: string }>((a, b) => a.at < b.at);
  for (const task of tasks) if (task.parents.length === 0) ready.push(task);
  let now = 0;
  while (ready.size > 0 || running.size > 0) {
    while (running.size < SLOTS && ready.size > 0) {
      const task = ready.pop() as Task;
      running.push({ at: now + task.ms, id: task.id });
    }
    const ended = running.pop();
    if (ended === undefined) break;
    now = ended.at;
    for (const child of children.get(ended.id) ?? []) {
      const left = (open.get(child) ?? 0) - 1;
      open.set(child, left);
      if (left === 0) ready.push(byId.get(child) as Task);
    }
  }
  return { bound: Math.max(critical, work / SLOTS), ideal: now };
}

async function run(tasks: readonly Task[]): Promise<number> {
  const session = await openSession({ concurrency: SLOTS });
  const nodes = Object.fromEntries(
    tasks.map(({ id, parents, ms }) => [
      id,
      { action: 'sleep@1', with: { ms }, estimate: `${ms}ms`, ...(parents.length > 0 && { needs: parents }) },
    ]),
  );
  const start = await session.workflow({ id: 'recorded', config: { maxParallelism: SLOTS }, nodes });
  const started = performance.now();
  await start();
  const tookMs = performance.now() - started;
  await session.close();
  return tookMs;
}
