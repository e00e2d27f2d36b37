/**
 * Reads the journal of all runs as it grows, and notes what may not be in it.
 *
 *  1. It is read between two lives of the worker, so the attempts that are open then were cut off by the end of a life.
 *  2. It knows nothing of the engine's own state: it follows the entries alone.
 */
import type { Entry } from '@nebula/core';
import { FEED_START, type Store } from '@nebula/ports';

const PAGE = 5_000;

interface NodeHistory {
  open: number | null;
  isFinished: boolean;
}

export class JournalAudit {
  readonly problems: string[] = [];
  /** All as `execution/node/attempt`. */
  readonly started = new Set<string>();
  readonly cutOff = new Set<string>();
  /** Attempts that the engine recorded as lost: to be repeated, or unknown. */
  readonly lost = new Set<string>();
  readonly handedBack = new Set<string>();
  /** `execution/node` of all that was recorded as finished so far. */
  readonly finished = new Set<string>();
  readonly #nodes = new Map<string, NodeHistory>();
  #position = FEED_START;

  async catchUp(store: Store): Promise<void> {
    for (;;) {
      const frames = await store.feed({ after: this.#position, limit: PAGE });
      for (const { executionId, entries, position } of frames) {
        for (const entry of JSON.parse(entries) as Entry[]) this.#follow(executionId, entry);
        this.#position = position;
      }
      if (frames.length < PAGE) return;
    }
  }

  /** A life has ended, and the journal up to its end is read. */
  lifeEnded(): void {
    for (const attempt of this.openAttempts()) this.cutOff.add(attempt);
  }

  openAttempts(): string[] {
    return [...this.#nodes].filter(([, { open }]) => open !== null).map(([nodeKey, { open }]) => `${nodeKey}/${open}`);
  }

  #follow(executionId: string, entry: Entry): void {
    if (!('node' in entry)) return;
    const nodeKey = `${executionId}/${entry.node}`;
    const node = this.#nodes.get(nodeKey) ?? { open: null, isFinished: false };
    this.#nodes.set(nodeKey, node);
    const attempt = `${nodeKey}/${node.open}`;
    const say = (text: string) => this.problems.push(`${attempt} ${text}`);
    if (node.isFinished) say(`has ${entry.type} after its end`);
    switch (entry.type) {
      case 'node.started':
        if (node.open !== null) say('is still open when the next attempt starts');
        node.open = entry.attempt;
        if (this.started.has(`${nodeKey}/${entry.attempt}`)) say('is started twice');
        this.started.add(`${nodeKey}/${entry.attempt}`);
        return;
      case 'node.retrying':
      case 'node.unknown':
        if (entry.error.code === 'WORKER_LOST') {
          if (!this.cutOff.has(attempt)) say('is called lost, and its worker lived');
          this.lost.add(attempt);
        } else if (entry.type === 'node.unknown') say(`is unknown by ${entry.error.code}`);
        node.open = null;
        return;
      case 'node.returned':
        this.handedBack.add(attempt);
        node.open = null;
        return;
      case 'node.settled':
        if (entry.by !== 'verify' || entry.outcome === 'unknown') say(`is settled ${entry.outcome} by ${entry.by}`);
        return;
      case 'node.completed':
      case 'node.failed':
      case 'node.cancelled':
        node.open = null;
        node.isFinished = true;
        this.finished.add(nodeKey);
        return;
      default:
        // The workflow has actions only.
        say(`has ${entry.type}`);
    }
  }
}
