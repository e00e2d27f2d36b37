/** BullMQ: a step is a job, a chain is a flow of jobs with one child each, a join is a job with all others as children. */
import { type FlowJob, type FlowJobNode, FlowProducer, Worker } from 'bullmq';
import { FAN_OUT, needed, type Peer, type Server, STEPS } from '../peer.ts';

const CONCURRENCY = 50;
const queueName = 'steps';

export async function openPeer(server: Server | null): Promise<Peer> {
  const { hostname, port } = new URL(needed(server).url);
  const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
  const flows = new FlowProducer({ connection });
  const worker = new Worker(queueName, async () => null, { connection, concurrency: CONCURRENCY });
  await worker.waitUntilReady();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  worker.on('completed', ({ id }) => ends.get(id ?? '')?.resolve());
  worker.on('failed', (job, error) => ends.get(job?.id ?? '')?.reject(error));
  let runs = 0;
  const run = async (children: FlowJobNode[]): Promise<void> => {
    const jobId = `run-${runs++}`;
    const end = Promise.withResolvers<void>();
    ends.set(jobId, end);
    const flow: FlowJob = { name: 'last', queueName, opts: { jobId }, children };
    await Promise.all([flows.add(flow), end.promise]);
    ends.delete(jobId);
  };
  return {
    chain: () => run([before(STEPS - 1)]),
    fanOut: () => run(Array.from({ length: FAN_OUT }, (_, n) => ({ name: `p${n}`, queueName }))),
    async close() {
      await worker.close();
      await flows.close();
    },
  };
}

/** A chain of so many jobs; children run before their parent. */
function before(length: number): FlowJobNode {
  const name = `n${length}`;
  return length === 1 ? { name, queueName } : { name, queueName, children: [before(length - 1)] };
}
