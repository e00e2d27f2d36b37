/**
 * The whole hostile suite (requests, workflows, workers) against a server process, and how long its event loop was
 * blocked meanwhile: by the clock, and by the CPU time of the main thread, which a busy machine does not change. A hypervisor
 * that takes cores away does change it; such blocks are counted apart.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile, round } from '../measure.ts';
import { type Call, checkedValues } from './checked-values.ts';

type Headers = Readonly<Record<string, string>>;

interface HostileCase {
  readonly threat: string;
  readonly name: string;
  readonly line: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Headers;
  readonly isNobody?: true;
}

interface HostileRun {
  readonly threat: string;
  readonly name: string;
  readonly project: string;
  readonly config?: object;
  readonly nodes: object;
}

interface Stage {
  readonly desktop: string;
  readonly team: string;
  readonly token: string;
  readonly leaseId: string;
  readonly as: Readonly<Record<string, Headers>>;
  readonly setting: object;
}

/** One request, or a few that belong together. */
interface Task {
  readonly name: string;
  act(): Promise<void>;
}

interface Seen {
  readonly waited: readonly number[];
  readonly used: readonly number[];
  readonly blocks: readonly {
    readonly from: number;
    readonly to: number;
    readonly cpuMs: number;
    readonly stolenMs: number;
  }[];
  readonly collections: readonly { readonly at: number; readonly ms: number; readonly kind: string }[];
}

/** The first round meets a process that has compiled nothing yet. */
const ROUNDS = 2;
const LANES = 4;

/** The suite of an app is read by path, because no package imports an app. */
const suite = async <T>(file: string): Promise<T> =>
  (await import(new URL(`../../apps/server/test/hostile/${file}`, import.meta.url).href)) as T;

export async function h1(): Promise<Record<string, number>> {
  const file = path.join(tmpdir(), `nebula-loop-${process.pid}.json`);
  const preload = fileURLToPath(new URL('loop-delay.ts', import.meta.url));
  const script = fileURLToPath(new URL('../../apps/server/test/support/serve-hostile.ts', import.meta.url));
  // With the flags of `nebula serve`.
  const { SERVER_FLAGS } = (await import(new URL('../../apps/cli/bin/server-heap.js', import.meta.url).href)) as {
    readonly SERVER_FLAGS: readonly string[];
  };
  const child = spawn(process.execPath, [...SERVER_FLAGS, '--import', preload, script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_LOOP_FILE: file },
  });
  const ended = once(child, 'close');
  const [first] = await once(child.stdout, 'data');
  const stage = JSON.parse(String(first)) as Stage;
  const spans: { readonly name: string; readonly from: number; readonly to: number }[] = [];
  const failures: string[] = [];
  let count = 0;
  const firstAt = Date.now();
  let begunAt = firstAt;
  for (let round = 0; round < ROUNDS; round++) {
    const tasks = await tasksOf(stage, round, failures);
    count = tasks.length;
    begunAt = Date.now();
    const lane = async (): Promise<void> => {
      for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
        const from = Date.now();
        await task.act().catch((error: unknown) => failures.push(`${task.name}: ${String(error)}`));
        spans.push({ name: task.name, from, to: Date.now() });
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }
  const overAt = Date.now();
  child.kill('SIGTERM');
  await ended;
  const seen = JSON.parse(readFileSync(file, 'utf8')) as Seen;
  rmSync(file, { force: true });
  return report(seen, spans, { count, failures, firstAt, begunAt, overAt });
}

interface Facts {
  readonly count: number;
  readonly failures: readonly string[];
  /** When the first round began, and the last one. */
  readonly firstAt: number;
  readonly begunAt: number;
  readonly overAt: number;
}

