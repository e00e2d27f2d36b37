/**
 * Requests of the server under a grant: by the rules of `ctx.fetch`, without an attempt. `connections.ts` brings the HTTP
 * client, a tenth of the start of `nebula run`, and is loaded by the first request.
 */
import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { NebulaError } from '@nebula/core';
import type { Outgoing } from '@nebula/ports';
import type { AddressDenied } from './connections.ts';
import { grants } from './grant.ts';
import { runHostProgram } from './host-api/shell.ts';
import { type Host, hostOf, matchesHost, namesAddresses } from './pattern.ts';

export const outgoingRequests: Outgoing = {
  async post({ url: text, headers, body, network, timeoutMs, signal }) {
    const url = new URL(text);
    const host = hostOf(url);
    if (!/^https?:$/.test(url.protocol)) throw denied(host.name, 'its address is not one of the web');
    expectGranted(network, host);
    const { AddressDenied, dispatcherFor } = await import('./connections.ts');
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual' as const,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      dispatcher: dispatcherFor(network),
    };
    const response = await fetch(url, init as RequestInit).catch((error: Error) => {
      throw error.cause instanceof AddressDenied ? leadsElsewhere(error.cause) : error;
    });
    await response.body?.cancel();
    return response.status;
  },

  async connect({ host: text, port, network, timeoutMs, signal }) {
    // `URL` writes every address in one form: 127.1 and 0x7f000001 are 127.0.0.1.
    const host = hostOf(new URL(`http://${text}:${port}`));
    expectGranted(network, host);
    const { AddressDenied, lookupFor } = await import('./connections.ts');
    const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    ends.throwIfAborted();
    const socket = openSocket({
      host: host.name.replace(/^\[|\]$/g, ''),
      port,
      lookup: lookupFor(network.filter(namesAddresses), host.port),
    });
    const end = (): void => void socket.destroy(ends.reason as Error);
    ends.addEventListener('abort', end);
    socket.once('close', () => ends.removeEventListener('abort', end));
    await once(socket, 'connect').catch((error: unknown) => {
      throw error instanceof AddressDenied ? leadsElsewhere(error) : error;
    });
    return socket;
  },

  run: (program) => runHostProgram(program, process.env.PATH ?? ''),
};

function expectGranted(network: readonly string[], host: Host): void {
  if (grants(network, (pattern) => matchesHost(pattern, host))) return;
  throw denied(host.name, 'it is not within the ceiling of the project');
}

function leadsElsewhere({ hostname, address }: AddressDenied): NebulaError {
  return denied(hostname, `it leads to ${address}, which is not a public address and is not named`);
}

function denied(host: string, because: string): NebulaError {
  return new NebulaError('CAPABILITY_DENIED', `${host} may not be reached: ${because}`, {
    hint: 'An owner of the project can raise its ceiling: nebula projects set PROJECT --allow network=HOST',
  });
}
