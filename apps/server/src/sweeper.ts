/** Records that have expired are not there for anybody; now and then they are also removed. */
import type { Clock, Records, Timer } from '@nebula/ports';

const SWEEP_MS = 60_000;
/** One commit removes so many; a round of many of them would keep others from the store. */
const BATCH = 1_000;
const MAX_BATCHES = 20;

export class Sweeper {
  private readonly parts: { readonly records: Records; readonly clock: Clock };
  private readonly onTrouble: (error: unknown) => void;
  private timer: Timer | undefined;
  private isOpen = false;

  constructor(parts: { readonly records: Records; readonly clock: Clock }, onTrouble: (error: unknown) => void) {
    this.parts = parts;
    this.onTrouble = onTrouble;
  }

  open(): void {
    this.isOpen = true;
    this.later();
  }

  close(): void {
    this.isOpen = false;
    this.timer?.cancel();
  }

  private later(): void {
    if (!this.isOpen) return;
    this.timer = this.parts.clock.timer(
      SWEEP_MS,
      () => {
        this.sweep()
          .catch((error: unknown) => this.onTrouble(error))
          .finally(() => this.later());
      },
      { background: true },
    );
  }

  private async sweep(): Promise<void> {
    const { records, clock } = this.parts;
    for (let batch = 0; batch < MAX_BATCHES && this.isOpen; batch++) {
      if ((await records.purge(clock.now(), BATCH)) < BATCH) return;
    }
  }
}
