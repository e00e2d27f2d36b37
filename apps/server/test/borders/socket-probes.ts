/**
 * Probes of the budgets that only sockets show. The real limits would take minutes, or thousands of sockets: each probe
 * starts a server with a small one, and `isOver` says whether it drives the server over it.
 */
import { once } from 'node:events';
import { virtualClock } from '@nebula/drivers/memory';
import type { Engine } from '@nebula/engine';
import { type FeedPage, type FrameRow, positionOf, type Store } from '@nebula/ports';
import type { BudgetName } from '../../src/budgets.ts';
import { LIVE_LIMITS } from '../../src/limits.ts';
import { Feed } from '../../src/live/feed.ts';
import { type Booted, type BootOptions, boot, TOKEN } from '../support/boot.ts';
import { type Raw, raw, startHead, upgradeHead } from '../support/sockets.ts';

/** True when the server took what came. */
export type SocketProbe = (isOver: boolean) => Promise<boolean>;

type Limits = NonNullable<NonNullable<BootOptions['app']>['limits']>;

const HEALTH = 'GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
/** The first byte of a ping, and a whole pong: WebSocket frames without a payload. */
const PING = 0x89;
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const withServer =
  (limits: Limits, drive: (booted: Booted, isOver: boolean) => Promise<boolean>): SocketProbe =>
  async (isOver) => {
    const booted = await boot({ app: { limits } });
    try {
      return await drive(booted, isOver);
    } finally {
      await booted.close();
    }
  };

/** So many idle sockets are open; one more, or one of them, asks. */
async function isServedBeside(booted: Booted, idle: number): Promise<boolean> {
  const open: Raw[] = [];
  for (let count = 0; count < idle; count++) open.push(await raw(booted));
  const said = await (await raw(booted, HEALTH)).over;
  for (const { socket } of open) socket.destroy();
  return said.startsWith('HTTP/1.1 200');
}

const BODY = '{"workflowId":"nowhere"}';
/** Half of it now, the rest after the pause. */
async function isAnswered(booted: Booted, text: string, pauseMs: number): Promise<boolean> {
  const half = text.length - 5;
  const { socket, over, said } = await raw(booted, text.slice(0, half));
  await Promise.race([later(pauseMs), over]);
  socket.write(text.slice(half));
  await Promise.race([over, once(socket, 'data').catch(() => undefined), later(5_000)]);
  socket.destroy();
  return /^HTTP\/1.1 (200|404)/.test(said());
}

async function bodyByByte(booted: Booted, ms: number): Promise<boolean> {
  const padded = BODY.padEnd(200);
  const { socket, over, said } = await raw(booted, startHead(padded.length, TOKEN));
  let sent = 0;
  const timer = setInterval(() => socket.write(padded[sent++] ?? ''), 20);
  await Promise.race([later(ms), over]);
  clearInterval(timer);
  socket.write(padded.slice(sent));
  await Promise.race([over, once(socket, 'data').catch(() => undefined), later(5_000)]);
  socket.destroy();
  return said().startsWith('HTTP/1.1 404');
}

async function webSocket(
  booted: Booted,
): Promise<{ say(message: object | string): void; heard: string[]; closed: Promise<number>; end(): void }> {
  const Socket = WebSocket as unknown as new (url: string, options: { headers: Record<string, string> }) => WebSocket;
  const url = `${booted.server.url.replace('http', 'ws')}/api/v1/live`;
  const socket = new Socket(url, { headers: { authorization: `Bearer ${TOKEN}` } });
  const heard: string[] = [];
  socket.addEventListener('message', ({ data }) => heard.push(String(data)));
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code));
  });
  await new Promise((resolve) => {
    socket.addEventListener('open', resolve);
  });
  const say = (message: object | string): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  return { say, heard, closed, end: () => socket.close() };
}

/** An answer to the last message, or the end of the socket. */
async function isHeard(booted: Booted, messages: readonly (object | string)[]): Promise<boolean> {
  const live = await webSocket(booted);
  for (const message of messages) live.say(message);
  // The error for this message comes after the answers to all messages before it.
  live.say({ unheard: true });
  const end = await Promise.race([
    live.closed,
    (async () => {
      while (!live.heard.at(-1)?.includes('problem') || live.heard.length === 0) await later(10);
      await later(50);
      return 0;
    })(),
    later(8_000).then(() => -1),
  ]);
  live.end();
  return end === 0 && !live.heard.some((text) => text.includes('too many subscriptions'));
}

/** Events that wait for a follower who does not read, and then are given at once. */
async function waitingEvents(count: number): Promise<number> {
  const clock = virtualClock();
  const rows: FrameRow[] = [];
  let watcher = (): void => undefined;
  const store = {
    lastPosition: async () => positionOf(rows.length),
    feed: async ({ after, limit }: FeedPage) => rows.slice(Number(after), Number(after) + limit),
    watch: (onChange: () => void) => {
      watcher = onChange;
      return () => undefined;
    },
  } as unknown as Store;
  const engine = { on: () => () => undefined } as unknown as Engine;
  const feed = new Feed({ store, engine, clock, onTrouble: () => undefined });
  await feed.open();
  const gone = new AbortController();
  const events = feed.follow({ signal: gone.signal, after: 'now' })[Symbol.asyncIterator]();
  const first = events.next();
  const passTime = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await clock.advance(20);
  };
  const append = async (many: number): Promise<void> => {
    for (let at = 0; at < many; at++) {
      const seq = rows.length + 1;
      const entries = JSON.stringify([{ type: 'node.completed', node: `n${seq}`, output: { value: null } }]);
      rows.push({ executionId: 'exe_a', seq, at: 0, position: positionOf(seq), entries });
    }
    watcher();
    await passTime();
  };
  await passTime();
  await append(1);
  await first;
  await append(count);
  const { value } = await events.next();
  gone.abort();
  feed.close();
  return (value as readonly unknown[]).length;
}

