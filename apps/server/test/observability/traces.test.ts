/** Spans of runs, as a collector gets them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Action } from '@nebula/core';
import { openTelemetry, wantsTraces } from '@nebula/drivers/opentelemetry';
import { sha256 } from '@nebula/drivers/real';
import { type JournalFrame, spanIdOf, type TracedFrame, traceOf } from '@nebula/engine';
import type { FinishedSpan, Spans } from '@nebula/ports';
import { ActionError } from '@nebula/sdk';
import { createWorker } from '@nebula/worker';
import { context, propagation, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TracesHost } from '../../src/index.ts';
import { Tracer } from '../../src/observability/spans.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { type Collector, openCollector } from '../support/collector.ts';

let collector: Collector;
let booted: Booted | undefined;
beforeEach(async () => {
  collector = await openCollector();
});
afterEach(async () => {
  await booted?.close();
  booted = undefined;
  await collector.close();
});

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const openTraces = (host: TracesHost): Promise<Spans> =>
  openTelemetry({
    ...host,
    url: `${collector.url}/v1/traces`,
    headers: { 'x-key': 'k' },
    resource: { ...host.resource, 'service.name': 'shop' },
  });

/** Runs a workflow to its end and closes the server, which sends the last spans. */
async function traced(
  definitions: readonly Record<string, unknown>[],
  { headers = {}, actions = [] }: { headers?: Record<string, string>; actions?: readonly Action[] } = {},
): Promise<{ executionId: string; status: string }> {
  booted = await boot({ openTraces, actions });
  const { client, server } = booted;
  for (const definition of definitions) await client.call('registerWorkflow', { body: { definition } } as never);
  const response = await fetch(`${server.url}/api/v1/executions?wait=10s`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ workflowId: definitions.at(-1)?.id }),
  });
  const result = (await response.json()) as { executionId: string; status: string };
  await booted.close();
  booted = undefined;
  return result;
}

/** Fails the first time. */
function flaky(): Action {
  let calls = 0;
  return {
    id: 'test.flaky',
    version: '1',
    effect: 'pure',
    run: async () => {
      if (calls++ === 0) throw new ActionError('not yet', { code: 'NOT_YET' });
      return { calls };
    },
  };
}

