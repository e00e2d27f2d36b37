/** What actions and the engine say while they work. Not part of the truth: a crash may lose the last moments. */
import type { Json } from '@nebula/core';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly executionId: string;
  /** Path of the node; null for lines of the run itself. */
  readonly node: string | null;
  readonly attempt: number | null;
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

export interface StoredLogLine extends LogLine {
  /** Grows in order of arrival: read on from here. */
  readonly position: number;
}

export interface LogFilter {
  readonly executionId: string;
  readonly node?: string;
  readonly minLevel?: LogLevel;
  readonly afterPosition?: number;
  readonly limit: number;
}

export interface Logs {
  /** Never blocks and never throws; lines are written in batches. */
  append(line: LogLine): void;
  /** Writes what waits. */
  flush(): Promise<void>;
  read(filter: LogFilter): Promise<readonly StoredLogLine[]>;
  /** Lines as they come, from those after `afterPosition` on, until the signal aborts. */
  follow(filter: LogFilter, signal: AbortSignal): AsyncIterable<StoredLogLine>;
  deleteExecution(executionId: string): Promise<void>;
  close(): Promise<void>;
}
