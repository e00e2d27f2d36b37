/**
 * Sends spans to a collector: OTLP over HTTP, as JSON.
 *
 *  O1 Whoever makes spans never waits: they are put into a queue of bounded length, and dropped when it is full.
 *  O2 One request at a time. What the collector cannot take now is sent again with growing pauses, a few times.
 *  O3 What is dropped is counted.
 *
 * By hand, since the versions of the OpenTelemetry packages that are out do not go together (sdk-trace-base 2.12 wants an
 * API below 1.10, exporter-trace-otlp-http 0.301 one from 1.10), and what is needed of them is this file.
 */
import { NebulaError } from '@nebula/core';
import type { Clock, Timer } from '@nebula/ports';

const MAX_QUEUED = 8_192;
const BATCH = 512;
/** So long spans wait for others to go with. */
const GATHER_MS = 2_000;
const REQUEST_LIMIT_MS = 10_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 30_000;
const MAX_TRIES = 5;
const RETRYABLE = new Set([408, 429, 502, 503, 504]);

export interface TraceOptions {
  /** In full, e.g. `http://localhost:4318/v1/traces`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `service.name`; `nebula` unless told. */
  readonly service?: string;
  /** Of the resource. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly status: 'unset' | 'ok' | 'error';
  readonly message?: string;
}

export interface ExportFigures {
  readonly exported: number;
  readonly dropped: number;
  readonly queued: number;
}

export interface ExporterParts {
  readonly clock: Clock;
  readonly options: TraceOptions;
  /** Of the resource, besides what the options say. */
  readonly resource: Readonly<Record<string, string>>;
  onTrouble(error: unknown): void;
}

export class SpanExporter {
  private readonly parts: ExporterParts;
  private queue: Span[] = [];
  private timer: Timer | undefined;
  private sending: Promise<void> | undefined;
  private isClosed = false;
  private wakeUp: (() => void) | undefined;
  private exported = 0;
  private dropped = 0;
  /** Of the batch that is under way. */
  private inFlight = 0;

  constructor(parts: ExporterParts) {
    this.parts = parts;
  }

  figures(): ExportFigures {
    return { exported: this.exported, dropped: this.dropped, queued: this.queue.length + this.inFlight };
  }

  add(span: Span): void {
    if (this.isClosed || this.queue.length >= MAX_QUEUED) {
      this.drop(1);
      return;
    }
    this.queue.push(span);
    if (this.sending !== undefined) return;
    if (this.queue.length >= BATCH) this.send();
    else this.timer ??= this.parts.clock.timer(GATHER_MS, () => this.send(), { background: true });
  }

  drop(count: number): void {
    this.dropped += count;
  }

  /** Sends what is left, as far as that goes within the time. */
  async close(withinMs: number): Promise<void> {
    this.isClosed = true;
    const { clock } = this.parts;
    let limit: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      limit = clock.timer(withinMs, resolve);
    });
    this.send();
    this.wakeUp?.();
    await Promise.race([this.sending, late]);
    limit?.cancel();
    this.drop(this.queue.splice(0).length);
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (this.sending !== undefined || this.queue.length === 0) return;
    this.sending = this.sendAll().finally(() => {
      this.sending = undefined;
      if (this.queue.length > 0 && !this.isClosed) this.send();
    });
  }

  private async sendAll(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, BATCH);
      this.inFlight = batch.length;
      const rejected = await this.delivered(batch);
      this.inFlight = 0;
      this.exported += batch.length - rejected;
      this.drop(rejected);
    }
  }

  /** How many of them were given up. */
  private async delivered(batch: readonly Span[]): Promise<number> {
    const { options, onTrouble, resource } = this.parts;
    const body = JSON.stringify(requestOf(batch, { ...resource, ...options.attributes }));
    for (let tries = 1; ; tries++) {
      const answer = await this.post(body);
      if (answer.ok) return Math.min(batch.length, answer.rejected);
      if (!answer.mayRepeat || tries >= MAX_TRIES || this.isClosed) {
        onTrouble(
          new NebulaError(
            'TRACES_NOT_TAKEN',
            `The collector of traces did not take ${batch.length} spans: ${answer.why}.`,
            {
              hint: 'Is OTEL_EXPORTER_OTLP_ENDPOINT the address of an OTLP/HTTP receiver, e.g. http://localhost:4318?',
            },
          ),
        );
        return batch.length;
      }
      await this.pause(Math.min(RETRY_MAX_MS, Math.max(answer.afterMs, RETRY_MIN_MS * 2 ** (tries - 1))));
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.timer(ms, resolve, { background: true });
      // Who closes does not wait for a collector that is away.
      this.wakeUp = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  private async post(
    body: string,
  ): Promise<
    | { readonly ok: true; readonly rejected: number }
    | { readonly ok: false; readonly mayRepeat: boolean; readonly afterMs: number; readonly why: string }
  > {
    const { url, headers } = this.parts.options;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
      });
      const text = await response.text();
      if (response.ok) return { ok: true, rejected: rejectedIn(text) };
      const afterMs = Number(response.headers.get('retry-after') ?? 0) * 1_000 || 0;
      return { ok: false, mayRepeat: RETRYABLE.has(response.status), afterMs, why: `status ${response.status}` };
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } };
      return { ok: false, mayRepeat: true, afterMs: 0, why: cause?.code ?? message };
    }
  }
}

/** A collector may take a batch in part. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: string | number } };
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0;
  }
}

const INTERNAL = 1;
const STATUS = { unset: 0, ok: 1, error: 2 } as const;

function requestOf(spans: readonly Span[], resource: Readonly<Record<string, string>>): unknown {
  const scope = { name: 'nebula' };
  return {
    resourceSpans: [
      { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] },
    ],
  };
}

function spanOf({ traceId, spanId, parentSpanId, name, startMs, endMs, attributes, status, message }: Span): unknown {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    status: { code: STATUS[status], ...(message !== undefined && { message }) },
  };
}

/** As text: they are more than a number holds exactly. */
function nanoseconds(ms: number): string {
  return `${Math.trunc(ms)}000000`;
}

function attributesOf(attributes: Span['attributes']): unknown[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: encoded(value) }));
}

function encoded(value: string | number | boolean | undefined): unknown {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** What the variables of OpenTelemetry say; undefined: no traces. */
export function tracesFromEnvironment(env: Readonly<Record<string, string | undefined>>): TraceOptions | undefined {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES } = env;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') return undefined;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!url) return undefined;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new NebulaError('TRACES_URL_INVALID', `'${url.slice(0, 200)}' is no address for traces.`, {
      hint: 'OTEL_EXPORTER_OTLP_ENDPOINT is an http address, e.g. http://localhost:4318.',
    });
  }
  const { 'service.name': named, ...attributes } = pairsIn(OTEL_RESOURCE_ATTRIBUTES);
  const service = OTEL_SERVICE_NAME || named;
  return {
    url,
    headers: pairsIn(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS),
    attributes,
    ...(service !== undefined && { service }),
  };
}

/** `a=1,b=2`, values percent-encoded. */
function pairsIn(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', ...rest] = pair.split('=');
    return name.trim() === '' || rest.length === 0 ? [] : [[name.trim(), decoded(rest.join('=').trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
