/**
 * Spans of runs, on their way to a collector of traces.
 *
 *  T1 Taking a span never waits and never throws: a run must not notice a collector that is slow or away.
 *  T2 Every span that was taken is exported, queued, or counted as dropped.
 */
export interface FinishedSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly status: 'unset' | 'ok' | 'error';
  /** The message of an error. */
  readonly message?: string;
}

export interface SpanFigures {
  readonly exported: number;
  readonly dropped: number;
  readonly queued: number;
}

export interface Spans {
  take(span: FinishedSpan): void;
  /** Counts spans that could not be made. */
  drop(count: number): void;
  figures(): SpanFigures;
  /** Exports the queued spans, for at most `withinMs`, and drops the rest. */
  close(withinMs: number): Promise<void>;
}
