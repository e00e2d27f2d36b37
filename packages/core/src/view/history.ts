/**
 * How the time of each node was spent: in queues, in waits and in attempts. The history is built from timeline events
 * alone, each in constant time.
 */
import type { RunError } from '../error.ts';
import type { Entry } from '../run/journal/entry.ts';
import type { StoredValue } from '../run/journal/stored-value.ts';
import { isFinal } from '../run/state/selectors.ts';
import type { Batch } from '../run/state/state.ts';
import type { NodeStatus } from '../run/state/status.ts';
import { isNodeEvent, type NodeEvent, nodeStatusAfter } from './event-status.ts';
import { type TimelineEvent, timelineOf } from './timeline.ts';

export interface Span {
  readonly kind: 'queued' | 'waiting' | 'running';
  readonly from: number;
  /** Null while the span lasts. */
  readonly to: number | null;
  /** The number and the worker of an attempt; composite nodes and waits have none. */
  readonly attempt?: number;
  readonly worker?: string;
  /** How an attempt ended, and its error. */
  readonly end?: 'completed' | 'failed' | 'cancelled' | 'unknown' | 'returned';
  readonly error?: RunError;
}

export type AttemptHistory = Span & { readonly kind: 'running'; readonly attempt: number };

export interface NodeHistory {
  readonly path: string;
  readonly status: NodeStatus;
  /** Spans in the order of their start; each ends no later than the next one starts. */
  readonly spans: readonly Span[];
  /** Null until the node ends. */
  readonly endedAt: number | null;
}

export interface IterationHistory {
  readonly iteration: number;
  /** `cancelled`: it was under way when its loop ended. */
  readonly status: 'open' | 'completed' | 'failed' | 'cancelled';
  readonly startedAt: number;
  /** Null while the iteration is open. */
  readonly endedAt: number | null;
  readonly error?: RunError;
}

type Status = IterationHistory['status'];

const ENDS: ReadonlySet<TimelineEvent['type']> = new Set(['NodeCompleted', 'NodeFailed', 'NodeCancelled'] as const);

interface Lane {
  readonly path: string;
  status: NodeStatus;
  endedAt: number | null;
  readonly spans: Span[];
}

/** The effect of an event: the span that it begins, and how it ends the attempt before. */
interface Change {
  readonly span?: Span['kind'];
  readonly end?: Span['end'];
}

/** Events that begin or end a span. */
const CHANGES: { readonly [type in NodeEvent['type']]?: Change } = {
  NodeScheduled: { span: 'queued' },
  NodeReturned: { span: 'queued', end: 'returned' },
  NodeStarted: { span: 'running' },
  ChildRequested: { span: 'running' },
  NodeOpened: { span: 'running' },
  NodeWaiting: { span: 'waiting' },
  NodeGated: { span: 'waiting' },
  NodeRetried: { span: 'waiting', end: 'failed' },
  NodeCompleted: { end: 'completed' },
  NodeFailed: { end: 'failed' },
  NodeSkipped: {},
  NodeCancelled: { end: 'cancelled' },
  NodeUnknown: { end: 'unknown' },
};

function attemptOf({ type, details }: TimelineEvent): Pick<Span, 'attempt' | 'worker'> {
  if (type === 'NodeStarted') return { attempt: details.attempt, worker: details.worker };
  return type === 'ChildRequested' ? { attempt: details.attempt } : {};
}

function errorOf({ type, details }: TimelineEvent): Pick<Span, 'error'> {
  return type === 'NodeRetried' || type === 'NodeFailed' || type === 'NodeUnknown' ? { error: details.error } : {};
}

/** Entries about loops and their iterations. */
const OF_LOOPS: ReadonlySet<Entry['type']> = new Set<Entry['type']>([
  'node.opened',
  'items.added',
  'scopes.opened',
  'scope.closed',
  'node.completed',
  'node.failed',
  'node.cancelled',
  'run.reopened',
]);

export interface IterationCounts {
  readonly open: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** All iterations of one loop, from the journal of its run. More of the journal can be noted later. */
export class LoopHistory {
  /** Whether the loop was opened. */
  isOpened = false;
  private readonly history = new RunHistory();
  private readonly loop: string;
  private readonly prefix: string;
  private batches: Batch[] = [];

  constructor(loop: string) {
    this.loop = loop;
    this.prefix = `${loop}/`;
  }

  note(entry: Entry, at: number): void {
    if (!OF_LOOPS.has(entry.type)) return;
    if ((entry.type === 'node.opened' || entry.type === 'items.added') && entry.node === this.loop)
      this.addItems(entry);
    // A scope of another loop is not worth its events.
    if (entry.type === 'scope.closed' && !entry.scope.startsWith(this.prefix)) return;
    if (entry.type === 'scopes.opened' && entry.node !== this.loop) return;
    for (const event of timelineOf(entry, at)) this.noteEvent(event);
  }

  private addItems(entry: Entry & { readonly type: 'node.opened' | 'items.added' }): void {
    if (entry.type === 'node.opened') this.batches = [];
    const { items, count = 0 } = entry;
    const last = this.batches.at(-1);
    const from = last === undefined ? 0 : last.from + last.count;
    if (items !== undefined) this.batches.push({ from, count, items });
  }

