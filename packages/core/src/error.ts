/**
 * Three kinds of failure are kept apart:
 *  - An expected outcome is a returned union.
 *  - An operating error or a user's mistake is a `NebulaError` with a code, a message and a hint.
 *  - A programmer's error is a failed `assert`, which throws.
 */
import type { Json } from './value.ts';

/** USER errors come from the work itself, SYSTEM errors from its environment. Retries treat them alike. */
export type ErrorKind = 'USER' | 'SYSTEM';

/** An error as stored in the journal and returned by `$nodes.x.error`. */
export interface RunError {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  /** Path of the failed node, if the error belongs to one. */
  readonly node?: string;
  readonly details?: Json;
}

export interface NebulaErrorOptions {
  readonly hint?: string;
  readonly details?: Json;
  readonly cause?: unknown;
  /** True when the same call may succeed later without a change. */
  readonly retryable?: boolean;
}

export class NebulaError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Json | undefined;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: NebulaErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NebulaError';
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    this.retryable = options.retryable ?? false;
  }
}

/** A programmer's error: an invariant of this code base does not hold. */
export class InvariantError extends Error {
  constructor(message: string) {
    super(`invariant broken: ${message}`);
  }
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Ends an exhaustive `switch`; the compiler reports a missing case here. */
export function unreachable(value: never): never {
  throw new Error(`invariant broken: unexpected variant ${JSON.stringify(value)}`);
}
