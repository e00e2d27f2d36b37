/**
 * Live updates over one WebSocket: many subscriptions, each with its own position.
 *
 *   → {"subscribe": "a", "executionId": "exe_…", "after": "12.0"}     without `after`: from the beginning
 *   → {"subscribe": "a", "project": "p", "workflowId": "w"}           all runs, or those of a project or workflow
 *   → {"subscribe": "a", "executionId": "exe_…", "logs": true, "node": "n", "level": "warn", "after": 28}
 *   → {"unsubscribe": "a"}
 *   ← {"subscription": "a", "events": […]}                            in batches
 *   ← {"subscription": "a", "lines": […]}                             of a log
 *   ← {"subscription": "a", "progress": {…}}
 *   ← {"subscription": "a", "end": {"executionId": "exe_…", "status": "completed"}}   the run has ended; so has "a", also of a log
 *   ← {"subscription": "a", "problem": {…}}
 *
 * A browser sends its session cookie; other clients send a bearer token in a header or in a first message {"token": "…"}.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import websocket, { type WebSocket } from '@fastify/websocket';
import { API_PREFIX } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { EventStream, StreamEvent } from '../http/handler.ts';
import { problemOf } from '../http/problem.ts';
import { projectOfExecution, unknownExecution } from '../http/subject.ts';
import { bodyCheck } from '../http/validate.ts';
import { judge, type Principal } from '../identity/principal.ts';
import { watchRights } from '../identity/watch-rights.ts';
import { HTTP_LIMITS, LIVE_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { type Feed, isEventId } from './feed.ts';
import type { Followers } from './followers.ts';
import { LOG_LEVEL, type LogSubscription, logEvents, wantedRuns } from './log-subscription.ts';

/** The most bytes buffered in the socket. */
const MAX_UNSENT_BYTES = LIVE_LIMITS.maxUnsentBytes;
const DRAIN_MS = 20;
const MAX_SUBSCRIPTIONS = LIVE_LIMITS.maxSubscriptions;
const HELLO_MS = 5_000;
/** The most queued messages. */
const MAX_WAITING = LIVE_LIMITS.maxWaitingMessages;
const MESSAGES_PER_TURN = 10;
const MAX_MESSAGE_BYTES = LIVE_LIMITS.maxMessageBytes;

export interface SocketParts {
  readonly parts: Parts;
  readonly feed: Feed;
  readonly followers: Followers;
  readonly origins: readonly string[];
  readonly pingMs: number;
  authenticate(request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal>;
}

export async function liveSocket(app: FastifyInstance, options: SocketParts): Promise<void> {
  await app.register(websocket, { options: { maxPayload: MAX_MESSAGE_BYTES } });
  await app.register(async (scope) => {
    scope.route({
      method: 'GET',
      url: `${API_PREFIX}/live`,
      handler: async () => {
        throw new NebulaError(
          'NO_SUCH_ROUTE',
          'This endpoint is a WebSocket, and the request does not ask for an upgrade.',
          {
            hint: 'Connect with ws:// or wss://; streams over plain HTTP are under /events.',
          },
        );
      },
      wsHandler: (socket, request) => new Connection(options, socket, request).open(),
    });
  });
}

class Connection {
  private readonly options: SocketParts;
  private readonly socket: WebSocket;
  private readonly request: FastifyRequest;
  private readonly subscriptions = new Map<string, AbortController>();
  /** Queued messages; the first one is being handled. */
  private readonly waiting: string[] = [];
  private who: Principal | undefined;
  private stopWatching: () => void = () => {};

  constructor(options: SocketParts, socket: WebSocket, request: FastifyRequest) {
    this.options = options;
    this.socket = socket;
    this.request = request;
  }

  open(): void {
    const { socket, request, options } = this;
    if (!isOwnPage(request, options.origins)) return socket.close(4403, 'origin not allowed');
    const hello = setTimeout(() => {
      if (this.who === undefined) socket.close(4401, 'not authenticated');
    }, HELLO_MS);
    const pings = this.ping();
    socket.on('close', () => {
      clearTimeout(hello);
      clearInterval(pings);
      this.stopWatching();
      this.waiting.length = 0;
      for (const controller of this.subscriptions.values()) controller.abort();
    });
    socket.on('error', () => socket.terminate());
    let hearing = this.recognise(request.headers);
    socket.on('message', (data: unknown) => {
      if (socket.readyState !== socket.OPEN) return;
      if (this.waiting.length >= MAX_WAITING) {
        this.waiting.length = 0;
        return socket.close(4429, 'too many messages');
      }
      // The first message starts the loop that handles all queued ones.
      if (this.waiting.push(String(data)) === 1) hearing = hearing.then(() => this.hear());
    });
  }

