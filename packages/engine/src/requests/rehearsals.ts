/**
 * Replays the last ended runs of a workflow against an edited definition. Nothing is executed, and nothing is written.
 * Runs in slices, and ends after a time: runs that are left then are reported as not replayed.
 */
import { type ExecutionId, isTestVersion, NebulaError, type Plan } from '@nebula/core';
import { type ReplayResult, replaySteps } from '@nebula/core/run';
import {
  type Clock,
  type ExecutionRow,
  type Executions,
  FINISHED_STATUSES,
  type Journal,
  oneSlice,
  pause,
} from '@nebula/ports';
import type { JournalFrame } from '../api.ts';
import type { RehearsedRun } from '../test-runs.ts';
import { framesOf } from '../turn/codec.ts';

/** The longest journal that is replayed, and the longest frame: one frame is decided in one piece. */
const MAX_FRAMES = 10_000;
const MAX_CHARS = 4 * 1024 * 1024;
const MAX_FRAME_CHARS = 256 * 1024;

/** The event loop runs after so many characters of a journal: a few milliseconds. */
const UNPAUSED_CHARS = 128 * 1024;

/** Pages of runs that are searched: test runs are left out. */
const MAX_PAGES = 5;

interface Rehearsing {
  readonly store: Executions & Journal;
  readonly clock: Clock;
}

export async function rehearse(
  { store, clock }: Rehearsing,
  plan: Plan,
  { project, limit, maxMs }: { readonly project: string; readonly limit: number; readonly maxMs: number },
): Promise<readonly RehearsedRun[]> {
  const endsAt = clock.now() + maxMs;
  const runs: RehearsedRun[] = [];
  for (const { executionId, status, version, createdAt } of await lastRuns(store, plan.workflowId, project, limit)) {
    // The number of the version is in the first entry.
    const outcome = await replayed(store, clock, { ...plan, version }, executionId, endsAt);
    runs.push({ executionId, status, version, createdAt, outcome });
  }
  return runs;
}

async function lastRuns(
  store: Executions,
  workflowId: string,
  project: string,
  limit: number,
): Promise<ExecutionRow[]> {
  const found: ExecutionRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES && found.length < limit; page++) {
    const filter = { workflowId, project, status: FINISHED_STATUSES, limit, ...(cursor !== null && { cursor }) };
    const { rows, next } = await store.list(filter);
    found.push(...rows.filter(({ version }) => !isTestVersion(version)));
    if (next === null) break;
    cursor = next;
  }
  return found.slice(0, limit);
}

async function replayed(
  store: Journal,
  clock: Clock,
  plan: Plan,
  executionId: ExecutionId,
  endsAt: number,
): Promise<RehearsedRun['outcome']> {
  if (clock.now() >= endsAt) return notReplayed('The time for this rehearsal is over.');
  const frames: JournalFrame[] = [];
  let chars = 0;
  let unpaused = 0;
  for await (const frame of framesOf(store, executionId, 0)) {
    frames.push(frame);
    chars += frame.chars;
    const isLong = frames.length > MAX_FRAMES || chars > MAX_CHARS || frame.chars > MAX_FRAME_CHARS;
    if (isLong) return notReplayed('Its journal is too long.');
    unpaused += frame.chars;
    if (unpaused < UNPAUSED_CHARS) continue;
    unpaused = 0;
    await pause(clock);
  }
  if (frames.length === 0) return notReplayed('It has been deleted.');
  try {
    const steps = replaySteps(plan, frames, executionId);
    for (;;) {
      const made = oneSlice(steps, clock);
      if (made !== undefined) return outcomeOf(made.value);
      if (clock.now() >= endsAt) return notReplayed('The time for this rehearsal is over.');
      await pause(clock);
    }
  } catch (error) {
    // The fold of a journal assumes the graph that it was written with.
    const why = error instanceof NebulaError ? `: ${error.message}` : '';
    return notReplayed(`The edit changes the graph too much for its journal${why}`);
  }
}

function notReplayed(reason: string): RehearsedRun['outcome'] {
  return { result: 'not-replayed', reason };
}

function outcomeOf(result: ReplayResult): RehearsedRun['outcome'] {
  if (result.same) return { result: 'same', frames: result.frames, unclear: result.unclear };
  const { kind, node, text, frame, at, recorded, now } = result.divergence;
  return { result: 'differs', difference: { kind, node: node ?? null, text, frame, at, recorded, now } };
}
