/** Sends one HTTP request, and retries where that is safe. Works wherever `fetch` exists. */
import type { ProblemDetails } from './contract/index.ts';
import { API_PREFIX, type HttpMethod, type OperationId, REPEATABLE, ROUTES } from './contract/routes.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { follow, pause } from './live.ts';
import type { FollowOptions, RequestInput, Transport } from './transport.ts';

export interface HttpOptions {
  /** URL of the server, e.g. `http://127.0.0.1:7777`. */
  readonly url: string;
  readonly token?: string;
  readonly fetch?: typeof fetch;
  /** Maximum number of retries after a lost response or a `503`. */
  readonly retries?: number;
  /** The time limit of requests that do not set their own wait. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

export class HttpTransport implements Transport {
  private readonly options: HttpOptions;

  constructor(options: HttpOptions) {
    this.options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  get url(): string {
    return this.options.url;
  }

  async json(operation: OperationId, input: RequestInput): Promise<unknown> {
    const response = await this.send(operation, input);
    if (response.status === 204 || response.status === 304) return null;
    return response.json();
  }

  async bytes(operation: OperationId, input: RequestInput): Promise<Uint8Array> {
    return new Uint8Array(await (await this.send(operation, input)).arrayBuffer());
  }

  /** Resolves with a successful response. */
  async send(operation: OperationId, input: RequestInput): Promise<Response> {
    const [method, path] = ROUTES[operation].split(' ') as [HttpMethod, string];
    // A conditional change (`If-Match`) cannot be retried: the first try may already have made it.
    const isRepeatable = (method !== 'POST' && input.ifMatch === undefined) || REPEATABLE.has(operation);
    const key = input.idempotencyKey ?? (REPEATABLE.has(operation) ? newKey() : undefined);
    const url = this.options.url + API_PREFIX + filled(path, input.params) + queryText(input.query);
    const request = this.shown(method, path, input);
    const retries = isRepeatable ? (this.options.retries ?? 3) : 0;
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await this.once(method, url, input, key);
        if (response.ok || response.status === 304) return response;
        // Already deleted: an earlier try succeeded, and its response was lost.
        if (attempt > 0 && method === 'DELETE' && response.status === 404) return new Response(null, { status: 204 });
        const problem = await problemIn(response, request);
        if (!(problem.retryable ?? response.status === 503) || attempt >= retries) throw new ApiError(problem, request);
      } catch (error) {
        if (error instanceof ApiError || input.signal?.aborted) throw error;
        if (attempt >= retries) throw new ConnectionError(this.options.url, error);
      }
      await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), input.signal);
    }
  }

  private async once(method: HttpMethod, url: string, input: RequestInput, key: string | undefined): Promise<Response> {
    const { token, fetch: own = fetch, timeoutMs = 30_000, headers: always } = this.options;
    const limit = AbortSignal.timeout(timeoutMs + (input.waitMs ?? 0));
    return own(url, {
      method,
      headers: {
        accept: 'application/json',
        ...always,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(input.ifMatch !== undefined && { 'if-match': input.ifMatch }),
        ...input.headers,
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      signal: input.signal === undefined ? limit : AbortSignal.any([input.signal, limit]),
    });
  }

  follow(operation: OperationId, input: RequestInput, options: FollowOptions): AsyncGenerator<unknown> {
    return follow(
      (more) =>
        this.stream(operation, { ...input, ...more, headers: { accept: 'text/event-stream', ...more.headers } }),
      options,
    );
  }

  async download(operation: OperationId, input: RequestInput): Promise<AsyncIterable<Uint8Array>> {
    return piecesOf(await this.stream(operation, input), this.options.url);
  }

  /** Opens a stream that stays open as long as it is read. */
  private async stream(operation: OperationId, input: RequestInput): Promise<ReadableStream<Uint8Array>> {
    const [method, path] = ROUTES[operation].split(' ') as [HttpMethod, string];
    const { token, fetch: own = fetch, headers: always, url } = this.options;
    const response = await own(url + API_PREFIX + filled(path, input.params) + queryText(input.query), {
      method,
      headers: {
        ...always,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
        ...input.headers,
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      ...(input.signal !== undefined && { signal: input.signal }),
    });
    if (response.ok && response.body !== null) return response.body;
    const request = this.shown(method, path, input);
    throw new ApiError(await problemIn(response, request), request);
  }

  /** The request for people: without credentials, without the query, and without the ids of leases, which are tokens. */
  private shown(method: HttpMethod, path: string, { params }: RequestInput): string {
    const { leaseId: _, ...others } = params ?? {};
    const { origin, pathname } = new URL(this.options.url);
    return `${method} ${origin}${pathname.replace(/\/$/, '')}${API_PREFIX}${filled(path, others)}`;
  }
}

/** Not every browser iterates a stream. */
async function* piecesOf(stream: ReadableStream<Uint8Array>, url: string): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new ConnectionError(url, error);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function filled(path: string, params: RequestInput['params'] = {}): string {
  return path.replaceAll(/:(\w+)/g, (given, name: string) =>
    params[name] === undefined ? given : encodeURIComponent(String(params[name])),
  );
}

function queryText(query: RequestInput['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** The beginning of a body that is no problem of the server, in a message. */
const MAX_SHOWN_LINES = 3;
const MAX_SHOWN_CHARS = 300;

async function problemIn(response: Response, request: string): Promise<ProblemDetails> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as ProblemDetails;
    if (typeof problem.code === 'string') return problem;
  } catch {
    // The response is from an intermediary, not from the server.
  }
  const { status, statusText } = response;
  const lines = text.split('\n').map((line) => line.trim());
  const beginning = lines
    .filter((line) => line !== '')
    .slice(0, MAX_SHOWN_LINES)
    .join('\n')
    .slice(0, MAX_SHOWN_CHARS);
  const answer = `${request} responded with ${status} ${statusText}`.trim();
  const detail = beginning === '' ? answer : `${answer}: ${beginning}`;
  return { type: 'about:blank', title: 'Error', status, detail, code: `HTTP_${status}` };
}

/** Not `randomUUID`, which pages loaded over plain HTTP do not have. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