  /** Keeps proxies from closing an idle connection, and ends one whose peer is gone. */
  private ping(): NodeJS.Timeout {
    const { socket, options } = this;
    let unanswered = 0;
    socket.on('pong', () => {
      unanswered = 0;
    });
    const pings = setInterval(() => {
      if (unanswered++ < HTTP_LIMITS.maxUnansweredPings) socket.ping();
      else socket.terminate();
    }, options.pingMs);
    return pings.unref();
  }

  /** Handles messages in order: a subscription may follow the token at once. Yields in between. */
  private async hear(): Promise<void> {
    for (let count = 1; this.waiting.length > 0; count++) {
      await this.heard(this.waiting[0] as string);
      this.waiting.shift();
      if (count % MESSAGES_PER_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  private async recognise(headers: FastifyRequest['headers']): Promise<void> {
    try {
      const who = await this.options.authenticate({ headers, method: 'GET' });
      if (who.kind === 'nobody' || this.socket.readyState !== this.socket.OPEN) return;
      this.who = who;
      this.stopWatching();
      const { parts, authenticate } = this.options;
      const authenticateAgain = () => authenticate({ headers, method: 'GET' });
      this.stopWatching = watchRights(parts.clock, who, authenticateAgain, () =>
        this.socket.close(4401, 'permissions have changed'),
      );
    } catch {
      // The client then authenticates in its first message.
    }
  }

  private async heard(text: string): Promise<void> {
    let subscription: string | undefined;
    try {
      const message = parsed(text);
      if (typeof message['token'] === 'string') {
        await this.recognise({ authorization: `Bearer ${message['token']}` });
        if (this.who === undefined) this.socket.close(4401, 'invalid token');
        return;
      }
      if (this.who === undefined) return this.socket.close(4401, 'not authenticated');
      if (typeof message['unsubscribe'] === 'string') return this.unsubscribe(message['unsubscribe']);
      subscription = nameIn(message);
      await this.subscribe(subscription, message, this.who);
    } catch (error) {
      this.send({ ...(subscription !== undefined && { subscription }), problem: problemOf(error).body });
    }
  }

  private async subscribe(name: string, message: Readonly<Record<string, unknown>>, who: Principal): Promise<void> {
    if (this.subscriptions.has(name)) throw invalidMessage(`There is a subscription '${name}' already.`);
    if (this.subscriptions.size >= MAX_SUBSCRIPTIONS) throw invalidMessage('There are too many subscriptions.');
    const wanted = wantedIn(message);
    const controller = new AbortController();
    const stream = this.options.followers.count(who, await this.streamOf(wanted, who, controller.signal));
    this.run(name, controller, wanted.kind === 'logs' ? 'lines' : 'events', stream);
  }

  private async streamOf(wanted: Wanted, who: Principal, signal: AbortSignal): Promise<EventStream> {
    const { parts, feed } = this.options;
    if (wanted.kind !== 'all') {
      const { executionId } = wanted;
      const project = await projectOfExecution(parts, executionId);
      const operation = wanted.kind === 'logs' ? 'followLogs' : 'followExecution';
      if (judge(who, operation, 'viewer', project) !== 'allowed') {
        throw unknownExecution(executionId);
      }
      return wanted.kind === 'logs'
        ? logEvents(parts, feed, wanted, signal)
        : feed.follow({ ...wanted.start, executionId, signal });
    }
    if (judge(who, 'followAll', 'viewer', wanted.project) !== 'allowed') {
      throw new NebulaError('NOT_ALLOWED', `${who.name} may not do this.`, { hint: 'It needs the role viewer.' });
    }
    const wants = wantedRuns(parts, who, wanted);
    return feed.follow({ ...wanted.start, signal, ...(wants && { wants }), isOfRuns: wanted.level === 'runs' });
  }

  private run(name: string, controller: AbortController, member: 'events' | 'lines', stream: EventStream): void {
    // The client may have disconnected during the read.
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.subscriptions.set(name, controller);
    const pump = async (): Promise<void> => {
      for await (const events of stream) {
        this.sendEvents(name, member, events);
        while (this.socket.bufferedAmount > MAX_UNSENT_BYTES && !controller.signal.aborted) await sleep(DRAIN_MS);
      }
    };
    pump()
      .catch((error: unknown) => this.send({ subscription: name, problem: problemOf(error).body }))
      .finally(() => {
        // The name may belong to a newer subscription by now.
        if (this.subscriptions.get(name) === controller) this.subscriptions.delete(name);
      });
  }

  private sendEvents(name: string, member: 'events' | 'lines', events: readonly StreamEvent[]): void {
    const lasting = events.filter(({ event }) => event === undefined).map(({ json }) => json);
    const subscription = JSON.stringify(name);
    if (lasting.length > 0) this.socket.send(`{"subscription":${subscription},"${member}":[${lasting.join(',')}]}`);
    for (const { event, json } of events) {
      if (event !== undefined) this.socket.send(`{"subscription":${subscription},"${event}":${json}}`);
    }
  }

  private unsubscribe(name: string): void {
    this.subscriptions.get(name)?.abort();
    this.subscriptions.delete(name);
  }

  private send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }
}

/** Rejects foreign origins: a browser sends the cookie with a WebSocket that any page opens. */
function isOwnPage({ headers, host }: FastifyRequest, origins: readonly string[]): boolean {
  const { origin } = headers;
  if (origin === undefined || origins.includes(origin)) return true;
  return URL.parse(origin)?.host === host;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message === 'object' && message !== null) return message as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw invalidMessage('A message is a JSON object.');
}

type Wanted =
  | { readonly kind: 'run'; readonly executionId: string; readonly start: { readonly after?: string } }
  | {
      readonly kind: 'all';
      readonly project?: string;
      readonly workflowId?: string;
      readonly level?: 'runs';
      readonly start: { readonly after?: string };
    }
  | ({ readonly kind: 'logs' } & LogSubscription);

const TEXT = { type: 'string' };

/** Rejects unknown members: a misspelt `executionId` must not subscribe to all runs. */
const message = <T>(members: object, ...required: readonly string[]) =>
  bodyCheck<T>({
    type: 'object',
    properties: { subscribe: TEXT, ...members },
    required: ['subscribe', ...required],
    additionalProperties: false,
  });

const RUN_MESSAGE = message<RunMessage>({ executionId: TEXT, after: TEXT });
const ALL_MESSAGE = message<RunMessage>({ project: TEXT, workflowId: TEXT, after: TEXT, level: { const: 'runs' } });
const LOGS_MESSAGE = message<LogSubscription & { subscribe: string; logs: true }>(
  { logs: { const: true }, executionId: TEXT, node: TEXT, level: LOG_LEVEL, after: { type: 'integer' } },
  'executionId',
);

type RunMessage = { subscribe: string; level?: 'runs' } & Partial<
  Record<'executionId' | 'project' | 'workflowId' | 'after', string>
>;

function wantedIn(given: Readonly<Record<string, unknown>>): Wanted {
  if (given['logs'] !== undefined) {
    const { subscribe: _, logs, ...wanted } = LOGS_MESSAGE(given);
    return { kind: 'logs', ...wanted };
  }
  const check = given['executionId'] === undefined ? ALL_MESSAGE : RUN_MESSAGE;
  const { subscribe: _, after, executionId, ...wanted } = check(given);
  if (after !== undefined && after !== 'now' && !isEventId(after)) throw invalidMessage('`after` is not an event id.');
  const start = after === undefined ? {} : { after };
  return executionId === undefined ? { kind: 'all', ...wanted, start } : { kind: 'run', executionId, start };
}

function nameIn({ subscribe }: Readonly<Record<string, unknown>>): string {
  if (typeof subscribe === 'string' && subscribe !== '' && subscribe.length <= 100) return subscribe;
  throw invalidMessage('A message is {"subscribe": name, …} or {"unsubscribe": name}.');
}

function invalidMessage(message: string): NebulaError {
  return new NebulaError('BODY_INVALID', message);
}
