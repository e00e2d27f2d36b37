/**
 * A worker and a client of workflow-graph, written from a description of its protocol alone: nothing here uses our own
 * client, contract or converters. Both read answers as its programs do: a field of another type is an error.
 */
import { type ChildProcess, spawn } from 'node:child_process';

type Fields = Record<string, unknown>;

class WireError extends Error {}

function fields(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new WireError(`${what} is ${JSON.stringify(value)}, not an object`);
}

function list<T>(value: unknown, what: string, of: (one: unknown, what: string) => T): T[] {
  if (Array.isArray(value)) return value.map((one, index) => of(one, `${what}[${index}]`));
  throw new WireError(`${what} is ${JSON.stringify(value)}, not a list`);
}

function map<T>(value: unknown, what: string, of: (one: unknown, what: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(fields(value, what)).map(([key, one]) => [key, of(one, `${what}.${key}`)]));
}

function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new WireError(`${what} is ${JSON.stringify(value)}, not a text`);
}

/** An unsigned integer. */
function count(value: unknown, what: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new WireError(`${what} is ${JSON.stringify(value)}, not an unsigned integer`);
}

function option<T>(value: unknown, what: string, of: (one: unknown, what: string) => T): T | null {
  return value === null || value === undefined ? null : of(value, what);
}

function oneOf<T extends string>(...words: T[]): (value: unknown, what: string) => T {
  return (value, what) => {
    if (words.includes(value as T)) return value as T;
    throw new WireError(`${what} is ${JSON.stringify(value)}, not one of ${words.join(', ')}`);
  };
}

export type Backoff =
  | 'None'
  | { readonly Fixed: { readonly delay_secs: number } }
  | { readonly Exponential: { readonly base_secs: number; readonly max_secs: number } };

/** The name of an enum value, as workflow-graph writes it: the name alone, or an object whose only key is the name. */
function backoff(value: unknown, what: string): Backoff {
  if (value === 'None') return value;
  const [[name, members] = ['', null], ...others] = Object.entries(fields(value, what));
  if (others.length > 0) throw new WireError(`${what} has several variants`);
  const inside = fields(members, `${what}.${name}`);
  if (name === 'Fixed') return { Fixed: { delay_secs: count(inside['delay_secs'], `${what}.delay_secs`) } };
  if (name !== 'Exponential') throw new WireError(`${what} has the unknown variant ${name}`);
  const [base_secs, max_secs] = [count(inside['base_secs'], what), count(inside['max_secs'], what)];
  return { Exponential: { base_secs, max_secs } };
}

export interface Claim {
  readonly job: {
    readonly job_id: string;
    readonly workflow_id: string;
    readonly command: string;
    readonly required_labels: readonly string[];
    readonly retry_policy: { readonly max_retries: number; readonly backoff: Backoff };
    readonly attempt: number;
    readonly upstream_outputs: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly enqueued_at_ms: number;
    readonly delayed_until_ms: number;
  };
  readonly lease: {
    readonly lease_id: string;
    readonly job_id: string;
    readonly workflow_id: string;
    readonly worker_id: string;
    readonly ttl_secs: number;
    readonly granted_at_ms: number;
  };
}

function claimIn(value: unknown): Claim {
  const job = fields(fields(value, 'claim')['job'], 'job');
  const lease = fields(fields(value, 'claim')['lease'], 'lease');
  const policy = fields(job['retry_policy'], 'retry_policy');
  return {
    job: {
      job_id: text(job['job_id'], 'job_id'),
      workflow_id: text(job['workflow_id'], 'workflow_id'),
      command: text(job['command'], 'command'),
      required_labels: list(job['required_labels'], 'required_labels', text),
      retry_policy: {
        max_retries: count(policy['max_retries'], 'max_retries'),
        backoff: backoff(policy['backoff'], 'backoff'),
      },
      attempt: count(job['attempt'], 'attempt'),
      upstream_outputs: map(job['upstream_outputs'], 'upstream_outputs', (one, what) => map(one, what, text)),
      enqueued_at_ms: count(job['enqueued_at_ms'], 'enqueued_at_ms'),
      delayed_until_ms: count(job['delayed_until_ms'], 'delayed_until_ms'),
    },
    lease: {
      lease_id: text(lease['lease_id'], 'lease_id'),
      job_id: text(lease['job_id'], 'lease.job_id'),
      workflow_id: text(lease['workflow_id'], 'lease.workflow_id'),
      worker_id: text(lease['worker_id'], 'worker_id'),
      ttl_secs: count(lease['ttl_secs'], 'ttl_secs'),
      granted_at_ms: count(lease['granted_at_ms'], 'granted_at_ms'),
    },
  };
}

const jobStatus = oneOf('queued', 'running', 'success', 'failure', 'skipped', 'cancelled');

