/** DBOS: workflows are called directly, which spares them the queue and its polling. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { FAN_OUT, needed, type Peer, type Server, STEPS } from '../peer.ts';

const POOL_SIZE = 20;

export async function openPeer(server: Server | null): Promise<Peer> {
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: `${needed(server).url}/dbos`,
    systemDatabasePoolSize: POOL_SIZE,
    logLevel: 'error',
  });
  const step = async (): Promise<null> => null;
  const chain = DBOS.registerWorkflow(
    async (): Promise<void> => {
      for (let n = 0; n < STEPS; n++) await DBOS.runStep(step, { name: `n${n}` });
    },
    { name: 'chain' },
  );
  const fanOut = DBOS.registerWorkflow(
    async (): Promise<void> => {
      await Promise.all(Array.from({ length: FAN_OUT }, (_, n) => DBOS.runStep(step, { name: `p${n}` })));
    },
    { name: 'fanOut' },
  );
  await DBOS.launch();
  return { chain: () => chain(), fanOut: () => fanOut(), close: () => DBOS.shutdown() };
}
