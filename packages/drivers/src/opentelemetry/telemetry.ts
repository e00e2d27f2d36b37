/**
 * Traces by the OpenTelemetry SDK: OTLP over HTTP, as JSON. The SDK is loaded by the first call of `openTelemetry`.
 *
 *  O1 Spans of runs (made of journals, with ids of their own) and spans of the actions' own code share one queue of
 *     bounded length, one exporter and one resource.
 *  O2 The first caller in a process registers the SDK, unless the program has registered one: then spans of the actions'
 *     code are exported by that one, and nest under the spans of runs all the same.
 *  O3 Every span is counted once: exported when the collector has answered, dropped when it refuses, when the queue is
 *     full or when the time to close is over.
 */
import { NebulaError } from '@nebula/core';
import type { FinishedSpan, SpanFigures, Spans } from '@nebula/ports';
import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

const MAX_QUEUED = 8_192;
const BATCH = 512;
/** How long a span waits for others, to be sent in one batch. */
const GATHER_MS = 2_000;

export interface TelemetryOptions {
  /** The full address, e.g. `http://localhost:4318/v1/traces`. If absent, the variables of OpenTelemetry decide. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Attributes of the resource, e.g. `service.version`. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win. */
  readonly resource?: Readonly<Record<string, string>>;
  onTrouble(error: unknown): void;
}

export async function openTelemetry(options: TelemetryOptions): Promise<Spans> {
  const { context, propagation, trace } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources');
  const { BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { url, headers } = options;
  const exporter = new OTLPTraceExporter({ ...(url !== undefined && { url }), ...(headers && { headers }) });
  const resource = resourceFromAttributes({ 'service.name': 'nebula', ...options.resource }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const count = new SpanCount(options.onTrouble);
  const batches = new BatchSpanProcessor({
    exporter: count.counting(exporter),
    maxQueueSize: MAX_QUEUED,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: GATHER_MS,
  });
  const queue = count.bounded(batches);
  const provider = new TracerProvider({ resource, spanProcessors: [queue] });
  // False if the program has registered its own SDK.
  const isRegistered = trace.setGlobalTracerProvider(provider);
  if (isRegistered) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  }
  return {
    take: (span) => queue.onEnd(readable(span, resource)),
    drop: (spans) => count.drop(spans),
    figures: () => count.figures(),
    async close(withinMs) {
      const tooLate = Promise.withResolvers<void>();
      const timer = setTimeout(tooLate.resolve, withinMs);
      await Promise.race([provider.shutdown().catch(() => undefined), tooLate.promise]);
      clearTimeout(timer);
      count.close();
      if (!isRegistered) return;
      for (const registered of [trace, context, propagation]) registered.disable();
    },
  };
}

class SpanCount {
  private readonly onTrouble: (error: unknown) => void;
  private exported = 0;
  private dropped = 0;
  private queued = 0;
  private isClosed = false;

  constructor(onTrouble: (error: unknown) => void) {
    this.onTrouble = onTrouble;
  }

  figures(): SpanFigures {
    return { exported: this.exported, dropped: this.dropped, queued: this.queued };
  }

  drop(spans: number): void {
    this.dropped += spans;
  }

  close(): void {
    this.isClosed = true;
    this.drop(this.queued);
    this.queued = 0;
  }

  /** Bounds the queue before the SDK's own one, which drops spans silently. */
  bounded(queue: SpanProcessor): SpanProcessor {
    return {
      onStart: (span, parent) => queue.onStart(span, parent),
      onEnd: (span) => {
        if ((span.spanContext().traceFlags & SAMPLED) === 0) return;
        if (this.isClosed || this.queued >= MAX_QUEUED) return this.drop(1);
        this.queued++;
        queue.onEnd(span);
      },
      forceFlush: () => queue.forceFlush(),
      shutdown: () => queue.shutdown(),
    };
  }

  counting(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          this.ended(spans.length, result.error);
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
    };
  }

  private ended(spans: number, error: Error | undefined): void {
    // These spans are counted as dropped already.
    if (this.isClosed) return;
    this.queued -= spans;
    if (error === undefined) this.exported += spans;
    else {
      this.drop(spans);
      this.onTrouble(notTaken(spans, error));
    }
  }
}

function notTaken(spans: number, error: Error): NebulaError {
  return new NebulaError('TRACES_NOT_TAKEN', `The collector of traces did not take ${spans} spans: ${error.message}.`, {
    hint: 'Is OTEL_EXPORTER_OTLP_ENDPOINT the address of an OTLP/HTTP receiver, e.g. http://localhost:4318?',
  });
}

const SAMPLED = 1;
const INTERNAL = 0;
const STATUS = { unset: 0, ok: 1, error: 2 } as const;
const SCOPE = { name: 'nebula' };

/** Builds a span with the ids and times of the journal; spans that the SDK makes have random ids and begin now. */
function readable(span: FinishedSpan, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, startMs, status, message } = span;
  const endMs = Math.max(startMs, span.endMs);
  const own: SpanContext = { traceId, spanId, traceFlags: SAMPLED };
  const attributes = Object.entries(span.attributes).filter(([, value]) => value !== undefined);
  return {
    name,
    kind: INTERNAL,
    spanContext: () => own,
    ...(parentSpanId !== undefined && { parentSpanContext: { ...own, spanId: parentSpanId } }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    ended: true,
    status: { code: STATUS[status], ...(message !== undefined && { message }) },
    attributes: Object.fromEntries(attributes) as ReadableSpan['attributes'],
    links: [],
    events: [],
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1e6];
}

/** Returns whether the variables of OpenTelemetry name a collector. Without them the SDK would send to localhost. */
export function wantsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!url) return false;
  // The SDK would only log the error, and continue without traces.
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return true;
  throw new NebulaError('TRACES_URL_INVALID', `'${url.slice(0, 200)}' is not an address for traces.`, {
    hint: 'OTEL_EXPORTER_OTLP_ENDPOINT is an http address, e.g. http://localhost:4318.',
  });
}
