/** Programs of workflow-graph, as they are, against a real server. */
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type Booted, type BootOptions, boot, memoryKeeping, sqliteKeeping, TOKEN } from '../support/boot.ts';
import { type Claim, OriginClient, OriginWorker, type OriginWorkflow, type WorkerOptions } from './origin-worker.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that may be restarted, with a client and workers that call it wherever it is. */
class Site {
  booted!: Booted;
  readonly #options: BootOptions;
  readonly client = new OriginClient(() => this.booted.server.url, TOKEN);

  constructor(options: BootOptions) {
    this.#options = options;
  }

  static async open(options: BootOptions = {}): Promise<Site> {
    const site = new Site({ keeping: memoryKeeping(), ...options });
    site.booted = await boot(site.#options);
    closing.push(() => site.booted.close());
    return site;
  }

  async restart(): Promise<void> {
    await this.booted.close();
    this.booted = await boot(this.#options);
  }

  worker(workerId: string, options: Partial<WorkerOptions> = {}): OriginWorker {
    const worker = new OriginWorker({ base: () => this.booted.server.url, workerId, token: TOKEN, ...options });
    closing.push(() => worker.stop());
    return worker.start();
  }

  async run(workflow: unknown): Promise<string> {
    const { id } = await this.client.createWorkflow(workflow);
    await this.client.runWorkflow(id);
    return id;
  }

  async ended(id: string): Promise<OriginWorkflow> {
    const isOver = ({ jobs }: OriginWorkflow) =>
      jobs.every(({ status }) => status !== 'queued' && status !== 'running');
    await expect.poll(async () => isOver(await this.client.getStatus(id)), { timeout: 20_000 }).toBe(true);
    return await this.client.getStatus(id);
  }
}

async function post(site: Site, path: string, body: unknown): Promise<number> {
  const { status } = await fetch(`${site.booted.server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return status;
}

function statuses({ jobs }: OriginWorkflow): Record<string, string> {
  return Object.fromEntries(jobs.map(({ id, status }) => [id, status]));
}

describe('programs of workflow-graph', () => {
  it('[SRV-550] a build as teams write it runs to its end', async () => {
    const site = await Site.open();
    const worker = site.worker('w-1', { labels: ['linux', 'aws'] });
    const id = await site.run(readFileSync(new URL('ci.yml', import.meta.url), 'utf8'));
    const status = await site.ended(id);
    const { rollback, ...others } = statuses(status);
    expect([rollback, ...new Set(Object.values(others))]).toEqual(['skipped', 'success']);
    expect(status).toMatchObject({ name: 'Shop', trigger: 'on: [push]' });
    expect(worker.claims).toHaveLength(8);
    const logs = await site.client.getJobLogs(id, 'build-image');
    expect(logs.map(({ data }) => data).join('')).toBe(
      "compiling shop-7\npacking shop-7 for the shop's shelf\nremoving layers\n",
    );
    await worker.stop();
  });

  const corpus = new URL('../../../../../shared/corpora/origins/ci.yml', import.meta.url);
  // The corpus lies beside the repository; where it is absent, the test above stands for it.
  it.skipIf(!existsSync(corpus))('[SRV-550] the ci.yml of the project itself runs to its end', async () => {
    const site = await Site.open();
    for (const id of ['w-1', 'w-2', 'w-3']) site.worker(id, { labels: ['linux', 'aws'] });
    const yaml = readFileSync(corpus, 'utf8').replaceAll(/sleep \d+/g, 'sleep 0.01');
    const status = await site.ended(await site.run(yaml));
    expect(status.jobs).toHaveLength(8);
    expect(new Set(Object.values(statuses(status)))).toEqual(new Set(['success']));
  });

  it('[SRV-551] a failed job skips its dependents, the rest runs, and the workflow has failed', async () => {
    const site = await Site.open();
    site.worker('w-1');
    const id = await site.run(`name: t
on: push
jobs:
  bad: { run: exit 3 }
  after: { needs: bad, run: echo no }
  later: { needs: after, run: echo no }
  other: { run: sleep 0.1 }
  more: { needs: other, run: echo yes }
`);
    const ended = await site.ended(id);
    expect(statuses(ended)).toEqual({
      bad: 'failure',
      after: 'skipped',
      later: 'skipped',
      other: 'success',
      more: 'success',
    });
  });

  it('[SRV-562] clean-ups look at every ancestor, and a failed build with one has failed', async () => {
    const site = await Site.open();
    site.worker('w-1');
    const file = (code: number) => `name: t
on: push
jobs:
  build: { run: exit ${code} }
  pack: { needs: build, run: echo pack }
  tidy: { needs: pack, run: echo tidy, if: always() }
  page: { needs: pack, run: echo page, if: failure() }
  after: { needs: tidy, run: echo after }
`;
    const failed = await site.run(file(1));
    expect(statuses(await site.ended(failed))).toEqual({
      build: 'failure',
      pack: 'skipped',
      tidy: 'success',
      page: 'success',
      after: 'skipped',
    });
    const whole = async (id: string) => {
      const { rows } = await site.booted.parts.store.list({ workflowId: id, limit: 1 });
      return rows[0]?.status;
    };
    await expect.poll(() => whole(failed)).toBe('failed');
    const good = await site.run(file(0));
    expect(statuses(await site.ended(good))).toEqual({
      build: 'success',
      pack: 'success',
      tidy: 'success',
      page: 'skipped',
      after: 'success',
    });
    await expect.poll(() => whole(good)).toBe('completed');
  });

  it('[SRV-562] a job after jobs for failures runs only if its other needs say so', async () => {
    const site = await Site.open();
    site.worker('w-1');
    const file = (code: number, condition: string) => `name: t
on: push
jobs:
  build: { run: exit ${code} }
  page: { needs: build, run: echo page, if: failure() }
  maybe: { run: echo maybe, if: "${condition}" }
  after: { needs: page, run: echo after }
  both: { needs: [page, maybe], run: echo both }
`;
    const ends = async (code: number, condition: string) => {
      const { page, after, both } = statuses(await site.ended(await site.run(file(code, condition))));
      return [page, after, both];
    };
    expect(await ends(0, 'true')).toEqual(['skipped', 'skipped', 'success']);
    expect(await ends(0, 'false')).toEqual(['skipped', 'skipped', 'skipped']);
    expect(await ends(1, 'true')).toEqual(['success', 'skipped', 'skipped']);
  });

  it('[SRV-562] a clean-up runs, too, if every ancestor was skipped', async () => {
    const site = await Site.open();
    site.worker('w-1');
    const id = await site.run(`name: t
on: push
jobs:
  a: { run: echo a, if: "false" }
  b: { needs: a, run: echo b }
  z: { needs: [a, b], run: echo z, if: always() }
  y: { needs: a, run: echo y, if: failure() }
  after: { needs: z, run: echo after }
`);
    expect(statuses(await site.ended(id))).toEqual({
      a: 'skipped',
      b: 'skipped',
      z: 'success',
      y: 'skipped',
      after: 'success',
    });
  });

  it('[SRV-562] a clean-up runs after a cancellation, and its worker is not told to stop', async () => {
    const site = await Site.open();
    const worker = site.worker('w-1');
    const id = await site.run(`name: t
on: push
jobs:
  build: { run: sleep 30 }
  tidy: { needs: build, run: sleep 0.3, if: always() }
`);
    await expect.poll(() => worker.claims.length).toBe(1);
    await site.client.cancelWorkflow(id);
    expect(statuses(await site.ended(id))).toEqual({ build: 'cancelled', tidy: 'success' });
  });

  it('[SRV-553] the client sends jobs as a list, and reads every field that it knows', async () => {
    const site = await Site.open();
    const base = { status: 'queued', duration_secs: null, started_at: null, output: null };
    const jobs = [
      { ...base, id: 'a-1', name: 'First', command: 'echo one', depends_on: [], metadata: { node_type: 'x' } },
      { ...base, id: '2-b', name: 'Second', command: 'exit 1', depends_on: ['a-1'], max_retries: 1, ports: [] },
      { ...base, id: 'c', name: 'Third', command: 'echo 3', depends_on: ['2-b'], children: null, collapsed: false },
    ];
    const created = await site.client.createWorkflow({ name: 'Listed', trigger: 'manual', jobs });
    expect(created).toMatchObject({ name: 'Listed', trigger: 'manual' });
    expect(created.jobs[1]).toMatchObject({ id: '2-b', name: 'Second', command: 'exit 1', depends_on: ['a-1'] });
    expect(created.jobs.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
    const before = Date.now();
    await site.client.runWorkflow(created.id);
    const worker = site.worker('w-1');
    const { jobs: after } = await site.ended(created.id);
    expect(after.map(({ status, attempt }) => [status, attempt])).toEqual([
      ['success', 0],
      ['failure', 1],
      ['skipped', 0],
    ]);
    expect(after[0]).toMatchObject({ metadata: { node_type: 'x' }, outputs: { code: '0' }, duration_secs: 0 });
    expect(after[0]?.started_at).toBeGreaterThanOrEqual(before);
    expect(after.map(({ output }) => output)).toEqual([null, 'exit code 1', null]);
    expect(after[2]).toMatchObject({ started_at: null, duration_secs: null, outputs: {} });
    expect(worker.claims[1]?.job).toMatchObject({ upstream_outputs: { 'a-1': { code: '0' } } });
    // Posted once more it is another workflow, as it is there.
    expect((await site.client.createWorkflow({ name: 'Listed', trigger: 'manual', jobs })).id).not.toBe(created.id);
  });

  it('[SRV-554] a claim has the retry policy, the time of queueing, and maps of strings for every job that is needed', async () => {
    const site = await Site.open();
    const id = await site.run(`name: t
on: push
jobs:
  a: { run: x }
  b: { run: y, needs: a, if: "$nodes.a.output.go == 'yes'" }
  c: { run: z, needs: [a, b], retries: 2 }
`);
    const worker = new OriginWorker({ base: () => site.booted.server.url, workerId: 'w', token: TOKEN });
    const claim = async () => {
      let found = await worker.claim();
      await expect.poll(async () => (found ??= await worker.claim())).not.toBeNull();
      return found as NonNullable<typeof found>;
    };
    const first = await claim();
    expect(first.job).toMatchObject({ workflow_id: id, retry_policy: { max_retries: 0, backoff: 'None' } });
    expect(first.job.enqueued_at_ms).toBeLessThanOrEqual(first.lease.granted_at_ms);
    const outputs = { go: 'no', n: 7, deep: { x: [1] } };
    expect(await post(site, `/api/jobs/${first.lease.lease_id}/complete`, { outputs })).toBe(200);
    const queued = Date.now();
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(queued);
    const third = await claim();
    expect(third.job).toMatchObject({ job_id: 'c', retry_policy: { max_retries: 2, backoff: 'None' } });
    // The time at which it was queued, not that of the claim.
    expect(third.job.enqueued_at_ms).toBeLessThanOrEqual(queued);
    expect(third.job.upstream_outputs).toEqual({ a: { go: 'no', n: '7', deep: '{"x":[1]}' }, b: {} });
  });

  it('[SRV-554] back-off is written as an enum is written there', async () => {
    const site = await Site.open();
    const job = (retry: object) => ({
      action: 'workflow-graph.job@1',
      with: { steps: [{ run: 'x', env: {} }] },
      retry,
    });
    const nodes = {
      a: job({ policy: 'fixed', delay: '5s', attempts: 3 }),
      b: job({ policy: 'exponential', initial: '2s', max: '1m', attempts: 2 }),
    };
    const { client } = site.booted;
    await client.call('registerWorkflow', { body: { definition: { id: 'own', nodes } } });
    await client.call('startExecution', { body: { workflowId: 'own' } });
    const worker = new OriginWorker({ base: () => site.booted.server.url, workerId: 'w', token: TOKEN });
    const policies: unknown[] = [];
    await expect.poll(async () => policies.push(...[(await worker.claim())?.job.retry_policy].filter(Boolean))).toBe(2);
    expect(policies).toEqual([
      { max_retries: 2, backoff: { Fixed: { delay_secs: 5 } } },
      { max_retries: 1, backoff: { Exponential: { base_secs: 2, max_secs: 60 } } },
    ]);
  });
});

describe('workers of workflow-graph', () => {
  it('[SRV-555] are idle, busy or offline, and have the job that they run', async () => {
    const site = await Site.open();
    const before = Date.now();
    const worker = site.worker('w-1', { labels: ['linux'] });
    const only = async () => (await site.client.listWorkers())[0];
    await expect.poll(only).toMatchObject({ worker_id: 'w-1', labels: ['linux'], current_job: null, status: 'idle' });
    expect((await only())?.registered_at_ms).toBeGreaterThanOrEqual(before);
    const id = await site.run('name: t\non: push\njobs: { long-one: { run: sleep 5 } }');
    await expect.poll(only).toMatchObject({ current_job: 'long-one', status: 'busy' });
    await site.client.cancelWorkflow(id);
    await expect.poll(only).toMatchObject({ current_job: null, status: 'idle' });
    expect(statuses(await site.ended(id))).toEqual({ 'long-one': 'cancelled' });
    await worker.stop();
  });

  it('[WFG-15] are busy while they have a lease, which they prove alive by it alone, before and after a restart', async () => {
    const site = await Site.open();
    const worker = new OriginWorker({ base: () => site.booted.server.url, workerId: 'w-1', token: TOKEN });
    await site.run('name: t\non: push\njobs: { long: { run: x } }');
    const { lease_id: lease } = ((await worker.claim()) as Claim).lease;
    const silent = async () => {
      const { records, clock } = site.booted.parts;
      const record = JSON.parse((await records.get('worker', 'w-1'))?.body as string);
      const body = JSON.stringify({ ...record, seenAt: clock.now() - 100_000 });
      await records.commit([{ kind: 'worker', id: 'w-1', body }]);
    };
    const shown = async () => {
      const [one] = await site.client.listWorkers();
      return [one?.status, one?.current_job, Date.now() - (one?.last_heartbeat_ms ?? 0) < 50_000];
    };
    await silent();
    expect(await shown()).toEqual(['busy', 'long', false]);
    const chunks = [{ data: 'x', sequence: 0 }];
    for (const [path, body] of [
      ['heartbeat', undefined],
      ['logs', { chunks }],
    ] as const) {
      await silent();
      expect(await post(site, `/api/jobs/${lease}/${path}`, body)).toBe(200);
      expect(await shown()).toEqual(['busy', 'long', true]);
    }
    await silent();
    await site.restart();
    expect(await post(site, `/api/jobs/${lease}/heartbeat`, {})).toBe(200);
    expect(await shown()).toEqual(['busy', 'long', true]);
    await post(site, `/api/jobs/${lease}/complete`, {});
    await silent();
    expect(await shown()).toEqual(['offline', null, false]);
  });

  it('[SRV-556] logs of a job are replayed and streamed as events named log', async () => {
    const site = await Site.open();
    site.worker('w-1');
    const id = await site.run(
      'name: t\non: push\njobs: { a: { run: "echo one; sleep 0.3; echo two >&2; sleep 0.1" } }',
    );
    await expect.poll(async () => (await site.client.getJobLogs(id, 'a')).length).toBeGreaterThan(0);
    const streamed = await site.client.streamLogs(id, 'a');
    expect(streamed.map(({ data, stream }) => [data.trim(), stream])).toEqual([
      ['one', 'stdout'],
      ['two', 'stderr'],
    ]);
    expect(streamed.every((chunk) => chunk.workflow_id === id && chunk.job_id === 'a')).toBe(true);
    expect(await site.client.getJobLogs(id, 'a')).toEqual(streamed);
  });

  it('[SRV-557] ?status= gives the workflows that have a job in that status', async () => {
    const site = await Site.open();
    site.worker('w-1');
    const mixed = await site.run('name: m\non: push\njobs: { a: { run: exit 1 }, b: { needs: a, run: x } }');
    const good = await site.run('name: g\non: push\njobs: { a: { run: "true" } }');
    await site.ended(mixed);
    await site.ended(good);
    const ids = async (query: string) => (await site.client.listWorkflows(query)).map(({ id }) => id);
    expect(await ids('?status=skipped')).toEqual([mixed]);
    expect(await ids('?status=failure')).toEqual([mixed]);
    expect(await ids('?status=success')).toEqual([good]);
    expect(await ids('?status=queued')).toEqual([]);
    expect((await ids('')).toSorted()).toEqual([good, mixed].toSorted());
    expect(await ids('?limit=1&offset=1')).toHaveLength(1);
    expect(await ids('?offset=2')).toEqual([]);
    expect(await ids('?offset=100000')).toEqual([]);
  });
});

describe('runs of one workflow', () => {
  it('[SRV-552] cancelling a named run stops its workers and no others', async () => {
    const site = await Site.open();
    const first = site.worker('w-1');
    const id = await site.run('name: t\non: push\njobs: { a: { run: sleep 30 } }');
    await expect.poll(() => first.claims.length).toBe(1);
    // The first run continues while a second run of the same workflow begins and is cancelled.
    const second = site.worker('w-2');
    await site.client.runWorkflow(id);
    await expect.poll(() => second.claims.length).toBe(1);
    const name = second.claims[0]?.job.workflow_id ?? '';
    expect(name.split('.')[0]).toBe(id);
    await site.client.cancelWorkflow(name);
    await expect.poll(() => second.answers.length).toBe(1);
    const asked = first.cancelLooks;
    await expect.poll(() => first.cancelLooks - asked).toBeGreaterThan(2);
    expect(first.answers).toEqual([]);
    expect(first.claims[0]?.job.workflow_id).toBe(id);
    expect((await site.client.getStatus(name)).jobs[0]?.status).toBe('cancelled');
  });

  it('[SRV-552] cancelling a workflow stops all its runs, also those before the newest', async () => {
    const site = await Site.open();
    const first = site.worker('w-1');
    const id = await site.run('name: t\non: push\njobs: { a: { run: \'test "$FAST" = yes || sleep 30\' } }');
    await expect.poll(() => first.claims.length).toBe(1);
    const second = site.worker('w-2');
    await site.client.runWorkflow(id);
    await expect.poll(() => second.claims.length).toBe(1);
    // A third run has ended, and one was not started through the protocol.
    const direct = new OriginWorker({ base: () => site.booted.server.url, workerId: 'w-3', token: TOKEN });
    await site.client.runWorkflow(id);
    let lease = '';
    await expect.poll(async () => (lease = (await direct.claim())?.lease.lease_id ?? '')).not.toBe('');
    await post(site, `/api/jobs/${lease}/complete`, { outputs: {} });
    const { client } = site.booted;
    const { executionId } = await client.call('startExecution', { body: { workflowId: id } });
    await site.client.cancelWorkflow(id);
    await expect.poll(() => [first.answers.length, second.answers.length]).toEqual([1, 1]);
    const { items } = await client.call('listExecutions', { query: { workflowId: id } });
    expect(items.map((one) => [one.executionId === executionId, one.status])).toEqual([
      [true, 'running'],
      [false, 'completed'],
      [false, 'cancelled'],
      [false, 'cancelled'],
    ]);
    await site.client.cancelWorkflow(`${id}.${executionId}`);
    await expect
      .poll(async () => (await client.call('getExecution', { params: { executionId } })).status)
      .toBe('cancelled');
  });

  it('[SRV-552] a run that follows a cancelled one is not cancelled with it', async () => {
    const site = await Site.open();
    // This worker never asks whether its job was cancelled, and so continues.
    const slow = site.worker('w-1', { cancelMs: 60_000 });
    const id = await site.run('name: t\non: push\njobs: { a: { run: sleep 0.5 } }');
    await expect.poll(() => slow.claims.length).toBe(1);
    await site.client.cancelWorkflow(id);
    await site.client.runWorkflow(id);
    const next = site.worker('w-2');
    await expect.poll(() => next.claims.length).toBe(1);
    await expect.poll(() => next.answers, { timeout: 5_000 }).toEqual([200]);
    expect(statuses(await site.ended(id))).toEqual({ a: 'success' });
  });
});

describe('leases of workflow-graph', () => {
  it('[SRV-558] a lease of two minutes is one after a restart, too: the job ends once', async () => {
    const { keeping, remove } = await sqliteKeeping();
    closing.push(remove);
    const site = await Site.open({ keeping });
    const worker = site.worker('w-1', { leaseSeconds: 120, heartbeatMs: 50 });
    const id = await site.run('name: t\non: push\njobs: { a: { run: sleep 1.5 }, b: { needs: a, run: echo b } }');
    await expect.poll(() => worker.claims.length).toBe(1);
    const { lease_id: lease } = (worker.claims[0] as NonNullable<(typeof worker.claims)[0]>).lease;
    await site.restart();
    const beats = worker.heartbeats;
    await expect.poll(() => worker.heartbeats - beats).toBeGreaterThan(2);
    const state = await site.booted.parts.engine.remote.extend(lease, {}, 'owner');
    expect(state.until - Date.now()).toBeGreaterThan(100_000);
    expect(statuses(await site.ended(id))).toEqual({ a: 'success', b: 'success' });
    expect(worker.claims.map(({ job }) => [job.job_id, job.attempt])).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
  });

  it('[SRV-559] retries counts failures and lost leases together', async () => {
    const site = await Site.open();
    const lost = site.worker('w-1', { leaseSeconds: 1, heartbeatMs: 60_000 });
    const id = await site.run('name: t\non: push\njobs: { a: { run: sleep 30, retries: 1 } }');
    await expect.poll(() => lost.claims.length).toBe(1);
    await lost.kill();
    const second = site.worker('w-2');
    await expect.poll(() => second.claims.length, { timeout: 10_000 }).toBe(1);
    expect(second.claims[0]?.job.attempt).toBe(1);
    const fail = `/api/jobs/${second.claims[0]?.lease.lease_id}/fail`;
    await post(site, fail, { error: 'broken', retryable: true });
    expect(statuses(await site.ended(id))).toEqual({ a: 'failure' });
    expect((await site.client.getStatus(id)).jobs[0]?.attempt).toBe(1);
  });

  it('[SRV-560] a failure that its worker does not call retryable is not retried', async () => {
    const site = await Site.open();
    const worker = new OriginWorker({ base: () => site.booted.server.url, workerId: 'w', token: TOKEN });
    for (const body of [{ error: 'no' }, { error: 'no', retryable: false }]) {
      const id = await site.run('name: t\non: push\njobs: { a: { run: x, retries: 5 } }');
      let lease = '';
      await expect.poll(async () => (lease = (await worker.claim())?.lease.lease_id ?? '')).not.toBe('');
      await post(site, `/api/jobs/${lease}/fail`, body);
      expect(statuses(await site.ended(id))).toEqual({ a: 'failure' });
    }
  });
});
