/**
 * A run as its events tell it, at every moment since its start.
 *
 *  1 Events arrive in order and once; `note` costs a constant per event.
 *  2 The state at an earlier event is folded from the checkpoint before it: at most `CHECKPOINT` events.
 *  3 A state that was given out is never changed.
 */
import type { NodeRunState } from '@nebula/canvas/model';
import type { LiveEvent } from '@nebula/client';
import {
  isNodeEvent,
  isRunEvent,
  nodeStatusAfter,
  RunHistory,
  runStatusAfter,
  type TimelineEvent,
} from '@nebula/core/view';

/** `id`: the position to continue a stream from. */
export type RecordedEvent = TimelineEvent & { readonly seq: number; readonly id?: string };

/** The state of a node, with what its own time needs. */
export interface RecordedNode extends NodeRunState {
  readonly startedAt: number | null;
}

export type NodeStates = ReadonlyMap<string, RecordedNode>;

const CHECKPOINT = 500;

export class RunRecord {
  readonly events: RecordedEvent[] = [];
  readonly history = new RunHistory();
  readonly #checkpoints: NodeStates[] = [];
  #latest = new Map<string, RecordedNode>();

  note(events: readonly LiveEvent[]): void {
    for (const live of events) {
      const event = { ...live, at: Date.parse(live.at) } as unknown as RecordedEvent;
      if (this.events.length % CHECKPOINT === 0) this.#checkpoints.push(new Map(this.#latest));
      this.events.push(event);
      this.history.note(event);
      fold(this.#latest, event);
    }
  }

  /** The states after the event at `index`; without one, now. */
  statesAt(index?: number): NodeStates {
    if (index === undefined || index >= this.events.length - 1) return new Map(this.#latest);
    const from = Math.floor((index + 1) / CHECKPOINT);
    const states = new Map(this.#checkpoints[from]);
    for (let at = from * CHECKPOINT; at <= index; at++) fold(states, this.events[at] as RecordedEvent);
    return states;
  }

  /** The status of the run after the event at `index`; undefined before its start. */
  runStatusAt(index: number): string | undefined {
    for (let at = index; at >= 0; at--) {
      const event = this.events[at] as RecordedEvent;
      if (isRunEvent(event)) return runStatusAfter(event);
    }
    return undefined;
  }

  /** The last event of the frame; -1 if it is not known. */
  indexOfFrame(seq: number): number {
    return lastIndex(this.events, (event) => event.seq <= seq);
  }

  /** The last event at or before a time; the first one if there is none. */
  indexAt(time: number): number {
    return Math.max(
      0,
      lastIndex(this.events, (event) => event.at <= time),
    );
  }

  /** The frame before or after the one of an event. */
  neighbour(index: number, step: -1 | 1): number | undefined {
    const seq = this.events[index]?.seq;
    for (let at = index + step; at >= 0 && at < this.events.length; at += step) {
      const other = this.events[at]?.seq as number;
      if (other !== seq) return step < 0 ? at : this.indexOfFrame(other);
    }
    return undefined;
  }
}

export function recordOf(events: readonly LiveEvent[]): RunRecord {
  const record = new RunRecord();
  record.note(events);
  return record;
}

/** Events are in order, so the last one with a property that earlier ones have is found by halving. */
function lastIndex(events: readonly RecordedEvent[], holds: (event: RecordedEvent) => boolean): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(events[middle] as RecordedEvent)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function fold(states: Map<string, RecordedNode>, event: RecordedEvent): void {
  const { node, type } = event;
  if (type === 'WorkflowReopened') {
    for (const path of event.details.nodes) states.delete(path);
    return;
  }
  if (node === null) return;
  if (type === 'RoundStarted' || type === 'RoundCompleted' || type === 'RoundFailed')
    return foldIteration(states, node, type);
  if (!isNodeEvent(event)) return;
  const before = states.get(node);
  const status = nodeStatusAfter(event);
  const startedAt = before?.startedAt ?? (status === 'running' ? event.at : null);
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
  const attempts = event.type === 'NodeStarted' ? event.details.attempt : before?.attempts;
  const iterations = event.type === 'NodeOpened' ? opened(event.details.items) : before?.iterations;
  states.set(node, {
    status,
    startedAt,
    durationMs: isOver && startedAt !== null ? event.at - startedAt : null,
    ...(attempts !== undefined && { attempts }),
    ...(iterations !== undefined && { iterations }),
  });
}

function opened(items: number | undefined): NonNullable<NodeRunState['iterations']> {
  return { total: items ?? null, open: 0, succeeded: 0, failed: 0 };
}

/** `path` is that of the iteration: its loop counts it. */
function foldIteration(
  states: Map<string, RecordedNode>,
  path: string,
  type: 'RoundStarted' | 'RoundCompleted' | 'RoundFailed',
): void {
  const loop = path.slice(0, path.lastIndexOf('/'));
  const before = states.get(loop);
  if (before?.iterations === undefined) return;
  const { open, succeeded, failed, total } = before.iterations;
  const iterations =
    type === 'RoundStarted'
      ? { total, open: open + 1, succeeded, failed }
      : type === 'RoundCompleted'
        ? { total, open: open - 1, succeeded: succeeded + 1, failed }
        : { total, open: open - 1, succeeded, failed: failed + 1 };
  states.set(loop, { ...before, iterations });
}
