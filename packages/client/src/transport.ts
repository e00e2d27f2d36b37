/** The transport of operations: HTTP, or handlers in the same process. */
import type { OperationId } from './contract/routes.ts';

export interface RequestInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional time for the response, beyond the default. */
  readonly waitMs?: number;
}

export interface Progress {
  readonly executionId: string;
  readonly node: string;
  readonly fraction: number;
  readonly message?: string;
}

export interface FollowOptions {
  /** Events after this id; `now` for new events only; default: all. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Receives progress reports of actions, which are not part of the events and not repeated. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Transport {
  /** URL of the server. */
  readonly url: string;
  json(operation: OperationId, input: RequestInput): Promise<unknown>;
  bytes(operation: OperationId, input: RequestInput): Promise<Uint8Array>;
  /** The bytes of a long answer as they arrive, without a time limit. Rejects before the first byte if the call fails. */
  download(operation: OperationId, input: RequestInput): Promise<AsyncIterable<Uint8Array>>;
  /** Events of a streaming operation; ends when the signal aborts, and, for the events of one run, after its end. */
  follow(operation: OperationId, input: RequestInput, options: FollowOptions): AsyncGenerator<unknown>;
}
