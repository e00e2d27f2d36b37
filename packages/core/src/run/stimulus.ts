/** What can happen to a run from outside. Everything `decide` needs to know comes in here. */
import type { RunError } from '../error.ts';
import type { Json } from '../value.ts';
import type { Held } from './held.ts';

/**
 * How an attempt ended.
 *  - broken-off: it was aborted, timed out or lost; whether it took effect is not known
 *  - returned: it was stopped before it began to matter, by a worker that shuts down
 */
export type Outcome =
  | { readonly status: 'completed'; readonly output: Held }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'broken-off'; readonly error: RunError }
  | { readonly status: 'returned' };

/** What a person or `verify` knows about an attempt whose outcome was unknown. */
export type Settlement =
  | { readonly happened: true; readonly output: Json }
  | { readonly happened: false; readonly then: 'retry' | 'fail' }
  /** `verify` could not tell: a person has to look. */
  | { readonly happened: 'unknown' };

export interface OpenAttempt {
  readonly node: string;
  readonly attempt: number;
  readonly worker: string;
}

export type Stimulus =
  | { readonly type: 'start'; readonly input: Json; readonly trigger: Json }
  /** `jitter`: from 0 up to 1, drawn by the caller. */
  | {
      readonly type: 'ended';
      readonly node: string;
      readonly attempt: number;
      readonly outcome: Outcome;
      readonly jitter: number;
    }
  /** Time has passed. `lost`: open attempts whose worker is gone. */
  | { readonly type: 'wake'; readonly lost: readonly OpenAttempt[]; readonly jitter: number }
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'retry' }
  /** `attempt`: the one that was looked at; what is known of it says nothing about a later one. */
  | {
      readonly type: 'settle';
      readonly node: string;
      readonly by: 'verify' | 'person';
      readonly attempt?: number;
      readonly settlement: Settlement;
    };
