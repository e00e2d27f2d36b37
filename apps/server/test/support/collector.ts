/** A collector of traces that is as strict as the protocol: OTLP over HTTP, in JSON. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly status: number;
  readonly message: string | undefined;
  readonly service: string;
  /** Attributes of the resource. */
  readonly resource: Readonly<Record<string, string | number | boolean>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  readonly requests: {
    readonly headers: IncomingHttpHeaders;
    readonly path: string | undefined;
    readonly spans: number;
  }[];
  /** The next answers; 200 after that. */
  readonly answers: { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }[];
  named(name: string): CollectedSpan;
  close(): Promise<void>;
}

export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const requests: Collector['requests'] = [];
  const answers: Collector['answers'] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const chunk of request) text += chunk;
    try {
      const found = spansIn(JSON.parse(text));
      requests.push({ headers: request.headers, path: request.url, spans: found.length });
      const { status, body = {}, headers = {} } = answers.shift() ?? { status: 200 };
      if (status === 200) spans.push(...found);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answers,
    named(name) {
      const found = spans.filter((span) => span.name === name);
      if (found.length !== 1)
        throw new Error(`${found.length} spans are called ${name}: ${spans.map((one) => one.name)}`);
      return found[0] as CollectedSpan;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Json = Record<string, unknown>;

function spansIn(body: unknown): CollectedSpan[] {
  return list(body, 'resourceSpans').flatMap((one) => {
    only(one, ['resource', 'scopeSpans']);
    const resource = attributesIn(one['resource'] as Json);
    if (typeof resource['service.name'] !== 'string') throw new Error('no service.name');
    return list(one, 'scopeSpans').flatMap((scoped) => {
      only(scoped, ['scope', 'spans']);
      return list(scoped, 'spans').map((span) => read(span, resource));
    });
  });
}

const FIELDS = [
  ...['traceId', 'spanId', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes'],
  ...['status', 'events', 'links', 'flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'],
];

function read(span: Json, resource: CollectedSpan['resource']): CollectedSpan {
  only(span, FIELDS);
  const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, status } = span;
  if (!/^(?!0+$)[0-9a-f]{32}$/.test(String(traceId))) throw new Error(`traceId ${traceId}`);
  if (!/^(?!0+$)[0-9a-f]{16}$/.test(String(spanId))) throw new Error(`spanId ${spanId}`);
  if (parentSpanId !== undefined && !/^(?!0+$)[0-9a-f]{16}$/.test(String(parentSpanId)))
    throw new Error('parentSpanId');
  if (typeof name !== 'string' || name === '' || kind !== 1) throw new Error(`name ${name}, kind ${kind}`);
  // 64-bit integers are texts in the JSON of protocol buffers.
  if (typeof startTimeUnixNano !== 'string' || typeof endTimeUnixNano !== 'string') throw new Error('times are texts');
  const [startNano, endNano] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
  if (endNano < startNano) throw new Error('ends before it begins');
  const { code, message } = status as { code: number; message?: string };
  only(status as Json, ['code', 'message']);
  if (![0, 1, 2].includes(code)) throw new Error(`status ${code}`);
  return {
    traceId: traceId as string,
    spanId: spanId as string,
    parentSpanId: parentSpanId as string | undefined,
    name,
    startNano,
    endNano,
    attributes: attributesIn(span),
    status: code,
    message,
    service: resource['service.name'] as string,
    resource,
  };
}

function attributesIn(owner: Json): Record<string, string | number | boolean> {
  return Object.fromEntries(
    list(owner, 'attributes').map(({ key, value }) => {
      const entries = Object.entries(value as Json);
      const [kind, inner] = entries[0] ?? [];
      const isRight =
        entries.length === 1 &&
        ((kind === 'stringValue' && typeof inner === 'string') ||
          // Readers of the JSON form take 64-bit integers as texts and as numbers.
          (kind === 'intValue' && Number.isSafeInteger(Number(inner))) ||
          (kind === 'doubleValue' && typeof inner === 'number') ||
          (kind === 'boolValue' && typeof inner === 'boolean'));
      if (typeof key !== 'string' || !isRight) throw new Error(`attribute ${key} ${JSON.stringify(value)}`);
      return [key, kind === 'intValue' ? Number(inner) : (inner as string)];
    }),
  );
}

function list(owner: unknown, name: string): Json[] {
  const found = (owner as Json)[name];
  if (!Array.isArray(found)) throw new Error(`${name} is no list`);
  return found as Json[];
}

function only(owner: Json, names: readonly string[]): void {
  const stranger = Object.keys(owner).find((name) => !names.includes(name));
  if (stranger !== undefined) throw new Error(`'${stranger}' is no field`);
}
