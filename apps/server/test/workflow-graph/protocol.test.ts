/** The endpoints of workflow-graph, and its mistakes, mended. */
import { execFileSync, spawnSync } from 'node:child_process';
import type { Json, JsonObject } from '@nebula/core';
import { afterEach, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from '../support/boot.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the endpoint gives
  readonly body: any;
}

class Graph {
  readonly server: Booted;

  constructor(server: Booted) {
    this.server = server;
  }

  async call(
    method: string,
    path: string,
    body?: Json | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json';
    const response = await fetch(`${this.server.server.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body !== undefined && { 'content-type': type }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  async run(yaml: string): Promise<string> {
    const { status, body } = await this.call('POST', '/workflows', yaml);
    expect([status, body]).toEqual([201, expect.objectContaining({ status: 'created' })]);
    expect(await this.call('POST', `/workflows/${body.id}/run`)).toMatchObject({ status: 202 });
    return body.id as string;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async claim(labels: readonly string[] = [], ttl = 30): Promise<any> {
    const body = { worker_id: 'w1', labels: [...labels], lease_ttl_secs: ttl };
    let answer: Answer = { status: 0, body: null };
    await expect
      .poll(
        async () => {
          answer = await this.call('POST', '/jobs/claim', body);
          return answer.body;
        },
        { timeout: 10_000 },
      )
      .not.toBeNull();
    return answer.body;
  }

  async nothing(labels: readonly string[] = []): Promise<void> {
    const body = { worker_id: 'w1', labels: [...labels] };
    expect(await this.call('POST', '/jobs/claim', body)).toEqual({ status: 200, body: null });
  }

  async complete(lease: string, outputs: Json = {}): Promise<void> {
    expect(await this.call('POST', `/jobs/${lease}/complete`, { outputs })).toMatchObject({ status: 200 });
  }

  async status(id: string): Promise<Answer['body']> {
    return (await this.call('GET', `/workflows/${id}/status`)).body;
  }

  async until(id: string, status: string): Promise<void> {
    await expect.poll(async () => (await this.status(id)).status, { timeout: 10_000 }).toBe(status);
  }
}

async function opened(): Promise<Graph> {
  const server = await boot();
  closing.push(() => server.close());
  return new Graph(server);
}

describe('workflow-graph', () => {
  it('[WFG-1] workflows, workers, claims and leases, as its workers know them', async () => {
    const graph = await opened();
    expect(await graph.call('POST', '/workers/register', { worker_id: 'w1', labels: ['linux'] })).toMatchObject({
      status: 200,
    });
    expect(await graph.call('POST', '/workers/w1/heartbeat')).toMatchObject({ status: 200 });
    expect((await graph.call('GET', '/workers')).body).toMatchObject([{ worker_id: 'w1', labels: ['linux'] }]);
    const id = await graph.run(`name: CI
on: push
env: { G: v }
jobs:
  lint: { run: make lint }
  build: { name: Build, needs: lint, run: make, env: { X: "it's" }, labels: [linux], retries: 2, timeout: 60 }`);
    const { job, lease } = await graph.claim(['linux']);
    expect(job).toMatchObject({ job_id: 'lint', workflow_id: id, attempt: 0, upstream_outputs: {} });
    expect(job.command).toBe("export G='v'\nmake lint");
    expect(lease).toMatchObject({ job_id: 'lint', workflow_id: id, worker_id: 'w1', ttl_secs: 30 });
    expect(await graph.call('POST', `/jobs/${lease.lease_id}/heartbeat`)).toMatchObject({ status: 200 });
    await graph.complete(lease.lease_id, { version: '7' });
    const next = await graph.claim(['linux']);
    expect(next.job).toMatchObject({
      job_id: 'build',
      required_labels: ['linux'],
      retry_policy: { max_retries: 2 },
    });
    await graph.complete(next.lease.lease_id);
    await graph.until(id, 'success');
    expect((await graph.call('GET', '/workflows?status=success&limit=5&offset=0')).body).toMatchObject([
      { id, name: 'CI' },
    ]);
    expect((await graph.call('GET', '/workflows?status=failure')).body).toEqual([]);
    expect(await graph.call('GET', '/workflows/none/status')).toMatchObject({ status: 404 });
  });

  it('[SRV-643] a jobs file of the folder is listed beside posted ones, and other workflows are not', async () => {
    const graph = await opened();
    const { client } = graph.server;
    const source = 'name: Nightly\non: push\njobs:\n  unit-tests: { run: make test }\n';
    const { workflowId } = await client.call('registerWorkflow', { body: { source, filename: 'nightly.yml' } });
    await client.call('registerWorkflow', {
      body: { definition: { id: 'other', nodes: { a: { action: 'core.noop' } } } },
    });
    const id = await graph.run('name: Posted\njobs: { a: { run: x } }');
    const listed = async (query = '') =>
      (await graph.call('GET', `/workflows${query}`)).body.map((one: { id: string }) => one.id).toSorted();
    expect(await listed()).toEqual([workflowId, id].toSorted());
    expect(await listed('?limit=1')).toEqual([[workflowId, id].toSorted()[0]]);
    expect(await graph.call('POST', `/workflows/${workflowId}/run`)).toMatchObject({ status: 202 });
    await graph.complete((await graph.claim()).lease.lease_id);
    await graph.complete((await graph.claim()).lease.lease_id);
    await graph.until(workflowId, 'success');
    expect(await listed('?status=success')).toEqual([workflowId, id].toSorted());
    await client.call('registerWorkflow', {
      body: { definition: { id: workflowId, nodes: { a: { action: 'core.noop' } } } },
    });
    expect(await listed()).toEqual([id]);
  });

  it('[WFG-2] labels and retries hold for every job, not only for the first ones', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x }, b: { needs: a, run: y, labels: [gpu], retries: 1 } }');
    await graph.complete((await graph.claim()).lease.lease_id);
    await graph.nothing();
    const first = await graph.claim(['gpu', 'more']);
    await graph.call('POST', `/jobs/${first.lease.lease_id}/fail`, { error: 'broken', retryable: true });
    const second = await graph.claim(['gpu']);
    expect(second.job).toMatchObject({ job_id: 'b', attempt: 1 });
    await graph.call('POST', `/jobs/${second.lease.lease_id}/fail`, { error: 'broken again' });
    await graph.until(id, 'failure');
    expect((await graph.status(id)).jobs[1]).toMatchObject({ status: 'failure', error: 'broken again' });
  });

  it('[WFG-2] a failure that is not retryable is not retried', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x, retries: 5 } }');
    const { lease } = await graph.claim();
    await graph.call('POST', `/jobs/${lease.lease_id}/fail`, { error: 'no', retryable: false });
    await graph.until(id, 'failure');
  });

  it('[WFG-3] conditions and time limits are not ignored', async () => {
    const graph = await opened();
    const id = await graph.run(`jobs:
  a: { run: x }
  b: { needs: a, run: y, if: "$nodes.a.output.go == 'yes'" }
  c: { needs: a, run: z, timeout: 1 }
  d: { needs: a, run: w, if: "failure()" }`);
    await graph.complete((await graph.claim()).lease.lease_id, { go: 'no' });
    const { job } = await graph.claim();
    expect(job.job_id).toBe('c');
    await graph.nothing();
    await graph.until(id, 'failure');
    const { jobs } = await graph.status(id);
    expect(jobs.map((one: { status: string }) => one.status)).toEqual(['success', 'skipped', 'failure', 'skipped']);
    expect(await graph.call('POST', '/workflows', 'jobs: { a: { run: x, if: "((" } }')).toMatchObject({ status: 422 });
    expect(await graph.call('POST', '/workflows', 'jobs: { a: { run: x, timeout: soon } }')).toMatchObject({
      status: 422,
    });
  });

  it('[WFG-4] cycles and unknown jobs are refused', async () => {
    const graph = await opened();
    for (const bad of [
      'jobs: { a: { run: x, needs: b }, b: { run: y, needs: a } }',
      'jobs: { a: { run: x, needs: none } }',
      '{',
      'jobs: 7',
    ]) {
      const { status } = await graph.call('POST', '/workflows', bad);
      expect([400, 422]).toContain(status);
    }
  });

  it('[SRV-561] unknown keys are refused with their place', async () => {
    const graph = await opened();
    for (const [bad, path] of [
      ['jobs: { a: { run: x, runs-on: linux } }', 'jobs.a.runs-on'],
      ['jobs: { a: { steps: [{ run: x, uses: y }] } }', 'jobs.a.steps.0.uses'],
      ['concurrency: 1\njobs: { a: { run: x } }', 'concurrency'],
    ] as const) {
      const { status, body } = await graph.call('POST', '/workflows', bad);
      expect([status, body.details?.problems ?? body.problems]).toEqual([
        422,
        [expect.objectContaining({ code: 'UNKNOWN_KEY', path })],
      ]);
    }
  });

  it('[WFG-5] outputs of jobs are passed on', async () => {
    const graph = await opened();
    await graph.run('jobs: { a: { run: x }, b: { needs: [a], run: y } }');
    await graph.complete((await graph.claim()).lease.lease_id, { image: 'app:7' });
    expect((await graph.claim()).job.upstream_outputs).toEqual({ a: { image: 'app:7' } });
  });

  it('[WFG-6] every run has an id and a history', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x } }');
    await graph.complete((await graph.claim()).lease.lease_id, { n: 1 });
    await graph.until(id, 'success');
    const { run_id: first } = await graph.status(id);
    await graph.call('POST', `/workflows/${id}/run`);
    expect((await graph.status(id)).run_id).not.toBe(first);
    const old = await graph.call('GET', `/workflows/${id}/status?run=${first}`);
    expect(old.body).toMatchObject({ run_id: first, status: 'success', jobs: [{ outputs: { n: '1' } }] });
  });

  it('[WFG-7] a lease that passes without retries left fails the run', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x } }');
    const { lease } = await graph.claim([], 1);
    await graph.until(id, 'failure');
    for (const path of ['heartbeat', 'complete', 'fail']) {
      expect(await graph.call('POST', `/jobs/${lease.lease_id}/${path}`, {})).toMatchObject({ status: 409 });
    }
  });

  it('[WFG-8] a cancelled job is not given out again', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x, retries: 3 }, b: { needs: a, run: y } }');
    const { lease } = await graph.claim();
    expect((await graph.call('GET', `/jobs/${id}/a/cancelled`)).body).toBe(false);
    expect(await graph.call('POST', `/workflows/${id}/cancel`)).toMatchObject({ status: 202 });
    await expect.poll(async () => (await graph.call('GET', `/jobs/${id}/a/cancelled`)).body).toBe(true);
    await graph.call('POST', `/jobs/${lease.lease_id}/fail`, { error: 'stopped', retryable: true });
    await graph.until(id, 'cancelled');
    await graph.nothing();
    expect((await graph.call('GET', `/jobs/${id}/a/cancelled`)).body).toBe(true);
  });

  it('[WFG-9] unauthenticated callers are refused', async () => {
    const graph = await opened();
    const nobody = { authorization: 'Bearer wrong' };
    for (const [method, path] of [
      ['GET', '/workflows'],
      ['POST', '/workflows'],
      ['GET', '/workflows/x/status'],
      ['POST', '/workflows/x/run'],
      ['GET', '/workers'],
      ['POST', '/workers/register'],
      ['POST', '/jobs/claim'],
    ] as const) {
      const body = method === 'POST' ? {} : undefined;
      expect(await graph.call(method, path, body, nobody)).toMatchObject({ status: 401 });
    }
  });

  it('[WFG-10] logs are accepted from the holder of the lease, stored, and streamed from the beginning', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x } }');
    const { lease } = await graph.claim();
    const chunk = (sequence: number, data: string, stream = 'stdout') => ({
      workflow_id: id,
      job_id: 'a',
      sequence,
      data,
      timestamp_ms: 1_700_000_000_000 + sequence,
      stream,
    });
    const push = (...chunks: Json[]) => graph.call('POST', `/jobs/${lease.lease_id}/logs`, { chunks });
    expect(await push(chunk(0, 'one'), chunk(1, 'two', 'stderr'))).toMatchObject({ status: 200 });
    expect((await graph.call('GET', `/workflows/${id}/jobs/a/logs`)).body).toEqual([
      chunk(0, 'one'),
      chunk(1, 'two', 'stderr'),
    ]);
    const response = await fetch(`${graph.server.server.url}/api/workflows/${id}/jobs/a/logs/stream`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = response.text();
    await push(chunk(2, 'three'));
    await graph.complete(lease.lease_id);
    const data = (await text).split('\n').filter((line) => line.startsWith('data: '));
    expect(data.map((line) => JSON.parse(line.slice(6)).data)).toEqual(['one', 'two', 'three']);
    expect(await push(chunk(3, 'late'))).toMatchObject({ status: 409 });
  });

  it('[WFG-16] a status is posted back as it is, and nothing is lost', async () => {
    const graph = await opened();
    const id = await graph.run(`env: { G: "it's" }
jobs:
  a: { name: A, run: "echo {{.a}}", retries: 2, labels: [linux], env: { L: x } }
  b: { name: B, needs: a, run: b, if: always(), timeout: 2.5 }
  c: { name: C, needs: a, run: c, if: failure() }
  d: { name: D, needs: a, run: d, if: "$nodes.a.output.go == 'yes'" }
  e:
    name: E
    needs: [a, b]
    steps: [{ run: one, env: { S: s } }, { run: two, if: "$nodes.a.output.go == 'yes'" }, { run: three, if: always() }]`);
    await graph.complete((await graph.claim(['linux'])).lease.lease_id);
    const shown = await graph.status(id);
    expect(shown.jobs[0]).toMatchObject({ command: 'echo {{.a}}', env: { G: "it's", L: 'x' } });
    expect(shown.jobs[1]).toMatchObject({ if: 'always()', timeout: 2.5 });
    const posted = await graph.call('POST', '/workflows', shown);
    expect([posted.status, posted.body.id === id]).toEqual([201, false]);
    const { store } = graph.server.parts;
    const nodes = async (workflowId: string) => {
      const { id: _, ...rest } = JSON.parse((await store.workflowVersion(workflowId))?.definition as string);
      return rest;
    };
    expect(await nodes(posted.body.id)).toEqual(await nodes(id));
    // An edit counts, also one of a command that was made from steps.
    const edited = {
      ...shown,
      jobs: shown.jobs.map((job: JsonObject) => ({ ...job, command: `${job['command']} 2` })),
    };
    const { body } = await graph.call('POST', '/workflows', edited);
    expect(body.jobs.map(({ command }: { command: string }) => command)).toEqual(
      edited.jobs.map(({ command }: { command: string }) => command),
    );
    expect(body.jobs[4].steps).toBeUndefined();
  });

  it('[WFG-17] the status of a run has the jobs of its version', async () => {
    const graph = await opened();
    const register = (source: string) =>
      graph.server.client.call('registerWorkflow', { body: { source, filename: 'changing.yml' } });
    const { workflowId } = await register(
      'name: Changing\njobs: { old: { run: one }, keep: { needs: old, run: one } }',
    );
    const { body } = await graph.call('POST', `/workflows/${workflowId}/run`);
    const { lease } = await graph.claim();
    await register('name: Changing\njobs: { new: { run: two }, keep: { needs: new, run: two } }');
    await graph.complete(lease.lease_id, { n: 'x' });
    const jobs = async (query = '') =>
      (await graph.call('GET', `/workflows/${workflowId}/status${query}`)).body.jobs.map((job: JsonObject) => [
        job['id'],
        job['command'],
        job['status'],
      ]);
    const before = [
      ['old', 'one', 'success'],
      ['keep', 'one', 'queued'],
    ];
    expect(await jobs()).toEqual(before);
    await graph.call('POST', `/workflows/${workflowId}/run`);
    expect((await jobs())[0]).toEqual(['new', 'two', 'queued']);
    expect(await jobs(`?run=${body.run_id}`)).toEqual(before);
  });

  it('[WFG-18] a long log chunk is kept whole, in pieces; streams are stdout or stderr', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x } }');
    const { lease } = await graph.claim();
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at} ${'x'.repeat(at % 97)}\n`).join('');
    const data = `${lines}${'😀'.repeat(60_000)}x${'😀'.repeat(60_000)}`;
    const chunk = { sequence: 3, data, stream: 'Stderr' };
    const chunks = [chunk, { data: '', stream: 'console' }];
    expect(await graph.call('POST', `/jobs/${lease.lease_id}/logs`, { chunks })).toMatchObject({ status: 200 });
    const { body } = await graph.call('GET', `/workflows/${id}/jobs/a/logs`);
    const pieces = body.slice(0, -1) as { data: string; sequence: number; stream: string }[];
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.map((piece) => piece.data).join('') === data).toBe(true);
    expect(pieces.every((piece) => piece.sequence === 3 && piece.stream === 'stderr')).toBe(true);
    expect(pieces.filter((piece) => piece.data.endsWith('\n')).length).toBeGreaterThan(5);
    expect(body.at(-1)).toMatchObject({ data: '', stream: 'stdout' });
  });

  it('[WFG-19] only the limit of a list has a maximum, not its offset', async () => {
    const graph = await opened();
    const { store, records } = graph.server.parts;
    const many = Array.from({ length: 1_005 }, (_, at) => `many-${String(at).padStart(4, '0')}`);
    const { body: first } = await graph.call('POST', '/workflows', 'name: a\njobs: { a: { run: x } }');
    const row = await store.workflowVersion(first.id);
    for (const workflowId of many) {
      await store.registerWorkflow({ ...row, workflowId, version: undefined, hash: workflowId } as never);
      await records.commit([{ kind: 'workflow', id: workflowId, body: '{"project":"default","active":null}' }]);
    }
    const ids = async (query: string) =>
      (await graph.call('GET', `/workflows${query}`)).body.map((one: { id: string }) => one.id);
    expect(await ids('?offset=1003&limit=2')).toEqual(many.slice(1_002, 1_004));
    expect(await ids('?limit=5000')).toHaveLength(1_000);
  });

  it('[WFG-21] the log stream of a workflow that was never run is empty', async () => {
    const graph = await opened();
    const { body } = await graph.call('POST', '/workflows', 'jobs: { a: { run: x } }');
    const response = await fetch(`${graph.server.server.url}/api/workflows/${body.id}/jobs/a/logs/stream`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      expect.stringContaining('text/event-stream'),
      '',
    ]);
  });

  it('[WFG-22] a failed job has its error as output, and a job that is queued again has not started', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x, retries: 1 } }');
    const fail = async (error: string) => {
      const { lease } = await graph.claim();
      expect((await graph.status(id)).jobs[0]).toMatchObject({ status: 'running', started_at: expect.any(Number) });
      await graph.call('POST', `/jobs/${lease.lease_id}/fail`, { error, retryable: true });
    };
    await fail('first');
    expect((await graph.status(id)).jobs[0]).toMatchObject({
      status: 'queued',
      started_at: null,
      started_at_ms: null,
      output: null,
    });
    await fail('second');
    expect((await graph.status(id)).jobs[0]).toMatchObject({ status: 'failure', output: 'second', error: 'second' });
  });

  it('[WFG-23] what is not there was not cancelled, a long lease is shortened, an empty workflow ends at once', async () => {
    const graph = await opened();
    const id = await graph.run('jobs: { a: { run: x } }');
    const { lease } = await graph.claim([], 1_000_000);
    expect(lease.ttl_secs).toBe(3_600);
    await graph.call('POST', `/workflows/${id}/cancel`);
    // The engine acts on the request in its own time; a failure before that would be the end of the job.
    await expect.poll(async () => (await graph.call('GET', `/jobs/${id}/a/cancelled`)).body).toBe(true);
    await graph.call('POST', `/jobs/${lease.lease_id}/fail`, {});
    await graph.until(id, 'cancelled');
    for (const path of [`${id}/nothing`, `${id}/constructor`, 'nothing/a']) {
      expect(await graph.call('GET', `/jobs/${path}/cancelled`)).toEqual({ status: 200, body: false });
    }
    for (const empty of [{ name: 'e', jobs: [] }, 'name: e\njobs: {}']) {
      const { status, body } = await graph.call('POST', '/workflows', empty);
      expect([status, body.jobs]).toEqual([201, []]);
      await graph.call('POST', `/workflows/${body.id}/run`);
      await graph.until(body.id, 'success');
    }
  });

  it('[WFG-24] requests are logged at debug, by their route', async () => {
    const lines: string[] = [];
    const seen: string[] = [];
    const server = await boot({
      log: { level: 'debug', stream: { write: (line: string) => lines.push(line) } },
      onRequest: (route, status) => seen.push(`${route} ${status}`),
    });
    closing.push(() => server.close());
    const graph = new Graph(server);
    const id = await graph.run('jobs: { a: { run: x } }');
    const { lease } = await graph.claim();
    await graph.complete(lease.lease_id);
    await graph.call('GET', '/workflows', undefined, { authorization: 'Bearer wrong' });
    const requests = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    await expect
      .poll(() => requests().map(({ operation, status }) => `${operation} ${status}`))
      .toContain('GET /api/workflows 401');
    expect(seen).toContain('POST /api/jobs/:lease/complete 200');
    expect(requests()).toContainEqual(
      expect.objectContaining({ level: 'debug', operation: 'POST /api/workflows/:id/run', status: 202 }),
    );
    expect(lines.join('')).not.toContain(lease.lease_id);
    expect(lines.join('')).not.toContain(id);
  });

  it('[WFG-11] steps are one command, with their variables and conditions; braces are theirs', async () => {
    const graph = await opened();
    await graph.run(`env: { WHO: "o'hara" }
jobs:
  a:
    steps:
      - id: one
        run: printf "%s\\n" "$WHO {{.Names}}"
      - run: echo never
        if: 1 > 2
      - run: echo "$X"
        env: { X: two }
      - run: echo "[$X]"
        if: 1 < 2`);
    const { job } = await graph.claim();
    expect(execFileSync('sh', ['-c', job.command]).toString()).toBe("o'hara {{.Names}}\ntwo\n[]\n");
  });

  it('[WFG-20] a failed command ends its step and the job; steps for failures still run', async () => {
    const graph = await opened();
    const ran = async (job: JsonObject) => {
      await graph.run(JSON.stringify({ jobs: { a: job } }));
      const claim = await graph.claim();
      await graph.complete(claim.lease.lease_id);
      const { status, stdout } = spawnSync('sh', ['-c', claim.job.command], { encoding: 'utf8' });
      return [status, stdout];
    };
    const steps = (...list: (string | JsonObject)[]) => ({
      steps: list.map((step) => (typeof step === 'string' ? { run: step } : step)),
    });
    const broken = 'false\necho hi';
    expect(await ran({ run: broken })).toEqual([0, 'hi\n']);
    expect(await ran(steps(broken))).toEqual([1, '']);
    expect(await ran(steps('echo one', broken))).toEqual([1, 'one\n']);
    const always = { run: 'echo tidy', if: 'always()' };
    const failure = { run: 'echo told', if: 'failure()' };
    expect(await ran(steps('echo one', always, failure, 'echo two'))).toEqual([0, 'one\ntidy\ntwo\n']);
    expect(await ran(steps('echo one', 'exit 3', 'echo no', always, failure, 'echo no'))).toEqual([
      3,
      'one\ntidy\ntold\n',
    ]);
    expect(await ran(steps(broken, { run: broken, if: 'failure()' }, { ...always, if: 'success()' }))).toEqual([1, '']);
    expect(await ran(steps('echo one', { run: `${broken}\n`, if: 'always()' }, 'echo no', failure))).toEqual([
      1,
      'one\ntold\n',
    ]);
    expect(await ran({ ...steps({ run: 'exit 4', if: '1 > 2' }, always), env: { A: 'b' } })).toEqual([0, 'tidy\n']);
    const refused = await graph.call('POST', '/workflows', {
      jobs: { a: steps('x', { run: 'y', if: 'always() && 1' }) },
    });
    expect([refused.status, refused.body.details.problems]).toEqual([
      422,
      [expect.objectContaining({ path: 'jobs.a.steps.1.if', message: 'always() must stand alone' })],
    ]);
  });
});
