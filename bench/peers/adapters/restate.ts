/** Restate: steps are `ctx.run` in a handler of a service, which Restate calls over one HTTP/2 connection. */
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type Context, createEndpointHandler, RestatePromise, service } from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { FAN_OUT, needed, type Peer, type Server, STEPS } from '../peer.ts';

const bench = service({
  name: 'bench',
  handlers: {
    chain: async (ctx: Context): Promise<void> => {
      for (let n = 0; n < STEPS; n++) await ctx.run(`n${n}`, () => null);
    },
    fanOut: async (ctx: Context): Promise<void> => {
      await RestatePromise.all(Array.from({ length: FAN_OUT }, (_, n) => ctx.run(`p${n}`, () => null)));
    },
  },
});

export async function openPeer(server: Server | null): Promise<Peer> {
  const { url, adminUrl } = needed(server);
  const endpoint = createServer(createEndpointHandler({ services: [bench] }));
  endpoint.listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  const { port } = endpoint.address() as AddressInfo;
  await register(`${adminUrl}/deployments`, `http://127.0.0.1:${port}`);
  const client = connect({ url }).serviceClient(bench);
  return {
    chain: async () => client.chain(),
    fanOut: async () => client.fanOut(),
    async close() {
      endpoint.close();
    },
  };
}

async function register(deployments: string, uri: string): Promise<void> {
  const response = await fetch(deployments, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok) throw new Error(`Restate refused the service: ${response.status} ${await response.text()}`);
}
