/** Nebula, on a session as all its own benchmarks use it. */
import { chain, openSession } from '../../session.ts';
import { FAN_OUT, type Peer, STEPS } from '../peer.ts';

export async function openPeer(): Promise<Peer> {
  const session = await openSession();
  return {
    chain: await session.workflow(chain(STEPS)),
    fanOut: await session.workflow(fanOut(FAN_OUT)),
    close: () => session.close(),
  };
}

function fanOut(width: number): Record<string, unknown> {
  const names = Array.from({ length: width }, (_, n) => `p${n}`);
  const nodes: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, { action: 'noop@1' }]));
  nodes.join = { action: 'noop@1', needs: names };
  return { id: 'fan-out', config: { maxParallelism: width }, nodes };
}
