/** `/metrics`, read as Prometheus reads it. */
import { allSteps } from '@nebula/core';
import { afterEach, describe, expect, it } from 'vitest';
import { expositionSteps } from '../../src/observability/exposition.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { readExposition } from '../support/exposition.ts';
import { addUser, ask, type Headers, signIn } from '../support/users.ts';

let booted: Booted | undefined;
afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

const headers = { authorization: `Bearer ${TOKEN}` };

async function scrape({ server }: Booted): Promise<ReturnType<typeof readExposition>> {
  const response = await fetch(`${server.url}/metrics`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return readExposition(await response.text());
}

const sample = (families: ReturnType<typeof readExposition>, name: string): number | undefined =>
  families.get(name)?.samples[0]?.value;

/** The names of the field, as they are written down there. */
const SEED = {
  'workflow.started': 'counter',
  'workflow.completed': 'counter',
  'workflow.failed': 'counter',
  'workflow.duration_ms': 'histogram',
  'workflow.node.executed': 'counter',
  'workflow.node.failed': 'counter',
  'workflow.node.retried': 'counter',
  'workflow.node.duration_ms': 'histogram',
  'workflow.dag.level_executed': 'counter',
  'workflow.parallel_tasks': 'gauge',
} as const;

describe('metrics', () => {
  it('[SRV-200] has all names that dashboards know, before anything has happened', async () => {
    booted = await boot();
    const families = await scrape(booted);
    for (const [name, type] of Object.entries(SEED)) {
      const exposed = name.replaceAll('.', '_') + (type === 'counter' ? '_total' : '');
      expect(families.get(exposed)?.type, exposed).toBe(type);
    }
    for (const [name, { help }] of families) expect(help, name).toMatch(/^[A-Z0-9].*\.$/);
  });

  it('[SRV-201] counts runs, nodes, requests and followers', async () => {
    booted = await boot();
    const { client } = booted;
    const nodes = {
      a: { action: 'core.sleep@1', with: { duration: '20ms' } },
      b: { needs: ['a'], action: 'core.fail@1', with: { message: 'no' } },
    };
    await client.call('registerWorkflow', { body: { definition: { id: 'w', nodes } } });
    await client.call('startExecution', { body: { workflowId: 'w' }, query: { wait: '10s' } });
    await client.call('getExecution', { params: { executionId: 'exe_nobody' } }).catch(() => undefined);
    const leave = new AbortController();
    const stream = await fetch(`${booted.server.url}/api/v1/events`, { headers, signal: leave.signal });
    expect(stream.status).toBe(200);
    const families = await scrape(booted);
    leave.abort();
    expect(sample(families, 'workflow_started_total')).toBe(1);
    expect(sample(families, 'workflow_failed_total')).toBe(1);
    expect(sample(families, 'workflow_node_executed_total')).toBe(2);
    expect(sample(families, 'live_subscribers')).toBe(1);
    expect(sample(families, 'engine_ready_nodes')).toBe(0);
    expect(sample(families, 'engine_ready_oldest_ms')).toBe(0);
    expect(families.get('engine_wake_late_ms')?.type).toBe('histogram');
    const requests = families.get('http_request_duration_ms')?.samples.filter(({ name }) => name.endsWith('_count'));
    const count = (operation: string, status: string) =>
      requests?.find(({ labels }) => labels['operation'] === operation && labels['status'] === status)?.value;
    expect(count('startExecution', '2xx')).toBe(1);
    expect(count('getExecution', '4xx')).toBe(1);
  });

  it('[SRV-756] counts by project and workflow, for those who may know their names', async () => {
    const scraper = { authorization: 'Bearer scraper' };
    booted = await boot({ metrics: 'public', metricsToken: 'scraper' });
    const { client, server } = booted;
    for (const id of ['fine', 'broken']) {
      const action = id === 'fine' ? 'core.noop@1' : 'core.fail@1';
      const definition = { id, nodes: { a: { action, with: { message: 'no' } } } };
      await client.call('registerWorkflow', { body: { definition } });
      await client.call('startExecution', { body: { workflowId: id }, query: { wait: '10s' } });
    }
    const read = async (headers: Record<string, string>) => (await fetch(`${server.url}/metrics`, { headers })).text();
    const text = await read(scraper);
    for (const line of [
      'workflow_started_total{project="default",workflow="fine"} 1',
      'workflow_failed_total{project="default",workflow="fine"} 0',
      'workflow_failed_total{project="default",workflow="broken"} 1',
      'workflow_node_duration_ms_count{project="default",workflow="broken"} 1',
      'workflow_duration_ms_bucket{project="default",workflow="fine",le="+Inf"} 1',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).not.toMatch(/^workflow_started_total \d/m);
    const totals = await read({});
    expect(totals).toMatch(/^workflow_started_total 2$/m);
    expect(totals).not.toMatch(/broken|fine|workflow=/);
  });

  it('[SRV-202] reports how late schedules fired, and the resources of the process', async () => {
    booted = await boot();
    const { client } = booted;
    await client.call('registerWorkflow', { body: { definition: { id: 'tick', nodes: {} } } });
    await client.call('putSchedule', { params: { scheduleId: 's' }, body: { workflowId: 'tick', every: '1s' } });
    await expect
      .poll(async () => sample(await scrape(booted as Booted), 'schedule_fired_total'), { timeout: 10_000 })
      .toBeGreaterThan(0);
    const families = await scrape(booted);
    const late = families.get('schedule_lateness_ms')?.samples;
    expect(late?.find(({ name }) => name.endsWith('_count'))?.value).toBeGreaterThan(0);
    expect(late?.find(({ labels }) => labels['le'] === '5000')?.value).toBeGreaterThan(0);
    expect(sample(families, 'scheduler_leader')).toBe(1);
    expect(sample(families, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(sample(families, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(families.get('nodejs_eventloop_delay_ms')?.samples).toHaveLength(3);
  });

  it('[SRV-203] is for administrators and for the token of the scraper, unless it is configured otherwise', async () => {
    const secret = 'token-of-the-scraper';
    for (const metrics of [undefined, 'signed-in'] as const) {
      const server = await boot({ users: true, metricsToken: secret, ...(metrics && { metrics }) });
      await addUser(server, 'root', { admin: true });
      await addUser(server, 'ann', { roles: { default: 'owner' } });
      await addUser(server, 'eve');
      const reads = async (headers: Headers, line = 'GET /metrics') => (await ask(server, line, { headers })).status;
      const [root, ann, eve] = await Promise.all(['root', 'ann', 'eve'].map((user) => signIn(server, user)));
      const scraper = { authorization: `Bearer ${secret}` };
      const others = metrics === undefined ? 403 : 200;
      expect([await reads(root as Headers), await reads(scraper)]).toEqual([200, 200]);
      expect([await reads(ann as Headers), await reads(eve as Headers)]).toEqual([others, others]);
      expect([await reads({}), await reads({ authorization: 'Bearer guess' })]).toEqual([401, 401]);
      expect(await reads(scraper, 'GET /api/v1/me')).toBe(401);
      await server.close();
    }
  });

  it('[SRV-203] needs a signed-in caller, unless it is configured as public', async () => {
    booted = await boot();
    const refused = await fetch(`${booted.server.url}/metrics`);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ code: 'NOT_SIGNED_IN' });
    const open = await boot({ metrics: 'public' });
    expect((await fetch(`${open.server.url}/metrics`)).status).toBe(200);
    await open.close();
  });

  it('[SRV-204] characters that could break the format are escaped', () => {
    const written = [
      {
        name: 'a',
        type: 'gauge',
        help: 'One\\two\nlines.',
        samples: [{ labels: { x: 'q"b\\n\nc' }, value: Number.POSITIVE_INFINITY }],
      },
      {
        name: 'h_ms',
        type: 'histogram',
        help: 'H.',
        series: [
          {
            labels: { x: 'y' },
            count: 3,
            sum: 12,
            buckets: [
              [1, 1],
              [10, 2],
            ],
          },
        ],
      },
    ] as const;
    const text = allSteps(expositionSteps(written));
    const families = readExposition(text);
    expect(families.get('a')?.samples).toEqual([
      { name: 'a', labels: { x: 'q"b\\n\nc' }, value: Number.POSITIVE_INFINITY },
    ]);
    expect(text).toContain('h_ms_bucket{x="y",le="+Inf"} 3\nh_ms_sum{x="y"} 12\nh_ms_count{x="y"} 3\n');
    expect(() => readExposition(text.replace('le="10"} 2', 'le="10"} 0'))).toThrow('cumulative');
  });
});
