/**
 * How the time of each node was spent: in queues, in waits and in attempts. Fed by the events of a timeline, each in
 * constant time; whoever has only events needs nothing else.
 */
import type { RunError } from '../error.ts';
import type { NodeStatus } from '../run/state/status.ts';
import type { TimelineEvent } from './timeline.ts';

export interface Span {
  readonly kind: 'queued' | 'waiting' | 'running';
  readonly from: number;
  /** Null while it lasts. */
  readonly to: number | null;
  /** Of an attempt, its number and who ran it; a composite node and a wait have none. */
  readonly attempt?: number;
  readonly worker?: string;
  /** Of an attempt that has ended: how. */
  readonly end?: 'completed' | 'failed' | 'cancelled' | 'unknown' | 'returned';
}

export interface NodeHistory {
  readonly path: string;
  readonly status: NodeStatus;
  /** In the order of their beginnings; each ends where the next one begins, or before. */
  readonly spans: readonly Span[];
  /** Null while it has not ended. */
  readonly endedAt: number | null;
}

/** One iteration of a loop. */
export interface IterationHistory {
  readonly iteration: number;
  readonly status: 'open' | 'completed' | 'failed';
  readonly startedAt: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
  readonly error?: RunError;
}

interface Lane {
  readonly path: string;
  status: NodeStatus;
  endedAt: number | null;
  readonly spans: Span[];
}

function isFinal(status: NodeStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled';
}

type Begun = Pick<IterationHistory, 'startedAt'>;

export class RunHistory {
  private readonly lanes = new Map<string, Lane>();
  private readonly loops = new Map<string, IterationHistory[]>();

  /** In the order in which something first happened to them. */
  get nodes(): Iterable<NodeHistory> {
    return this.lanes.values();
  }

  node(path: string): NodeHistory | undefined {
    return this.lanes.get(path);
  }

  /** The iterations of a loop, by their number; those of its last attempt, where it was retried. */
  iterations(path: string): readonly IterationHistory[] {
    return this.loops.get(path) ?? [];
  }

  note({ type, node, at, details }: TimelineEvent): void {
    if (node === null) return;
    switch (type) {
      case 'NodeScheduled':
        return this.enter(node, 'queued', at, { kind: 'queued', from: at, to: null });
      case 'NodeReturned':
        return this.enter(node, 'queued', at, { kind: 'queued', from: at, to: null }, 'returned');
      case 'NodeStarted': {
        const { attempt, worker } = details;
        return this.enter(node, 'running', at, { kind: 'running', from: at, to: null, attempt, worker });
      }
      case 'ChildRequested': {
        const { attempt } = details;
        return this.enter(node, 'running', at, { kind: 'running', from: at, to: null, attempt });
      }
      case 'RoundStarted':
        return this.iteration(node, (iteration) => ({ iteration, status: 'open', startedAt: at, endedAt: null }));
      case 'RoundCompleted':
        return this.iteration(
          node,
          (iteration, before) => ({ ...before, iteration, status: 'completed', endedAt: at }),
          at,
        );
      case 'RoundFailed': {
        const { error } = details;
        return this.iteration(
          node,
          (iteration, before) => ({ ...before, iteration, status: 'failed', endedAt: at, error }),
          at,
        );
      }
      case 'NodeOpened':
        this.loops.delete(node);
        return this.enter(node, 'running', at, { kind: 'running', from: at, to: null });
      case 'NodeWaiting':
      case 'NodeGated':
        return this.enter(node, 'waiting', at, { kind: 'waiting', from: at, to: null });
      case 'NodeRetried':
        return this.enter(node, 'waiting', at, { kind: 'waiting', from: at, to: null }, 'failed');
      case 'NodeCompleted':
        return this.enter(node, 'completed', at, undefined, 'completed');
      case 'NodeFailed':
        return this.enter(node, 'failed', at, undefined, 'failed');
      case 'NodeSkipped':
        return this.enter(node, 'skipped', at);
      case 'NodeCancelled':
        return this.enter(node, 'cancelled', at, undefined, 'cancelled');
      case 'NodeUnknown':
        return this.enter(node, 'unknown', at, undefined, 'unknown');
      case 'CompensationStarted':
      case 'CompensationCompleted':
      case 'ItemsAdded':
      case 'NodeAnswered':
      case 'NodeConfigured':
      case 'NodeGranted':
      case 'NodeSettled':
      case 'NodeStopping':
      case 'NodeUnhandled':
      case 'RoundDelayed':
      case 'RoundStopping':
      case 'SignalKept':
      case 'SignalRefused':
      case 'SignalTaken':
      case 'StateCheckpointed':
      case 'WorkflowBegun':
      case 'WorkflowCancelled':
      case 'WorkflowCompleted':
      case 'WorkflowFailed':
      case 'WorkflowHeld':
      case 'WorkflowPaused':
      case 'WorkflowReopened':
      case 'WorkflowResumed':
      case 'WorkflowStarted':
      case 'WorkflowStopping':
      case 'WorkflowTimedOut':
        return;
    }
  }

  /** `path` is that of the iteration: `items/3`. A body that runs once has no iterations. */
  private iteration(path: string, next: (iteration: number, before: Begun) => IterationHistory, at = 0): void {
    const cut = path.lastIndexOf('/');
    const loop = path.slice(0, Math.max(0, cut));
    const iteration = Number(path.slice(cut + 1));
    let iterations = this.loops.get(loop);
    if (iterations === undefined) {
      iterations = [];
      this.loops.set(loop, iterations);
    }
    iterations[iteration] = next(iteration, iterations[iteration] ?? { startedAt: at });
  }

  private enter(path: string, status: NodeStatus, at: number, next?: Span, end?: Span['end']): void {
    let lane = this.lanes.get(path);
    if (lane === undefined) {
      lane = { path, status, endedAt: null, spans: [] };
      this.lanes.set(path, lane);
    }
    lane.status = status;
    lane.endedAt = isFinal(status) ? at : null;
    const last = lane.spans.at(-1);
    if (last?.to === null) {
      const ended = { ...last, to: at };
      lane.spans[lane.spans.length - 1] = last.kind === 'running' && end !== undefined ? { ...ended, end } : ended;
    }
    if (next !== undefined) lane.spans.push(next);
  }
}
