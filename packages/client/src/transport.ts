/** How operations reach what answers them: over HTTP, or handlers of the same process. */
import type { OperationId } from './contract/routes.ts';

export interface RequestInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the answer may take, beyond the usual. */
  readonly waitMs?: number;
}

export interface Progress {
  readonly executionId: string;
  readonly node: string;
  readonly fraction: number;
  readonly message?: string;
}

export interface FollowOptions {
  /** Events after this id; `now`: none of the past; left out: all. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** What actions say of how far they are: not part of the events, and not repeated. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Transport {
  /** Where the server is. */
  readonly url: string;
  json(operation: OperationId, input: RequestInput): Promise<unknown>;
  bytes(operation: OperationId, input: RequestInput): Promise<Uint8Array>;
  /** Events of an operation that streams; ends when the signal aborts. */
  follow(operation: OperationId, input: RequestInput, options: FollowOptions): AsyncGenerator<unknown>;
}
