/**
 * Access to the network.
 *
 *  1 Redirects are followed here, hop by hop, because each hop must be granted: a granted host must not be able to send
 *    a request, its body and its headers anywhere else.
 *  2 A host name is checked before the request, the address behind it when the connection is made (`connections.ts`).
 */
import { NebulaError } from '@nebula/core';
import type { Invocation } from '@nebula/ports';
import { AddressDenied, dispatcherFor } from '../connections.ts';
import { demand, denied } from '../grant.ts';
import type { Host } from '../host.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { hostOf, matchesHost } from '../pattern.ts';
import { activeTraceparent } from '../span-context.ts';

export async function fetchGranted(
  host: Host,
  invocation: Invocation,
  target: string | URL,
  init: RequestInit = {},
  isSecret: (text: string) => boolean = () => false,
): Promise<Response> {
  let url = parseUrl(target);
  const signal = init.signal ? AbortSignal.any([invocation.signal, init.signal]) : invocation.signal;
  const headers = new Headers(init.headers);
  // A `host` header would select another site behind a granted address.
  headers.delete('host');
  const traceparent = activeTraceparent() ?? invocation.traceparent;
  if (traceparent !== undefined && !headers.has('traceparent')) headers.set('traceparent', traceparent);
  // A dispatcher of the caller could connect to another host than the checked one.
  const dispatcher = dispatcherFor(invocation.granted.network ?? []);
  let request = { ...init, headers, signal, redirect: 'manual', dispatcher } as RequestInit & { headers: Headers };
  const follow = (init.redirect ?? 'follow') === 'follow';
  for (let hops = 0; ; hops++) {
    demandUrl(invocation, url);
    const response = await host.fetch(url, request).catch((error: unknown) => {
      throw refusedConnection(invocation, error) ?? error;
    });
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    if (init.redirect === 'error') throw await afterDiscarding(response, redirectRefused(url));
    if (!follow) return response;
    if (hops >= SANDBOX_LIMITS.maxRedirects) throw await afterDiscarding(response, tooManyRedirects(url));
    await response.body?.cancel();
    const next = parseUrl(location, url);
    request = redirected(request, response.status, url, next, isSecret);
    url = next;
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CONTENT_HEADERS = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type'];
const PRIVATE_HEADERS = ['authorization', 'proxy-authorization', 'cookie'];

/**
 * The redirected request, by the Fetch standard: a request that becomes a GET loses its body, and another origin gets
 * no credentials.
 */
function redirected(
  request: RequestInit & { headers: Headers },
  status: number,
  from: URL,
  to: URL,
  isSecret: (text: string) => boolean,
): RequestInit & { headers: Headers } {
  const method = request.method?.toUpperCase() ?? 'GET';
  const becomesGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
  const next = { ...request };
  if (becomesGet) {
    next.method = 'GET';
    next.body = null;
    for (const name of CONTENT_HEADERS) next.headers.delete(name);
  } else if (request.body instanceof ReadableStream) {
    throw new NebulaError('FETCH_FAILED', `${urlText(from)} redirects, but the body is a stream that is already read`, {
      hint: 'Send the body as text or bytes',
    });
  }
  if (from.origin !== to.origin) {
    const secret = [...next.headers].filter(([, value]) => isSecret(value)).map(([name]) => name);
    for (const name of [...PRIVATE_HEADERS, ...secret]) next.headers.delete(name);
  }
  return next;
}

function demandUrl(invocation: Invocation, url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new NebulaError('CAPABILITY_DENIED', `${invocation.action.id} may not open ${url.protocol} addresses`, {
      hint: 'Only http and https are possible; use the files capability for files',
      details: { capability: 'network', wanted: url.protocol },
    });
  }
  const host = hostOf(url);
  const entry = url.port === '' ? host.name : `${host.name}:${host.port}`;
  demand(invocation, { kind: 'network', doing: `reach ${entry}`, entry }, (pattern) => matchesHost(pattern, host));
}

/** Converts the refusal of a connection into an error that says how to grant it. */
function refusedConnection(invocation: Invocation, error: unknown): NebulaError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof NebulaError) return cause;
  if (!(cause instanceof AddressDenied)) return undefined;
  const { hostname, address } = cause;
  const wanted = { kind: 'network', doing: `reach ${hostname}`, entry: address } as const;
  return denied(invocation, wanted, `it resolves to ${address}, which is not a public address`);
}

function parseUrl(target: string | URL, base?: URL): URL {
  const url = URL.parse(String(target), base);
  if (url !== null) return url;
  throw new NebulaError('URL_INVALID', `'${String(target).slice(0, 200)}' is not a URL`, {
    hint: 'Write it in full, e.g. https://api.example.com/orders',
  });
}

async function afterDiscarding(response: Response, error: NebulaError): Promise<NebulaError> {
  await response.body?.cancel();
  return error;
}

function redirectRefused(url: URL): NebulaError {
  return new NebulaError('FETCH_FAILED', `${urlText(url)} redirects, which the request does not allow`);
}

function tooManyRedirects(url: URL): NebulaError {
  return new NebulaError(
    'TOO_MANY_REDIRECTS',
    `${urlText(url)} redirects more than ${SANDBOX_LIMITS.maxRedirects} times`,
  );
}

/** The URL for messages, without the query, which may contain a token. */
function urlText(url: URL): string {
  return url.origin + url.pathname;
}
