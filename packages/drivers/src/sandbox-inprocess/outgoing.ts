/** Requests of the server under a grant: by the rules of `ctx.fetch`, without an attempt. */
import { NebulaError } from '@nebula/core';
import type { Outgoing } from '@nebula/ports';
import { AddressDenied, dispatcherFor } from './connections.ts';
import { grants } from './grant.ts';
import { hostOf, matchesHost } from './pattern.ts';

export const outgoingRequests: Outgoing = {
  async post({ url: text, headers, body, network, timeoutMs, signal }) {
    const url = new URL(text);
    const host = hostOf(url);
    if (!/^https?:$/.test(url.protocol) || !grants(network, (pattern) => matchesHost(pattern, host))) {
      throw denied(host.name, 'it is not within the ceiling of the project');
    }
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual' as const,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      dispatcher: dispatcherFor(network),
    };
    const response = await fetch(url, init as RequestInit).catch((error: Error) => {
      const { cause } = error;
      if (!(cause instanceof AddressDenied)) throw error;
      throw denied(cause.hostname, `it leads to ${cause.address}, which is not a public address and is not named`);
    });
    await response.body?.cancel();
    return response.status;
  },
};

function denied(host: string, because: string): NebulaError {
  return new NebulaError('CAPABILITY_DENIED', `${host} may not be reached: ${because}`, {
    hint: 'An owner of the project can raise its ceiling: nebula projects set PROJECT --allow network=HOST',
  });
}
