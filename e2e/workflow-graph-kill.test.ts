/** A job of workflow-graph outlives the server that handed it out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SERVER_TOKEN, startServerProcess } from './server-process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'nebula-e2e-jobs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Claim {
  readonly job: { readonly job_id: string; readonly attempt: number; readonly upstream_outputs: unknown };
  readonly lease: { readonly lease_id: string };
}

test('[SRV-558] a lease is valid after a SIGKILL of the server: the job ends once, with its logs of both lives', async () => {
  let server = await startServerProcess(folder);
  const call = async <T>(method: string, route: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${server.url}/api${route}`, {
      method,
      headers: { authorization: `Bearer ${SERVER_TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect([route, response.ok]).toEqual([route, true]);
    return (await response.json()) as T;
  };
  const claim = () => call<Claim | null>('POST', '/jobs/claim', { worker_id: 'w', labels: [], lease_ttl_secs: 120 });
  const claimed = async (): Promise<Claim> => {
    let found: Claim | null = null;
    await expect.poll(async () => (found = await claim()), { timeout: 10_000 }).not.toBeNull();
    return found as unknown as Claim;
  };
  const jobs = { a: { run: 'x', retries: 1 }, b: { run: 'y', needs: 'a' } };
  const { id } = await call<{ id: string }>('POST', '/workflows', { name: 'ci', jobs });
  await call('POST', `/workflows/${id}/run`);
  const { lease_id: lease } = (await claimed()).lease;
  const log = (data: string, sequence: number) => call('POST', `/jobs/${lease}/logs`, { chunks: [{ data, sequence }] });
  await log('before\n', 0);
  // A read flushes the log.
  await call('GET', `/workflows/${id}/jobs/a/logs`);
  await server.end('SIGKILL');
  server = await startServerProcess(folder);
  expect(await claim()).toBeNull();
  await call('POST', `/jobs/${lease}/heartbeat`);
  await log('after\n', 1);
  await call('POST', `/jobs/${lease}/complete`, { outputs: { k: 'v' } });
  const { job, lease: second } = await claimed();
  expect(job).toMatchObject({ job_id: 'b', attempt: 0, upstream_outputs: { a: { k: 'v' } } });
  await call('POST', `/jobs/${second.lease_id}/complete`, {});
  const status = () => call<{ status: string; jobs: { attempt: number }[] }>('GET', `/workflows/${id}/status`);
  await expect.poll(async () => (await status()).status).toBe('success');
  expect((await status()).jobs.map(({ attempt }) => attempt)).toEqual([0, 0]);
  const logs = await call<{ data: string }[]>('GET', `/workflows/${id}/jobs/a/logs`);
  expect(logs.map(({ data }) => data)).toEqual(['before\n', 'after\n']);
  await server.end('SIGTERM');
  expect(server.stderr()).toBe('');
}, 60_000);
