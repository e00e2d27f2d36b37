/** A whole server in this process, on memory drivers, with a client that talks to it over a real socket. */
import { builtinActions } from '@nebula/actions';
import { createClient, type NebulaClient } from '@nebula/client';
import { type Action, createCatalog } from '@nebula/core';
import { localLeader, memoryBlobs, memoryLogs, memoryQueue, memoryRecords, memoryStore } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { memorySecrets } from '@nebula/drivers/secrets';
import { createEngine } from '@nebula/engine';
import {
  callbackAddresses,
  callbackKey,
  type NebulaServer,
  type Parts,
  type ServerOptions,
  startServer,
} from '../../src/index.ts';

export interface Booted {
  readonly client: NebulaClient;
  readonly server: NebulaServer;
  readonly parts: Parts;
  readonly troubles: unknown[];
  close(): Promise<void>;
}

export const TOKEN = 'a-token-for-tests';

export async function boot(
  options: Partial<ServerOptions> & { readonly actions?: readonly Action[]; readonly users?: true } = {},
): Promise<Booted> {
  const { actions: own = [], users, ...rest } = options;
  const clock = realClock;
  const random = realRandom();
  const actions = [...builtinActions, ...own];
  const keeping = {
    store: memoryStore(),
    records: memoryRecords({ clock }),
    secrets: memorySecrets(),
    blobs: memoryBlobs(),
    logs: memoryLogs(),
  };
  const drivers = {
    ...keeping,
    queue: memoryQueue({ clock }),
    sandbox: createInProcessSandbox({ projectDir: process.cwd(), clock }),
    clock,
    random,
    digest: sha256,
  };
  let url = '';
  const callbackUrl = callbackAddresses(await callbackKey(keeping.records), () => url);
  const engine = createEngine(drivers, { actions, callbackUrl });
  await engine.open();
  const troubles: unknown[] = [];
  const parts: Parts = { ...keeping, engine, clock, random, digest: sha256, catalog: createCatalog(actions) };
  const server = await startServer(parts, {
    host: '127.0.0.1',
    port: 0,
    version: '0.0.0',
    preset: 'desktop',
    projectDir: process.cwd(),
    leader: localLeader(),
    onTrouble: (error) => troubles.push(error),
    ...(users ? {} : { token: TOKEN }),
    ...rest,
  });
  url = server.url;
  const client = createClient({ url: server.url, retries: 0, ...(users ? {} : { token: TOKEN }) });
  return {
    client,
    server,
    parts,
    troubles,
    async close() {
      await server.close();
      await engine.close();
    },
  };
}
