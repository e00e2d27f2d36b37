/**
 * Cached outputs. The key consists of action, interface version, cache version, credentials, grant and input, minus
 * ignored members. When several runs miss the same output at once, one computes it and the others wait for it (a permit of the key).
 */
import {
  type Action,
  type Capabilities,
  canonicalJson,
  type ExecutionId,
  isJsonObject,
  isNothing,
  type Json,
  type NodePath,
} from '@nebula/core';
import {
  type CacheHit,
  type CacheMiss,
  grantTo,
  type NodeState,
  nodeAt,
  pathOf,
  type RunState,
  type StoredValue,
} from '@nebula/core/run';
import type { CacheRow, Digest } from '@nebula/ports';
import type { EngineContext } from '../context.ts';
import { RETRY_MS, untilDone } from '../lifecycle.ts';
import type { LiveRun } from '../turn/live-run.ts';
import { sharedName } from '../turn/messages.ts';

/** Large outputs of the cache outlive their runs: their blobs belong to an execution of this name. */
export function cacheBlobs(key: string): string {
  return `${CACHE_PREFIX}${key}`;
}

const CACHE_PREFIX = 'cache-';

/** The key of a name that `cacheBlobs` made. */
export function cacheKeyOf(name: string): string | undefined {
  return name.startsWith(CACHE_PREFIX) ? name.slice(CACHE_PREFIX.length) : undefined;
}

/** How many of the newest outputs of the same action a miss is compared with. */
const COMPARED = 16;

export type CacheLookup = { readonly hit: CacheHit; readonly output: Json } | { readonly miss: CacheMiss };

export class Cache {
  private readonly context: EngineContext;

  constructor(context: EngineContext) {
    this.context = context;
  }

  /** Looks for the output of a node that waits at the cache gate, and posts the answer to its run. */
  ask(run: LiveRun, path: NodePath): void {
    const { mailbox, effects, clock, runs } = this.context;
    const node = nodeAt(run.state, path);
    // The node left the gate while the cache was read; the run leaves memory if nothing else holds it.
    if (node?.phase.status !== 'gated') return mailbox.touch(run);
    const { executionId } = run;
    // The run may have left memory during the pause, and no other part would ask for this node.
    const askAgain = async (): Promise<void> => {
      const loaded = await runs.load(executionId);
      if (loaded !== undefined) this.ask(loaded, path);
    };
    this.lookUp(run, node).then(
      (lookup) => {
        if ('hit' in lookup) return mailbox.send(executionId, { type: 'cached', node: path, ...lookup });
        mailbox.send(executionId, { type: 'granted', node: path, gate: 'cache', miss: lookup.miss });
      },
      (error: unknown) => {
        effects.trouble(error);
        clock.timer(RETRY_MS, () => untilDone(this.context, askAgain));
      },
    );
  }

  async lookUp({ executionId, project, state }: LiveRun, node: NodeState): Promise<CacheLookup> {
    const { values, digest, store, clock } = this.context;
    const input = await values.read(executionId, node.input);
    const family = familyOf(project, state, node);
    const members = membersOf(node, input, digest);
    const key = digest(`${family} ${members}`);
    const row = node.plan.cache?.overwrite ? undefined : await store.cached(key, clock.now());
    if (row !== undefined) {
      const output = await this.outputOf(row);
      if (output !== undefined) {
        return { hit: { executionId: row.executionId, node: row.node, at: row.at }, output: output.value };
      }
    }
    const earlier = await this.earlier(executionId, node, family, members);
    return { miss: { key, family, input: members, earlier } };
  }

  /** The output that a miss is compared with: of the same node if it is among the newest, else the nearest. */
  private async earlier(
    executionId: ExecutionId,
    node: NodeState,
    family: string,
    members: string,
  ): Promise<CacheMiss['earlier']> {
    const rows = await this.context.store.newestCached(family, COMPARED);
    const found = rows
      .map((row) => ({ row, changed: changedIn(row.input, members) }))
      .sort((a, b) => a.changed.length - b.changed.length);
    const pattern = withoutIterations(pathOf(node));
    for (const one of found) {
      if (withoutIterations(one.row.node) !== pattern) continue;
      const isOwn = one.row.executionId === executionId;
      if (isOwn || (await this.context.store.execution(one.row.executionId))?.workflowId === workflowOf(node))
        return earlierRun(one);
    }
    const [nearest] = found;
    return nearest === undefined ? null : earlierRun(nearest);
  }

  private async outputOf({ key, output }: CacheRow): Promise<{ readonly value: Json } | undefined> {
    const stored: StoredValue = JSON.parse(output);
    if (stored.blob === undefined) return { value: stored.value ?? null };
    // An output whose blob has been swept, or was never copied, is computed again.
    const isThere = await this.context.values.fetch(cacheBlobs(key), [stored.blob]).then(
      () => true,
      () => false,
    );
    return isThere ? { value: this.context.values.lookup(stored.blob) } : undefined;
  }
}

/** Members are hashed one by one: a miss names those that are different, and large inputs stay small. */
function membersOf(node: NodeState, input: Json, digest: Digest): string {
  const ignored = new Set(node.plan.cache?.ignore ?? []);
  const members: Record<string, string> = {};
  if (isJsonObject(input)) {
    for (const name of Object.keys(input).sort()) {
      if (!ignored.has(name)) members[name] = digest(canonicalJson(input[name] as Json)).slice(0, 32);
    }
  } else members[''] = digest(canonicalJson(input)).slice(0, 32);
  return JSON.stringify(members);
}

function familyOf(project: string, state: RunState, { plan: { work, cache } }: NodeState): string {
  const action = 'action' in work ? (work.action as Action) : undefined;
  const [major = ''] = (action?.version ?? '').split('.');
  // An output for one account is not for another one.
  const credentials = 'credentials' in work ? Object.entries(work.credentials).sort() : [];
  const account = credentials.length === 0 ? '' : `#${JSON.stringify(credentials)}`;
  // Nor is an output of one project for another one.
  const version = sharedName(project, cache?.version ?? '');
  return `${action?.id ?? ''}@${major}#${version}${account}${'granted' in work ? reachOf(state, work.granted) : ''}`;
}

/** The grant as a part of the key: an output may be of a resource that another grant does not reach. */
function reachOf(state: RunState, asked: Capabilities): string {
  const granted = grantTo(state, asked);
  return isNothing(granted) ? '' : `#${canonicalJson(granted as Json)}`;
}

interface Compared {
  readonly row: CacheRow;
  readonly changed: readonly string[];
}

function earlierRun({ row: { executionId, node }, changed }: Compared): CacheMiss['earlier'] {
  return { executionId, node, changed };
}

function changedIn(earlier: string, now: string): string[] {
  const before = JSON.parse(earlier) as Record<string, string>;
  const after = JSON.parse(now) as Record<string, string>;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).map((name) => name || 'the input');
}

/** The node without its iteration: `items/3/pack` is `items/#/pack`. */
function withoutIterations(path: NodePath): string {
  return path.replace(/(^|\/)\d+(?=\/)/g, '$1#');
}

/** The workflow of the execution, also for a node of an inlined one. */
function workflowOf({ scope }: NodeState): string {
  let at = scope;
  while (at.parent !== null) at = at.parent.scope;
  return at.realm.workflowId;
}
