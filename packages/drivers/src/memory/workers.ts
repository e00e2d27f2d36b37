import type { Workers } from '@nebula/ports';
import { earlier, isFinished, type OpenData } from './data.ts';

export function memoryWorkers(open: OpenData): Workers {
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
