/** Turns anything that an action throws into a `RunError`: small, plain data, of the right kind. Never throws. */
import { type ErrorKind, type Json, NebulaError, type RunError } from '@nebula/core';
import type { Invocation } from '@nebula/ports';
import type { Redactor } from '../secrets/redaction.ts';
import { toJson } from './json-value.ts';
import { SANDBOX_LIMITS } from './limits.ts';

/** System errors after which nothing has reached the other side. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
  'EMFILE',
  'ENFILE',
]);

/** System errors after which the other side may have acted on the request. */
const MAYBE_SENT = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** `redactor` removes credentials before texts are cut to their limits. */
export function toRunError(thrown: unknown, node: string, redactor?: Redactor): RunError {
  try {
    return capError(withParameter(runErrorOf(thrown, node), thrown), redactor);
  } catch {
    // A proxy or a getter threw while the error was read.
    return { code: 'ACTION_FAILED', kind: 'USER', message: 'the action threw something that cannot be read', node };
  }
}

/**
 * Reports the abort itself as `ABORTED`; a different error after the abort is kept, because it may say what happened.
 */
export function toAbortError(thrown: unknown, { signal, node }: Invocation, redactor?: Redactor): RunError {
  const error = toRunError(thrown, node, redactor);
  const isAbort = thrown === signal.reason || isNamed(thrown, 'AbortError');
  if (!isAbort || error.code !== 'ACTION_FAILED') return error;
  const reason = isNamed(signal.reason, 'AbortError') ? '' : `: ${toRunError(signal.reason, node, redactor).message}`;
  return { code: 'ABORTED', kind: 'USER', message: `the attempt was aborted${reason}`, node };
}

function isNamed(thrown: unknown, name: string): boolean {
  try {
    return thrown instanceof Error && thrown.name === name;
  } catch {
    return false;
  }
}

function runErrorOf(thrown: unknown, node: string): UncappedError {
  if (!isErrorLike(thrown)) return make('ACTION_FAILED', 'USER', describeThrown(thrown), node, undefined);
  if (isCoded(thrown)) {
    const message =
      typeof thrown.hint === 'string' ? `${thrown.message.replace(/[.\s]+$/, '')}. ${thrown.hint}` : thrown.message;
    const isSystem = thrown.kind === 'SYSTEM' || (thrown.kind === undefined && thrown.retryable === true);
    return make(thrown.code, isSystem ? 'SYSTEM' : 'USER', message, node, thrown.details);
  }
  const network = networkCode(thrown);
  if (network !== undefined) {
    const details = MAYBE_SENT.has(network.code) ? { outcome: 'unknown' } : undefined;
    return make(network.code, 'SYSTEM', network.message, node, details);
  }
  const code = (thrown as { code?: unknown }).code;
  const details = {
    ...(thrown.name !== 'Error' && { name: String(thrown.name) }),
    ...(typeof code === 'string' && { code }),
  };
  return make('ACTION_FAILED', 'USER', withCause(thrown), node, Object.keys(details).length > 0 ? details : undefined);
}

/** The parameter that an error names goes into its details, if these are an object. */
function withParameter(error: UncappedError, thrown: unknown): UncappedError {
  const { details = {} } = error;
  const parameter = isErrorLike(thrown) ? (thrown as { readonly parameter?: unknown }).parameter : undefined;
  const isObject = typeof details === 'object' && details !== null && !Array.isArray(details);
  return parameter === undefined || !isObject ? error : { ...error, details: { parameter, ...details } };
}

/** `fetch failed` says nothing; its cause does. */
function withCause(error: Error): string {
  const { message, cause } = error;
  if (!isErrorLike(cause) || cause.message === '' || message.includes(cause.message)) return message;
  return `${message}: ${cause.message}`;
}

/** An error of another realm is not `instanceof Error` here. */
function isErrorLike(thrown: unknown): thrown is Error {
  return thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
}

interface Coded extends Error {
  readonly code: string;
  readonly kind?: unknown;
  readonly hint?: unknown;
  readonly details?: unknown;
  readonly retryable?: unknown;
}

/** `NebulaError`, and the SDK's `ActionError`, which has a kind; by name too, for a second copy of a package. */
function isCoded(error: Error): error is Coded {
  const named = error instanceof NebulaError || error.name === 'ActionError' || error.name === 'NebulaError';
  return named && typeof (error as Partial<Coded>).code === 'string';
}

/** `fetch` hides the reason in `cause`, and a try of several addresses in an AggregateError. */
function networkCode(error: Error): { readonly code: string; readonly message: string } | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 5 && isErrorLike(current); depth++) {
    const { code, cause, errors } = current as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === 'string' && (NEVER_SENT.has(code) || MAYBE_SENT.has(code))) {
      const inner = current.message || code;
      return { code, message: current === error ? inner : `${error.message}: ${inner}` };
    }
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown;
  if (typeof thrown === 'object' && thrown !== null) {
    const { message } = thrown as { message?: unknown };
    if (typeof message === 'string' && message !== '') return message;
    return `the action threw ${JSON.stringify(thrown)?.slice(0, 200) ?? 'an object'}`;
  }
  return `the action threw ${thrown === '' ? 'an empty string' : String(thrown)}`;
}

/** An error before it is cut to its limits; `details` may be anything. */
type UncappedError = Omit<RunError, 'details'> & { readonly details: unknown };

function make(code: string, kind: ErrorKind, message: unknown, node: string, details: unknown): UncappedError {
  const text = typeof message === 'string' && message.trim() !== '' ? message : 'the action failed without a message';
  return { code, kind, message: text, node, details };
}

function capError({ code, kind, message, node, details }: UncappedError, redactor: Redactor | undefined): RunError {
  const clean = (text: string): string => redactor?.excerpt(text) ?? text;
  const kept = details === undefined ? undefined : keepDetails(details, redactor);
  return {
    code: capped(clean(code.trim()), SANDBOX_LIMITS.maxErrorCodeChars) || 'ACTION_FAILED',
    kind,
    message: capped(clean(message), SANDBOX_LIMITS.maxErrorMessageChars),
    ...(node !== undefined && { node }),
    ...(kept !== undefined && { details: kept }),
  };
}

function keepDetails(details: unknown, redactor: Redactor | undefined): Json | undefined {
  try {
    const json = withoutSecrets(toJson(details, 'details'), redactor);
    const text = JSON.stringify(json);
    const limit = SANDBOX_LIMITS.maxErrorDetailsChars;
    // A copy, because the thrower may keep and change the original.
    return text.length <= limit ? JSON.parse(text) : { truncated: capped(text, limit) };
  } catch {
    return undefined;
  }
}

/** Redacts excerpts of secrets in details and fields. */
export function withoutSecrets(json: Json, redactor: Redactor | undefined): Json {
  return redactor?.json(json, (text) => redactor.excerpt(text)) ?? json;
}

export function capped(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
