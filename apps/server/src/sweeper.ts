/** Records that have expired are not there for anybody; now and then they are also removed. */
import type { Clock, Records } from '@nebula/ports';
import { Rounds } from './rounds.ts';

const SWEEP_MS = 60_000;
/** One commit removes so many; a round of many of them would keep others from the store. */
const BATCH = 1_000;
const MAX_BATCHES = 20;

export function sweeping(
  { records, clock }: { readonly records: Records; readonly clock: Clock },
  onTrouble: (error: unknown) => void,
): Rounds {
  const rounds = new Rounds({
    clock,
    everyMs: SWEEP_MS,
    onTrouble,
    async round() {
      for (let batch = 0; batch < MAX_BATCHES && rounds.isOpen; batch++) {
        if ((await records.purge(clock.now(), BATCH)) < BATCH) return;
      }
    },
  });
  return rounds;
}
