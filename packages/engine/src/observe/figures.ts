/** The work of this process now, for people who look at a fleet. */
import type { Clock, Queue, QueueStats } from '@nebula/ports';

export interface EngineFigures {
  readonly engineId: string;
  /** Attempts that may run here at once. */
  readonly slots: number;
  readonly running: number;
  /** Attempts that remote workers hold. */
  readonly leases: number;
  /** Runs in memory. */
  readonly runs: number;
  readonly readyNodes: number;
  readonly oldestReadyMs: number;
  readonly queue: QueueStats;
}

/** The parts of an engine that know the figures. */
interface FigureParts {
  readonly workerId: string;
  readonly concurrency: number;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly runs: { readonly size: number; backlog(): { readonly count: number; readonly since: number | null } };
  readonly meter: { read(): Promise<{ readonly gauges: Readonly<Record<string, number>> }> };
}

export async function engineFigures(parts: FigureParts): Promise<EngineFigures> {
  const { workerId, concurrency, queue, clock, runs, meter } = parts;
  const [{ gauges }, stats] = await Promise.all([meter.read(), queue.stats()]);
  const { count, since } = runs.backlog();
  return {
    engineId: workerId,
    slots: concurrency,
    running: gauges['workflow.parallel_tasks'] ?? 0,
    leases: gauges['workflow.remote_tasks'] ?? 0,
    runs: runs.size,
    readyNodes: count,
    oldestReadyMs: since === null ? 0 : Math.max(0, clock.now() - since),
    queue: stats,
  };
}
