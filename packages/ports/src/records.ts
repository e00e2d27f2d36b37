/**
 * Records: the small documents of a server (users, schedules, webhooks, answers to repeated requests …), all in one way.
 * Drivers see encoded bodies only; what a kind means is known above this port. A second key is made by choosing ids well.
 *
 *  R1 A commit is all or nothing, and durable when its promise resolves.
 *  R2 Revisions grow with every commit and are never given twice, also after removals: the same revision of the same
 *     record is the same content.
 *  R3 A record whose `expiresAt` has passed is not there, whether it was purged or not.
 */
export interface RecordRow {
  readonly kind: string;
  readonly id: string;
  /** JSON text. */
  readonly body: string;
  /** That of the commit which wrote it: at least 1. */
  readonly revision: number;
  readonly updatedAt: number;
  /** From this moment on it is not there; null: kept until it is removed. */
  readonly expiresAt: number | null;
}

export interface RecordChange {
  readonly kind: string;
  readonly id: string;
  /** Takes the place of what is there; null removes it. */
  readonly body: string | null;
  /** The revision that must be there for the commit to happen; 0: none. Left out: whatever is there. */
  readonly expected?: number;
  /** Left out: kept until it is removed. */
  readonly expiresAt?: number | null;
}

export type CommitOutcome =
  | { readonly ok: true; readonly revision: number }
  /** The first change whose expectation did not hold, and the revision that is there instead; 0: none. */
  | { readonly ok: false; readonly kind: string; readonly id: string; readonly revision: number };

export interface RecordPage {
  /** Only ids that begin so. */
  readonly prefix?: string;
  /** Only ids beyond this one: the last one of an earlier page. It need not be there any more. */
  readonly after?: string;
  /** Of ids, by their code points; `ascending` unless told. */
  readonly order?: 'ascending' | 'descending';
  readonly limit: number;
}

export interface Records {
  get(kind: string, id: string): Promise<RecordRow | undefined>;
  list(kind: string, page: RecordPage): Promise<readonly RecordRow[]>;
  /** Expectations are held against what is there before; then the changes are made in their order. */
  commit(changes: readonly RecordChange[]): Promise<CommitOutcome>;
  /** Removes records that expired at or before `now`, oldest first, a bounded number; returns how many. */
  purge(now: number, limit: number): Promise<number>;
}
