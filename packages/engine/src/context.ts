/**
 * The context that all parts of an engine share. A part that needs another part besides gets that part, not a callback.
 * Stimuli go into the `mailbox`; a part reports everything else to the `effects`.
 */
import type { Drivers } from './api.ts';
import type { CallbackSigner } from './attempts/callback-signer.ts';
import type { Durations } from './attempts/durations.ts';
import type { Effects } from './effects.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Meter } from './observe/metrics.ts';
import type { Tracing } from './observe/tracing.ts';
import type { Selection } from './selection.ts';
import type { BlobPins } from './storage/blob-pins.ts';
import type { Values } from './storage/values.ts';
import type { Mailbox } from './turn/mailbox.ts';
import type { Runs } from './turn/runs.ts';
import type { EngineLease } from './wake/engine-lease.ts';

export interface EngineContext extends Drivers {
  /** The name of this process among the workers of the store. */
  readonly workerId: string;
  /** Attempts that may run at the same time in this process. */
  readonly concurrency: number;
  readonly lifecycle: Lifecycle;
  readonly selection: Selection;
  readonly lease: EngineLease;
  readonly runs: Runs;
  readonly values: Values;
  readonly durations: Durations;
  readonly callbackSigner: CallbackSigner;
  readonly blobPins: BlobPins;
  readonly meter: Meter;
  readonly tracing: Tracing;
  readonly mailbox: Mailbox;
  readonly effects: Effects;
}
