/**
 * Records: the small documents of a server (users, schedules, webhooks, responses to repeated requests …).
 * Drivers see encoded bodies only; the meaning of a kind is known above this port. A secondary key is a record whose id is
 * that key.
 *
 *  R1 A commit is all or nothing, and durable when its promise resolves.
 *  R2 Revisions grow with every commit and are never given twice, also after removals: the same revision of the same
 *     record is the same content.
 *  R3 A record whose `expiresAt` has passed does not exist, whether it was purged or not.
 */
export interface RecordRow {
  readonly kind: string;
  readonly id: string;
  /** JSON text. */
  readonly body: string;
  /** The revision of the commit that wrote it: at least 1. */
  readonly revision: number;
  readonly updatedAt: number;
  /** The record does not exist from this moment on; null: it is kept until it is removed. */
  readonly expiresAt: number | null;
}

export interface RecordChange {
  readonly kind: string;
  readonly id: string;
  /** Replaces the record; null removes it. */
  readonly body: string | null;
  /** The revision that the record must have for the commit to happen; 0: there must be none. If absent: any. */
  readonly expected?: number;
  /** If absent, the record is kept until it is removed. */
  readonly expiresAt?: number | null;
}

export type CommitOutcome =
  | { readonly ok: true; readonly revision: number }
  /** The first change whose expectation failed, and the actual revision; 0: there is none. */
  | { readonly ok: false; readonly kind: string; readonly id: string; readonly revision: number };

export interface RecordPage {
  /** Only ids with this prefix. */
  readonly prefix?: string;
  /** Only ids beyond this one, the last of the previous page, which need not exist any more. */
  readonly after?: string;
  /** The order of ids, by code points; by default `ascending`. */
  readonly order?: 'ascending' | 'descending';
  readonly limit: number;
}

export interface Records {
  get(kind: string, id: string): Promise<RecordRow | undefined>;
  list(kind: string, page: RecordPage): Promise<readonly RecordRow[]>;
  /** Checks all expectations first, then makes the changes in order. */
  commit(changes: readonly RecordChange[]): Promise<CommitOutcome>;
  /** Removes records that expired at or before `now`, oldest first, at most `limit`; returns their number. */
  purge(now: number, limit: number): Promise<number>;
}