function jobIn(value: unknown, what: string) {
  const job = fields(value, what);
  return {
    id: text(job['id'], `${what}.id`),
    name: text(job['name'], `${what}.name`),
    status: jobStatus(job['status'], `${what}.status`),
    command: text(job['command'], `${what}.command`),
    depends_on: list(job['depends_on'], `${what}.depends_on`, text),
    duration_secs: option(job['duration_secs'], `${what}.duration_secs`, count),
    started_at: option(job['started_at'], `${what}.started_at`, count),
    output: option(job['output'], `${what}.output`, text),
    outputs: map(job['outputs'], `${what}.outputs`, (one) => one),
    attempt: count(job['attempt'], `${what}.attempt`),
    metadata: map(job['metadata'] ?? {}, `${what}.metadata`, (one) => one),
  };
}

function workflowIn(value: unknown) {
  const workflow = fields(value, 'workflow');
  return {
    id: text(workflow['id'], 'id'),
    name: text(workflow['name'], 'name'),
    trigger: text(workflow['trigger'], 'trigger'),
    jobs: list(workflow['jobs'], 'jobs', jobIn),
  };
}

export type OriginWorkflow = ReturnType<typeof workflowIn>;

function chunkIn(value: unknown, what = 'chunk') {
  const chunk = fields(value, what);
  return {
    workflow_id: text(chunk['workflow_id'], 'workflow_id'),
    job_id: text(chunk['job_id'], 'job_id'),
    sequence: count(chunk['sequence'], 'sequence'),
    data: text(chunk['data'], 'data'),
    timestamp_ms: count(chunk['timestamp_ms'], 'timestamp_ms'),
    stream: oneOf('stdout', 'stderr')(chunk['stream'], 'stream'),
  };
}

function workerIn(value: unknown, what: string) {
  const worker = fields(value, what);
  return {
    worker_id: text(worker['worker_id'], 'worker_id'),
    labels: list(worker['labels'], 'labels', text),
    registered_at_ms: count(worker['registered_at_ms'], 'registered_at_ms'),
    last_heartbeat_ms: count(worker['last_heartbeat_ms'], 'last_heartbeat_ms'),
    current_job: option(worker['current_job'], 'current_job', text),
    status: oneOf('idle', 'busy', 'offline')(worker['status'], 'status'),
  };
}

/** The shell and all that it started. */
function killAll(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has just ended.
  }
}

/** `token`: for servers that want one; its programs have none. */
class Caller {
  readonly #base: () => string;
  readonly #token: string | undefined;

  constructor(base: () => string, token: string | undefined) {
    this.#base = base;
    this.#token = token;
  }

