/**
 * Sockets, and how long they may keep the server waiting.
 *
 *  1 The head of a request comes within `headMs` of its connection, or of its first byte; a body is never silent for
 *    longer than `silentBodyMs`; a whole request comes within `requestMs`. A socket that is late is destroyed. A
 *    connection without a request is closed `keepAliveMs` after the last answer: longer than proxies keep theirs.
 *  2 At most `maxConnections` sockets are open, and `maxConnectionsPerAddress` of one address; more are destroyed at once.
 *  3 Bodies that are under way hold at most `maxBodyBytesInFlight` together, beside the first `maxFreeBodyBytes` of each.
 *  4 The rest of a body that is refused is read and dropped for `lingerMs` at most. Closing a socket with unread bytes
 *    resets it, and the caller would lose the answer.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HTTP_LIMITS } from '../limits.ts';
import { BodyMemory, GatheredBody } from './body-memory.ts';

export type ConnectionLimits = { readonly [K in keyof typeof HTTP_LIMITS]: number };

/** For the constructor of the HTTP server. Sockets are checked three times per `headMs`, every five seconds at least. */
export function serverTimeouts(limits: ConnectionLimits) {
  return {
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(5_000, Math.ceil(limits.headMs / 3)),
    maxHeaderSize: limits.maxHeadBytes,
  };
}

export function limitConnections(server: Server, limits: ConnectionLimits, countsAddresses: boolean): void {
  server.maxConnections = limits.maxConnections;
  if (!countsAddresses) return;
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const count = (open.get(address) ?? 0) + 1;
    if (count > limits.maxConnectionsPerAddress) return void socket.destroy();
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

/** Bodies whose memory counts. */
const gathered = new WeakMap<FastifyRequest, GatheredBody>();
/** Bodies that are being parsed: they count even if the caller has gone. */
const parsing = new WeakSet<FastifyRequest>();

/** Parses a body, which counts until then, however long the request takes. */
export async function parsingBody<T>(request: FastifyRequest, parse: () => Promise<T>): Promise<T> {
  parsing.add(request);
  try {
    return await parse();
  } finally {
    gathered.get(request)?.release();
    gathered.delete(request);
  }
}

/**
 * Limits bodies while they arrive: after the caller is authenticated, before the body is parsed. `callerOf`: whose share
 * of the memory the body takes.
 */
export function limitBodies(
  app: FastifyInstance,
  limits: ConnectionLimits,
  callerOf: (request: FastifyRequest) => string,
): void {
  const memory = new BodyMemory(limits.maxBodyBytesInFlight);
  app.addHook('preParsing', async (request: FastifyRequest, reply) => {
    const { raw } = request;
    if (raw.complete || !hasBody(request)) return;
    const maxBytes = request.routeOptions.bodyLimit ?? limits.maxBodyBytes;
    // A body that is refused for its declared length is not read.
    if (Number(raw.headers['content-length']) > maxBytes) return;
    const body = new GatheredBody(raw, {
      memory,
      caller: callerOf(request),
      freeBytes: limits.maxFreeBodyBytes,
      maxBytes,
    });
    // An injected request has no socket.
    const socket = raw.socket instanceof Socket ? raw.socket : undefined;
    const late = (): void => void socket?.destroy();
    socket?.setTimeout(limits.silentBodyMs, late);
    gathered.set(request, body);
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      socket?.setTimeout(0);
      // A keep-alive connection carries many requests: remove the listener of this one.
      socket?.off('timeout', late);
    };
    raw.once('end', over);
    // A request that is answered before its body is complete does not end; its answer closes, as with a broken connection.
    reply.raw.once('close', () => {
      over();
      if (!parsing.has(request)) body.release();
    });
    return body;
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete || reply.statusCode < 400) return;
    reply.header('connection', 'close');
    if (raw.socket instanceof Socket) closeAfterBody(raw, limits.lingerMs);
  });
}

/** Closes the connection after the answer, once the rest of the request was received or `lingerMs` have passed. */
function closeAfterBody(request: IncomingMessage, lingerMs: number): void {
  const { socket } = request;
  const destroy = (): void => void socket.destroy();
  // The HTTP server calls this after the last byte of the answer.
  socket.destroySoon = () => {
    socket.end();
    if (request.complete) return destroy();
    const timer = setTimeout(destroy, lingerMs);
    socket.once('close', () => clearTimeout(timer));
    request.once('end', destroy);
    request.resume();
  };
}

function hasBody({ raw }: FastifyRequest): boolean {
  return raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0;
}