describe('traces', () => {
  it('[SRV-340] an attempt that is handed back at shutdown has a span', async () => {
    const begun = Promise.withResolvers<void>();
    const hang: Action = {
      id: 'test.hang',
      version: '1',
      effect: 'pure',
      run: (ctx) => {
        begun.resolve();
        return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
      },
    };
    booted = await boot({ openTraces, actions: [hang] });
    const definition = { id: 'hanging', nodes: { held: { action: 'test.hang@1' } } };
    await booted.client.call('registerWorkflow', { body: { definition } });
    await booted.client.call('startExecution', { body: { workflowId: 'hanging' } });
    await begun.promise;
    await booted.close();
    booted = undefined;
    expect(collector.named('held').attributes['nebula.attempt']).toBe(1);
  });

  it('[SRV-210] each run and each attempt is a span, one below the other', async () => {
    const nodes = {
      first: { action: 'test.flaky@1', retry: { attempts: 3, delay: '10ms' } },
      items: {
        needs: ['first'],
        forEach: { in: [1, 2], parallel: true },
        do: { nodes: { pack: { action: 'core.sleep@1', with: { duration: '5ms' } } } },
      },
    };
    const { executionId, status } = await traced([{ id: 'orders', nodes }], { actions: [flaky()] });
    expect(status).toBe('completed');
    const run = collector.named('workflow orders');
    expect(run).toMatchObject({
      traceId: traceOf(sha256, executionId, null).traceId,
      parentSpanId: undefined,
      status: 1,
      service: 'shop',
      attributes: {
        'nebula.workflow.id': 'orders',
        'nebula.workflow.version': 1,
        'nebula.execution.id': executionId,
        'nebula.status': 'completed',
      },
    });
    const attempts = collector.spans.filter(({ name }) => name === 'first');
    expect(attempts.map(({ attributes }) => attributes['nebula.attempt'])).toEqual([1, 2]);
    expect(attempts[0]).toMatchObject({
      status: 2,
      message: 'not yet',
      parentSpanId: run.spanId,
      spanId: spanIdOf(sha256, executionId, 'first', 1),
      attributes: { 'nebula.action': 'test.flaky@1', 'nebula.status': 'retrying', 'error.type': 'NOT_YET' },
    });
    expect(attempts[1]).toMatchObject({ status: 1, attributes: { 'nebula.status': 'completed' } });
    const items = collector.named('items');
    expect(items.parentSpanId).toBe(run.spanId);
    for (const name of ['items/0/pack', 'items/1/pack']) {
      const pack = collector.named(name);
      expect(pack.parentSpanId).toBe(items.spanId);
      expect(pack.endNano - pack.startNano).toBeGreaterThanOrEqual(5_000_000n);
    }
    expect(items.endNano - items.startNano).toBeGreaterThanOrEqual(5_000_000n);
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(collector.spans.length);
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'k' } });
  });

  it('[SRV-211] a trace continues from the caller, through children, to the requests of a node', async () => {
    const heard: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      heard.push(request.headers.traceparent as string | undefined);
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const config = { capabilities: { network: ['127.0.0.1'] } };
    const sub = { id: 'sub', config, nodes: { call: { action: 'http.request@1', with: { url } } } };
    const main = { id: 'main', nodes: { step: { workflow: { id: 'sub', mode: 'child' } } } };
    const { status } = await traced([sub, main], { headers: { traceparent: CALLER } });
    other.close();
    expect(status).toBe('completed');
    const [run, step, child, call] = ['workflow main', 'step', 'workflow sub', 'call'].map(collector.named);
    expect(run).toMatchObject({ traceId: CALLER.split('-')[1], parentSpanId: CALLER.split('-')[2] });
    expect(step).toMatchObject({ parentSpanId: run?.spanId });
    expect(step?.attributes['nebula.child.execution.id']).toBe(child?.attributes['nebula.execution.id']);
    expect(child).toMatchObject({ parentSpanId: step?.spanId, traceId: run?.traceId });
    expect(call).toMatchObject({ parentSpanId: child?.spanId, attributes: { 'nebula.action': 'http.request@1' } });
    expect(heard).toEqual([`00-${run?.traceId}-${call?.spanId}-01`]);
  });

  it('[SRV-211] a webhook continues the trace of its caller', async () => {
    booted = await boot({ openTraces });
    const triggers = [{ webhook: { path: '/came' } }];
    await booted.client.call('registerWorkflow', {
      body: { definition: { id: 'hooked', triggers, nodes: {} } },
    } as never);
    const response = await fetch(`${booted.server.url}/hooks/came`, {
      method: 'POST',
      headers: { traceparent: CALLER },
    });
    expect(response.status).toBe(202);
    const { executionId } = (await response.json()) as { executionId: string };
    await booted.parts.engine.waitFor(executionId);
    await booted.close();
    booted = undefined;
    expect(collector.named('workflow hooked')).toMatchObject({
      traceId: CALLER.split('-')[1],
      parentSpanId: CALLER.split('-')[2],
    });
  });

  it('[SRV-212] a trace that its caller does not keep is not sent', async () => {
    await traced([{ id: 'w', nodes: {} }], { headers: { traceparent: CALLER.replace(/01$/, '00') } });
    expect(collector.spans).toEqual([]);
  });
});

