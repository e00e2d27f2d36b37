/** Ties together what lets people see how the server does: metrics, traces, the log and health. */
import type { OperationId } from '@nebula/client/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notSignedIn, refuse } from '../http/app.ts';
import type { Principal } from '../identity/principal.ts';
import type { EngineParts } from '../parts.ts';
import { EventLoop } from './event-loop.ts';
import { EXPOSITION_TYPE } from './exposition.ts';
import { Health, type SchedulerStanding } from './health.ts';
import { createLog, errorFields, type Log, type LogOptions } from './log.ts';
import { ServerMetrics } from './metrics.ts';
import { SpanExporter, type TraceOptions, tracesFromEnvironment } from './otlp.ts';
import { Repeated } from './repeated.ts';
import { Tracer } from './spans.ts';

/** How long the last spans may take to be sent when the server closes. */
const LAST_SPANS_MS = 2_000;

export interface ObservabilityOptions {
  readonly version: string;
  readonly preset: string;
  /** `warn` and above on stderr unless told. */
  readonly log?: LogOptions;
  /** Who may read `/metrics`: who is signed in, unless told. */
  readonly metrics?: 'signed-in' | 'public';
  /** Where spans go: where the variables of OpenTelemetry say, unless told; null: nowhere. */
  readonly traces?: TraceOptions | null;
  /** Besides the log. */
  onTrouble?(error: unknown): void;
  onRequest?(operation: OperationId, status: number, milliseconds: number): void;
}

/** What is looked at, and comes into being after this. */
export interface Observed {
  subscribers(): number;
  scheduler(): SchedulerStanding;
  isClosing(): boolean;
}

export class Observability {
  readonly log: Log;
  readonly metrics: ServerMetrics;
  readonly health: Health;
  private readonly options: ObservabilityOptions;
  private readonly loop = new EventLoop();
  private readonly exporter: SpanExporter | undefined;
  private readonly repeated: Repeated;
  private readonly stops: (() => void)[] = [];

  constructor(parts: EngineParts, options: ObservabilityOptions, observed: Observed) {
    const { engine, clock } = parts;
    this.options = options;
    this.log = createLog(options.log ?? {});
    this.repeated = new Repeated(clock);
    const traces = options.traces === undefined ? tracesFromEnvironment(process.env) : options.traces;
    this.exporter = traces ? this.traced(parts, traces) : undefined;
    const { exporter, loop } = this;
    this.metrics = new ServerMetrics({
      version: options.version,
      preset: options.preset,
      engine: () => engine.metrics(),
      subscribers: () => observed.subscribers(),
      isLeader: () => observed.scheduler().role === 'leads',
      loop,
      exported: exporter && (() => exporter.figures()),
    });
    const scheduler = () => observed.scheduler();
    const isClosing = () => observed.isClosing();
    this.health = new Health({ ...parts, loop, engine: () => engine.health(), scheduler, isClosing });
    this.stops.push(
      engine.on((event) => {
        if (event.type === 'trouble') this.trouble(event.error, 'the engine tries something again');
        if (event.type === 'fault') {
          this.trouble(event.error, 'a run cannot go on here', { executionId: event.executionId });
        }
      }),
    );
  }

  private traced({ engine, clock, digest, random }: EngineParts, options: TraceOptions): SpanExporter {
    const { version } = this.options;
    const exporter = new SpanExporter({
      clock,
      options,
      resource: {
        'service.name': options.service ?? 'nebula',
        'service.version': version,
        'service.instance.id': random.id('srv'),
      },
      onTrouble: (error) => this.trouble(error, 'spans are lost'),
    });
    const tracer = new Tracer({
      digest,
      journal: (executionId) => engine.journal(executionId),
      onSpan: (span) => exporter.add(span),
      onLost: (frames) => exporter.drop(frames),
    });
    this.stops.push(engine.trace((frame) => tracer.take(frame)));
    return exporter;
  }

  readonly onTrouble = (error: unknown): void => {
    this.trouble(error, 'something went wrong and is tried again');
    this.options.onTrouble?.(error);
  };

  readonly onFault = (error: unknown, { method, url }: { readonly method: string; readonly url: string }): void => {
    // Queries may hold what is nobody's business.
    this.trouble(error, 'a request failed', { method, path: url.split('?')[0] });
    this.options.onTrouble?.(error);
  };

  readonly onRequest = (operation: OperationId, status: number, milliseconds: number): void => {
    this.request(operation, status, milliseconds);
    this.options.onRequest?.(operation, status, milliseconds);
  };

  readonly onFire = (schedule: string, lateMs: number): void => {
    this.metrics.fired(lateMs);
    this.log.debug({ schedule, lateMs }, 'schedule fired');
  };

  private request(operation: OperationId | 'webhook', status: number, milliseconds: number): void {
    this.metrics.request(operation, status, milliseconds);
    this.log.debug({ operation, status, ms: Math.round(milliseconds * 10) / 10 }, 'request');
  }

  private trouble(error: unknown, what: string, more: Readonly<Record<string, unknown>> = {}): void {
    this.metrics.trouble();
    const fields = errorFields(error);
    const times = this.repeated.count(`${what} ${fields.code} ${fields.error} ${JSON.stringify(more)}`);
    if (times > 0) this.log.error({ ...fields, ...more, ...(times > 1 && { times }) }, what);
  }

  routes(app: FastifyInstance, authenticate: (request: FastifyRequest) => Promise<Principal>): void {
    app.get('/health', async (_request, reply) => {
      const { status, body } = this.health.alive();
      return reply.status(status).send(body);
    });
    app.get('/ready', async (_request, reply) => {
      const { status, body } = await this.health.ready();
      return reply.status(status).send(body);
    });
    app.get('/metrics', async (request, reply) => {
      if (this.options.metrics !== 'public' && (await authenticate(request)).kind === 'nobody') {
        return refuse(reply, notSignedIn());
      }
      return reply.type(EXPOSITION_TYPE).send(await this.metrics.text());
    });
    // Operations tell of themselves, from their table; these are what else people call.
    app.addHook('onResponse', async (request, reply) => {
      if (request.routeOptions.url?.startsWith('/hooks/')) this.request('webhook', reply.statusCode, reply.elapsedTime);
    });
  }

  async close(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    this.loop.close();
    await this.exporter?.close(LAST_SPANS_MS);
  }
}
