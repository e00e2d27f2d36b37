/**
 * The trace context (W3C) of runs and attempts. Ids are derived from the journal, so every process computes the same
 * ones, and the spans of several processes fit together without any exchange.
 */
import type { Entry, ExecutionId, NodePath, WorkflowId } from '@nebula/core';
import type { RunState } from '@nebula/core/run';
import type { Digest } from '@nebula/ports';

/** A durable frame, for a tracer that makes spans of it. */
export interface TracedFrame {
  readonly executionId: ExecutionId;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly traceparent: string | null;
  readonly seq: number;
  readonly at: number;
  readonly entries: readonly Entry[];
  /** The action of a node, as `name@version`; undefined if it has none. Valid only during the call of the sink. */
  actionOf(node: NodePath): string | undefined;
}

export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits: the span above. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Returns undefined for a text that is no traceparent. Later versions of the header begin like this one. */
export function readTraceparent(text: string): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined || version === 'ff') return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && rest !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function writeTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The trace of a run: that of its start, or one of its own. */
export function traceOf(
  digest: Digest,
  executionId: ExecutionId,
  traceparent: string | null,
): { readonly traceId: string; readonly above: string | undefined; readonly isSampled: boolean } {
  const given = traceparent === null ? undefined : readTraceparent(traceparent);
  if (given !== undefined) return { traceId: given.traceId, above: given.spanId, isSampled: given.isSampled };
  return { traceId: digest(`trace ${executionId}`).slice(0, 32), above: undefined, isSampled: true };
}

/** The span of an attempt; or, with a text, another span of the run. */
export function spanIdOf(digest: Digest, executionId: ExecutionId, node: NodePath, attempt: number | string): string {
  return digest(`span ${executionId}:${node}:${attempt}`).slice(0, 16);
}

type Traced = Pick<RunState, 'executionId' | 'traceparent'>;

export class Tracing {
  private readonly digest: Digest;
  private readonly sinks = new Set<(frame: TracedFrame) => void>();

  constructor(digest: Digest) {
    this.digest = digest;
  }

  get isOn(): boolean {
    return this.sinks.size > 0;
  }

  to(sink: (frame: TracedFrame) => void): () => void {
    this.sinks.add(sink);
    return () => this.sinks.delete(sink);
  }

  /** An error of a sink does not reach the engine. */
  tell(frame: TracedFrame): void {
    for (const sink of this.sinks) {
      try {
        sink(frame);
      } catch {}
    }
  }

  /**
   * The trace context for an attempt, or for the child execution of a node. Without a tracer the context of the start is
   * handed on unchanged: a span that is never exported must not be the parent of others.
   */
  ofAttempt({ executionId, traceparent }: Traced, node: NodePath, attempt: number): string | undefined {
    if (!this.isOn) return traceparent ?? undefined;
    const { traceId, isSampled } = traceOf(this.digest, executionId, traceparent);
    return writeTraceparent({ traceId, spanId: spanIdOf(this.digest, executionId, node, attempt), isSampled });
  }
}
