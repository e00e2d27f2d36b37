/** The parts of the server. All durable state is behind them. */
import type { Engine, ExecutionService, Projects } from '@nebula/engine';
import type { Backups, Blobs, Clock, Digest, Logs, Outgoing, Random, Records, Secrets, Store } from '@nebula/ports';

/**
 * The parts that suffice to read runs, record requests and change records, even beside an engine of another process.
 */
export interface Parts {
  readonly executions: ExecutionService;
  readonly store: Store;
  readonly records: Records;
  readonly secrets: Secrets;
  readonly blobs: Blobs;
  readonly logs: Logs;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly projects: Projects;
  /** Absent if the data is in drivers that cannot be copied as a whole. */
  readonly backups?: Backups | undefined;
  /** Sends notifications; absent: none can be sent. */
  readonly outgoing?: Outgoing;
}

/** The parts with an engine of this process. */
export interface EngineParts extends Parts {
  readonly engine: Engine;
}
