/** Workers and servers as real processes that are killed while work is out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type NebulaClient } from '@nebula/client';
import { afterEach, describe, expect, it } from 'vitest';
import { hasPython } from './support/python.ts';

const TOKEN = 'a-token-for-tests';
const HERE = import.meta.dirname;
const SERVER = fileURLToPath(new URL('./support/serve-process.ts', import.meta.url));
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

class Machine {
  readonly dir = mkdtempSync(path.join(tmpdir(), 'nebula-workers-'));
  readonly trace = path.join(this.dir, 'trace.txt');
  private readonly port: number;

  constructor(port: number) {
    this.port = port;
    closing.push(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get client(): NebulaClient {
    return createClient({ url: this.url, token: TOKEN, retries: 8 });
  }

  async serve(): Promise<ChildProcess> {
    const child = this.start(process.execPath, [SERVER, this.dir, String(this.port)]);
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return child;
  }

  /** `leaseSeconds`: must outlast what the server takes to come back, where it is to be waited for. */
  async work(seconds: number, workers: number, leaseSeconds = 3): Promise<ChildProcess> {
    const child = this.start('python3', [
      path.join(HERE, 'support/slow_worker.py'),
      String(seconds),
      this.trace,
      String(leaseSeconds),
    ]);
    await expect.poll(async () => (await this.client.call('listWorkers')).items.length, WAIT).toBe(workers);
    return child;
  }

  start(program: string, args: readonly string[], cwd = this.dir): ChildProcess {
    const env = { ...process.env, NEBULA_SERVER: this.url, NEBULA_TOKEN: TOKEN };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    closing.push(() => killed(child));
    return child;
  }

  async begin(definition: object): Promise<string> {
    await this.client.call('registerWorkflow', { body: { definition: { id: 'slow', ...definition } } });
    return (await this.client.start('slow')).executionId;
  }

  async running(executionId: string, count: number): Promise<void> {
    const statuses = async (): Promise<number> => {
      const { nodes } = await this.client.call('getExecution', { params: { executionId } });
      return Object.values(nodes as Record<string, { status: string }>).filter(({ status }) => status === 'running')
        .length;
    };
    await expect.poll(statuses, WAIT).toBe(count);
  }

  traces(): string[] {
    return readFileSync(this.trace, 'utf8').trim().split('\n').sort();
  }
}

const WAIT = { timeout: 20_000, interval: 50 };

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const note = { action: 'slow.note@1', retry: { lost: 5, delay: '0s' } };
const NODES = { a: note, b: note, c: note, d: { ...note, needs: ['a', 'b', 'c'] } };

// These need python3 on the machine.
describe.skipIf(!hasPython())('processes that are killed', { timeout: 120_000 }, () => {
  it('[WRK-21] when a worker dies, another one takes its tasks, and nothing is lost', async () => {
    const machine = new Machine(await freePort());
    await machine.serve();
    const first = await machine.work(30, 1);
    const executionId = await machine.begin({ nodes: NODES });
    await machine.running(executionId, 3);
    await killed(first);
    await machine.work(0.2, 2);
    expect(await machine.client.run(executionId).result()).toMatchObject({ status: 'completed' });
    expect(machine.traces()).toEqual(['a 2', 'b 2', 'c 2', 'd 1']);
  });

  it('[WRK-22] a worker continues while the server is dead, and its completed work is not repeated', async () => {
    const machine = new Machine(await freePort());
    const server = await machine.serve();
    await machine.work(1.5, 1, 60);
    const executionId = await machine.begin({ nodes: NODES });
    await machine.running(executionId, 3);
    await killed(server);
    await machine.serve();
    expect(await machine.client.run(executionId).result()).toMatchObject({ status: 'completed' });
    expect(machine.traces()).toEqual(['a 1', 'b 1', 'c 1', 'd 1']);
  });

  it('[WRK-23] both die: the work is done by the next ones', async () => {
    const machine = new Machine(await freePort());
    const server = await machine.serve();
    const worker = await machine.work(30, 1);
    const executionId = await machine.begin({ nodes: NODES });
    await machine.running(executionId, 3);
    await Promise.all([killed(server), killed(worker)]);
    await machine.serve();
    await machine.work(0.2, 2);
    expect(await machine.client.run(executionId).result()).toMatchObject({ status: 'completed' });
    expect(machine.traces()).toEqual(['a 2', 'b 2', 'c 2', 'd 1']);
  });
});

describe('nebula worker', { timeout: 120_000 }, () => {
  it('[WRK-24] runs the actions of the project, and hands back when it is interrupted', async () => {
    const machine = new Machine(await freePort());
    await machine.serve();
    const root = path.join(HERE, '../../..');
    const bin = path.join(root, 'apps/cli/bin/nebula.js');
    const child = machine.start(process.execPath, [bin, 'worker', '--labels', 'near, far', '--quiet'], root);
    await expect
      .poll(async () => (await machine.client.call('listWorkers')).items[0]?.labels, WAIT)
      .toEqual(['near', 'far']);
    const definition = {
      config: { capabilities: { shell: ['sh'] } },
      nodes: { say: { action: 'shell.run@1', with: { program: 'sh', args: ['-c', 'echo hello'] }, labels: ['far'] } },
    };
    const executionId = await machine.begin(definition);
    const result = await machine.client.run(executionId).result();
    expect(result).toMatchObject({ status: 'completed', output: { say: { stdout: 'hello\n' } } });
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(130);
    expect((await machine.client.call('listWorkers')).items).toEqual([]);
  });
});
