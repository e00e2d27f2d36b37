import {
  ApiError,
  ConnectionError,
  createClient,
  type NebulaClient,
  ResultTimeoutError,
  type TypedWorkflow,
} from '@nebula/client';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';

interface Sent {
  readonly line: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

type Behave = (sent: Sent, count: number, signal: AbortSignal | undefined) => Response | Promise<Response>;

const URL = 'http://nebula.test';

function talking(
  behave: Behave,
  options: { readonly retries?: number; readonly token?: string } = {},
): { client: NebulaClient; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const one: Sent = {
      line: `${init.method ?? 'GET'} ${String(url).replace(URL, '')}`,
      headers: init.headers as Record<string, string>,
      body: init.body as string | undefined,
    };
    sent.push(one);
    init.signal?.throwIfAborted();
    return behave(one, sent.length, init.signal ?? undefined);
  };
  return { client: createClient({ url: `${URL}/`, fetch: fetch as typeof globalThis.fetch, ...options }), sent };
}

const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });
const problem = (code: string, status: number, more: object = {}): Response =>
  json({ type: 'urn:x', title: 'T', status, detail: `it is ${code}`, code, ...more }, status);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Lets all pauses pass. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  while (!isDone) await vi.advanceTimersByTimeAsync(100);
  return done;
}

