/**
 * Outputs that are used again: found by action, interface version, cache version and input, minus what does not count.
 * Of all runs that miss the same output at once, one works it out and the others wait for it (a permit of the key).
 */
import {
  type Action,
  type CacheHit,
  type CacheMiss,
  canonicalJson,
  type Held,
  hold,
  isJsonObject,
  type Json,
  type NodeState,
  pathOf,
} from '@nebula/core';
import type { CacheRow, Clock, Digest, Store } from '@nebula/ports';
import type { LiveRun } from './live-run.ts';
import { sharedName } from './messages.ts';
import type { Values } from './values.ts';

/** Large outputs of the cache outlive their runs: they are kept as if they were those of an execution of this name. */
export function cacheBlobs(key: string): string {
  return `${CACHE_PREFIX}${key}`;
}

const CACHE_PREFIX = 'cache-';

/** The key of a name that `cacheBlobs` made. */
export function cacheKeyOf(name: string): string | undefined {
  return name.startsWith(CACHE_PREFIX) ? name.slice(CACHE_PREFIX.length) : undefined;
}

/** So many of the newest outputs of the same action a miss is compared with. */
const COMPARED = 16;

export type Look = { readonly hit: CacheHit; readonly output: Held } | { readonly miss: CacheMiss };

export class Cache {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly digest: Digest;
  private readonly values: Values;

  constructor({ store, clock, digest, values }: { store: Store; clock: Clock; digest: Digest; values: Values }) {
    this.store = store;
    this.clock = clock;
    this.digest = digest;
    this.values = values;
  }

  async look({ executionId, project }: LiveRun, node: NodeState): Promise<Look> {
    const blob = node.input?.blob;
    if (blob !== undefined) await this.values.fetch(executionId, [blob]);
    const input = blob === undefined ? (node.input?.value ?? null) : this.values.lookup(blob);
    const { family, members } = describe(project, node, input, this.digest);
    const key = this.digest(`${family} ${members}`);
    const row = node.plan.cache?.overwrite ? undefined : await this.store.cached(key, this.clock.now());
    if (row !== undefined) {
      const output = await this.outputOf(row);
      if (output !== undefined) return { hit: { executionId: row.executionId, node: row.node, at: row.at }, output };
    }
    const earlier = await this.earlier(executionId, node, family, members);
    return { miss: { key, family, input: members, earlier } };
  }

  /** What the miss is compared with: the same node of the workflow if it is among the newest, else what is nearest. */
  private async earlier(
    executionId: string,
    node: NodeState,
    family: string,
    members: string,
  ): Promise<CacheMiss['earlier']> {
    const rows = await this.store.newestCached(family, COMPARED);
    const found = rows
      .map((row) => ({ row, changed: changedIn(row.input, members) }))
      .sort((a, b) => a.changed.length - b.changed.length);
    const place = placeOf(pathOf(node));
    for (const one of found) {
      if (placeOf(one.row.node) !== place) continue;
      const isOwn = one.row.executionId === executionId;
      if (isOwn || (await this.store.execution(one.row.executionId))?.workflowId === workflowOf(node)) return told(one);
    }
    const [nearest] = found;
    return nearest === undefined ? null : told(nearest);
  }

  private async outputOf({ key, output }: CacheRow): Promise<Held | undefined> {
    const held = JSON.parse(output) as Held;
    if (held.blob === undefined) return held;
    // What has been swept, or was never copied, is worked out again.
    const isThere = await this.values.fetch(cacheBlobs(key), [held.blob]).then(
      () => true,
      () => false,
    );
    return isThere ? hold(this.values.lookup(held.blob)) : undefined;
  }
}

/** Members are hashed one by one: a miss can then name the ones that are different, and large inputs stay small. */
function describe(
  project: string,
  node: NodeState,
  input: Json,
  digest: Digest,
): { readonly family: string; readonly members: string } {
  const ignored = new Set(node.plan.cache?.ignore ?? []);
  const members: Record<string, string> = {};
  if (isJsonObject(input)) {
    for (const name of Object.keys(input).sort()) {
      if (!ignored.has(name)) members[name] = digest(canonicalJson(input[name] as Json)).slice(0, 32);
    }
  } else members[''] = digest(canonicalJson(input)).slice(0, 32);
  return { family: familyOf(project, node), members: JSON.stringify(members) };
}

function familyOf(project: string, { plan }: NodeState): string {
  const action = 'action' in plan.work ? (plan.work.action as Action) : undefined;
  const [major = ''] = (action?.version ?? '').split('.');
  // What one account was told is not for another one.
  const credentials = 'credentials' in plan.work ? Object.entries(plan.work.credentials).sort() : [];
  const account = credentials.length === 0 ? '' : `#${JSON.stringify(credentials)}`;
  // Nor is what is done in one project for another one.
  const version = sharedName(project, plan.cache?.version ?? '');
  return `${action?.id ?? ''}@${major}#${version}${account}`;
}

interface Compared {
  readonly row: CacheRow;
  readonly changed: readonly string[];
}

function told({ row: { executionId, node }, changed }: Compared): CacheMiss['earlier'] {
  return { executionId, node, changed };
}

function changedIn(earlier: string, now: string): string[] {
  const before = JSON.parse(earlier) as Record<string, string>;
  const after = JSON.parse(now) as Record<string, string>;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).map((name) => name || 'the input');
}

/** The node in whatever round: `items/3/pack` is `items/#/pack`. */
function placeOf(path: string): string {
  return path.replace(/(^|\/)\d+(?=\/)/g, '$1#');
}

/** The workflow of the execution, whatever runs inside it. */
function workflowOf({ scope }: NodeState): string {
  let at = scope;
  while (at.parent !== null) at = at.parent.scope;
  return at.realm.workflowId;
}
