/** The parts of the server. All durable state is behind them. */
import type { Engine, ExecutionService, Projects } from '@nebula/engine';
import type { Backups, Blobs, Clock, Digest, Logs, Outgoing, Random, Records, Secrets, Store } from '@nebula/ports';
import type { ConfiguredNotification } from './notifications/records.ts';

/** The workflow files of the project; the process that watches them writes them. */
export interface WorkflowFiles {
  /** Whether the file of a workflow, relative to the project folder, can be written. */
  isWritable(path: string): boolean;
  /**
   * Runs `register`, then replaces the text of the file that the workflow comes from. Rejects before that with
   * `FILE_CHANGED` if the file is not as it was registered last, with `NOT_SAVED_TO_FILE` if it cannot be written.
   */
  save<T extends { readonly version: number }>(
    workflowId: string,
    text: string,
    register: () => Promise<T>,
  ): Promise<T>;
}

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
  /** Absent, or undefined: this server writes no workflow files. */
  workflowFiles?(): WorkflowFiles | undefined;
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