describe('calls', () => {
  it('[CLT-30] a backup is streamed; refusals and broken connections are errors', async () => {
    const pieces = [new Uint8Array([1, 2]), new Uint8Array([3])];
    const broken = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.error(new Error('gone'));
        else controller.enqueue(piece);
      },
    });
    const { client, sent } = talking((_, count) =>
      count === 1 ? new Response(broken) : problem('BACKUP_RUNNING', 409),
    );
    const bytes = (await client.backup())[Symbol.asyncIterator]();
    expect([await bytes.next(), await bytes.next()]).toEqual([
      { done: false, value: new Uint8Array([1, 2]) },
      { done: false, value: new Uint8Array([3]) },
    ]);
    await expect(bytes.next()).rejects.toThrow(ConnectionError);
    expect(sent[0]).toMatchObject({ line: 'POST /api/v1/backup', body: '{}' });
    await expect(client.backup()).rejects.toMatchObject({ code: 'BACKUP_RUNNING' });
  });

  it('[CLT-2] fill the route, and leave out undefined members', async () => {
    const { client, sent } = talking(() => json({ items: [], next: null }), { token: 'secret' });
    expect(client.url).toBe(URL);
    await client.call('explainExecution', { params: { executionId: 'exe_1' }, query: { node: 'a/0/ü b' } });
    await client.call('listExecutions', {
      query: { status: 'failed,timed-out', limit: 2, workflowId: undefined as never },
    });
    await client.call('getAction', { params: { actionId: 'a/../b' } });
    await client.call('startExecution', { body: { workflowId: 'w', input: { a: undefined, b: 1 } } });
    expect(sent.map(({ line }) => line)).toEqual([
      'GET /api/v1/executions/exe_1/explain?node=a%2F0%2F%C3%BC%20b',
      'GET /api/v1/executions?status=failed%2Ctimed-out&limit=2',
      'GET /api/v1/actions/a%2F..%2Fb',
      'POST /api/v1/executions',
    ]);
    expect(sent[0]?.headers['authorization']).toBe('Bearer secret');
    expect(sent[0]?.headers['content-type']).toBeUndefined();
    expect(sent[3]?.body).toBe('{"workflowId":"w","input":{"b":1}}');
    expect(sent[3]?.headers['content-type']).toBe('application/json');
    expect(sent[3]?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
  });

  it('[CLT-3] are tried again where that is safe, with the same key', async () => {
    const { client, sent } = talking((_, count) => {
      if (count === 1) throw new TypeError('fetch failed');
      return count === 2 ? problem('BUSY', 503) : json({ executionId: 'e' });
    });
    const begun = Date.now();
    await passing(client.call('startExecution', { body: { workflowId: 'w' } }));
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(300);
  });

  it('[CLT-3] are not tried again where that is not safe, or was not asked for', async () => {
    const away: Behave = () => {
      throw new TypeError('fetch failed');
    };
    const cases: [(client: NebulaClient) => Promise<unknown>, number, { retries?: number }?][] = [
      [(client) => client.call('createKey', { body: { name: 'k', roles: {} } }), 1],
      [(client) => client.call('bulkExecutions', { body: { operation: 'cancel', ids: ['e'] } }), 1],
      [(client) => client.call('putProject', { params: { projectId: 'p' }, body: {}, ifMatch: '"1"' }), 1],
      [(client) => client.call('putProject', { params: { projectId: 'p' }, body: {} }), 4],
      [(client) => client.call('getInfo'), 4],
      [(client) => client.call('getInfo'), 1, { retries: 0 }],
    ];
    for (const [call, times, options] of cases) {
      const { client, sent } = talking(away, options);
      await expect(passing(call(client))).rejects.toBeInstanceOf(ConnectionError);
      expect(sent).toHaveLength(times);
    }
    const refused = talking(() => problem('NOT_ALLOWED', 403));
    await expect(passing(refused.client.call('getMe'))).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    expect(refused.sent).toHaveLength(1);
  });

  it('[CLT-4] that are refused say why', async () => {
    const { client } = talking((_, count) =>
      count === 1 ? problem('UNKNOWN_PLAN', 404, { hint: 'look' }) : new Response('<html>bad gateway', { status: 502 }),
    );
    const refused = await client.call('getLaunchPlan', { params: { planId: 'p' } }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({
      status: 404,
      code: 'UNKNOWN_PLAN',
      hint: 'look',
      message: 'it is UNKNOWN_PLAN',
      retryable: false,
    });
    const other = await client.call('getLaunchPlan', { params: { planId: 'p' } }).catch((error: unknown) => error);
    expect(other).toMatchObject({ status: 502, code: 'HTTP_502', message: expect.stringContaining('bad gateway') });
    const away = talking(() => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    });
    const error = await passing(away.client.call('getInfo')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toContain('http://nebula.test does not respond: connect ECONNREFUSED');
    expect(error).toMatchObject({ code: 'SERVER_UNREACHABLE', hint: expect.stringContaining('nebula serve') });
  });

  it('[CLT-32] that are refused name the request, without secrets', async () => {
    const html = '<html>\n\n  <h1>Bad gateway</h1>\n  <p>try later</p>\n  <p>unseen</p>\n';
    const fetch = async () => new Response(html, { status: 502, statusText: 'Bad Gateway' });
    const client = createClient({ url: 'http://ann:pass@nebula.test/here/', token: 'secret', retries: 0, fetch });
    const query = { after: 3 };
    const error = await client
      .call('listLogs', { params: { executionId: 'exe_1' }, query })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'HTTP_502',
      request: 'GET http://nebula.test/here/api/v1/executions/exe_1/logs',
      message:
        'GET http://nebula.test/here/api/v1/executions/exe_1/logs responded with 502 Bad Gateway: <html>\n<h1>Bad gateway</h1>\n<p>try later</p>',
    });
    const leased = await client
      .call('completeLease', { params: { leaseId: 'a-token' }, body: { output: null } })
      .catch((thrown: unknown) => thrown);
    expect(leased).toMatchObject({ request: 'POST http://nebula.test/here/api/v1/leases/:leaseId/complete' });
    expect(String(leased)).not.toMatch(/a-token|secret|pass/);
  });

  it('[CLT-5] a repeated DELETE that gets 404 has succeeded; a first one has not', async () => {
    const lost = talking((_, count) => {
      if (count === 1) throw new TypeError('the answer was lost');
      return problem('UNKNOWN_PLAN', 404);
    });
    expect(await passing(lost.client.call('deleteLaunchPlan', { params: { planId: 'p' } }))).toBe(null);
    const first = talking(() => problem('UNKNOWN_PLAN', 404));
    await expect(first.client.call('deleteLaunchPlan', { params: { planId: 'p' } })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('[CLT-6] a result is waited for', async () => {
    const { client, sent } = talking((_, count) =>
      json({ executionId: 'e', ended: count > 3, status: 'completed', output: 1 }),
    );
    expect(await client.run('e').result()).toMatchObject({ ended: true, output: 1 });
    expect(sent).toHaveLength(4);
    expect(sent[0]?.line).toBe('GET /api/v1/executions/e/result?wait=30000ms');
    const gone = new AbortController();
    const endless = talking((_, count) => {
      if (count === 3) gone.abort();
      return json({ ended: false });
    });
    await expect(passing(endless.client.run('e').result({ signal: gone.signal }))).rejects.toThrow();
    expect(endless.sent.length).toBeLessThanOrEqual(4);
  });

  it('[CLT-15] a result is waited for until the time is over, and the run goes on', async () => {
    const { client, sent } = talking(async () => {
      await vi.advanceTimersByTimeAsync(20_000);
      return json({ executionId: 'e', ended: false });
    });
    const waiting = client.run('e').result({ timeoutMs: 50_000 });
    const error: unknown = await waiting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ResultTimeoutError);
    expect(error).toMatchObject({ code: 'RESULT_TIMEOUT', executionId: 'e' });
    expect(sent.map(({ line }) => line)).toEqual([
      'GET /api/v1/executions/e/result?wait=30000ms',
      'GET /api/v1/executions/e/result?wait=30000ms',
      'GET /api/v1/executions/e/result?wait=10000ms',
    ]);
    const quick = talking(() => json({ ended: true, status: 'completed', output: 1 }));
    expect(await quick.client.run('e').result({ timeoutMs: 0 })).toMatchObject({ output: 1 });
  });

  it('[CLT-7] all pages are one', async () => {
    const { client, sent } = talking(({ line }) => {
      const cursor = new globalThis.URL(`${URL}${line.slice(4)}`).searchParams.get('cursor');
      return json({
        items: [Number(cursor ?? 0), Number(cursor ?? 0) + 1],
        next: cursor === '4' ? null : String(Number(cursor ?? 0) + 2),
      });
    });
    const items: unknown[] = [];
    for await (const item of client.all('listLaunchPlans', { query: { project: 'p' } })) items.push(item);
    expect(items).toEqual([0, 1, 2, 3, 4, 5]);
    expect(sent.every(({ line }) => line.includes('project=p'))).toBe(true);
  });

  it('[CLT-10] a pause ends with its signal, and leaves nothing on it', async () => {
    const gone = new AbortController();
    const add = vi.spyOn(gone.signal, 'addEventListener');
    const remove = vi.spyOn(gone.signal, 'removeEventListener');
    const { client } = talking(() => problem('BUSY', 503));
    await expect(passing(client.call('getInfo', { signal: gone.signal }))).rejects.toMatchObject({ code: 'BUSY' });
    const ours = (calls: unknown[][]) => calls.filter(([type]) => type === 'abort').length;
    expect(ours(add.mock.calls)).toBe(3);
    expect(ours(remove.mock.calls)).toBe(3);
    const call = client.call('getInfo', { signal: gone.signal });
    call.catch(() => {});
    await vi.advanceTimersByTimeAsync(50);
    gone.abort();
    await expect(call).rejects.toThrow();
  });
});