  request(method: string, path: string, body?: unknown): Promise<Response> {
    const isText = typeof body === 'string';
    return fetch(`${this.#base()}${path}`, {
      method,
      headers: {
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body !== undefined && { 'content-type': isText ? 'application/yaml' : 'application/json' }),
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
  }

  async json(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await this.request(method, path, body);
    if (!response.ok) throw new WireError(`${method} ${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  }
}

export class OriginClient {
  readonly #caller: Caller;

  constructor(base: () => string, token?: string) {
    this.#caller = new Caller(base, token);
  }

  async createWorkflow(workflow: unknown): Promise<OriginWorkflow> {
    return workflowIn(await this.#caller.json('POST', '/api/workflows', workflow));
  }

  async listWorkflows(query = ''): Promise<OriginWorkflow[]> {
    return list(await this.#caller.json('GET', `/api/workflows${query}`), 'workflows', workflowIn);
  }

  async getStatus(id: string): Promise<OriginWorkflow> {
    return workflowIn(await this.#caller.json('GET', `/api/workflows/${encodeURIComponent(id)}/status`));
  }

  async runWorkflow(id: string): Promise<void> {
    const { status } = await this.#caller.request('POST', `/api/workflows/${encodeURIComponent(id)}/run`);
    if (status !== 202) throw new WireError(`run: ${status}`);
  }

  async cancelWorkflow(id: string): Promise<void> {
    const { status } = await this.#caller.request('POST', `/api/workflows/${encodeURIComponent(id)}/cancel`);
    if (status !== 202) throw new WireError(`cancel: ${status}`);
  }

  async listWorkers() {
    return list(await this.#caller.json('GET', '/api/workers'), 'workers', workerIn);
  }

  async getJobLogs(id: string, job: string) {
    const chunks = await this.#caller.json('GET', `/api/workflows/${id}/jobs/${job}/logs`);
    return list(chunks, 'chunks', chunkIn);
  }

  /** Until the stream ends. Only events named `log` count, as a listener for them hears no others. */
  async streamLogs(id: string, job: string) {
    const response = await this.#caller.request('GET', `/api/workflows/${id}/jobs/${job}/logs/stream`);
    const events = (await response.text()).split('\n\n').map((event) => event.split('\n'));
    return events
      .filter((lines) => lines.includes('event: log'))
      .flatMap((lines) => lines.filter((line) => line.startsWith('data: ')))
      .map((line) => chunkIn(JSON.parse(line.slice(6))));
  }
}

export interface WorkerOptions {
  /** Asked for with every call: a server that was restarted has another port. */
  readonly base: () => string;
  readonly workerId: string;
  readonly labels?: readonly string[];
  readonly token?: string;
  readonly leaseSeconds?: number;
  readonly pollMs?: number;
  readonly heartbeatMs?: number;
  readonly cancelMs?: number;
  readonly logBatchMs?: number;
}

interface Running {
  readonly claim: Claim;
  readonly child: ChildProcess;
  cancelled: boolean;
}

/** Polls, runs commands by `sh -c`, sends heartbeats and logs, asks whether its job was cancelled, reports. */
export class OriginWorker {
  readonly #options: WorkerOptions;
  readonly #caller: Caller;
  readonly #stopping = new AbortController();
  /** Every claim that it got, and the statuses that its reports were answered with. */
  readonly claims: Claim[] = [];
  readonly answers: number[] = [];
  /** Heartbeats, and looks whether its job was cancelled, that were answered. */
  heartbeats = 0;
  cancelLooks = 0;
  readonly #troubles: unknown[] = [];
  #running: Running | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#caller = new Caller(options.base, options.token);
  }

  start(): this {
    this.#loop = this.#run();
    return this;
  }

  /** Stops without another message, as if its machine had failed. */
  async kill(): Promise<void> {
    this.#stopping.abort();
    killAll(this.#running?.child);
    await this.#loop;
  }

  /** Throws what it could not read. */
  async stop(): Promise<void> {
    await this.kill();
    if (this.#troubles.length > 0) throw this.#troubles[0];
  }

  async claim(): Promise<Claim | null> {
    const { workerId, labels = [], leaseSeconds = 30 } = this.#options;
    const body = { worker_id: workerId, labels, lease_ttl_secs: leaseSeconds };
    const answer = await this.#caller.json('POST', '/api/jobs/claim', body);
    return answer === null ? null : claimIn(answer);
  }

  async #run(): Promise<void> {
    const { workerId, labels = [], pollMs = 20 } = this.#options;
    await this.#tryHard(() => this.#caller.json('POST', '/api/workers/register', { worker_id: workerId, labels }));
    while (!this.#stopping.signal.aborted) {
      const claim = await this.#tryHard(() => this.claim());
      if (claim === null || claim === undefined) await this.#pause(pollMs);
      else await this.#execute(claim);
    }
  }

  /** Connections may break while a server is restarted; what cannot be read is remembered. */
  async #tryHard<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof WireError) this.#troubles.push(error);
      return undefined;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopping.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #execute(claim: Claim): Promise<void> {
    const { heartbeatMs = 100, cancelMs = 40, logBatchMs = 30 } = this.#options;
    this.claims.push(claim);
    const { lease_id: lease } = claim.lease;
    const child = spawn('sh', ['-c', claim.job.command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const running: Running = { claim, child, cancelled: false };
    this.#running = running;
    const chunks = this.#chunksOf(running);
    const beats = this.#every(heartbeatMs, async () => {
      await this.#caller.request('POST', `/api/jobs/${lease}/heartbeat`);
      this.heartbeats++;
    });
    const looks = this.#every(cancelMs, () => this.#lookForCancel(running));
    const logs = this.#every(logBatchMs, () => this.#push(lease, chunks));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    for (const stop of [beats, looks, logs]) await stop();
    this.#running = undefined;
    if (this.#stopping.signal.aborted) return;
    await this.#push(lease, chunks);
    const [path, body] =
      code === 0
        ? ['complete', { outputs: { code: '0' } }]
        : ['fail', { error: running.cancelled ? 'cancelled' : `exit code ${code}`, retryable: !running.cancelled }];
    await this.#tryHard(async () =>
      this.answers.push((await this.#caller.request('POST', `/api/jobs/${lease}/${path}`, body)).status),
    );
  }

  #chunksOf({ claim, child }: Running): Fields[] {
    const chunks: Fields[] = [];
    const { workflow_id, job_id } = claim.job;
    let sequence = 0;
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.on('data', (data: Buffer) => {
        const timestamp_ms = Date.now();
        chunks.push({ workflow_id, job_id, sequence: sequence++, data: String(data), timestamp_ms, stream });
      });
    }
    return chunks;
  }

  async #push(lease: string, chunks: Fields[]): Promise<void> {
    const batch = chunks.splice(0);
    if (batch.length > 0) await this.#caller.request('POST', `/api/jobs/${lease}/logs`, { chunks: batch });
  }

  async #lookForCancel(running: Running): Promise<void> {
    const { workflow_id, job_id } = running.claim.job;
    const answer = await this.#caller.json('GET', `/api/jobs/${workflow_id}/${job_id}/cancelled`);
    this.cancelLooks++;
    if (typeof answer !== 'boolean') throw new WireError(`cancelled is ${JSON.stringify(answer)}`);
    if (!answer) return;
    running.cancelled = true;
    killAll(running.child);
  }

  /** Returns the way to stop, which waits for a call that is under way. */
  #every(ms: number, call: () => Promise<unknown>): () => Promise<void> {
    let isOver = false;
    const loop = (async () => {
      while (!isOver) {
        await this.#pause(ms);
        if (isOver || this.#stopping.signal.aborted) return;
        await this.#tryHard(call);
      }
    })();
    return async () => {
      isOver = true;
      await loop;
    };
  }
}
