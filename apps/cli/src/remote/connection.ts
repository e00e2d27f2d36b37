/** A server as commands see it: its errors are ours, and what is not there is undefined. */
import { ApiError, ConnectionError, createClient, type NebulaClient } from '@nebula/client';
import { type Json, NebulaError } from '@nebula/core';
import type { ServerPlace } from '../services.ts';

export function connect({ url, token }: Pick<ServerPlace, 'url' | 'token'>): NebulaClient {
  return createClient({ url, ...(token !== undefined && { token }) });
}

/** So long a server that has answered before may be away, for example to be started again. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;

/** For whoever watches: what only looks is asked again until the server is back. `onAway` is told each time. */
export function connectPatiently(
  place: Pick<ServerPlace, 'url' | 'token'>,
  onAway: (error: unknown) => void,
): NebulaClient {
  let hasAnswered = false;
  const patient: typeof fetch = async (input, init) => {
    for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
      try {
        const response = await fetch(input, init);
        hasAnswered = true;
        return response;
      } catch (error) {
        const isLooking = (init?.method ?? 'GET') === 'GET';
        if (!hasAnswered || !isLooking || init?.signal?.aborted || waitedMs >= PATIENCE_MS) throw error;
        onAway(known(new ConnectionError(place.url, error)));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  const { url, token } = place;
  return createClient({ url, fetch: patient, ...(token !== undefined && { token }) });
}

/** What a call gives; what the server or the network says against it, as an error of ours. */
export async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw known(error);
  }
}

/** The same, with undefined where there is no such thing, or none that we may see. */
export async function found<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && error.code !== 'NO_SUCH_ROUTE') return undefined;
    throw known(error);
  }
}

function known(error: unknown): unknown {
  if (error instanceof ConnectionError) {
    return new NebulaError('SERVER_UNREACHABLE', error.message, { hint: error.hint, retryable: true, cause: error });
  }
  if (error instanceof SyntaxError) {
    return new NebulaError('NOT_A_SERVER', 'what answers there is no Nebula: it does not speak JSON', {
      hint: 'is the address right?',
      cause: error,
    });
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
