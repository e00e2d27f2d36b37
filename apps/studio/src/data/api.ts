/**
 * The server, as the pages call it. The session's cookie authenticates; the CSRF token, which a foreign page cannot know,
 * goes with every change.
 */
import { ApiError, ConnectionError, HttpTransport, NebulaClient } from '@nebula/client';

let csrfToken: string | undefined;
let onSignedOut: () => void = () => {};

/** Set at sign-in, and again from `getMe` after a reload. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

/** Called when the server no longer knows the session. */
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback;
}

const withSession: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  if (csrfToken !== undefined) headers.set('x-csrf-token', csrfToken);
  const response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
  if (response.status === 401) onSignedOut();
  return response;
};

export const api = new NebulaClient(
  new HttpTransport({ url: globalThis.location?.origin ?? '', fetch: withSession, retries: 2 }),
);

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/** A failed call, for people. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return { code: error.code, message: error.message, hint: error.hint };
  if (error instanceof ConnectionError) return { code: 'CONNECTION', message: error.message, hint: undefined };
  return { code: 'UNEXPECTED', message: error instanceof Error ? error.message : String(error), hint: undefined };
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
