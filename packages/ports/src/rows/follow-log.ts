/**
 * Follows logs: a follower reads on from its last line, and waits when there is none.
 *
 *  1 New lines wake the followers that want them, and no others: a follower of one node costs no read while others log.
 *  2 `position` of a run: all its lines up to there were stored. A follower whose read comes later, and finds less than
 *    a page, continues from there, so it never reads the lines of other nodes twice.
 *  3 One page is read per turn of the event loop, in order of arrival: a read is synchronous, and a thousand followers
 *    of a long log would otherwise hold up everything else for seconds.
 */
import { setImmediate } from 'node:timers/promises';
import type { ExecutionId, NodePath } from '@nebula/core';
import type { LogFilter, StoredLogLine } from '../logs.ts';
import { rankOf } from './log-line.ts';

/** The lines that a follower may want, as one of them shows. */
export interface NewLine {
  readonly executionId: ExecutionId;
  readonly node: NodePath | null;
  /** The rank of the level. */
  readonly level: number;
}

interface FollowedRun {
  readonly followers: Set<Follower>;
  /** Undefined until the first look. */
  position: number | undefined;
}

interface Follower {
  readonly node: NodePath | undefined;
  readonly minLevel: number;
  /** Lines came since the last read began. */
  isDue: boolean;
  wake: (() => void) | undefined;
}

/** The followers of a log, by run. */
export class LogFollowers {
  readonly #runs = new Map<ExecutionId, FollowedRun>();
  #nextTurn: Promise<void> = Promise.resolve();

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  /** The followed runs, and how far each was read. */
  runs(): readonly { readonly executionId: ExecutionId; readonly position: number | undefined }[] {
    return [...this.#runs].map(([executionId, { position }]) => ({ executionId, position }));
  }

  announce({ executionId, node, level }: NewLine): void {
    for (const follower of this.#runs.get(executionId)?.followers ?? []) {
      if (follower.node !== undefined && follower.node !== node) continue;
      if (level >= follower.minLevel) wake(follower);
    }
  }

  /** All lines of the run up to this position were stored. After the first look every follower reads again. */
  noteRead(executionId: ExecutionId, position: number): void {
    const run = this.#runs.get(executionId);
    if (run === undefined) return;
    if (run.position === undefined) for (const follower of run.followers) wake(follower);
    run.position = Math.max(run.position ?? 0, position);
  }

  /** Suspends at its turn, at `read` and until new lines come; the signal ends the last wait. */
  async *follow(
    filter: LogFilter,
    signal: AbortSignal,
    read: (filter: LogFilter) => Promise<readonly StoredLogLine[]>,
  ): AsyncGenerator<readonly StoredLogLine[]> {
    const { executionId, node, minLevel = 'debug', limit } = filter;
    const follower: Follower = { node, minLevel: rankOf(minLevel), isDue: true, wake: undefined };
    const run = this.#runs.get(executionId) ?? { followers: new Set(), position: undefined };
    this.#runs.set(executionId, run);
    run.followers.add(follower);
    const onAbort = (): void => wake(follower);
    signal.addEventListener('abort', onAbort);
    let afterPosition = filter.afterPosition ?? 0;
    try {
      while (!signal.aborted) {
        await this.#turn();
        if (signal.aborted) return;
        follower.isDue = false;
        const storedUpTo = run.position ?? 0;
        const lines = await read({ ...filter, afterPosition });
        if (signal.aborted) return;
        if (lines.length > 0) yield lines;
        afterPosition = lines.at(-1)?.position ?? afterPosition;
        if (lines.length === limit) continue;
        afterPosition = Math.max(afterPosition, storedUpTo);
        if (!follower.isDue && !signal.aborted) await woken(follower);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      run.followers.delete(follower);
      if (run.followers.size === 0 && this.#runs.get(executionId) === run) this.#runs.delete(executionId);
    }
  }

  #turn(): Promise<void> {
    const turn = this.#nextTurn;
    this.#nextTurn = turn.then(() => setImmediate());
    return turn;
  }
}

function wake(follower: Follower): void {
  follower.isDue = true;
  follower.wake?.();
}

async function woken(follower: Follower): Promise<void> {
  await new Promise<void>((resolve) => {
    follower.wake = resolve;
  });
  follower.wake = undefined;
}
