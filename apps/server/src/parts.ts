/** The parts of the server. All durable state is behind them. */
import type { Engine, ExecutionService, Projects } from '@nebula/engine';
import type { Backups, Blobs, Clock, Digest, Logs, Outgoing, Random, Records, Secrets, Store } from '@nebula/ports';
import type { ConfiguredNotification } from './notifications/records.ts';

export interface ConfiguredNotifications {
  readonly list: readonly ConfiguredNotification[];
  /** The folder in which commands run. */
  readonly folder: string;
  /** Receives what a command wrote. */
  onOutput?(notificationId: string, exitCode: number, output: string): void;
}

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
  /** The URL of the server for people elsewhere, if it is configured. */
  readonly publicUrl?: string;
  /** Notifications of the configuration. */
  readonly configured?: ConfiguredNotifications;
}

/** The parts with an engine of this process. */
export interface EngineParts extends Parts {
  readonly engine: Engine;
}