function report(
  { waited, used, blocks, collections }: Seen,
  spans: readonly { readonly name: string; readonly from: number; readonly to: number }[],
  { count, failures, firstAt, begunAt, overAt }: Facts,
): Record<string, number> {
  const all = blocks.filter(({ from, to }) => to >= firstAt && from <= overAt).sort((a, b) => b.cpuMs - a.cpuMs);
  // The CPU time of a block in which the hypervisor took a core away says nothing about the work in it.
  const whole = all.filter(({ stolenMs }) => stolenMs === 0);
  const maxOf = (some: typeof blocks): number => Math.max(0, ...some.map(({ cpuMs }) => cpuMs));
  const duringOf = ({ from, to }: { readonly from: number; readonly to: number }): string =>
    spans
      .filter((span) => span.from <= to && span.to >= from)
      .map(({ name }) => name)
      .join(' | ');
  const collectedIn = ({ from, to }: { readonly from: number; readonly to: number }): string =>
    collections
      .filter(({ at, ms }) => at + ms >= from && at <= to)
      .map(({ kind, ms }) => ` (${kind} ${round(ms, 1)} ms)`)
      .join('');
  for (const block of all.slice(0, 15)) {
    const which = block.to < begunAt ? 'first' : 'last';
    console.error(
      `${round(block.cpuMs, 1)} ms of CPU time (${block.stolenMs} ms stolen) in the ${which} round${collectedIn(block)}, during ${duringOf(block)}`,
    );
  }
  for (const failure of failures.slice(0, 10)) console.error(failure);
  return {
    'requests and runs': count,
    'answered with 5xx or not, or refused though legal': failures.length,
    'CPU time between two looks p99 ms': round(quantile([...used], 0.99), 1),
    'CPU time between two looks max ms, first round': round(maxOf(whole.filter(({ to }) => to < begunAt)), 1),
    'CPU time between two looks max ms, last round': round(maxOf(whole.filter(({ to }) => to >= begunAt)), 1),
    'looks above 50 ms of CPU time': whole.filter(({ cpuMs }) => cpuMs > 50).length,
    'looks above 50 ms with a core stolen meanwhile': all.filter(({ cpuMs, stolenMs }) => cpuMs > 50 && stolenMs > 0)
      .length,
    'loop delay p99 ms (with waits for a core)': round(quantile([...waited], 0.99), 1),
  };
}

async function tasksOf(stage: Stage, round: number, failures: string[]): Promise<Task[]> {
  const { hostileCases } = await suite<{ hostileCases(setting: object): readonly HostileCase[] }>('cases.ts');
  const { hostileRuns } = await suite<{ hostileRuns(setting: object): readonly HostileRun[] }>('run-cases.ts');
  const { forgedLeases, leaseRequests } = await suite<{
    forgedLeases(lease: string): readonly string[];
    leaseRequests(lease: string): readonly (readonly [string, unknown])[];
  }>('worker-cases.ts');
  const send = async (name: string, url: string, line: string, given: RequestParts): Promise<void> => {
    const status = await sendTo(url, line, given);
    if (status >= 500 || status === 0) failures.push(`${name}: ${status}`);
  };
  const owner = { authorization: `Bearer ${stage.token}` };
  const requests = hostileCases({ leaseId: stage.leaseId }).map(
    ({ threat, name, line, isNobody, headers = {}, body, raw }): Task => ({
      name: `${threat} ${name} (${line.slice(0, 60)})`,
      act: () => send(name, stage.desktop, line, { headers: { ...(!isNobody && owner), ...headers }, body, raw }),
    }),
  );
  const runs = hostileRuns(stage.setting).map(({ threat, name, project, config, nodes }, index): Task => {
    const headers = stage.as[`${project}-editor`] as Headers;
    const id = `hostile-${round}-${index}`;
    return {
      name: `${threat} run: ${name}`,
      act: async () => {
        const definition = { id, ...(config && { config }), nodes };
        await send(name, stage.team, 'POST /api/v1/workflows', { headers, body: { definition, project } });
        await send(name, stage.team, 'POST /api/v1/executions?wait=20s', { headers, body: { workflowId: id } });
      },
    };
  });
  const leases = forgedLeases(stage.leaseId).flatMap((lease) =>
    ['alpha', 'beta-editor'].flatMap((who) =>
      leaseRequests(lease).map(
        ([line, body]): Task => ({
          name: `foreign-lease ${who} ${line.slice(0, 40)}`,
          act: () => send(who, stage.team, line, { headers: stage.as[who] as Headers, body }),
        }),
      ),
    ),
  );
  return [...requests, ...runs, ...leases, ...largest(stage, round), ...checkedIn(stage, round)];
}

/** Made when they are sent: 12,000 names of members slow down every object that the process makes afterwards. */
const LARGE_VALUES: Readonly<Record<string, () => unknown>> = {
  '12,000 names of members': () => Array.from({ length: 12_000 }, (_, at) => ({ [`n${at}`]: at })),
  '49,000 members': () => Array.from({ length: 49_000 }, (_, at) => ({ n: at })),
  '4,000,000 characters': () => 'x'.repeat(4_000_000),
};

