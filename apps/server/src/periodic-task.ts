/** Repeats a task, with a pause after each time, until the server closes. */
import type { Clock, Timer } from '@nebula/ports';

export interface PeriodicTaskParts {
  readonly clock: Clock;
  readonly everyMs: number;
  run(): Promise<void>;
  onTrouble(error: unknown): void;
}

export class PeriodicTask {
  private readonly parts: PeriodicTaskParts;
  private timer: Timer | undefined;
  isOpen = false;

  constructor(parts: PeriodicTaskParts) {
    this.parts = parts;
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
    const { clock, everyMs, run, onTrouble } = this.parts;
    this.timer = clock.timer(
      everyMs,
      () => {
        run()
          .catch((error: unknown) => onTrouble(error))
          .finally(() => this.later());
      },
      { background: true },
    );
  }
}
