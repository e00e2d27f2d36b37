/** Records that have expired are not there for anybody; now and then they are also removed. */
import type { Clock, Records } from '@nebula/ports';
import { PeriodicTask } from './periodic-task.ts';

const SWEEP_MS = 60_000;
/** One commit removes so many; a pass of many of them would keep others from the store. */
const BATCH = 1_000;
const MAX_BATCHES = 20;

export function sweeping(
  { records, clock }: { readonly records: Records; readonly clock: Clock },
  onTrouble: (error: unknown) => void,
): PeriodicTask {
  const rounds = new PeriodicTask({
    clock,
    everyMs: SWEEP_MS,
    onTrouble,
    async run() {
      for (let batch = 0; batch < MAX_BATCHES && rounds.isOpen; batch++) {
        if ((await records.purge(clock.now(), BATCH)) < BATCH) return;
      }
    },
  });
  return rounds;
}
