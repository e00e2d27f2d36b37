/**
 * Stores the human tasks of runs from before there were any, so that runs that wait already appear in lists. A server does
 * so after its start, one run at a time, with a pause between two runs. A run that cannot be read is left out.
 */
import type { EngineParts } from './parts.ts';

const PAGE = 50;
/** The pause after each run: reading one takes some milliseconds. */
const PAUSE_MS = 20;

export class HumanTaskBackfill {
  private readonly parts: EngineParts;
  private readonly onTrouble: (error: unknown) => void;
  private isClosed = false;
  private wake: (() => void) | undefined;

  constructor(parts: EngineParts, onTrouble: (error: unknown) => void) {
    this.parts = parts;
    this.onTrouble = onTrouble;
  }

  open(): void {
    this.run().catch((error: unknown) => {
      if (!this.isClosed) this.onTrouble(error);
    });
  }

  close(): void {
    this.isClosed = true;
    this.wake?.();
  }

  private async run(): Promise<void> {
    const { store, executions } = this.parts;
    const unreadable = new Set<string>();
    for (;;) {
      const page = await store.untaskedExecutions(PAGE + unreadable.size);
      const ids = page.filter((id) => !unreadable.has(id));
      if (ids.length === 0) return;
      for (const executionId of ids) {
        if (this.isClosed) return;
        try {
          await executions.saveHumanTasks(executionId);
        } catch (error) {
          unreadable.add(executionId);
          this.onTrouble(error);
        }
        await this.pause();
      }
    }
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.timer(PAUSE_MS, resolve, { background: true });
      this.wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
