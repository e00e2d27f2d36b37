/**
 * Makes spans from journal frames: one for each run, each attempt of a node, and each composite node, wait and child.
 *
 *  P1 The process that writes the end of a span makes it, from the journal alone: it needs nothing from other processes.
 *  P2 When this process missed frames of a run, it reads them from the journal. That is rare, and bounded.
 *  P3 Memory is bounded: the least recently active runs are dropped, and read again when they continue.
 */
import type { Entry, RunError } from '@nebula/core';
import { type JournalFrame, readTraceparent, spanIdOf, type TracedFrame, traceOf } from '@nebula/engine';
import type { Digest, Spans } from '@nebula/ports';

const MAX_RUNS = 10_000;
/** Journals that are read at the same time; frames of further runs are dropped. */
const MAX_READING = 8;
const MAX_WAITING_FRAMES = 1_000;
const MAX_MESSAGE_CHARS = 500;

interface OpenSpan {
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly node?: string;
  readonly attempt?: number;
  readonly child?: string;
  action?: string | undefined;
}

interface RunTrace {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly traceId: string;
  readonly above: string | undefined;
  /** Sequence number of the last frame that was applied. */
  seq: number;
  span: OpenSpan | undefined;
  /** Open spans by node path. */
  readonly open: Map<string, OpenSpan>;
}

/** A frame that may be queued. `actionOf` is valid during the callback only, so its results are copied. */
interface QueuedFrame {
  readonly seq: number;
  readonly at: number;
  readonly entries: readonly Entry[];
  readonly actions: ReadonlyMap<string, string>;
}

export interface TracerParts {
  readonly digest: Digest;
  frames(executionId: string): AsyncIterable<JournalFrame>;
  readonly spans: Pick<Spans, 'take' | 'drop'>;
}

interface Ending {
  readonly status: string;
  readonly error?: RunError | undefined;
  readonly cached?: boolean;
}

export class Tracer {
  private readonly parts: TracerParts;
  /** Least recently active first. */
  private readonly runs = new Map<string, RunTrace>();
  private readonly reading = new Map<string, QueuedFrame[]>();

  constructor(parts: TracerParts) {
    this.parts = parts;
  }

  take(frame: TracedFrame): void {
    const { executionId, traceparent } = frame;
    // The caller's trace is not sampled.
    if (traceparent !== null && readTraceparent(traceparent)?.isSampled === false) return;
    const queued = queuedFrame(frame);
    const waiting = this.reading.get(executionId);
    if (waiting !== undefined) {
      if (waiting.length < MAX_WAITING_FRAMES) waiting.push(queued);
      else this.parts.spans.drop(1);
      return;
    }
    const known = this.runs.get(executionId);
    if (known !== undefined && known.seq === frame.seq - 1) return this.apply(known, queued, true);
    if (frame.seq === 1) return this.apply(this.newRun(frame), queued, true);
    void this.readFirst(frame, queued);
  }

  /** Another process wrote to the run, or it was dropped here. */
  private async readFirst(frame: TracedFrame, queued: QueuedFrame): Promise<void> {
    const { executionId } = frame;
    if (this.reading.size >= MAX_READING) {
      this.runs.delete(executionId);
      return this.parts.spans.drop(1);
    }
    const waiting = [queued];
    this.reading.set(executionId, waiting);
    try {
      const run = this.newRun(frame);
      for await (const { seq, at, entries } of this.parts.frames(executionId)) {
        if (seq >= queued.seq) break;
        this.apply(run, { seq, at, entries, actions: new Map() }, false);
      }
      for (const next of waiting) this.apply(run, next, true);
    } catch {
      this.runs.delete(executionId);
      this.parts.spans.drop(waiting.length);
    } finally {
      this.reading.delete(executionId);
    }
  }

  private newRun({ executionId, workflowId, version, traceparent }: TracedFrame): RunTrace {
    const { traceId, above } = traceOf(this.parts.digest, executionId, traceparent);
    return { executionId, workflowId, version, traceId, above, seq: 0, span: undefined, open: new Map() };
  }

  private apply(run: RunTrace, frame: QueuedFrame, isReported: boolean): void {
    this.runs.delete(run.executionId);
    this.runs.set(run.executionId, run);
    if (this.runs.size > MAX_RUNS) this.runs.delete(this.runs.keys().next().value as string);
    run.seq = frame.seq;
    for (const entry of frame.entries) this.enter(run, entry, frame, isReported);
  }