describe('streams', () => {
  const encoder = new TextEncoder();

  /** Sends the text in pieces, then ends, fails, or says nothing more. */
  function stream(text: string, piece: number, end: 'close' | 'error' | 'silence', signal?: AbortSignal): Response {
    const bytes = encoder.encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason));
        for (let from = 0; from < bytes.length; from += piece) controller.enqueue(bytes.slice(from, from + piece));
        if (end === 'close') controller.close();
        if (end === 'error') setTimeout(() => controller.error(new Error('the line broke')), 1);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  const event = (id: string): string => `id: ${id}\ndata: ${JSON.stringify({ id, type: 'ü' })}\n\n`;

  it.each([1, 2, 3, 7, 1_000])('[CLT-8] are parsed in any chunks (%s)', async (piece) => {
    const text = `: nebula\n\n${event('1.0')}: \n\nevent: progress\ndata: {"executionId":"e","node":"n","fraction":0.5}\n\n${event('1.1')}`;
    const { client } = talking((_, __, signal) => stream(text, piece, 'silence', signal));
    const progress: unknown[] = [];
    const ids: unknown[] = [];
    for await (const { id, type } of client.events('e', { onProgress: (one) => progress.push(one) })) {
      expect(type).toBe('ü');
      ids.push(id);
      if (ids.length === 2) break;
    }
    expect(ids).toEqual(['1.0', '1.1']);
    expect(progress).toEqual([{ executionId: 'e', node: 'n', fraction: 0.5 }]);
  });

  it('[CLT-8] continue from the last event when the connection breaks', async () => {
    const { client, sent } = talking(({ headers }, count, signal) => {
      const last = Number(headers['last-event-id'] ?? 0);
      if (count === 3) throw new TypeError('fetch failed');
      if (count === 4) return problem('BUSY', 503);
      // The last one is cut off in the middle.
      return stream(
        `${event(String(last + 1))}${event(String(last + 2))}id: ${last + 3}\ndata: {"id`,
        5,
        count % 2 === 0 ? 'error' : 'close',
        signal,
      );
    });
    const ids: unknown[] = [];
    const reading = (async () => {
      for await (const { id } of client.allEvents({ after: '0' })) {
        ids.push(id);
        if (ids.length === 9) break;
      }
    })();
    await passing(reading);
    expect(ids).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(sent[0]?.headers['last-event-id']).toBe('0');
    expect(sent[1]?.headers['last-event-id']).toBe('2');
  });

  it('[CLT-8] a permanent refusal is thrown, and a signal ends the stream quietly', async () => {
    const { client } = talking(() => problem('UNKNOWN_EXECUTION', 404));
    await expect(client.events('e').next()).rejects.toMatchObject({ code: 'UNKNOWN_EXECUTION' });
    const gone = new AbortController();
    const quiet = talking((_, __, signal) => stream(event('1'), 100, 'silence', signal));
    const ids: unknown[] = [];
    for await (const { id } of quiet.client.events('e', { signal: gone.signal })) {
      ids.push(id);
      gone.abort();
    }
    expect(ids).toEqual(['1']);
  });

  it('[CLT-16] of a run end with its `end`, over a broken connection', async () => {
    const end = 'event: end\ndata: {"executionId":"e","status":"completed"}\n\n';
    const { client, sent } = talking((_, count, signal) =>
      count === 1 ? stream(event('1.0'), 100, 'error', signal) : stream(event('1.1') + end, 100, 'silence', signal),
    );
    const ids: unknown[] = [];
    const reading = (async () => {
      for await (const { id } of client.events('e')) ids.push(id);
    })();
    await passing(reading);
    expect(ids).toEqual(['1.0', '1.1']);
    expect(sent[1]?.headers['last-event-id']).toBe('1.0');
  });

  it('[CLT-31] of a log end with the `end` of its run, over a broken connection', async () => {
    const line = (position: number): string => `id: ${position}\ndata: ${JSON.stringify({ position })}\n\n`;
    const end = 'event: end\ndata: {"executionId":"e","status":"failed"}\n\n';
    const { client, sent } = talking((_, count, signal) =>
      count === 1 ? stream(line(1), 100, 'close', signal) : stream(line(2) + end, 100, 'silence', signal),
    );
    const positions: number[] = [];
    const reading = (async () => {
      for await (const { position } of client.logs('e')) positions.push(position);
    })();
    await passing(reading);
    expect(positions).toEqual([1, 2]);
    expect(sent[1]?.headers['last-event-id']).toBe('1');
  });

  it('[CLT-8] of logs begin after a position', async () => {
    const line = `id: 8\ndata: ${JSON.stringify({ position: 8, message: 'm' })}\n\n`;
    const { client, sent } = talking((_, __, signal) => stream(line, 100, 'silence', signal));
    for await (const { position } of client.logs('e', { after: 7, level: 'warn' })) {
      expect(position).toBe(8);
      break;
    }
    expect(sent[0]).toMatchObject({
      line: 'GET /api/v1/executions/e/logs/stream?level=warn',
      headers: { 'last-event-id': '7' },
    });
  });

  it('[CLT-9] that have gone silent are opened again', async () => {
    const { client, sent } = talking((_, count, signal) => stream(event(String(count)), 100, 'silence', signal));
    const events = client.events('e');
    expect((await events.next()).value?.id).toBe('1');
    const next = events.next();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await next).value?.id).toBe('2');
    await events.return(undefined);
  });
});