export const SOCKET_PROBES = {
  'connection.total': withServer({ maxConnections: 4 }, (booted, isOver) => isServedBeside(booted, isOver ? 4 : 3)),
  'connection.perAddress': withServer({ maxConnectionsPerAddress: 4 }, (booted, isOver) =>
    isServedBeside(booted, isOver ? 4 : 3),
  ),
  'head.time': withServer({ headMs: 1_500 }, (booted, isOver) => isAnswered(booted, HEALTH, isOver ? 6_000 : 0)),
  'head.size': withServer({ maxHeadBytes: 8_192 }, async (booted, isOver) => {
    const padding = `x-padding: ${'x'.repeat(isOver ? 8_192 : 7_000)}\r\n`;
    const said = await (await raw(booted, HEALTH.replace('connection', `${padding}connection`))).over;
    return !said.startsWith('HTTP/1.1 431');
  }),
  'body.silence': withServer({ silentBodyMs: 1_500 }, (booted, isOver) =>
    isAnswered(booted, `${startHead(BODY.length, TOKEN)}${BODY}`, isOver ? 6_000 : 0),
  ),
  'body.rest': withServer({ lingerMs: 2_000 }, async (booted, isOver) => {
    const { socket } = await raw(booted, startHead(100_000_000, TOKEN));
    await once(socket, 'data');
    await later(isOver ? 4_000 : 100);
    const open = await new Promise<number>((done) => booted.server.connections((count) => done(count)));
    socket.destroy();
    return open === 1;
  }),
  'request.time': withServer({ headMs: 500, requestMs: 2_000, silentBodyMs: 60_000 }, (booted, isOver) =>
    bodyByByte(booted, isOver ? 6_000 : 100),
  ),
  'body.perCaller': withServer({ maxBodyBytesInFlight: 200_000, maxFreeBodyBytes: 0 }, async (booted, isOver) => {
    const open = await raw(booted, startHead(80_000, TOKEN) + ' '.repeat(60_000));
    await later(300);
    // The last byte is delayed: a body that comes with its head at once is complete before it is read.
    const body = BODY.padEnd(isOver ? 40_001 : 40_000);
    const other = await raw(booted, `${startHead(body.length + 1, TOKEN)}${body}`);
    await Promise.race([other.over, later(300)]);
    for (const { socket } of [open, other]) socket.destroy();
    return !other.said().startsWith('HTTP/1.1 503');
  }),
  'body.free': withServer({ maxBodyBytesInFlight: 0, maxFreeBodyBytes: 1_000 }, async (booted, isOver) => {
    const { socket, over, said } = await raw(
      booted,
      `${startHead(1_001, TOKEN)}${BODY.padEnd(isOver ? 1_001 : 1_000)}`,
    );
    await Promise.race([over, once(socket, 'data').catch(() => undefined), later(300)]);
    socket.destroy();
    return said() === '';
  }),
  'connection.idle': withServer({ keepAliveMs: 1_000 }, async (booted, isOver) => {
    const { socket, said } = await raw(booted, HEALTH.replace('close', 'keep-alive'));
    await once(socket, 'data');
    const first = said();
    await later(isOver ? 4_000 : 100);
    socket.write(HEALTH);
    await Promise.race([once(socket, 'data').catch(() => undefined), later(1_000)]);
    socket.destroy();
    return said() !== first;
  }),
  'follower.buffer': async (isOver) => {
    const count = LIVE_LIMITS.maxBuffered + (isOver ? 1 : 0);
    return (await waitingEvents(count)) === count;
  },
  'socket.silence': withServer({ pingMs: 500 }, async (booted, isOver) => {
    const { socket, over } = await raw(booted, upgradeHead(TOKEN));
    const isEnded = over.then(() => true);
    // An empty answer to each ping, masked as those of clients are.
    if (!isOver) socket.on('data', (data) => void (data[0] === PING && socket.write(PONG)));
    const ended = await Promise.race([isEnded, later(4_000).then(() => false)]);
    socket.destroy();
    return !ended;
  }),
  'socket.message': withServer({}, (booted, isOver) => {
    const empty = JSON.stringify({ subscribe: '' }).length;
    return isHeard(booted, [{ subscribe: 'x'.repeat(LIVE_LIMITS.maxMessageBytes - empty + (isOver ? 1 : 0)) }]);
  }),
  'socket.subscriptions': withServer({}, (booted, isOver) => {
    const count = LIVE_LIMITS.maxSubscriptions + (isOver ? 1 : 0);
    return isHeard(
      booted,
      Array.from({ length: count }, (_, at) => ({ subscribe: `s${at}`, after: 'now' })),
    );
  }),
} as const satisfies Partial<Record<BudgetName, SocketProbe>>;
