/**
 * The HTTP side: every route comes from the table of operations, and goes the same way:
 *
 *   who calls ─▶ is the request well formed ─▶ which project ─▶ may they ─▶ handler ─▶ audit ─▶ answer
 */
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  API_PREFIX,
  auditOf,
  type HttpMethod,
  OPERATIONS,
  type Operation,
  type OperationId,
  ROUTES,
} from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { LOGIN_WINDOW_MS } from '../identity/failed-logins.ts';
import { isInScope, judge, NOBODY, type Principal } from '../identity/principal.ts';
import { watchRights } from '../identity/watch-rights.ts';
import { HTTP_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { isPageRequest, type StudioSource, sendPage } from '../studio/studio-pages.ts';
import { bodyError, readJsonBodies } from './bodies.ts';
import { type ConnectionLimits, limitBodies, limitConnections, serverTimeouts } from './connections.ts';
import type { Call, EventStream, Handlers, Reply } from './handler.ts';
import type { IdempotentRequests } from './idempotency.ts';
import { problemOf } from './problem.ts';
import { RequestPacer } from './request-pacer.ts';
import { sendEvents } from './sse.ts';
import { subjectOf } from './subject.ts';
import { validatorOf } from './validate.ts';

export interface AppOptions {
  readonly bodyLimitBytes: number;
  /** Pages of these origins may call. */
  readonly origins: readonly string[];
  /** Host names under which the server answers; null: any. Keeps pages of strangers away from a server on loopback. */
  readonly hosts: readonly string[] | null;
  /** Addresses and ranges of proxies whose `X-Forwarded-…` headers are trusted. */
  readonly trustProxy: readonly string[];
  /** For tests: other limits than those of the server. */
  readonly limits?: Partial<ConnectionLimits>;
}

/** One authenticated call for the audit log, accepted or refused. */
export interface AuditedCall {
  readonly operation: OperationId;
  readonly who: Principal;
  readonly params: unknown;
  readonly body?: unknown;
  /** The answer of a call that succeeded. */
  readonly answer?: unknown;
  readonly project: string | undefined;
  readonly status: number;
  /** Left out when the call came in process, on the data folder. */
  readonly ip?: string;
}

export interface AppParts {
  readonly parts: Parts;
  readonly handlers: Handlers;
  authenticate(request: FastifyRequest): Promise<Principal>;
  readonly idempotentRequests: IdempotentRequests;
  /** Writes the audit entry before the answer is sent. */
  audit(auditedCall: AuditedCall): Promise<void>;
  /** Reports an unexpected error to the server's log. */
  onFault(error: unknown, request: { readonly method: string; readonly url: string }): void;
  onRequest?(operation: OperationId, status: number, milliseconds: number): void;
  /** Requests other than `/health` and `/ready` wait for it. */
  readonly opened: Promise<void>;
  /** The Studio, whose page answers where nothing else does; undefined: none. */
  readonly studio?: StudioSource | undefined;
}

const ABOUT_HEALTH: ReadonlySet<string> = new Set(['/health', '/ready']);

export function buildApp(appParts: AppParts, options: AppOptions): FastifyInstance {
  const limits: ConnectionLimits = { ...HTTP_LIMITS, ...options.limits };
  const app = fastify({
    http: serverTimeouts(limits),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    bodyLimit: options.bodyLimitBytes,
    logger: false,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    routerOptions: { maxParamLength: HTTP_LIMITS.maxPathParameterChars, ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    return503OnClosing: true,
    forceCloseConnections: true,
    frameworkErrors: (error, _request, reply) => {
      guardHeaders(reply);
      void refuse(reply, bodyError(error));
    },
    clientErrorHandler: (error, socket) => refuseRaw(socket, bodyError(error)),
  });
  limitConnections(app.server, limits, options.trustProxy.length === 0);
  limitBodies(app, limits, callerOf);
  readJsonBodies(app, appParts.parts.clock);
  const turns = new RequestPacer(HTTP_LIMITS.maxBegunPerTurn);
  app.addHook('onRequest', async (request, reply) => {
    guardHeaders(reply);
    guardHost(request, options.hosts);
    if (answersCors(request, reply, options.origins)) return reply;
    if (ABOUT_HEALTH.has(request.url)) return;
    const turn = turns.take();
    if (turn !== undefined) await turn;
    await appParts.opened;
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(request);
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    else if (appParts.studio !== undefined && isPageRequest(request)) return sendPage(reply, appParts.studio);
    return refuse(reply, allowed.length > 0 ? wrongMethod(request, allowed) : unknownRoute(request));
  });
  app.setErrorHandler((error, request, reply) => {
    const known = bodyError(error);
    if (!(known instanceof NebulaError)) appParts.onFault(error, { method: request.method, url: routeOf(request) });
    return refuse(reply, known);
  });
  for (const operation of Object.keys(ROUTES) as OperationId[]) addRoute(app, appParts, operation, options);
  return app;
}

const LOGINS: ReadonlySet<OperationId> = new Set<OperationId>(['login', 'signIn']);

/** Operations whose body is a definition. */
const DEFINING: ReadonlySet<OperationId> = new Set<OperationId>(['validateWorkflow', 'registerWorkflow']);

function bodyLimitOf(operation: OperationId, { needs }: Operation, { bodyLimitBytes }: AppOptions): number {
  if (needs === 'public') return HTTP_LIMITS.maxPublicBodyBytes;
  return DEFINING.has(operation) ? Math.min(bodyLimitBytes, HTTP_LIMITS.maxDefinitionBodyBytes) : bodyLimitBytes;
}

interface Route {
  readonly appParts: AppParts;
  readonly operation: OperationId;
  readonly contract: Operation;
  /** Calls are written to the audit log. */
  readonly isAudited: boolean;
}

function addRoute(app: FastifyInstance, appParts: AppParts, operation: OperationId, options: AppOptions): void {
  const [method, path] = ROUTES[operation].split(' ') as [HttpMethod, string];
  const contract: Operation = OPERATIONS[operation];
  const route: Route = { appParts, operation, contract, isAudited: auditOf(operation) !== 'never' };
  app.route({
    method,
    url: API_PREFIX + path,
    bodyLimit: bodyLimitOf(operation, contract, options),
    // Callers are authenticated before the body is read, so an unknown caller costs no memory.
    onRequest: (request) => identify(route, request),
    handler: (request, response) => handle(route, request, response),
  });
}

/** Finds out who calls. Rejects with `NOT_SIGNED_IN`, unless the operation is public. */
async function identify({ appParts, operation, contract }: Route, request: FastifyRequest): Promise<void> {
  // A login request may still carry the cookie of an expired session.
  if (contract.needs === 'public') return;
  const begun = performance.now();
  try {
    callers.set(request, await signedIn(appParts, request));
  } catch (error) {
    appParts.onRequest?.(operation, problemOf(error).status, performance.now() - begun);
    throw error;
  }
}

/** Checks the request, calls the operation, audits and counts it, and sends the answer. */
async function handle(route: Route, request: FastifyRequest, response: FastifyReply): Promise<unknown> {
  const { appParts, operation, contract, isAudited } = route;
  const begun = performance.now();
  const who = callers.get(request) ?? NOBODY;
  const input: Input = {
    params: request.params as Record<string, unknown>,
    query: request.query as Record<string, unknown>,
    body: contract.body === undefined ? undefined : (request.body ?? {}),
  };
  const auditedCall = { operation, who, params: input.params, body: input.body, ip: request.ip };
  let project: string | undefined;
  try {
    validatorOf(operation)(input);
    project = await allowed(appParts, operation, contract, who, input);
    const call = callOf(route, { ...input, who, project }, request, response);
    const answer = await answerTo(route, call, request.headers['idempotency-key']);
    if (isAudited) await appParts.audit({ ...auditedCall, project, status: answer.status, answer: answer.body });
    appParts.onRequest?.(operation, answer.status, performance.now() - begun);
    if (contract.stream !== 'events') return await send(request, response, contract, answer);
    return await streamTo(appParts, request, response, answer, call);
  } catch (error) {
    const { status } = problemOf(bodyError(error));
    // Of unauthenticated calls only failed logins are audited; their rate is limited.
    const isToTell = who.kind === 'nobody' ? LOGINS.has(operation) && status === 401 : status < 500;
    if (isAudited && isToTell) await appParts.audit({ ...auditedCall, project, status });
    appParts.onRequest?.(operation, status, performance.now() - begun);
    throw error;
  }
}

interface Input {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

/** The call as handlers see it. Most of them never ask for the signal, so it is made on demand. */
function callOf(
  { operation, contract }: Route,
  given: Input & Pick<Call<OperationId>, 'who' | 'project'>,
  request: FastifyRequest,
  response: FastifyReply,
): Call<OperationId> {
  const call = {
    operation,
    ...given,
    headers: request.headers,
    ip: request.ip,
    isSecure: request.protocol === 'https',
    get signal() {
      return signalOf(request, response, contract);
    },
  };
  return call as unknown as Call<OperationId>;
}

/** Calls the handler, or repeats the answer that was given to the same idempotency key. */
async function answerTo(
  { appParts, operation, contract }: Route,
  call: Call<OperationId>,
  key: string | string[] | undefined,
): Promise<Reply<unknown>> {
  const handler = appParts.handlers[operation] as (call: Call<OperationId>) => Promise<Reply<unknown>>;
  if (!contract.isIdempotent || typeof key !== 'string') return await handler(call);
  return await appParts.idempotentRequests.once(call, key, (repeatId) => handler(Object.assign(call, { repeatId })));
}

/** Sends events until the stream ends, or the caller loses the right to it. */
async function streamTo(
  { parts, authenticate }: AppParts,
  request: FastifyRequest,
  response: FastifyReply,
  answer: Reply<unknown>,
  { who, signal }: Call<OperationId>,
): Promise<unknown> {
  const stop = watchRights(
    parts.clock,
    who,
    () => authenticate(request),
    () => response.raw.end(),
  );
  return await sendStream(response, answer, signal).finally(stop);
}

const callers = new WeakMap<FastifyRequest, Principal>();

/** The principal, or the address of a caller without one. */
function callerOf(request: FastifyRequest): string {
  const who = callers.get(request);
  return who === undefined ? `address ${request.ip}` : `${who.kind} ${who.name}`;
}

/** Rejects with `NOT_SIGNED_IN`. */
async function signedIn({ authenticate }: Pick<AppParts, 'authenticate'>, request: FastifyRequest): Promise<Principal> {
  const who = await authenticate(request);
  if (who.kind === 'nobody') throw notSignedIn();
  return who;
}

/** The project that the call concerns. Throws unless the caller may do this there. */
async function allowed(
  { parts }: AppParts,
  operation: OperationId,
  { needs }: Operation,
  who: Principal,
  input: Parameters<typeof subjectOf>[2],
): Promise<string | undefined> {
  // Checked before any lookup, so that a key without the scope learns nothing about what exists.
  if (!isInScope(who, operation)) throw outOfScope(who, operation);
  const subject = needs === 'public' ? undefined : await subjectOf(parts, operation, input);
  const project = subject?.project;
  const verdict = judge(who, operation, needs, project);
  if (verdict === 'allowed') return project;
  if (verdict === 'not-signed-in') throw notSignedIn();
  if (verdict === 'invisible' && subject !== undefined) throw subject.missing();
  throw new NebulaError('NOT_ALLOWED', `${who.name} may not do this.`, {
    hint: `It needs the role ${needs}${project === undefined ? '' : ` in project '${project}'`}.`,
  });
}

function outOfScope({ name }: Principal, operation: OperationId): NebulaError {
  return new NebulaError('NOT_ALLOWED', `${name} may not do this.`, {
    hint: `The scopes of this key lack ${operation}.`,
  });
}

async function send(
  request: FastifyRequest,
  response: FastifyReply,
  { stream }: Operation,
  { status, body, headers = {} }: Reply<unknown>,
): Promise<FastifyReply> {
  response.status(status).headers(headers);
  if (stream === 'bytes') return response.type(headers['content-type'] ?? 'application/octet-stream').send(body);
  if (body === null) return response.send();
  const text = JSON.stringify(body);
  const tag = headers['etag'] ?? (request.method === 'GET' ? tagOf(text) : undefined);
  if (tag !== undefined) {
    response.header('etag', tag);
    if (knows(request.headers['if-none-match'], tag)) return response.status(304).send();
  }
  return response.type('application/json; charset=utf-8').send(text);
}

async function sendStream(
  response: FastifyReply,
  { status, body, headers = {} }: Reply<unknown>,
  signal: AbortSignal,
): Promise<FastifyReply> {
  response.hijack();
  const events = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
  response.raw.writeHead(status, { ...(response.getHeaders() as Record<string, string>), ...events, ...headers });
  await sendEvents(response.raw, body as EventStream, signal);
  return response;
}

/** The ETag of a document without a revision: a hash of its text. */
function tagOf(text: string): string {
  return `"${hash('sha1', text, 'base64url')}"`;
}

/** `If-None-Match` may list several tags; weak comparison applies. */
function knows(header: string | undefined, tag: string): boolean {
  return header?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag) ?? false;
}

const signals = new WeakMap<FastifyRequest, AbortSignal>();

/** One signal per request, created on first use. */
function signalOf(request: FastifyRequest, response: FastifyReply, { stream }: Operation): AbortSignal {
  let signal = signals.get(request);
  if (signal === undefined) {
    const controller = new AbortController();
    // An abort costs as much as a request, so a request that was answered is not aborted. A stream always is.
    response.raw.once('close', () => {
      if (stream === 'events' || !response.raw.writableFinished) controller.abort();
    });
    signal = controller.signal;
    signals.set(request, signal);
  }
  return signal;
}

export async function refuse(reply: FastifyReply, error: unknown): Promise<FastifyReply> {
  const { status, body } = problemOf(error);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="nebula"');
  if (body.retryable) reply.header('retry-after', '1');
  if (status === 429) reply.header('retry-after', String(LOGIN_WINDOW_MS / 1_000));
  return reply.status(status).type('application/problem+json; charset=utf-8').send(JSON.stringify(body));
}

export function notSignedIn(): NebulaError {
  return new NebulaError('NOT_SIGNED_IN', 'The request is not authenticated.', {
    hint: 'Send `Authorization: Bearer <token>`; on a desktop the token is in the file `token` of the data folder.',
  });
}

/** As the route is written: parts of an address can be bearer values (leases, callbacks). */
function routeOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url;
}

const OPERATION_PATHS = Object.values(ROUTES).map((route) => {
  const [method, path] = route.split(' ') as [HttpMethod, string];
  return { method, pattern: new RegExp(`^${API_PREFIX}${path.replace(/:\w+/g, '[^/]+')}/?$`) };
});

/** The methods of the operations that have the path of the request. */
function methodsOf({ url }: FastifyRequest): HttpMethod[] {
  const path = url.split('?')[0] ?? '';
  return [...new Set(OPERATION_PATHS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}

function wrongMethod({ method }: FastifyRequest, allowed: readonly HttpMethod[]): NebulaError {
  return new NebulaError('METHOD_NOT_ALLOWED', `This path has no ${method}.`, {
    hint: `Use ${allowed.join(' or ')}; see /api/docs.`,
  });
}

function unknownRoute({ method, url }: FastifyRequest): NebulaError {
  return new NebulaError('NO_SUCH_ROUTE', `There is no ${method} ${url.split('?')[0]?.slice(0, 200)} here.`, {
    hint: 'See the API reference of this server: /api/docs.',
  });
}

/** Bytes that are not an HTTP request have no `FastifyReply`: the answer is written to the socket. */
function refuseRaw(socket: Socket, error: unknown): void {
  if (!socket.writable) return void socket.destroy();
  const { status, body } = problemOf(error instanceof NebulaError ? error : unreadable());
  const text = JSON.stringify(body);
  const head = {
    ...GUARDS,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${body.title}\r\n${lines.join('')}\r\n${text}`);
  // A caller that never closes its side must not keep the socket.
  socket.destroySoon();
}

function unreadable(): NebulaError {
  return new NebulaError('BODY_INVALID', 'The request is not HTTP, or was not received in time.');
}

const GUARDS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

function guardHeaders(reply: FastifyReply): void {
  reply.headers(GUARDS);
}

/**
 * DNS rebinding: a foreign page may resolve its own name to this machine, but it cannot choose the Host header. `X-Forwarded-Host`
 * is ignored, because the page can choose it.
 */
function guardHost({ headers, raw }: FastifyRequest, hosts: readonly string[] | null): void {
  if (raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1) {
    throw new NebulaError('BODY_INVALID', 'The request has two Host headers.', { hint: 'Send one.' });
  }
  const hostname = (headers.host ?? '').replace(/:\d+$/, '');
  if (hosts === null || hosts.includes(hostname)) return;
  throw new NebulaError('NOT_ALLOWED', `This server does not answer under the name '${hostname.slice(0, 200)}'.`, {
    hint: `Use ${hosts[0]}, or add the name to \`server.hosts\` of the configuration.`,
  });
}

function answersCors(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return false;
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'etag, retry-after, x-nebula-execution',
    vary: 'origin',
  });
  if (request.method !== 'OPTIONS') return false;
  reply
    .headers({
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, x-csrf-token',
      'access-control-max-age': '600',
    })
    .status(204)
    .send();
  return true;
}
