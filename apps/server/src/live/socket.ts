/**
 * Live updates over one WebSocket: many subscriptions, each with its own place.
 *
 *   → {"subscribe": "a", "executionId": "exe_…", "after": "12.0"}     all runs without `executionId`; all of the past without `after`
 *   → {"unsubscribe": "a"}
 *   ← {"subscription": "a", "events": […]}                            in batches
 *   ← {"subscription": "a", "progress": {…}}
 *   ← {"subscription": "a", "problem": {…}}
 *
 * A browser sends its session's cookie; others send a bearer token, in the head or in a first message {"token": "…"}.
 */

import websocket, { type WebSocket } from '@fastify/websocket';
import { API_PREFIX } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { StreamEvent } from '../http/handler.ts';
import { problemOf } from '../http/problem.ts';
import { projectOfExecution } from '../http/subject.ts';
import { judge, type Principal, visibleProjects } from '../identity/principal.ts';
import { watchRights } from '../identity/rights.ts';
import type { Parts } from '../parts.ts';
import { type Feed, isPlace } from './feed.ts';

/** More than this is not put into the socket before it has been sent. */
const MAX_UNSENT_BYTES = 1_000_000;
const DRAIN_MS = 20;
const MAX_SUBSCRIPTIONS = 100;
const HELLO_MS = 5_000;
/** Messages that wait for their turn. */
const MAX_WAITING = 1_000;
const MAX_MESSAGE_BYTES = 16_384;

export interface SocketParts {
  readonly parts: Parts;
  readonly feed: Feed;
  readonly origins: readonly string[];
  authenticate(request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal>;
}

export async function liveSocket(app: FastifyInstance, own: SocketParts): Promise<void> {
  await app.register(websocket, { options: { maxPayload: MAX_MESSAGE_BYTES } });
  await app.register(async (scope) => {
    scope.get(`${API_PREFIX}/live`, { websocket: true }, (socket, request) => {
      new Connection(own, socket, request).open();
    });
  });
}

class Connection {
  private readonly own: SocketParts;
  private readonly socket: WebSocket;
  private readonly request: FastifyRequest;
  private readonly subscriptions = new Map<string, AbortController>();
  private who: Principal | undefined;
  private stopWatching: () => void = () => {};

  constructor(own: SocketParts, socket: WebSocket, request: FastifyRequest) {
    this.own = own;
    this.socket = socket;
    this.request = request;
  }

  open(): void {
    const { socket, request, own } = this;
    if (!isOwnPage(request, own.origins)) return socket.close(4403, 'this page may not');
    const hello = setTimeout(() => {
      if (this.who === undefined) socket.close(4401, 'who are you?');
    }, HELLO_MS);
    socket.on('close', () => {
      clearTimeout(hello);
      this.stopWatching();
      for (const controller of this.subscriptions.values()) controller.abort();
    });
    socket.on('error', () => socket.terminate());
    let before: Promise<unknown> = this.recognise(request.headers);
    // One after the other: a subscription may follow the token at once.
    let waiting = 0;
    socket.on('message', (data: unknown) => {
      if (++waiting > MAX_WAITING) return socket.close(4429, 'too many messages');
      before = before.then(() => this.heard(String(data))).finally(() => waiting--);
    });
  }

  private async recognise(headers: FastifyRequest['headers']): Promise<void> {
    try {
      const who = await this.own.authenticate({ headers, method: 'GET' });
      if (who.kind === 'nobody' || this.socket.readyState !== this.socket.OPEN) return;
      this.who = who;
      this.stopWatching();
      const { parts, authenticate } = this.own;
      const look = () => authenticate({ headers, method: 'GET' });
      this.stopWatching = watchRights(parts.clock, who, look, () => this.socket.close(4401, 'who are you now?'));
    } catch {
      // Then it says so in its first message.
    }
  }

