/** Connects metrics, traces, the log and health to the engine and the routes. */
import { NebulaError } from '@nebula/core';
import type { Spans } from '@nebula/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notSignedIn, refuse } from '../http/app.ts';
import type { Principal } from '../identity/principal.ts';
import { bearerOf, isSameSecret } from '../identity/tokens.ts';
import type { EngineParts } from '../parts.ts';
import { EventLoop } from './event-loop.ts';
import { EXPOSITION_TYPE } from './exposition.ts';
import { Health, type SchedulerHealth } from './health.ts';
import { createLog, errorFields, type Log, type LogOptions } from './log.ts';
import { type NotificationFigures, ServerMetrics } from './metrics.ts';
import { Repeated } from './repeated.ts';
import { Tracer } from './spans.ts';

/** How long the server waits for the last spans to be sent when it closes. */
const LAST_SPANS_MS = 2_000;

export interface ObservabilityOptions {
  readonly version: string;
  readonly preset: string;
  /** Default: `warn` and above on stderr. */
  readonly log?: LogOptions;
  /** The callers that may read `/metrics`, which counts over all projects. Default: administrators. */
  readonly metrics?: 'admins' | 'signed-in' | 'public';
  /** A bearer token with which a scraper reads `/metrics`, and nothing else. */
  readonly metricsToken?: string | undefined;
  /** Opens the driver that takes spans of runs. If absent, there are no traces. */
  openTraces?(host: TracesHost): Promise<Spans>;
  /** Called in addition to the log. */
  onTrouble?(error: unknown): void;
  /** `operation`: of the contract, or the route of an endpoint of workflow-graph. */
  onRequest?(operation: string, status: number, milliseconds: number): void;
}

/** The part of the server that a traces driver gets. */
export interface TracesHost {
  /** Attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>;
  onTrouble(error: unknown): void;
}

/** Parts of the server that are created after `Observability`. */
export interface Observed {
  subscribers(): number;
  scheduler(): SchedulerHealth;
  notifications(): readonly NotificationFigures[];
  isClosing(): boolean;
}

export class Observability {
  readonly log: Log;
  readonly metrics: ServerMetrics;
  readonly health: Health;
  private readonly options: ObservabilityOptions;
  private readonly loop = new EventLoop();
  private spans: Spans | undefined;
  private readonly repeated: Repeated;
  private readonly stops: (() => void)[] = [];

  constructor(parts: EngineParts, options: ObservabilityOptions, observed: Observed) {
    const { engine, clock } = parts;
    this.options = options;
    this.log = createLog(options.log ?? {});
    this.repeated = new Repeated(clock);
    const { loop } = this;
    this.metrics = new ServerMetrics({
      version: options.version,
      preset: options.preset,
      clock,
      engine: () => engine.metrics(),
      subscribers: () => observed.subscribers(),
      notifications: () => observed.notifications(),
      isLeader: () => observed.scheduler().role === 'leads',
      loop,
      spans: () => this.spans?.figures(),
    });
    const scheduler = () => observed.scheduler();
    const isClosing = () => observed.isClosing();
    this.health = new Health({ ...parts, loop, engine: () => engine.health(), scheduler, isClosing });
    this.stops.push(
      engine.on((event) => {
        if (event.type === 'trouble') this.trouble(event.error, 'the engine retries a failed operation');
        if (event.type === 'fault') {
          this.trouble(event.error, 'a run cannot continue in this process', { executionId: event.executionId });
        }
      }),
    );
  }

  /** Opens traces before the engine runs anything. */
  async openTraces({ engine, digest, random }: EngineParts): Promise<void> {
    const { version, openTraces } = this.options;
    const spans = await openTraces?.({
      resource: { 'service.version': version, 'service.instance.id': random.id('srv') },
      onTrouble: (error) => this.trouble(error, 'spans are lost'),
    });
    if (spans === undefined) return;
    const tracer = new Tracer({ digest, frames: (executionId) => engine.frames(executionId), spans });
    this.stops.push(engine.trace((frame) => tracer.take(frame)));
    this.spans = spans;
  }

  readonly onTrouble = (error: unknown): void => {
    this.trouble(error, 'an operation failed and is retried');
    this.options.onTrouble?.(error);
  };

  readonly onFault = (error: unknown, { method, url }: { readonly method: string; readonly url: string }): void => {
    // Queries may contain personal data or tokens.
    this.trouble(error, 'a request failed', { method, path: url.split('?')[0] });
    this.options.onTrouble?.(error);
  };

  readonly onRequest = (operation: string, status: number, milliseconds: number): void => {
    this.request(operation, status, milliseconds);
    this.options.onRequest?.(operation, status, milliseconds);
  };

  readonly onFire = (schedule: string, lateMs: number): void => {
    this.metrics.fired(lateMs);
    this.log.debug({ schedule, lateMs }, 'schedule fired');
  };

  private request(operation: string, status: number, milliseconds: number): void {
    this.metrics.request(operation, status, milliseconds);
    this.log.debug({ operation, status, ms: Math.round(milliseconds * 10) / 10 }, 'request');
  }

  private trouble(error: unknown, what: string, more: Readonly<Record<string, unknown>> = {}): void {
    this.metrics.trouble();
    const fields = errorFields(error);
    const times = this.repeated.count(`${what} ${fields.code} ${fields.error} ${JSON.stringify(more)}`);
    if (times > 0) this.log.error({ ...fields, ...more, ...(times > 1 && { times }) }, what);
  }

  /** Names of projects and workflows are for administrators and the scraper; others see totals, or are refused. */
  private async metricsAccess(
    request: FastifyRequest,
    authenticate: (request: FastifyRequest) => Promise<Principal>,
  ): Promise<'by workflow' | 'totals' | NebulaError> {
    const { metrics = 'admins', metricsToken } = this.options;
    const given = bearerOf(request.headers.authorization);
    if (given !== undefined && metricsToken !== undefined && isSameSecret(given, metricsToken)) return 'by workflow';
    if (metrics === 'public') return 'totals';
    const who = await authenticate(request);
    if (who.kind === 'nobody') return notSignedIn();
    if (who.isAdmin) return 'by workflow';
    if (metrics === 'signed-in') return 'totals';
    return new NebulaError('NOT_ALLOWED', `${who.name} may not read the metrics of the server.`, {
      hint: 'Sign in as an administrator, or send the token of the scraper (NEBULA_METRICS_TOKEN).',
    });
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
      const access = await this.metricsAccess(request, authenticate);
      if (access instanceof NebulaError) return refuse(reply, access);
      return reply.type(EXPOSITION_TYPE).send(await this.metrics.text(access));
    });
    // Operations of the contract report themselves; webhooks are not part of it.
    app.addHook('onResponse', async (request, reply) => {
      if (request.routeOptions.url?.startsWith('/hooks/')) this.request('webhook', reply.statusCode, reply.elapsedTime);
    });
  }

  async close(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    this.loop.close();
    await this.spans?.close(LAST_SPANS_MS);
  }
}
