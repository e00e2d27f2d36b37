/**
 * Permits of keys, and moments of a rate. Changes of permits are part of a write.
 *
 *  P1 A key has at most `limit` holders. A request for a full key waits; requests are granted in their order.
 *  P2 A repeated request has no further effect, and the release of a permit that is not held changes nothing.
 *  P3 An execution whose request is granted finds the message of the request in its inbox, and is due.
 *  P4 Moments of a rate: never more than `limit` in any `perMs`, wherever that period begins. A repeated request of a node
 *     gets the same moment again, so a lost answer costs nothing.
 *  P6 A write that requires a permit is accepted with the permit, or not at all.
 *  P7 A request that makes room is granted when the executions that it told to end, in the same write, have ended.
 */
import type { ExecutionId, NodePath } from '@nebula/core';

export interface PermitRequest {
  readonly key: string;
  readonly node: NodePath;
  readonly limit: number;
  /** The message that goes into the inbox of the requesting execution when the permit is granted. */
  readonly messageId: string;
  readonly body: string;
  /**
   * The whole write is refused if the permit is not free; the request does not wait. With a release of the same permit in
   * the same write, the permit is required and released at once.
   */
  readonly isRequired?: boolean;
  /**
   * If the request has to wait, this message goes into the inboxes of as many holders and earlier waiters as must end
   * before its turn comes, oldest first.
   */
  readonly makesRoom?: { readonly messageId: string; readonly body: string };
}

/** The holder of a permit that a write requires. */
export interface PermitHolder {
  readonly key: string;
  readonly executionId: ExecutionId;
}

export interface PermitRelease {
  readonly key: string;
  readonly node: NodePath;
}

export interface RateRequest {
  readonly key: string;
  readonly node: NodePath;
  /** Distinguishes the requests of a node: a request with the same id gets the same moment. */
  readonly requestId: string;
  readonly limit: number;
  readonly perMs: number;
}

export interface PermitRow {
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly isHeld: boolean;
}

/** Part of a write: accepted or refused with it. Releases are applied first. */
export interface PermitChanges {
  readonly at: number;
  readonly releases?: readonly PermitRelease[];
  readonly requests?: readonly PermitRequest[];
  readonly rates?: readonly RateRequest[];
}

/** Returns whether one write requests the permit and releases it. */
export function isReleasedAtOnce({ key, node, isRequired }: PermitRequest, { releases = [] }: PermitChanges): boolean {
  return isRequired === true && releases.some((release) => release.key === key && release.node === node);
}

/** The holder of a permit that the write requires; undefined if it requires none, or the permit is free. */
export function blockingHolder(
  executionId: ExecutionId,
  { releases = [], requests = [] }: PermitChanges,
  rowsOf: (key: string) => readonly PermitRow[],
): PermitHolder | undefined {
  for (const { key, node, limit, isRequired } of requests) {
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

/** The executions that must end before the request is granted. `rows` are in the order in which they are granted. */
export function blockersOf(
  executionId: ExecutionId,
  { node, limit }: PermitRequest,
  rows: readonly PermitRow[],
): string[] {
  const own = rows.findIndex((row) => row.executionId === executionId && row.node === node);
  if (own < 0 || rows[own]?.isHeld === true) return [];
  return rows.slice(0, own - limit + 1).map((row) => row.executionId);
}

/**
 * The next moment of a rate. `last` is the newest granted moment, `before` the one granted `limit` requests ago, so that no
 * period of `perMs`, wherever it begins, holds more than `limit`.
 */
export function nextMoment(
  now: number,
  perMs: number,
  { last = now, before }: { readonly last?: number | undefined; readonly before: number | undefined },
): number {
  return Math.max(now, last, before === undefined ? now : before + perMs);
}

export interface Permits {
  /** The holders of a key and its waiters, in the order in which they are granted. */
  permits(key: string): Promise<readonly PermitRow[]>;
}
