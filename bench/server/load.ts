/** A real server process on a fresh data folder, and load on it over loopback. */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createClient, type NebulaClient } from '@nebula/client';
import { realClock } from '@nebula/drivers/real';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import autocannon from 'autocannon';
import { SERVER_TOKEN, type ServerProcess, startServerProcess } from '../../e2e/server-process.ts';
import { quantile, round } from '../measure.ts';
import { benchFolder } from '../session.ts';

/** `BENCH_SCALE=0.1` tries everything on a tenth. */
export const SCALE = Number(process.env.BENCH_SCALE ?? 1);

const ONE_NODE = { id: 'one', nodes: { a: { action: 'noop@1' } } };

export interface Target {
  readonly folder: string;
  readonly server: ServerProcess;
  readonly client: NebulaClient;
  close(): Promise<void>;
}

export async function openTarget({ stored = 0, flags: more = [] as readonly string[] } = {}): Promise<Target> {
  const folder = benchFolder();
  // `BENCH_PROFILE=1` leaves a CPU profile of the server beside the results.
  const profile = process.env.BENCH_PROFILE === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir=.nebula-profiles'];
  const flags = [...more, ...profile];
  let server = await startServerProcess(folder, flags);
  const clientOf = (url: string): NebulaClient => createClient({ url, token: SERVER_TOKEN });
  await clientOf(server.url).call('registerWorkflow', { body: { definition: ONE_NODE } });
  if (stored > 0) {
    const { executionId } = await clientOf(server.url).call('startExecution', {
      body: { workflowId: 'one' },
      query: { wait: '10s' },
    });
    await server.end('SIGTERM');
    await fill(folder, executionId, stored);
    server = await startServerProcess(folder, flags);
  }
  return {
    folder,
    server,
    client: clientOf(server.url),
    async close() {
      await server.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Copies of one real run. */
async function fill(folder: string, model: string, total: number): Promise<void> {
  const store = await openSqliteStore({ path: path.join(folder, 'nebula.db'), clock: realClock, engine: true });
  const row = await store.execution(model);
  const frames = await store.frames(model, 0);
  if (row === undefined) throw new Error('the model is gone');
  const { workflowId, version, createdAt, finishedAt, expiresAt, status } = row;
  for (let from = 0; from < total; from += 500) {
    const writes = Array.from({ length: Math.min(500, total - from) }, (_, n) => {
      const executionId = `exe_fill${from + n}`;
      const create = { workflowId, version, createdAt: createdAt + from + n, owner: null };
      return frames.map(({ seq, at, entries }, index) => ({
        executionId,
        ...(index === 0 && { create }),
        frame: { seq, at, entries },
        ...(index === frames.length - 1 && { status: { status, finishedAt, expiresAt } }),
      }));
    }).flat();
    const outcomes = await store.append(writes);
    if (outcomes.some(({ ok }) => !ok)) throw new Error('the store did not take them');
  }
  await store.close();
}

export interface Figures {
  /** Time of the processor that the server spends on a request: says something on a busy machine, too. */
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Load {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly connections: number;
  readonly seconds?: number;
}

/** The warm-up is not measured. */
export async function load({ server }: Target, asked: Load): Promise<Figures> {
  const { seconds = Math.max(2, 8 * SCALE) } = asked;
  await shoot(server, asked, seconds / 4);
  const times: number[] = [];
  const cpuBefore = cpuSecondsOf(server.pid);
  const result = await shoot(server, asked, seconds, (ms) => times.push(ms));
  return {
    cpuMs: round(((cpuSecondsOf(server.pid) - cpuBefore) * 1_000) / result['2xx'], 3),
    perSecond: round(result['2xx'] / result.duration),
    p50: round(quantile(times, 0.5), 2),
    p99: round(quantile(times, 0.99), 2),
  };
}

async function shoot(
  { url }: ServerProcess,
  { path: where, method = 'GET', body, connections }: Load,
  seconds: number,
  onAnswer: (ms: number) => void = () => {},
): Promise<autocannon.Result> {
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: `${url}/api/v1${where}`,
        method,
        connections,
        duration: seconds,
        headers: { authorization: `Bearer ${SERVER_TOKEN}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      (error, done) => (error ? reject(error) : resolve(done)),
    );
    instance.on('response', (_client, _status, _bytes, ms) => onAnswer(ms));
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
  return result;
}

export function named(name: string, { perSecond, p50, p99, cpuMs }: Figures): Record<string, number> {
  return {
    [`${name}: per second`]: perSecond,
    [`${name}: p50 ms`]: p50,
    [`${name}: p99 ms`]: p99,
    [`${name}: CPU ms`]: cpuMs,
  };
}

const TICKS_PER_SECOND = 100;

/** The CPU time of all threads; 0 if the system does not report it. */
export function cpuSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
