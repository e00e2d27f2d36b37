/**
 * What runs share, as rows: places among the holders of a key, moments of a rate, and outputs that may be used again.
 *
 *  P1 A key has at most `limit` holders; who asks while it is full waits, and is granted in the order of asking.
 *  P2 Asking twice is asking once, and giving back what nobody holds changes nothing.
 *  P3 Whoever is granted a place finds the message that it left in its inbox, and is due.
 *  P5 A published signal goes to one listener, the one that has listened longest; with none it is kept until one comes,
 *     or it expires. A listener gets each signal once.
 *  P4 Moments of a rate: never more than `limit` in any `perMs`, wherever that begins. The same ask of a node gets the
 *     same moment again, so an answer that is lost costs nothing.
 *  P6 A write that requires a place is accepted with the place, or not at all.
 *  P7 Who wants room made is granted its place when those that it has asked to go, in the same write, have gone.
 */

export interface PermitAsk {
  readonly key: string;
  readonly node: string;
  readonly limit: number;
  /** Put into the inbox of the execution that asks, when the place is granted. */
  readonly messageId: string;
  readonly body: string;
  /**
   * Where the place is not free the whole write is refused, and nobody stands in line. With a release of the same place in
   * the same write it is required, and given back at once.
   */
  readonly isRequired?: boolean;
  /**
   * Where it has to wait, this message is put into the inboxes of as many of those before it as must go for its turn to
   * come, the oldest first.
   */
  readonly makesRoom?: { readonly messageId: string; readonly body: string };
}

/** Whoever has a place that a write requires. */
export interface PlaceHolder {
  readonly key: string;
  readonly executionId: string;
}

export interface PermitRelease {
  readonly key: string;
  readonly node: string;
}

export interface RateAsk {
  readonly key: string;
  readonly node: string;
  /** Which time it is that the node asks: asking again with the same word gets the same moment. */
  readonly ask: string;
  readonly limit: number;
  readonly perMs: number;
}

export interface PermitRow {
  readonly executionId: string;
  readonly node: string;
  readonly isHeld: boolean;
}

/** Part of a write: accepted or refused with it. Releases come first. */
export interface PermitChanges {
  readonly at: number;
  readonly releases?: readonly PermitRelease[];
  readonly asks?: readonly PermitAsk[];
  readonly rates?: readonly RateAsk[];
}

/** An output that was reached once with some input. */
export interface CacheRow {
  /** Names action, versions and input. */
  readonly key: string;
  /** Names action and versions: what all inputs have in common. */
  readonly family: string;
  /** What the input was, member by member, so that a miss can be explained. */
  readonly input: string;
  readonly output: string;
  readonly executionId: string;
  readonly node: string;
  readonly at: number;
  readonly expiresAt: number | null;
}

/** Where a row stands in lists: by family, then by time. */
export type CachePlace = Pick<CacheRow, 'family' | 'at' | 'key'>;

export interface CachePage {
  /** With which the family begins; empty: all. */
  readonly prefix: string;
  /** The last row of the page before. */
  readonly after?: CachePlace;
  readonly limit: number;
}

/** One output, or all of the families that begin so. */
export type CacheChoice = { readonly key: string } | { readonly prefix: string };

/** Whether the place is asked for and given back by one write. */
export function isGivenBack({ key, node, isRequired }: PermitAsk, { releases = [] }: PermitChanges): boolean {
  return isRequired === true && releases.some((release) => release.key === key && release.node === node);
}

/** Who has a place that the write requires; undefined when it requires none, or may have it. */
export function holderInTheWay(
  executionId: string,
  { releases = [], asks = [] }: PermitChanges,
  rowsOf: (key: string) => readonly PermitRow[],
): PlaceHolder | undefined {
  for (const { key, node, limit, isRequired } of asks) {
    if (isRequired !== true) continue;
    const isGone = (row: PermitRow): boolean =>
      row.executionId === executionId && releases.some((release) => release.key === key && release.node === row.node);
    const rows = rowsOf(key).filter((row) => !isGone(row));
    if (rows.some((row) => row.executionId === executionId && row.node === node && row.isHeld)) continue;
    const [first] = rows;
    if (first !== undefined && rows.length >= limit) return { key, executionId: first.executionId };
  }
  return undefined;
}

/** Who must go so that the turn of the one who asks comes, of the rows in the order in which they are granted. */
export function inTheWayOf(executionId: string, { node, limit }: PermitAsk, rows: readonly PermitRow[]): string[] {
  const own = rows.findIndex((row) => row.executionId === executionId && row.node === node);
  if (own < 0 || rows[own]?.isHeld === true) return [];
  return rows.slice(0, own - limit + 1).map((row) => row.executionId);
}

/**
 * The moment at which the next one may begin: `last` is the newest that was given, `before` the one that was given
 * `limit` ago. So no period of `perMs`, wherever it begins, holds more than `limit`.
 */
export function nextMoment(
  now: number,
  perMs: number,
  { last = now, before }: { readonly last?: number | undefined; readonly before: number | undefined },
): number {
  return Math.max(now, last, before === undefined ? now : before + perMs);
}

/** A node that waits for a signal of this name and key. */
export interface Listener {
  readonly signal: string;
  readonly key: string;
  readonly node: string;
}

/** Part of a write: who listens from now on, and which nodes do not any more. */
export interface ListenerChanges {
  readonly at: number;
  readonly add?: readonly Listener[];
  /** Nodes of the execution. */
  readonly remove?: readonly string[];
}

/** A signal for whoever listens, whichever run that is. The message is put into its inbox. */
export interface PublishedSignal {
  readonly signal: string;
  readonly key: string;
  readonly messageId: string;
  readonly body: string;
  readonly at: number;
  readonly expiresAt: number;
}