/** The largest that is taken: it is no refusal that must not block, but work. */
function largest(stage: Stage, round: number): Task[] {
  const send = async (url: string, line: string, given: RequestParts): Promise<void> => {
    const status = await sendTo(url, line, given);
    if (status >= 300) throw new Error(`${line} was answered with ${status}`);
  };
  const node = (index: number): object => ({
    action: 'http.request',
    ...(index > 9 && { needs: [`n${index - 10}`, `n${index - 3}`] }),
    when: '$input.a > 1',
    retry: { policy: 'exponential', initial: '1s', attempts: 3 },
    with: { url: `https://x/{{ $input.id }}/${index}`, method: 'POST', body: { a: '{{ $input.a }}' } },
  });
  const nodes = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`n${index}`, node(index)]));
  const yaml = Array.from({ length: 1_500 }, (_, index) => `  n${index}: ${JSON.stringify(node(index % 10))}\n`).join(
    '',
  );
  const headers = { authorization: `Bearer ${stage.token}` };
  const editor = stage.as['wide-editor'] as Headers;
  const id = `largest-${round}`;
  const graph = {
    nodes: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`n${at}`, { action: 'core.noop' }])),
  };
  const returning = { id, nodes: { plan: { dynamic: { action: 'test.graph', with: { graph } } } } };
  return [
    {
      name: 'largest: 2,000 nodes are registered and run',
      act: async () => {
        const body = { definition: { id, nodes } };
        await send(stage.desktop, 'POST /api/v1/workflows', { headers, body });
        const start = { workflowId: id, input: { a: 0 } };
        await send(stage.desktop, 'POST /api/v1/executions?wait=20s', { headers, body: start });
      },
    },
    {
      name: 'largest: 250,000 characters of YAML are validated',
      act: () =>
        send(stage.desktop, 'POST /api/v1/workflows/validate', {
          headers,
          body: { source: `id: large\nnodes:\n${yaml}`.slice(0, 256 * 1024) },
        }),
    },
    ...Object.entries(LARGE_VALUES).map(([name, make], at) => ({
      name: `largest: a start, a webhook and a signal with ${name}`,
      act: async () => {
        const call = (line: string, body: unknown) => send(stage.desktop, line, { headers, body });
        const key = `${id}-${at}`;
        const value = make();
        const definition = {
          id: key,
          triggers: [{ webhook: { path: `/${key}` } }],
          nodes: {
            go: { wait: { signal: key } },
            copy: { needs: ['go'], action: 'core.set', with: { value: '{{ $go.payload }}' } },
          },
          output: '{{ $input }}',
        };
        await call('POST /api/v1/workflows', { definition });
        await call(`POST /api/v1/workflows/${key}/activate`, {});
        await call('POST /api/v1/executions', { workflowId: key, input: value });
        await call(`POST /hooks/${key}`, value);
        await call('POST /api/v1/signals', { signal: key, payload: value });
      },
    })),
    {
      name: 'largest: an action returns a graph of 2,000 nodes',
      act: async () => {
        const body = { definition: returning, project: 'wide' };
        await send(stage.team, 'POST /api/v1/workflows', { headers: editor, body });
        const start = { workflowId: id };
        await send(stage.team, 'POST /api/v1/executions?wait=20s', { headers: editor, body: start });
      },
    },
  ];
}

function checkedIn(stage: Stage, round: number): readonly Task[] {
  const call =
    (url: string, headers: Headers): Call =>
    async (line, body) => {
      const [method, target] = line.split(' ') as [string, string];
      const response = await fetch(url + target, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${line} was answered with ${response.status}: ${text.slice(0, 200)}`);
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    };
  const far = call(stage.desktop, { authorization: `Bearer ${stage.token}` });
  return checkedValues(String(round), far, call(stage.team, stage.as['wide-editor'] as Headers));
}

interface RequestParts {
  readonly headers: Headers;
  readonly body?: unknown;
  readonly raw?: string | undefined;
}

async function sendTo(url: string, line: string, { headers, body, raw }: RequestParts): Promise<number> {
  const [method, target] = line.split(' ') as [string, string];
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const isNobody = headers['authorization'] === undefined && headers['cookie'] === undefined;
  const response = await fetch(url + target, {
    method,
    headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(payload !== undefined && { body: payload }),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  // A server may close the connection of somebody whom it does not know before the body has come.
  return response?.status ?? (isNobody ? 401 : 0);
}