  private async heard(text: string): Promise<void> {
    let subscription: string | undefined;
    try {
      const message = parsed(text);
      if (typeof message['token'] === 'string') {
        await this.recognise({ authorization: `Bearer ${message['token']}` });
        if (this.who === undefined) this.socket.close(4401, 'the token is wrong');
        return;
      }
      if (this.who === undefined) return this.socket.close(4401, 'who are you?');
      if (typeof message['unsubscribe'] === 'string') return this.unsubscribe(message['unsubscribe']);
      subscription = nameIn(message);
      await this.subscribe(subscription, message, this.who);
    } catch (error) {
      this.send({ ...(subscription !== undefined && { subscription }), problem: problemOf(error).body });
    }
  }

  private async subscribe(name: string, message: Readonly<Record<string, unknown>>, who: Principal): Promise<void> {
    const { parts } = this.own;
    const { executionId, after } = message;
    if (this.subscriptions.has(name)) throw wrong(`There is a subscription '${name}' already.`);
    if (this.subscriptions.size >= MAX_SUBSCRIPTIONS) throw wrong('There are too many subscriptions.');
    if (after !== undefined && (typeof after !== 'string' || !(after === 'now' || isPlace(after)))) {
      throw wrong('`after` is no event id.');
    }
    if (executionId !== undefined && typeof executionId !== 'string') throw wrong('`executionId` is no text.');
    const start = after === undefined ? {} : { after };
    const controller = new AbortController();
    const { signal } = controller;
    if (typeof executionId === 'string') {
      const project = await projectOfExecution(parts, executionId);
      if (judge(who, 'followExecution', 'viewer', project) !== 'allowed') {
        throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution '${executionId}'.`);
      }
      this.run(name, controller, this.own.feed.follow({ executionId, signal, ...start }));
      return;
    }
    if (judge(who, 'followAll', 'viewer', undefined) !== 'allowed') {
      throw new NebulaError('NOT_ALLOWED', `${who.name} may not do this.`, { hint: 'It needs the role viewer.' });
    }
    const visible = visibleProjects(who);
    const wants = async (id: string): Promise<boolean> =>
      visible?.includes((await parts.store.execution(id))?.project ?? '') ?? true;
    this.run(name, controller, this.own.feed.follow({ signal, ...start, ...(visible !== undefined && { wants }) }));
  }

  private run(name: string, controller: AbortController, stream: AsyncIterable<readonly StreamEvent[]>): void {
    // It may have gone while the store was asked.
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.subscriptions.set(name, controller);
    const pump = async (): Promise<void> => {
      for await (const events of stream) {
        this.sendEvents(name, events);
        while (this.socket.bufferedAmount > MAX_UNSENT_BYTES && !controller.signal.aborted) await later(DRAIN_MS);
      }
    };
    pump()
      .catch((error: unknown) => this.send({ subscription: name, problem: problemOf(error).body }))
      .finally(() => {
        // The name may be another subscription's by now.
        if (this.subscriptions.get(name) === controller) this.subscriptions.delete(name);
      });
  }

  private sendEvents(name: string, events: readonly StreamEvent[]): void {
    const lasting = events.filter(({ event }) => event === undefined).map(({ json }) => json);
    const subscription = JSON.stringify(name);
    if (lasting.length > 0) this.socket.send(`{"subscription":${subscription},"events":[${lasting.join(',')}]}`);
    for (const { event, json } of events) {
      if (event === 'progress') this.socket.send(`{"subscription":${subscription},"progress":${json}}`);
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

/** A page of somebody else may open a socket to us, and the browser would send our cookie along. */
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
  throw wrong('A message is a JSON object.');
}

function nameIn({ subscribe }: Readonly<Record<string, unknown>>): string {
  if (typeof subscribe === 'string' && subscribe !== '' && subscribe.length <= 100) return subscribe;
  throw wrong('A message is {"subscribe": name, …} or {"unsubscribe": name}.');
}

function wrong(message: string): NebulaError {
  return new NebulaError('BODY_INVALID', message);
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
