/** Runs the workloads on one peer, in a process of its own, and sends the figures to the parent. */
import { median, quantile, round } from '../measure.ts';
import { cpuMs } from './cpu.ts';
import { type Adapter, type Figures, type Peer, type Server, STEPS, WIDTH, type Workload } from './peer.ts';

const ROUNDS = 3;
const CHAINS_PER_BATCH = 1_000;
const CHAINS_ROUND_MS = 5_000;
const SINGLE_RUNS = 100;
const FAN_OUT_RUNS = 3;
const WARM_UP_MS = 2_000;

const ADAPTERS: Readonly<Record<string, () => Promise<Adapter>>> = {
  nebula: () => import('./adapters/nebula.ts'),
  restate: () => import('./adapters/restate.ts'),
  dbos: () => import('./adapters/dbos.ts'),
  bullmq: () => import('./adapters/bullmq.ts'),
  openworkflow: () => import('./adapters/openworkflow.ts'),
};

export interface Task {
  readonly name: string;
  readonly workloads: readonly Workload[];
  readonly server: Server | null;
}

async function measure({ name, workloads, server }: Task): Promise<Figures> {
  const { openPeer } = await ADAPTERS[name]!();
  const peer = await openPeer(server);
  const figures: Figures = {
    ...(workloads.includes('W1') && (await manyAtATime(peer, server))),
    ...(workloads.includes('W2') && (await oneAtATime(peer))),
    ...(workloads.includes('W3') && (await fanOut(peer))),
  };
  await peer.close();
  return figures;
}

async function manyAtATime(peer: Peer, server: Server | null): Promise<Figures> {
  const chains = peer.chains?.bind(peer) ?? ((total: number) => inLanes(peer, total));
  await forAtLeast(WARM_UP_MS, () => chains(CHAINS_PER_BATCH / 5));
  const rates: number[] = [];
  const costs: number[] = [];
  for (let at = 0; at < ROUNDS; at++) {
    const cpuBefore = cpuMs(server?.pid ?? null);
    const { times, tookMs } = await forAtLeast(CHAINS_ROUND_MS, () => chains(CHAINS_PER_BATCH));
    const runs = times * CHAINS_PER_BATCH;
    rates.push((runs * STEPS * 1_000) / tookMs);
    costs.push((cpuMs(server?.pid ?? null) - cpuBefore) / runs);
  }
  return { stepsPerSecond: round(median(rates)), cpuMsPerRun: round(median(costs), 2) };
}

async function inLanes(peer: Peer, total: number): Promise<void> {
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started++ < total) await peer.chain();
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
}

async function oneAtATime(peer: Peer): Promise<Figures> {
  await forAtLeast(WARM_UP_MS, () => peer.chain());
  const perStep: number[] = [];
  for (let at = 0; at < ROUNDS * SINGLE_RUNS; at++) perStep.push((await timed(() => peer.chain())) / STEPS);
  return { p50MsPerStep: round(median(perStep), 3), p99MsPerStep: round(quantile(perStep, 0.99), 3) };
}

async function fanOut(peer: Peer): Promise<Figures> {
  await forAtLeast(WARM_UP_MS, () => peer.fanOut());
  const times: number[] = [];
  for (let at = 0; at < ROUNDS * FAN_OUT_RUNS; at++) times.push(await timed(() => peer.fanOut()));
  return { fanOutMs: round(median(times), 1) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function forAtLeast(ms: number, work: () => Promise<void>): Promise<{ times: number; tookMs: number }> {
  const started = performance.now();
  let times = 0;
  while (performance.now() - started < ms) {
    await work();
    times++;
  }
  return { times, tookMs: performance.now() - started };
}

process.once('disconnect', () => process.exit(1));
const figures = await measure(JSON.parse(process.argv[2]!) as Task);
process.send!(figures, () => process.exit(0));
