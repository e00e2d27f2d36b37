/**
 * What the parts of an engine share. Each part is given this object once; a part that needs another part besides is
 * given that part itself. `mailbox` is the way in: a stimulus for a run. `effects` is the way out: what a part has to tell.
 */
import type { Drivers } from './api.ts';
import type { Durations } from './durations.ts';
import type { Effects } from './effects.ts';
import type { Holds } from './holds.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Mailbox } from './mailbox.ts';
import type { Meter } from './metrics.ts';
import type { Runs } from './runs.ts';
import type { Selection } from './selection.ts';
import type { Tracing } from './tracing.ts';
import type { Values } from './values.ts';
import type { WorkerLease } from './worker-lease.ts';

export interface EngineContext extends Drivers {
  /** This process among the workers of the store. */
  readonly workerId: string;
  /** Attempts that may run at the same time in this process. */
  readonly concurrency: number;
  readonly lifecycle: Lifecycle;
  readonly selection: Selection;
  readonly lease: WorkerLease;
  readonly runs: Runs;
  readonly values: Values;
  readonly durations: Durations;
  readonly holds: Holds;
  readonly meter: Meter;
  readonly tracing: Tracing;
  readonly mailbox: Mailbox;
  readonly effects: Effects;
}
