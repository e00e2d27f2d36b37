/**
 * Tells log streams when the nodes that they follow have ended.
 *
 *  1 All streams of a run share one follower of the feed and one read of the run: a further stream costs none.
 *  2 The run is read after the position from which the feed is followed, so no end is lost in between. A reopened run
 *    is read again.
 */
import { isFinalEvent, type TimelineEvent, type TimelineEventType } from '@nebula/core';
import type { Parts } from '../parts.ts';
import type { Feed } from './feed.ts';

const NODE_ENDS: ReadonlySet<TimelineEventType> = new Set([
  'NodeCompleted',
  'NodeFailed',
  'NodeSkipped',
  'NodeCancelled',
]);
const FINAL_STATUSES: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled']);

/** A run that streams follow. */
interface Watched {
  readonly streams: Set<Stream>;
  readonly stop: AbortController;
  /** The nodes that have ended, or `all` after the end of the run. Undefined before the first look. */
  ended: Set<string> | 'all' | undefined;
}

interface Stream {
  readonly node: string;
  tell(): void;
}

export class NodeEnds {
  readonly #parts: Pick<Parts, 'executions' | 'store'>;
  readonly #feed: Pick<Feed, 'follow'>;
  readonly #runs = new Map<string, Watched>();

  constructor(parts: Pick<Parts, 'executions' | 'store'>, feed: Pick<Feed, 'follow'>) {
    this.#parts = parts;
    this.#feed = feed;
  }

  /** Resolves when the node or its run has ended, when the run cannot be followed, or when the signal aborts. */
  async end(executionId: string, node: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const run = this.#runs.get(executionId) ?? this.#watch(executionId);
    const { promise, resolve } = Promise.withResolvers<void>();
    const tell = (): void => resolve();
    const stream = { node, tell };
    run.streams.add(stream);
    if (hasEnded(run, node)) tell();
    signal.addEventListener('abort', tell);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', tell);
      run.streams.delete(stream);
      if (run.streams.size === 0) this.#leave(executionId, run);
    }
  }

  #watch(executionId: string): Watched {
    const run: Watched = { streams: new Set(), stop: new AbortController(), ended: undefined };
    this.#runs.set(executionId, run);
    void this.#follow(executionId, run)
      .catch(() => undefined)
      .finally(() => {
        run.ended = 'all';
        tellEnded(run);
      });
    return run;
  }

  #leave(executionId: string, run: Watched): void {
    run.stop.abort();
    if (this.#runs.get(executionId) === run) this.#runs.delete(executionId);
  }

  async #follow(executionId: string, run: Watched): Promise<void> {
    const { signal } = run.stop;
    const after = String(await this.#parts.store.lastPosition());
    await this.#readEnds(executionId, run);
    for await (const events of this.#feed.follow({ executionId, after, signal })) {
      for (const { event, json } of events) {
        if (event !== undefined) continue;
        const timelineEvent = JSON.parse(json) as TimelineEvent;
        if (timelineEvent.type === 'WorkflowReopened') await this.#readEnds(executionId, run);
        else if (isFinalEvent(timelineEvent)) run.ended = 'all';
        else if (NODE_ENDS.has(timelineEvent.type) && run.ended instanceof Set)
          run.ended.add(String(timelineEvent.node));
      }
      tellEnded(run);
    }
  }

  async #readEnds(executionId: string, run: Watched): Promise<void> {
    const document = await this.#parts.executions.bareDocument(executionId);
    const isOver = document === undefined || document.finishedAt !== null;
    const nodes = Object.entries(document?.nodes ?? {});
    run.ended = isOver ? 'all' : new Set(nodes.flatMap(([id, { status }]) => (FINAL_STATUSES.has(status) ? [id] : [])));
    tellEnded(run);
  }
}

function hasEnded({ ended }: Watched, node: string): boolean {
  return ended === 'all' || (ended?.has(node) ?? false);
}

function tellEnded(run: Watched): void {
  for (const { node, tell } of run.streams) if (hasEnded(run, node)) tell();
}
