/**
 * The connections of `ctx.fetch`. A granted name may resolve to any address, and its owner may change that at any time.
 * Therefore the address is checked here, where the connection is made, and the connection goes to the checked address.
 *
 *  1 Connections are shared only between attempts whose grants name the same addresses: a connection to a private
 *    address is never reused by an attempt that may not reach it.
 *  2 At most `maxConnectionPools` pools are kept; the least recently used one is closed first.
 */
import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { SANDBOX_LIMITS } from './limits.ts';
import { type Host, mayConnect, namesAddresses } from './pattern.ts';

/** No address behind the name is allowed. */
export class AddressDenied extends Error {
  readonly hostname: string;
  readonly address: string;

  constructor(hostname: string, address: string) {
    super(`${hostname} resolves to ${address}`);
    this.hostname = hostname;
    this.address = address;
  }
}

/** Pools, the least recently used one first. */
const pools = new Map<string, Agent>();

export function dispatcherFor(granted: readonly string[]): Dispatcher {
  const entries = [...new Set(granted.filter(namesAddresses))].sort();
  const key = entries.join(' ');
  const agent = pools.get(key) ?? new Agent({ connect: connectorFor(entries) });
  pools.delete(key);
  pools.set(key, agent);
  if (pools.size > SANDBOX_LIMITS.maxConnectionPools) closeOldest();
  return agent;
}

/** Closes the oldest pool after its requests have finished. */
function closeOldest(): void {
  const [oldest] = pools;
  if (oldest === undefined) return;
  pools.delete(oldest[0]);
  void oldest[1].close();
}

function connectorFor(entries: readonly string[]): buildConnector.connector {
  const byPort = new Map<string, buildConnector.connector>();
  return (options, callback) => {
    const port = options.port || (options.protocol === 'https:' ? '443' : '80');
    let connect = byPort.get(port);
    if (connect === undefined) {
      connect = buildConnector({ lookup: lookupFor(entries, port) });
      byPort.set(port, connect);
    }
    connect(options, callback);
  };
}

/** Resolves a name to the addresses that may be reached. */
export function lookupFor(entries: readonly string[], port: string): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '');
      const allowed = allowedOf(found, entries, { name: hostname.toLowerCase(), port });
      if (allowed instanceof Error) return callback(allowed, '');
      const [first] = allowed;
      if (first === undefined) return callback(new AddressDenied(hostname, found[0]?.address ?? ''), '');
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** An entry that cannot be understood is an error of the request: an exception in this callback would end the process. */
function allowedOf(found: readonly LookupAddress[], entries: readonly string[], host: Host): LookupAddress[] | Error {
  try {
    return found.filter(({ address }) => mayConnect(entries, host, address));
  } catch (error) {
    return error as Error;
  }
}
