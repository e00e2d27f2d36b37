/** Log lines of actions and of the engine. A crash may lose the newest ones. */
import type { ExecutionId, Json, NodePath } from '@nebula/core';

/** The longest message of a line, in characters: a driver cuts longer ones. */
export const MAX_LOG_MESSAGE_CHARS = 16_384;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly executionId: ExecutionId;
  /** The path of the node; null for lines of the run itself. */
  readonly node: NodePath | null;
  readonly attempt: number | null;
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

/** Set to true among the fields of a line whose message is the stack of the error with which an attempt failed. */
export const STACK_FIELD = 'stack';

export interface StoredLogLine extends LogLine {
  /** Grows in order of arrival; a reader continues from here. */
  readonly position: number;
}

export interface LogFilter {
  readonly executionId: ExecutionId;
  readonly node?: NodePath;
  readonly minLevel?: LogLevel;
  readonly afterPosition?: number;
  readonly beforePosition?: number;
  /** By default `oldest` first. `newest`: the last lines, the newest first. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
}

/** Finds lines whose message contains a text, without regard to case. */
export interface LogSearch extends LogFilter {
  readonly text: string;
}

/** The most lines that one search examines. */
export const MAX_SEARCHED_LINES = 100_000;

export interface FoundLines {
  readonly lines: readonly StoredLogLine[];
  /** The last examined position, from which the search can go on; null if there are no more lines. */
  readonly last: number | null;
}

export interface Logs {
  /** Never blocks and never throws; lines are written in batches. */
  append(line: LogLine): void;
  /** Writes buffered lines. */
  flush(): Promise<void>;
  read(filter: LogFilter): Promise<readonly StoredLogLine[]>;
  /** Does not block the event loop for longer than other reads. */
  search(search: LogSearch): Promise<FoundLines>;
  /** Lines after `afterPosition`, then new ones as they come, in pages of `limit` lines, until the signal aborts. */
  follow(filter: LogFilter, signal: AbortSignal): AsyncIterable<readonly StoredLogLine[]>;
  deleteExecution(executionId: ExecutionId): Promise<void>;
  close(): Promise<void>;
}
