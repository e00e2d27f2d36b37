/**
 * Three kinds of failure are kept apart:
 *  - an expected outcome is a returned union;
 *  - an operating error or a user's mistake is a `NebulaError`: a code, plain words, a hint;
 *  - a programmer's error is a failed `assert`, which throws.
 */
import type { Json } from './value.ts';

/** USER errors come from the work itself; SYSTEM errors from the world around it. Retries treat them alike. */
export type ErrorKind = 'USER' | 'SYSTEM';

/** An error as the journal keeps it and as `$nodes.x.error` shows it. */
export interface RunError {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  /** Path of the node that failed, where there is one. */
  readonly node?: string;
  readonly details?: Json;
}

export interface NebulaErrorOptions {
  readonly hint?: string;
  readonly details?: Json;
  readonly cause?: unknown;
  /** True when the same call may succeed later without any change. */
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
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}

/** Ends an exhaustive `switch`; a new variant makes the compiler point here. */
export function unreachable(value: never): never {
  throw new Error(`invariant broken: unexpected variant ${JSON.stringify(value)}`);
}
