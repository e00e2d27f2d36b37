/** Plain sockets to a server, which never close their own side. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Booted } from './boot.ts';

export interface Raw {
  readonly socket: Socket;
  /** All that came, once the server has closed. */
  readonly over: Promise<string>;
  /** The text received so far. */
  said(): string;
}

export async function raw({ server }: Pick<Booted, 'server'>, text = ''): Promise<Raw> {
  const { port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  let said = '';
  socket.on('data', (data) => {
    said += String(data);
  });
  socket.on('error', () => undefined);
  const over = new Promise<string>((resolve) => {
    socket.once('end', () => resolve(said));
    socket.once('close', () => resolve(said));
  });
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return { socket, over, said: () => said };
}

/** The head of a start, whose body has that length. */
export const startHead = (length: number, token: string): string =>
  `POST /api/v1/executions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
  `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

/** The request for a WebSocket. */
export const upgradeHead = (token: string): string =>
  `GET /api/v1/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
