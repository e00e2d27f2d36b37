/**
 * Event streams as async iterators. A broken connection is reopened after the last event, without gaps or repeats. The
 * iterator finishes when the server sends `end`.
 */
import type { AnswerOf } from './contract/index.ts';
import { ApiError } from './errors.ts';
import type { FollowOptions, RequestInput } from './transport.ts';

export type LiveEvent = AnswerOf<'followExecution'>;
export type LogLine = AnswerOf<'followLogs'>;

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;

type OpenStream = (more: Pick<RequestInput, 'headers' | 'signal'>) => Promise<ReadableStream<Uint8Array>>;

export async function* follow(open: OpenStream, { after, signal, onProgress }: FollowOptions): AsyncGenerator<unknown> {
  let last = after;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal?.aborted) {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
      const stream = await open({ headers, ...(signal && { signal }) });
      for await (const { id, event, data } of messages(stream)) {
        pauseMs = FIRST_PAUSE_MS;
        if (event === 'end') return;
        if (event === 'progress') onProgress?.(JSON.parse(data));
        else if (event === undefined) {
          yield JSON.parse(data);
          last = id ?? last;
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof ApiError && !error.retryable) throw error;
    }
    await pause(pauseMs, signal);
    pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
  }
}

/** The server sends at least a keep-alive every 15 s. After this much silence the connection is dead. */
const SILENCE_MS = 60_000;

async function withinReason(reader: ReadableStreamDefaultReader<string>): Promise<ReadableStreamReadResult<string>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the server sent nothing for too long')), SILENCE_MS);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Parses Server-Sent Events, as far as the server uses the format. */
async function* messages(stream: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const reader = stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await withinReason(reader);
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const message = parsed(block);
        if (message !== undefined) yield message;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parsed(block: string): Message | undefined {
  let id: string | undefined;
  let event: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
  }
  return data.length === 0 ? undefined : { id, event, data: data.join('\n') };
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}
