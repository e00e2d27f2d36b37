/** Outputs of nodes that other runs may reuse. They are written with the frame that completes the node. */
import type { ExecutionId, NodePath } from '@nebula/core';

export interface CacheRow {
  /** Identifies action, versions and input. */
  readonly key: string;
  /** Identifies action and versions: the same for all inputs. */
  readonly family: string;
  /** The input, member by member, so that a miss can be explained. */
  readonly input: string;
  readonly output: string;
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly at: number;
  readonly expiresAt: number | null;
}

/** The position of a row in lists: by family, then by time. */
export type CacheCursor = Pick<CacheRow, 'family' | 'at' | 'key'>;

export interface CachePage {
  /** Only families with this prefix; empty: all. */
  readonly prefix: string;
  /** The last row of the previous page. */
  readonly after?: CacheCursor;
  readonly limit: number;
}

/** One output, or all outputs of the families that begin with the prefix. */
export type CacheChoice = { readonly key: string } | { readonly prefix: string };

export interface OutputCache {
  /** Returns undefined if there is none, or if it has expired. */
  cached(key: string, now: number): Promise<CacheRow | undefined>;
  /** The newest outputs of a family, expired ones included, newest first. */
  newestCached(family: string, limit: number): Promise<readonly CacheRow[]>;
  /** All outputs, expired ones included, by family, then by time. */
  cachedOutputs(page: CachePage): Promise<readonly CacheRow[]>;
  /** Deletes outputs, at most `limit`; returns the deleted keys. */
  forgetCached(which: CacheChoice, limit: number): Promise<readonly string[]>;
  /** Deletes expired outputs, at most `limit`; returns the deleted keys. */
  purgeCache(now: number, limit: number): Promise<readonly string[]>;
}
