/**
 * Permits: places among the holders of a key, and moments of a rate. Changes of permits are part of a write.
 *
 *  P1 A key has at most `limit` holders. An ask for a full key waits, and is granted in the order of asking.
 *  P2 Asking twice is asking once, and releasing a place that is not held changes nothing.
 *  P3 An execution whose ask is granted finds the message of the ask in its inbox, and is due.
 *  P4 Moments of a rate: never more than `limit` in any `perMs`, wherever that period begins. The same ask of a node gets
 *     the same moment again, so a lost answer costs nothing.
 *  P6 A write that requires a place is accepted with the place, or not at all.
 *  P7 An ask that makes room is granted when the executions that it has told to end, in the same write, have ended.
 */
import type { ExecutionId, NodePath } from '@nebula/core';

export interface PermitRequest {
  readonly key: string;
  readonly node: NodePath;
  readonly limit: number;
  /** The message goes into the inbox of the asking execution when the place is granted. */
  readonly messageId: string;
  readonly body: string;
  /**
   * The whole write is refused when the place is not free, and the ask does not wait. With a release of the same place in
   * the same write, the place is required and released at once.
   */
  readonly isRequired?: boolean;
  /**
   * When the ask has to wait, this message goes into the inboxes of as many holders and earlier asks as must end before
   * its turn comes, oldest first.
   */
  readonly makesRoom?: { readonly messageId: string; readonly body: string };
}

/** The holder of a place that a write requires. */
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
  /** Tells the asks of a node apart: the same text gets the same moment. */
  readonly ask: string;
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
  readonly asks?: readonly PermitRequest[];
  readonly rates?: readonly RateRequest[];
}

/** Whether one write asks for the place and releases it. */
export function isReleasedAtOnce({ key, node, isRequired }: PermitRequest, { releases = [] }: PermitChanges): boolean {
  return isRequired === true && releases.some((release) => release.key === key && release.node === node);
}

/** The holder of a place that the write requires; undefined when the write requires none, or may have it. */
export function blockingHolder(
  executionId: ExecutionId,
  { releases = [], asks = [] }: PermitChanges,
  rowsOf: (key: string) => readonly PermitRow[],
): PermitHolder | undefined {
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

/** The executions that must end before the turn of the ask comes. `rows` are in the order in which they are granted. */
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
 * The next moment of a rate. `last` is the newest granted moment, `before` the one granted `limit` asks ago, so that no
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
  /** The holders of a key, and those who wait for it, in the order in which they are granted. */
  permits(key: string): Promise<readonly PermitRow[]>;
}
