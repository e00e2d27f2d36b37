/** A receiver of notifications on a real socket, and servers on a clock that the test moves. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Message } from '../../src/notifications/message.ts';
import { type Booted, type BootOptions, boot } from './boot.ts';
import { stopTimes, type Time } from './time.ts';

export interface Received {
  readonly message: Message;
  readonly headers: IncomingMessage['headers'];
  readonly path: string | undefined;
  readonly body: string;
}

export let receiver: Server;
/** In order of arrival. */
export let received: Received[];
let status: number;
export let url: string;
export const open = new Set<Booted>();

/** Opens a receiver for each test, and closes it with everything that the test has opened. */
export function withReceiver(): void {
  beforeEach(async () => {
    received = [];
    status = 200;
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => {
        body += piece.toString();
      });
      request.on('end', () => {
        received.push({ message: JSON.parse(body) as Message, headers: request.headers, path: request.url, body });
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://localhost:${(receiver.address() as AddressInfo).port}/hook`;
  });
  afterEach(async () => {
    for (const booted of open) await booted.close();
    open.clear();
    await stopTimes();
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });
}

/** The status with which the receiver answers. */
export function answerWith(code: number): void {
  status = code;
}

export async function booting({ time, ...options }: BootOptions & { readonly time: Time }): Promise<Booted> {
  const booted = await boot({ ...options, clock: time.clock });
  open.add(booted);
  return booted;
}

export const fails = (id: string, more: object = {}) => ({
  id,
  ...more,
  nodes: { charge: { action: 'core.fail@1', with: { code: 'DECLINED', message: 'no money' } } },
});

export async function register({ client }: Booted, definition: object): Promise<void> {
  await client.call('registerWorkflow', { body: { definition } as never });
}

export async function start({ client, parts }: Booted, workflowId: string): Promise<string> {
  const { executionId } = await client.call('startExecution', { body: { workflowId } });
  await expect.poll(async () => (await parts.store.execution(executionId))?.finishedAt).not.toBe(null);
  return executionId;
}

/** Moves time until so many messages have arrived; each step lets the server work. */
export async function arrived(time: Time, count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await time.advance(1_000);
        return received.length;
      },
      { interval: 5, timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(count);
}

export const put = ({ client }: Booted, body: object, notificationId = 'ops') =>
  client.call('putNotification', { params: { notificationId }, body: { url, ...body } as never });

export const listed = async ({ client }: Booted) => (await client.call('listNotifications')).items[0];