describe('starting', () => {
  it('[CLT-11] the result needs no step between, and a refusal is thrown', async () => {
    const { client, sent } = talking(({ line }) =>
      line.startsWith('POST')
        ? json({ executionId: 'exe_1', ended: false }, 201)
        : json({ executionId: 'exe_1', ended: true, output: 7 }),
    );
    expect(await client.start('order').result()).toMatchObject({ output: 7 });
    expect((await client.start('order')).executionId).toBe('exe_1');
    expect(sent.map(({ line }) => line.split('?')[0])).toEqual([
      'POST /api/v1/executions',
      'GET /api/v1/executions/exe_1/result',
      'POST /api/v1/executions',
    ]);
    const refusing = talking(() => problem('UNKNOWN_WORKFLOW', 404)).client;
    await expect(refusing.start('none').result()).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
    await expect(refusing.start('none').events().next()).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
  });

  it('[CLT-17] a workflow of the SDK gives its id, and the types of its input and its output', async () => {
    const trip: TypedWorkflow<{ city: string }, { price: number }> = { id: 'trip' };
    const { client, sent } = talking(() =>
      json({ executionId: 'exe_1', workflowId: 'trip', ended: true, status: 'completed', output: { price: 7 } }),
    );
    const result = await client.start(trip, { input: { city: 'Rome' } }).result();
    if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ price: number }>();
    else expectTypeOf(result.output).toEqualTypeOf<unknown>();
    expect(result).toMatchObject({ status: 'completed', output: { price: 7 } });
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ workflowId: 'trip', input: { city: 'Rome' } });
    const byId = await client.start<typeof trip>('trip', { input: { city: 'Rome' } });
    expectTypeOf(byId.result).returns.resolves.toEqualTypeOf(result);
    const again = client.run<typeof trip>('exe_1');
    expectTypeOf(again.result).returns.resolves.toEqualTypeOf(result);
    // @ts-expect-error The workflow has no such input.
    await client.start(trip, { input: { town: 'Rome' } });
    // @ts-expect-error The workflow needs an input.
    await client.start(trip);
    const unknown = await client.start('trip').result();
    expectTypeOf(unknown.output).toEqualTypeOf<unknown>();
  });
});