  private noteEvent(event: TimelineEvent): void {
    const { node } = event;
    if (node === this.loop) this.isOpened ||= event.type === 'NodeOpened';
    const isOwn = node === this.loop || event.type === 'WorkflowReopened';
    if (isOwn || (node?.startsWith(this.prefix) && !node.includes('/', this.prefix.length))) this.history.note(event);
  }

  /** By number. */
  get iterations(): readonly IterationHistory[] {
    return this.history.iterations(this.loop);
  }

  get counts(): IterationCounts {
    const counts = { open: 0, completed: 0, failed: 0, cancelled: 0 };
    for (const { status } of this.iterations) counts[status]++;
    return counts;
  }

  /** The stored items with that of an iteration of a forEach, and its place among them. */
  itemOf(iteration: number): { readonly items: StoredValue; readonly at: number } | undefined {
    const batch = this.batches.findLast(({ from }) => from <= iteration);
    if (batch === undefined || iteration >= batch.from + batch.count) return undefined;
    return { items: batch.items, at: iteration - batch.from };
  }
}

/** The attempts of one node, from the journal of its run. */
export class AttemptList {
  private readonly history = new RunHistory();
  private readonly node: string;

  constructor(node: string) {
    this.node = node;
  }

  note(entry: Entry, at: number): void {
    // An entry that begins 100,000 iterations has as many events, all about other nodes.
    if (!('node' in entry ? entry.node === this.node : 'nodes' in entry)) return;
    for (const event of timelineOf(entry, at)) if (event.node === this.node) this.history.note(event);
  }

  /** In the order of their start. */
  get attempts(): AttemptHistory[] {
    const spans = this.history.node(this.node)?.spans ?? [];
    return spans.filter((span): span is AttemptHistory => span.kind === 'running' && span.attempt !== undefined);
  }
}

export class RunHistory {
  private readonly lanes = new Map<string, Lane>();
  private readonly loops = new Map<string, IterationHistory[]>();

  /** Nodes in the order of their first event. */
  get nodes(): Iterable<NodeHistory> {
    return this.lanes.values();
  }

  node(path: string): NodeHistory | undefined {
    return this.lanes.get(path);
  }

  /** The iterations of a loop, by number. For a retried loop, those of its last attempt. */
  iterations(path: string): readonly IterationHistory[] {
    return this.loops.get(path) ?? [];
  }

  note(event: TimelineEvent): void {
    const { type, node, at } = event;
    if (type === 'WorkflowReopened') return this.reopen(event.details.nodes);
    if (node === null) return;
    if (type === 'RoundStarted') return this.iteration(node, at);
    if (type === 'RoundCompleted') return this.iteration(node, at, { status: 'completed' });
    if (type === 'RoundFailed') return this.iteration(node, at, { status: 'failed', error: event.details.error });
    if (type === 'NodeOpened') this.loops.delete(node);
    if (ENDS.has(type)) this.change(node, 'open', { status: 'cancelled', endedAt: at });
    if (!isNodeEvent(event)) return;
    const change = CHANGES[event.type];
    if (change === undefined) return;
    const next = change.span && { kind: change.span, from: at, to: null, ...attemptOf(event) };
    this.enter(node, nodeStatusAfter(event), at, next, change.end && { end: change.end, ...errorOf(event) });
  }

  /** `path` is that of the iteration: `items/3`. A body that runs once has no iterations. */
  private iteration(path: string, at: number, ended?: Pick<IterationHistory, 'status' | 'error'>): void {
    const cut = path.lastIndexOf('/');
    const loop = path.slice(0, Math.max(0, cut));
    const iteration = Number(path.slice(cut + 1));
    const iterations = this.loops.get(loop) ?? [];
    this.loops.set(loop, iterations);
    const startedAt = (ended && iterations[iteration]?.startedAt) ?? at;
    iterations[iteration] = { iteration, status: 'open', startedAt, endedAt: ended ? at : null, ...ended };
  }

  /** The cancelled iterations of a loop continue when nodes of the loop do. */
  private reopen(nodes: readonly string[]): void {
    for (const loop of this.loops.keys()) {
      const isInside = nodes.some((node) => node === loop || node.startsWith(`${loop}/`));
      if (isInside) this.change(loop, 'cancelled', { status: 'open', endedAt: null });
    }
  }

  private change(loop: string, from: Status, to: Pick<IterationHistory, 'status' | 'endedAt'>): void {
    const iterations = this.loops.get(loop);
    iterations?.forEach((one, at) => {
      if (one.status === from) iterations[at] = { ...one, ...to };
    });
  }

  private enter(path: string, status: NodeStatus, at: number, next?: Span, end?: Pick<Span, 'end' | 'error'>): void {
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
      lane.spans[lane.spans.length - 1] = last.kind === 'running' ? { ...ended, ...end } : ended;
    }
    if (next !== undefined) lane.spans.push(next);
  }
}