describe('spans of a journal', () => {
  const base = { executionId: 'exe_1', workflowId: 'w', version: 3, traceparent: null, actionOf: () => 'a@1' };
  const frame = (seq: number, entries: readonly unknown[]): TracedFrame =>
    ({ ...base, seq, at: 1_000 * seq, entries }) as unknown as TracedFrame;
  const started = frame(1, [
    { type: 'run.started', workflowId: 'w', version: 3, input: {}, trigger: null },
    { type: 'node.started', node: 'n', attempt: 1, worker: 'x', effect: 'pure' },
  ]);
  const ended = frame(2, [
    { type: 'node.completed', node: 'n' },
    { type: 'run.finished', status: 'completed' },
  ]);
  const journalOf = (...frames: TracedFrame[]) =>
    frames.map(({ seq, at, entries }) => ({ seq, at, position: seq, entries })) as unknown as JournalFrame[];

  function bench(journal: () => Promise<readonly JournalFrame[]>) {
    const spans: FinishedSpan[] = [];
    const lost: number[] = [];
    const tracer = new Tracer({
      digest: sha256,
      async *frames() {
        yield* await journal();
      },
      spans: { take: (span) => spans.push(span), drop: (count) => lost.push(count) },
    });
    return { tracer, spans, lost };
  }

  it('[SRV-213] a process that continues a run makes the spans that the previous one would have made', async () => {
    const one = bench(async () => []);
    one.tracer.take(started);
    one.tracer.take(ended);
    const two = bench(async () => journalOf(started, ended));
    two.tracer.take(ended);
    await expect.poll(() => two.spans.length).toBe(2);
    expect(one.spans).toHaveLength(2);
    expect(two.spans).toEqual(one.spans);
    expect(two.spans[0]).toMatchObject({ name: 'n', startMs: 1_000, endMs: 2_000 });
  });

  it('[SRV-213] frames that come while the journal is read wait for it; a gap is read, too', async () => {
    const middle = frame(2, [
      { type: 'node.retrying', node: 'n', error: { code: 'E', kind: 'USER', message: 'm' }, until: 9 },
    ]);
    const again = frame(3, [{ type: 'node.started', node: 'n', attempt: 2, worker: 'y', effect: 'pure' }]);
    const last = { ...ended, seq: 4, at: 4_000 };
    const { tracer, spans } = bench(async () => journalOf(started, middle, again, last));
    tracer.take(started);
    // The second frame was another process's.
    tracer.take(again);
    tracer.take(last);
    await expect.poll(() => spans.length).toBe(2);
    expect(spans[0]).toMatchObject({ spanId: spanIdOf(sha256, 'exe_1', 'n', 2), startMs: 3_000, endMs: 4_000 });
    expect(spans[1]).toMatchObject({ name: 'workflow w', startMs: 1_000, endMs: 4_000 });
  });

  it('[SRV-213] open spans end when their run ends or is undone; a retry has its own span', async () => {
    const waits = frame(1, [
      ...started.entries,
      { type: 'node.opened', node: 'c' },
      { type: 'node.waiting', node: 'c/0/w', waits: [] },
    ]);
    const undone = frame(2, [{ type: 'scope.compensating', scope: '', status: 'failed', error: null }]);
    const error = { code: 'E', kind: 'USER', message: 'm' };
    const failed = frame(3, [{ type: 'run.finished', status: 'failed', error }]);
    const reopened = frame(4, [{ type: 'run.reopened', nodes: ['n'], open: ['c'] }]);
    const done = frame(5, [{ type: 'run.finished', status: 'completed' }]);
    const all = [waits, undone, failed, reopened, done];
    const { tracer, spans } = bench(async () => journalOf(...all));
    for (const one of all.slice(0, 3)) tracer.take(one);
    expect(spans.map(({ name, attributes, status }) => [name, attributes['nebula.status'], status])).toEqual([
      ['n', 'cancelled', 'unset'],
      ['c', 'cancelled', 'unset'],
      ['c/0/w', 'cancelled', 'unset'],
      ['workflow w', 'failed', 'error'],
    ]);
    expect(spans[2]?.parentSpanId).toBe(spans[1]?.spanId);
    tracer.take(reopened);
    tracer.take(done);
    await expect.poll(() => spans.length).toBe(6);
    expect(spans[5]).toMatchObject({ name: 'workflow w', startMs: 4_000, endMs: 5_000, status: 'ok' });
    expect(spans[5]?.spanId).not.toBe(spans[3]?.spanId);
  });

  it('[SRV-214] unreadable journals, or too many at once, cost only spans', async () => {
    const { tracer, spans, lost } = bench(() => Promise.reject(new Error('no store')));
    tracer.take(ended);
    await expect.poll(() => lost).toEqual([1]);
    const slow = bench(() => new Promise(() => {}));
    for (let run = 0; run < 20; run++) slow.tracer.take({ ...ended, executionId: `exe_${run}` });
    expect(slow.lost).toHaveLength(12);
    expect([...spans, ...slow.spans]).toEqual([]);
  });
});

