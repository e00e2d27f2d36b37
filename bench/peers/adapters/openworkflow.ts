/**
 * openworkflow. A run's `result()` looks once a second, so the end of a run is read from the backend instead. All runs
 * are started at once and the worker takes 50 at a time: when it finds none waiting, it sleeps for 50 ms or more.
 */
import { OpenWorkflow } from 'openworkflow';
import { BackendPostgres } from 'openworkflow/postgres';
import { FAN_OUT, needed, type Peer, type Server, STEPS, WIDTH } from '../peer.ts';

export async function openPeer(server: Server | null): Promise<Peer> {
  const backend = await BackendPostgres.connect(`${needed(server).url}/postgres`);
  const end = endsOf(backend);
  const client = new OpenWorkflow({ backend });
  const step = (): null => null;
  const chain = client.defineWorkflow({ name: 'chain' }, async ({ step: steps }) => {
    for (let n = 0; n < STEPS; n++) await steps.run({ name: `n${n}` }, step);
  });
  const fanOut = client.defineWorkflow({ name: 'fan-out' }, async ({ step: steps }) => {
    await Promise.all(Array.from({ length: FAN_OUT }, (_, n) => steps.run({ name: `p${n}` }, step)));
  });
  const worker = client.newWorker({ concurrency: WIDTH });
  await worker.start();
  const run = async (workflow: typeof chain): Promise<void> => end((await workflow.run()).workflowRun.id);
  return {
    chain: () => run(chain),
    async chains(total) {
      await Promise.all(Array.from({ length: total }, () => run(chain)));
    },
    fanOut: () => run(fanOut),
    async close() {
      await worker.stop();
      await backend.stop();
    },
  };
}

/** Gives the way to wait for the end of a run, which may be there before anyone waits. */
function endsOf(backend: BackendPostgres): (id: string) => Promise<void> {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (id: string): PromiseWithResolvers<void> => {
    const end = ends.get(id) ?? Promise.withResolvers<void>();
    ends.set(id, end);
    return end;
  };
  const complete = backend.completeWorkflowRun.bind(backend);
  backend.completeWorkflowRun = async (params) => {
    const run = await complete(params);
    endOf(run.id).resolve();
    return run;
  };
  const fail = backend.failWorkflowRun.bind(backend);
  backend.failWorkflowRun = async (params) => {
    const run = await fail(params);
    endOf(run.id).reject(new Error(`the run failed: ${JSON.stringify(params.error)}`));
    return run;
  };
  return async (id) => {
    await endOf(id).promise;
    ends.delete(id);
  };
}
