/** The hostile suite against a real server process, and how late its event loop was meanwhile. */
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@nebula/client';
import { SERVER_TOKEN, startServerProcess } from '../../e2e/server-process.ts';
import { quantile, round } from '../measure.ts';
import { benchFolder } from '../session.ts';

interface HostileCase {
  readonly line: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isNobody?: true;
}

/** Nobody imports an app; its suite is only read. */
async function casesOf(leaseId: string): Promise<HostileCase[]> {
  const file = new URL('../../apps/server/test/hostile/cases.ts', import.meta.url);
  const { hostileCases } = (await import(file.href)) as {
    hostileCases(setting: { readonly leaseId: string }): readonly HostileCase[];
  };
  return [...hostileCases({ leaseId })];
}

const FAR = { id: 'far', nodes: { work: { action: 'far.work', labels: ['far'] } } };

/** Delay of the loop in ms while every request of the suite is sent, four at a time, and how long each took. */
export async function h1(): Promise<Record<string, number>> {
  const folder = benchFolder();
  const file = path.join(tmpdir(), `nebula-loop-${process.pid}.json`);
  process.env.BENCH_LOOP_FILE = file;
  const preload = fileURLToPath(new URL('loop-delay.ts', import.meta.url));
  const server = await startServerProcess(folder, ['--import', preload]);
  const client = createClient({ url: server.url, token: SERVER_TOKEN });
  await client.call('registerWorker', {
    body: { workerId: 'far', labels: ['far'], actions: [{ id: 'far.work', effect: 'idempotent' }] },
  });
  await client.call('registerWorkflow', { body: { definition: FAR } });
  await client.call('startExecution', { body: { workflowId: 'far' } });
  const { work } = await client.call('claimWork', { params: { workerId: 'far' }, body: { wait: '10s', lease: '10m' } });
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  const cases = await casesOf(work[0]?.leaseId as string);
  const took: number[] = [];
  let errors = 0;
  const lane = async (): Promise<void> => {
    for (let one = cases.pop(); one !== undefined; one = cases.pop()) {
      const begun = performance.now();
      const status = await send(server.url, one);
      if (status >= 500 || status === 0) errors++;
      took.push(performance.now() - begun);
    }
  };
  const count = cases.length;
  await Promise.all([lane(), lane(), lane(), lane()]);
  await server.end('SIGTERM');
  const delay = JSON.parse(readFileSync(file, 'utf8')) as { readonly p99: number; readonly max: number };
  rmSync(file, { force: true });
  rmSync(folder, { recursive: true, force: true });
  return {
    requests: count,
    'answered with 5xx, or not': errors,
    'loop delay p99 ms': delay.p99,
    'loop delay max ms': delay.max,
    'request p99 ms': round(quantile(took, 0.99), 1),
  };
}

async function send(url: string, { line, body, raw, headers = {}, isNobody }: HostileCase): Promise<number> {
  const [method, place] = line.split(' ') as [string, string];
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url + place, {
    method,
    headers: {
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...(!isNobody && { authorization: `Bearer ${SERVER_TOKEN}` }),
      ...headers,
    },
    ...(payload !== undefined && { body: payload }),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.status ?? (isNobody ? 401 : 0);
}
