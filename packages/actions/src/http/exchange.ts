/** One HTTP exchange: request, response, errors. Loaded by the first request. */
import type { ActionContext, Json } from '@nebula/core';
import { ActionError } from '@nebula/sdk';
import { durationMs, sizeBytes } from '../quantity.ts';
import { type Auth, authorise } from './auth.ts';
import { type Parse, parseBody, readBody, readExcerpt } from './body.ts';
import { requestBody, requestHeaders, requestUrl } from './request.ts';
import { retryAfterMs, statusMatcher } from './status.ts';

const MAX_EXCERPT_BYTES = 2_000;
/** The characters of the body in the message of an error. */
const MAX_SHOWN_CHARS = 200;

interface RequestInput {
  readonly method: string;
  readonly url: string;
  readonly query: Parameters<typeof requestUrl>[1];
  readonly headers: Parameters<typeof requestHeaders>[0];
  readonly auth?: Auth;
  readonly body?: Json;
  readonly timeout?: string | number;
  readonly followRedirects: boolean;
  readonly raiseOnStatus: string;
  readonly systemStatus?: string;
  readonly idempotencyKey: boolean;
  readonly parse: Parse;
  readonly maxBytes: string | number;
}

export async function exchange(ctx: ActionContext, input: RequestInput, isOnce: boolean) {
  const { method } = input;
  const raises = statusMatcher(input.raiseOnStatus, 'raiseOnStatus');
  const isSystem = systemMatcher(input.systemStatus, isOnce);
  const maxBytes = sizeBytes(input.maxBytes, 'maxBytes');
  const url = requestUrl(input.url, input.query);
  const headers = requestHeaders(input.headers);
  const body = requestBody(input.body, method, headers);
  if (input.idempotencyKey && !headers.has('idempotency-key')) headers.set('idempotency-key', ctx.idempotencyKey);
  if (input.auth !== undefined) await authorise(ctx, input.auth, url, headers);
  const deadline = input.timeout === undefined ? undefined : AbortSignal.timeout(durationMs(input.timeout, 'timeout'));

  const startedAt = ctx.now();
  const target = `${method} ${url.origin}${url.pathname}`;
  try {
    const response = await ctx.fetch(url, {
      method,
      headers,
      redirect: input.followRedirects ? 'follow' : 'manual',
      ...(body !== undefined && { body }),
      ...(deadline && { signal: deadline }),
    });
    if (raises(response.status)) throw await statusError(ctx, response, target, isSystem(response.status));
    const data = await readBody(response, maxBytes);
    return {
      status: response.status,
      statusText: response.statusText,
      headers: responseHeaders(response.headers),
      body: parseBody(data, response.headers.get('content-type'), input.parse),
      durationMs: ctx.now() - startedAt,
    };
  } catch (error) {
    if (deadline?.aborted && !ctx.signal.aborted) throw timedOut(target, input.timeout, isOnce);
    throw isOnce ? onceError(error, target) : unreached(error, target);
  }
}

function systemMatcher(list: string | undefined, isOnce: boolean): (status: number) => boolean {
  return statusMatcher(list ?? (isOnce ? '429,500,501,503,505-599' : '429,5xx'), 'systemStatus');
}

async function statusError(ctx: ActionContext, response: Response, target: string, isSystem: boolean) {
  const { status, statusText, headers } = response;
  const retryAfter = headers.get('retry-after');
  const waitMs = retryAfterMs(retryAfter, ctx.now());
  const body = await readExcerpt(response, MAX_EXCERPT_BYTES);
  const answer = `${target} responded with ${status} ${statusText}`.trim();
  // Cut and nothing more: part of a credential is found and redacted at the end of a text only.
  const text = body.trimStart();
  const beginning = text.slice(0, MAX_SHOWN_CHARS);
  // For the same reason, words before the body say that it is cut, and not an ellipsis behind it.
  const words = beginning.length < text.length ? `${answer}; its body begins with: ` : `${answer}: `;
  return new ActionError(beginning === '' ? answer : `${words}${beginning}`, {
    code: `HTTP_${status}`,
    parameter: 'url',
    kind: isSystem ? 'SYSTEM' : 'USER',
    details: {
      status,
      statusText,
      ...(retryAfter !== null && { retryAfter }),
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
      body,
    },
  });
}

function timedOut(target: string, timeout: string | number | undefined, isOnce: boolean): ActionError {
  const shown = typeof timeout === 'number' ? `${timeout} ms` : timeout;
  return new ActionError(`${target} did not respond within ${shown}`, {
    code: 'HTTP_TIMEOUT',
    parameter: 'url',
    kind: isOnce ? 'USER' : 'SYSTEM',
    ...(isOnce && { details: UNKNOWN, hint: KEY_HINT }),
  });
}

const UNKNOWN = { outcome: 'unknown' } as const;
const KEY_HINT = 'If the server supports Idempotency-Key, set idempotencyKey: true, which makes repeats safe';

/** Errors before a connection is established, i.e. before anything was sent. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*)$/;

/**
 * A connection lost after a POST was sent leaves its outcome unknown. The error says so in its details and has the kind
 * USER, so that retry rules for SYSTEM errors do not repeat the request.
 */
function onceError(error: unknown, target: string): unknown {
  const cause =
    error instanceof TypeError ? (error.cause as { code?: unknown; message?: unknown } | undefined) : undefined;
  if (cause === undefined || (typeof cause.code === 'string' && NEVER_SENT.test(cause.code)))
    return unreached(error, target);
  return new ActionError(`${target} was sent, but the response was lost: ${String(cause.message ?? cause.code)}`, {
    code: 'HTTP_OUTCOME_UNKNOWN',
    parameter: 'url',
    details: UNKNOWN,
    hint: KEY_HINT,
    cause: error,
  });
}

/** `fetch` says neither what was requested nor why it failed; its cause, which decides about retries, is kept. */
function unreached(error: unknown, target: string): unknown {
  if (!(error instanceof Error) || error instanceof ActionError) return error;
  const isOfFetch = error instanceof TypeError && error.cause !== undefined;
  const shown = isOfFetch ? new TypeError(`${target} failed`, { cause: error.cause }) : error;
  return Object.assign(shown, { parameter: 'url' });
}

function responseHeaders(headers: Headers): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) };
}
