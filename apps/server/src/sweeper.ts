/** Removes expired records from time to time. Readers do not see them once they have expired. */
import type { Clock, Records } from '@nebula/ports';
import { PeriodicTask } from './periodic-task.ts';

const SWEEP_MS = 60_000;
/** The records that one commit removes: larger commits would block other callers of the store. */
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