describe('spans of an action', () => {
  /** Makes a span of its own, with another one inside, and calls somebody. */
  const spanning = (url: string): Action => ({
    id: 'test.spanning',
    version: '1',
    effect: 'pure',
    capabilities: ['network'],
    run: async (ctx) =>
      trace.getTracer('shop').startActiveSpan('price', async (price) => {
        await Promise.resolve();
        trace
          .getTracer('shop')
          .startSpan('tax', { attributes: { rate: 0.2 } })
          .end();
        await ctx.fetch(url);
        price.end();
        return null;
      }),
  });
  const definition = {
    id: 'shop',
    config: { capabilities: { network: ['127.0.0.1'] } },
    nodes: { charge: { action: 'test.spanning@1' } },
  };

  async function calledService(): Promise<{ url: string; heard: unknown[]; close(): void }> {
    const heard: unknown[] = [];
    const service = createServer((request, response) => {
      heard.push(request.headers.traceparent);
      response.end('{}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/`,
      heard,
      close: () => void service.close(),
    };
  }

  function expectNested(heard: readonly unknown[]): void {
    const [charge, price, tax] = ['charge', 'price', 'tax'].map(collector.named);
    expect(price).toMatchObject({ traceId: charge?.traceId, parentSpanId: charge?.spanId });
    expect(tax).toMatchObject({ traceId: charge?.traceId, parentSpanId: price?.spanId, attributes: { rate: 0.2 } });
    expect(heard).toEqual([`00-${charge?.traceId}-${price?.spanId}-01`]);
  }

  it('[SRV-217] nest under the span of its attempt', async () => {
    const service = await calledService();
    const { status } = await traced([definition], { actions: [spanning(service.url)] });
    service.close();
    expect(status).toBe('completed');
    expectNested(service.heard);
    expect(collector.named('price').service).toBe('shop');
  });

  it('[SRV-217] nest under it in a worker, too', async () => {
    const service = await calledService();
    booted = await boot({ openTraces });
    const worker = createWorker({ server: booted.server.url, token: TOKEN, actions: [spanning(service.url)] });
    const working = worker.run();
    await expect.poll(async () => (await booted?.client.call('listWorkers'))?.items.length).toBe(1);
    await booted.client.call('registerWorkflow', { body: { definition } });
    const { executionId } = await booted.client.start('shop');
    expect(await booted.client.run(executionId).result()).toMatchObject({ status: 'completed' });
    await worker.stop();
    await working;
    await booted.close();
    booted = undefined;
    service.close();
    expectNested(service.heard);
  });

  it('[SRV-217] nest under it where the program has registered an SDK of its own', async () => {
    const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
    const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
    const { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
    const exporter = new InMemorySpanExporter();
    const own = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    trace.setGlobalTracerProvider(own);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    const service = await calledService();
    await traced([definition], { actions: [spanning(service.url)] });
    const [tax, price] = exporter.getFinishedSpans();
    await own.shutdown();
    for (const registered of [trace, context, propagation]) registered.disable();
    service.close();
    expect(collector.spans.map(({ name }) => name).sort()).toEqual(['charge', 'workflow shop']);
    expect(price?.parentSpanContext?.spanId).toBe(collector.named('charge').spanId);
    expect(tax?.parentSpanContext?.spanId).toBe(price?.spanContext().spanId);
  });

  it('[SRV-212] are not sent when the caller does not keep the trace', async () => {
    const service = await calledService();
    const headers = { traceparent: CALLER.replace(/01$/, '00') };
    await traced([definition], { actions: [spanning(service.url)], headers });
    service.close();
    expect(collector.spans).toEqual([]);
    expect(service.heard).toEqual([expect.stringMatching(/-00$/)]);
  });
});

describe('the exporter', () => {
  const span = (n: number): FinishedSpan => ({
    traceId: 'a'.repeat(32),
    spanId: n.toString(16).padStart(16, '1'),
    parentSpanId: undefined,
    name: `s${n}`,
    startMs: 1,
    endMs: 2,
    status: 'ok',
    attributes: { ratio: 0.5, yes: true, none: undefined },
  });

  async function bench(url = `${collector.url}/v1/traces`) {
    const troubles: unknown[] = [];
    const spans = await openTelemetry({ url, onTrouble: (error) => troubles.push(error) });
    const add = (count: number): void => {
      for (let n = 0; n < count; n++) spans.take(span(n));
    };
    return { spans, troubles, add };
  }
  const WAIT = { timeout: 15_000 };

  it('[SRV-215] spans go together, and are sent again while the collector is busy', async () => {
    const { spans, add } = await bench();
    collector.answers.push({ status: 503 }, { status: 429, headers: { 'retry-after': '1' } });
    add(600);
    await expect.poll(() => spans.figures(), WAIT).toEqual({ exported: 600, dropped: 0, queued: 0 });
    expect(collector.requests.map((request) => request.spans)).toEqual([512, 512, 512, 88]);
    expect(collector.spans).toHaveLength(600);
    expect(collector.spans[0]?.attributes).toEqual({ ratio: 0.5, yes: true });
    expect(collector.spans[0]).toMatchObject({ startNano: 1_000_000n, endNano: 2_000_000n });
    await spans.close(1_000);
  });

  it('[SRV-214] refused and excess spans are dropped and counted', async () => {
    const { spans, troubles, add } = await bench();
    collector.answers.push({ status: 400 });
    add(10);
    await expect.poll(() => spans.figures(), WAIT).toEqual({ exported: 0, dropped: 10, queued: 0 });
    expect(troubles).toMatchObject([{ code: 'TRACES_NOT_TAKEN' }]);
    await spans.close(1_000);
    spans.take(span(1));
    expect(spans.figures().dropped).toBe(11);
  });

  it('[SRV-214] the queue is bounded, and closing does not wait for a collector that is away', async () => {
    const { spans, add } = await bench('http://127.0.0.1:1/v1/traces');
    add(20_000);
    expect(spans.figures()).toEqual({ exported: 0, dropped: 20_000 - 8_192, queued: 8_192 });
    await spans.close(100);
    expect(spans.figures()).toEqual({ exported: 0, dropped: 20_000, queued: 0 });
  });

  it('[SRV-216] uses the variables of OpenTelemetry, and is off without them', async () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
    expect(wantsTraces({})).toBe(false);
    expect(wantsTraces(endpoint)).toBe(true);
    expect(wantsTraces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/own' })).toBe(true);
    expect(wantsTraces({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(false);
    expect(wantsTraces({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
    expect(() => wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })).toThrow('not an address');
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${collector.url}/`);
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'api-key=a%3Db');
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.name=other,region=north');
    vi.stubEnv('OTEL_SERVICE_NAME', 'orders');
    const spans = await openTelemetry({ onTrouble: () => undefined });
    spans.take(span(1));
    await spans.close(5_000);
    vi.unstubAllEnvs();
    expect(collector.requests).toMatchObject([{ path: '/v1/traces', headers: { 'api-key': 'a=b' } }]);
    expect(collector.named('s1')).toMatchObject({ service: 'orders', resource: { region: 'north' } });
  });
});
