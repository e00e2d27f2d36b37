/** Server-Sent Events. The only place that waits for a slow reader (backpressure). */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { HTTP_LIMITS } from '../limits.ts';
import type { EventStream, StreamEvent } from './handler.ts';
import { problemOf } from './problem.ts';

export async function sendEvents(response: ServerResponse, stream: EventStream, signal: AbortSignal): Promise<void> {
  response.write(': nebula\n\n');
  const keepAlive = setInterval(() => {
    if (!response.writableNeedDrain && !response.writableEnded) response.write(': \n\n');
  }, HTTP_LIMITS.pingMs);
  keepAlive.unref();
  try {
    for await (const events of stream) {
      if (signal.aborted || response.writableEnded) return;
      const isTaken = response.write(events.map(framed).join(''));
      if (!isTaken) await once(response, 'drain', { signal });
    }
  } catch (error) {
    // The head is sent already: an event reports the error, and the client reconnects with its last id.
    if (!signal.aborted) response.write(`event: error\ndata: ${JSON.stringify(problemOf(error).body)}\n\n`);
  } finally {
    clearInterval(keepAlive);
    response.end();
  }
}

/** JSON has no line breaks of its own. */
function framed({ id, event, json }: StreamEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${json}\n\n`;
}
