/**
 * Finds stuck runs: unfinished, not paused, with work to do, and without a new frame for a time.
 *
 *  1 A run has work if its wake time is not later than the next resync: a run that waits for a person, a signal or a far
 *    time has none. So one query in the index of wake times finds all candidates.
 *  2 A candidate is stuck by one of the causes below. An attempt that runs for long is not one of them.
 *      no-worker   a task waits for a remote worker, and no live worker serves its route
 *      fault       the run cannot be loaded or decided on: its data is damaged, or an action is gone
 *      overdue     its wake time has passed, and no engine has taken it
 *  3 A state is explained once for each newest frame: without a new frame the answer stays the same.
 */
import { mayServe, NebulaError } from '@nebula/core';
import { DEFAULT_PROJECT, type ExecutionRow, type StalledRow } from '@nebula/ports';
import type { EngineParts } from '../parts.ts';
import { everyRecord } from '../records.ts';
import { isLive, type WorkerRecord } from '../workers/registry.ts';

export interface StuckRun {
  readonly run: ExecutionRow;
  readonly cause: 'no-worker' | 'fault' | 'overdue';
  /** Without progress since then. */
  readonly since: number;
  readonly node: string | null;
  readonly message: string;
}

export interface FoundRuns {
  readonly runs: readonly StuckRun[];
  /** False: there were too many candidates, and some were not examined. */
  readonly isComplete: boolean;
}

/** The longest time between two wake-ups of a run that has work: resync and claim take 30 seconds each. */
const RESYNC_MS = 60_000;
/** A fault is reported with every wake-up. */
const FAULT_MS = 2 * RESYNC_MS;
const MAX_CANDIDATES = 1_000;
/** States that are loaded in one search. */
const MAX_EXPLAINED = 100;
const MAX_FAULTS = 1_000;
/** An error that may pass counts from this number of searches on. */
const LASTING = 3;

/** A task that waits for a remote worker. */
interface WaitingTask {
  readonly node: string;
  readonly action: string;
  readonly labels: readonly string[];
  readonly message: string;
}

interface Examined {
  readonly movedAt: number;
  readonly tasks: readonly WaitingTask[];
  /** Why the run could not be read. */
  readonly error: string | undefined;
  /** The searches in which reading failed. */
  readonly failures: number;
}

type OfStuck = Pick<EngineParts, 'engine' | 'executions' | 'store' | 'records' | 'clock'>;

export class StuckRuns {
  private readonly parts: OfStuck;
  private readonly faults = new Map<string, { readonly at: number; readonly message: string }>();
  private examined = new Map<string, Examined>();
  private readonly unhear: () => void;

  constructor(parts: OfStuck) {
    this.parts = parts;
    this.unhear = parts.engine.on((event) => {
      if (event.type === 'fault') this.noteFault(event.executionId, event.error);
    });
  }

  close(): void {
    this.unhear();
  }

  /** The runs that have been stuck for this time. */
  async find(forMs: number): Promise<FoundRuns> {
    const { store, clock } = this.parts;
    const now = clock.now();
    const movedBefore = now - forMs;
    const rows = await store.stalled({ dueBy: now + RESYNC_MS, movedBefore, limit: MAX_CANDIDATES });
    await this.examine(rows);
    const workers = rows.some(({ executionId }) => this.examined.get(executionId)?.tasks.length)
      ? await this.liveWorkers()
      : [];
    const isComplete = rows.length < MAX_CANDIDATES && this.examined.size === rows.length;
    return { runs: rows.flatMap((row) => this.verdictOf(row, now, movedBefore, workers) ?? []), isComplete };
  }

  private verdictOf(
    { movedAt, ...run }: StalledRow,
    now: number,
    movedBefore: number,
    workers: readonly WorkerRecord[],
  ): StuckRun | undefined {
    const { executionId, project, wakeAt } = run;
    const fault = this.faults.get(executionId);
    if (fault !== undefined && now - fault.at < FAULT_MS) {
      return { run, cause: 'fault', since: movedAt, node: null, message: fault.message };
    }
    const { tasks = [], error, failures = 0 } = this.examined.get(executionId) ?? {};
    if (error !== undefined && failures >= LASTING) {
      return { run, cause: 'fault', since: movedAt, node: null, message: error };
    }
    if (wakeAt !== null && wakeAt <= movedBefore) {
      const message = 'Its wake time has passed, and no engine has taken it.';
      return { run, cause: 'overdue', since: wakeAt, node: null, message };
    }
    const unserved = tasks.find((task) => !workers.some((worker) => serves(worker, project, task)));
    if (unserved === undefined) return undefined;
    return { run, cause: 'no-worker', since: movedAt, node: unserved.node, message: unserved.message };
  }

  private async examine(rows: readonly StalledRow[]): Promise<void> {
    const before = this.examined;
    const examined = new Map<string, Examined>();
    let explained = 0;
    for (const { executionId, movedAt } of rows) {
      const known = before.get(executionId);
      const isKnown = known !== undefined && known.movedAt === movedAt && known.error === undefined;
      if (isKnown) examined.set(executionId, known);
      else if (explained++ < MAX_EXPLAINED) examined.set(executionId, await this.explain(executionId, movedAt, known));
    }
    this.examined = examined;
  }

  private async explain(executionId: string, movedAt: number, known: Examined | undefined): Promise<Examined> {
    try {
      const { causes = [] } = (await this.parts.executions.explain(executionId)) ?? {};
      const tasks = causes.flatMap(({ code, node, value, message }) => {
        const { action, labels } = value ?? {};
        if (code !== 'worker' || typeof action !== 'string' || node === undefined) return [];
        return [{ node, action, labels: labels as readonly string[], message }];
      });
      return { movedAt, tasks, error: undefined, failures: 0 };
    } catch (error) {
      const isLasting = error instanceof NebulaError && !error.retryable;
      return {
        movedAt,
        tasks: [],
        error: wordsOf(error),
        failures: isLasting ? LASTING : (known?.failures ?? 0) + 1,
      };
    }
  }

  private async liveWorkers(): Promise<WorkerRecord[]> {
    const { records, clock } = this.parts;
    const live: WorkerRecord[] = [];
    for await (const { body } of everyRecord<WorkerRecord>(records, 'worker')) {
      if (isLive(body, clock.now())) live.push(body);
    }
    return live;
  }

  private noteFault(executionId: string, error: unknown): void {
    this.faults.delete(executionId);
    this.faults.set(executionId, { at: this.parts.clock.now(), message: wordsOf(error) });
    const [oldest] = this.faults.keys();
    if (this.faults.size > MAX_FAULTS && oldest !== undefined) this.faults.delete(oldest);
  }
}

function serves(worker: WorkerRecord, project: string, { action, labels }: WaitingTask): boolean {
  const route = JSON.stringify([...action.split('@'), ...labels]);
  return (
    (worker.project ?? DEFAULT_PROJECT) === project && mayServe(route, new Set(worker.actions), new Set(worker.labels))
  );
}

function wordsOf(error: unknown): string {
  return error instanceof NebulaError ? `${error.code} ${error.message}` : String((error as Error).message);
}