  private enter(run: RunTrace, entry: Entry, frame: QueuedFrame, isReported: boolean): void {
    switch (entry.type) {
      case 'run.started':
        run.span = this.runSpan(run, 'run', frame);
        break;
      case 'run.reopened':
        run.span = this.runSpan(run, `run ${frame.seq}`, frame);
        for (const node of entry.open ?? []) this.begin(run, node, `seq ${frame.seq}`, frame);
        break;
      case 'node.started':
        this.begin(run, entry.node, entry.attempt, frame);
        break;
      case 'child.requested':
        this.begin(run, entry.node, entry.attempt, frame, entry.executionId);
        break;
      case 'node.opened':
      case 'node.waiting':
        // A graph that an action returned belongs to the span of its attempt.
        if (!run.open.has(entry.node)) this.begin(run, entry.node, `seq ${frame.seq}`, frame);
        break;
      case 'node.completed':
      case 'node.failed':
      case 'node.retrying':
      case 'node.unknown':
      case 'node.returned':
      case 'node.cancelled':
        this.end(run, entry.node, endingOf(entry), frame, isReported);
        break;
      case 'scope.closed':
        if (entry.error !== undefined) this.endBelow(run, `${entry.scope}/`, frame, isReported);
        break;
      case 'scope.compensating':
        this.endBelow(run, entry.scope === '' ? '' : `${entry.scope}/`, frame, isReported);
        break;
      case 'run.finished':
        this.endBelow(run, '', frame, isReported);
        if (run.span !== undefined && isReported) this.tell(run, run.span, frame.at, entry);
        run.span = undefined;
        // A retry reads the journal again.
        this.runs.delete(run.executionId);
        break;
      case 'items.added':
      case 'node.answered':
      case 'node.compensating':
      case 'node.configured':
      case 'node.gated':
      case 'node.granted':
      case 'node.scheduled':
      case 'node.settled':
      case 'node.skipped':
      case 'node.stopping':
      case 'node.unhandled':
      case 'round.delayed':
      case 'run.begun':
      case 'run.checkpointed':
      case 'run.held':
      case 'run.migrated':
      case 'run.paused':
      case 'run.resumed':
      case 'run.stopping':
      case 'scope.compensated':
      case 'scope.stopping':
      case 'scopes.opened':
      case 'signal.kept':
      case 'signal.refused':
      case 'signal.taken':
        break;
    }
  }

  private runSpan({ executionId, workflowId, above }: RunTrace, which: string, { at }: QueuedFrame): OpenSpan {
    const spanId = spanIdOf(this.parts.digest, executionId, '', which);
    return { spanId, parentSpanId: above, name: `workflow ${workflowId}`, startMs: at };
  }

  /** `which`: the attempt, or the place in the journal where a span without attempts begins. */
  private begin(run: RunTrace, node: string, which: number | string, frame: QueuedFrame, child?: string): void {
    run.open.set(node, {
      spanId: spanIdOf(this.parts.digest, run.executionId, node, which),
      parentSpanId: above(run, node),
      name: node,
      startMs: frame.at,
      node,
      action: frame.actions.get(node),
      ...(typeof which === 'number' && { attempt: which }),
      ...(child !== undefined && { child }),
    });
  }

  private end(run: RunTrace, node: string, ending: Ending, frame: QueuedFrame, isReported: boolean): void {
    let span = run.open.get(node);
    if (span === undefined) {
      // The node never started: it was waiting for a slot.
      if (ending.status !== 'completed' && ending.status !== 'failed') return;
      // A node without an attempt (a condition, a merge, a cache hit) has a span of no length.
      this.begin(run, node, `seq ${frame.seq}`, frame);
      span = run.open.get(node) as OpenSpan;
    }
    run.open.delete(node);
    if (!isReported) return;
    span.action ??= frame.actions.get(node);
    this.tell(run, span, frame.at, ending);
  }

  /** Ends the open spans below a scope that ended. */
  private endBelow(run: RunTrace, prefix: string, frame: QueuedFrame, isReported: boolean): void {
    for (const node of [...run.open.keys()]) {
      if (node.startsWith(prefix)) this.end(run, node, { status: 'cancelled' }, frame, isReported);
    }
  }

  private tell(run: RunTrace, span: OpenSpan, endMs: number, { status, error, cached }: Ending): void {
    const { executionId, workflowId, version, traceId } = run;
    const { spanId, parentSpanId, name, startMs, node, attempt, action, child } = span;
    const isFailure = error !== undefined && status !== 'cancelled';
    this.parts.spans.take({
      traceId,
      spanId,
      parentSpanId,
      name,
      startMs,
      endMs,
      status: isFailure ? 'error' : status === 'completed' ? 'ok' : 'unset',
      ...(isFailure && { message: error.message.slice(0, MAX_MESSAGE_CHARS) }),
      attributes: {
        'nebula.workflow.id': workflowId,
        'nebula.workflow.version': version,
        'nebula.execution.id': executionId,
        'nebula.node': node,
        'nebula.attempt': attempt,
        'nebula.action': action,
        'nebula.child.execution.id': child,
        'nebula.status': status,
        'nebula.cached': cached === true ? true : undefined,
        'error.type': error?.code,
      },
    });
  }
}

type NodeEnd = Extract<
  Entry,
  {
    type: 'node.completed' | 'node.failed' | 'node.retrying' | 'node.unknown' | 'node.returned' | 'node.cancelled';
  }
>;

function endingOf(entry: NodeEnd): Ending {
  switch (entry.type) {
    case 'node.completed':
      return { status: 'completed', cached: entry.cached !== undefined };
    case 'node.failed':
      return { status: 'failed', error: entry.error };
    case 'node.retrying':
      return { status: 'retrying', error: entry.error };
    case 'node.unknown':
      return { status: 'unknown', error: entry.error };
    case 'node.returned':
      return { status: 'returned' };
    case 'node.cancelled':
      return { status: 'cancelled', error: entry.error };
  }
}

/** The span of the innermost composite node around the node, or the span of the run. */
function above({ open, span }: RunTrace, node: string): string | undefined {
  for (let cut = node.lastIndexOf('/'); cut > 0; cut = node.lastIndexOf('/', cut - 1)) {
    const around = open.get(node.slice(0, cut));
    if (around !== undefined) return around.spanId;
  }
  return span?.spanId;
}

function queuedFrame({ seq, at, entries, actionOf }: TracedFrame): QueuedFrame {
  const actions = new Map<string, string>();
  for (const entry of entries) {
    if (!('node' in entry)) continue;
    const action = actionOf(entry.node);
    if (action !== undefined) actions.set(entry.node, action);
  }
  return { seq, at, entries, actions };
}
