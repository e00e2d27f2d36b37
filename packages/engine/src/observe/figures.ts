/** The work of this process now, for people who look at a fleet. */
import type { QueueStats } from '@nebula/ports';
import type { EngineContext } from '../context.ts';

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

export async function engineFigures({
  workerId,
  concurrency,
  queue,
  clock,
  runs,
  meter,
}: EngineContext): Promise<EngineFigures> {
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
