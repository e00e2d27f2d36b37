/** A server as a session of commands. Errors of the server and of the connection become errors of the CLI. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, ConnectionError, HttpTransport, NebulaClient, type Transport } from '@nebula/client';
import { type Json, NebulaError } from '@nebula/core';
import type { ApiSession, ServerLocation } from '../services.ts';

type ServerAddress = Pick<ServerLocation, 'url' | 'token'>;

export function connect({ url, token }: ServerAddress): NebulaClient {
  return new NebulaClient(withKnownErrors(new HttpTransport({ url, ...(token !== undefined && { token }) })));
}

export function serverSession(address: ServerAddress): ApiSession {
  const listeners = new Set<(error: unknown) => void>();
  const patient = patientFetch(address.url, (error) => {
    for (const listener of listeners) listener(error);
  });
  const { url, token } = address;
  return sessionOver(new HttpTransport({ url, fetch: patient, ...(token !== undefined && { token }) }), listeners);
}

function sessionOver(transport: HttpTransport, listeners: Set<(error: unknown) => void>): ApiSession {
  const { url } = transport;
  const logouts: (() => Promise<void>)[] = [];
  return {
    api: new NebulaClient(withKnownErrors(transport)),
    server: url,
    async as(user, password) {
      if (password === undefined) {
        throw new NebulaError('USAGE', `the password of ${user} is missing`, {
          hint: '--password-stdin reads it from stdin',
        });
      }
      const own = sessionOver(await signedIn(url, user, password), listeners);
      logouts.push(async () => void (await own.api.call('logout').catch(() => undefined)));
      return own;
    },
    work: async () => undefined,
    onTrouble(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: async () => undefined,
    async close() {
      for (const logout of logouts.splice(0)) await logout();
    },
  };
}

/** The session is a cookie, and a token that a foreign page cannot know. */
async function signedIn(url: string, user: string, password: string): Promise<HttpTransport> {
  let cookie = '';
  const noting: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return response;
  };
  const client = new NebulaClient(withKnownErrors(new HttpTransport({ url, fetch: noting })));
  const { csrfToken } = await client.call('login', { body: { user, password } });
  return new HttpTransport({ url, headers: { cookie, 'x-csrf-token': csrfToken } });
}

/** How long a server that has answered before may be away, for example during a restart. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;

/** Reads are repeated until the server is back. `onAway` is called each time. */
function patientFetch(url: string, onAway: (error: unknown) => void): typeof fetch {
  let hasAnswered = false;
  return async (input, init) => {
    for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
      try {
        const response = await fetch(input, init);
        hasAnswered = true;
        return response;
      } catch (error) {
        const isRead = (init?.method ?? 'GET') === 'GET';
        if (!hasAnswered || !isRead || init?.signal?.aborted || waitedMs >= PATIENCE_MS) throw error;
        onAway(known(new ConnectionError(url, error)));
        await sleep(PAUSE_MS);
      }
    }
  };
}

function withKnownErrors(transport: Transport): Transport {
  const withKnownError = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw known(error);
    }
  };
  return {
    url: transport.url,
    json: (...call) => withKnownError(transport.json(...call)),
    bytes: (...call) => withKnownError(transport.bytes(...call)),
    download: async (...call) => withKnownErrorsIn(await withKnownError(transport.download(...call))),
    follow: (...call) => withKnownErrorsIn(transport.follow(...call)),
  };
}

async function* withKnownErrorsIn<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throw known(error);
  }
}

function known(error: unknown): unknown {
  if (error instanceof ConnectionError) {
    return new NebulaError('SERVER_UNREACHABLE', error.message, { hint: error.hint, retryable: true, cause: error });
  }
  if (error instanceof SyntaxError) {
    return new NebulaError(
      'NOT_A_SERVER',
      'the server at this address is not a Nebula server: it does not answer in JSON',
      {
        hint: 'check the address',
        cause: error,
      },
    );
  }
  if (!(error instanceof ApiError)) return error;
  const { code, message, problem, retryable } = error;
  const details = (problem.details ?? (problem.errors && { errors: problem.errors })) as Json | undefined;
  const hint = code === 'NOT_SIGNED_IN' ? TOKEN_HINT : error.hint;
  return new NebulaError(code, message, {
    retryable,
    cause: error,
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
  });
}

const TOKEN_HINT =
  'give a token with --token, $NEBULA_TOKEN or `nebula context add`; a desktop server keeps it in the file `token` of its data folder, one with users has `nebula keys create`';
