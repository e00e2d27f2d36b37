/** An id of another project gets the same response as an unknown id, from every operation and every other endpoint. */
import { API_PREFIX, OPERATIONS, type Operation, type OperationId, ROUTES } from '@nebula/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from '../support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';
import { approval, echo } from '../support/workflows.ts';

const FAR = { id: 'far.beta', version: '1', effect: 'pure' } as const;

/** Ids of project beta, each beside an unknown id. */
const FOREIGN: Record<string, readonly (readonly [foreign: string, none: string])[]> = {
  workflowId: [['beta-private', 'none-private']],
  executionId: [
    ['exe_of_beta', 'exe_of_none'],
    ['exe_ended_beta', 'exe_ended_none'],
  ],
  planId: [['beta-plan', 'none-plan']],
  plan: [['beta-plan', 'none-plan']],
  scheduleId: [
    ['beta-schedule', 'none-schedule'],
    ['beta-private--0', 'none-private--0'],
  ],
  workerId: [['beta-worker', 'none-worker']],
  actionId: [
    ['far.beta', 'far.none'],
    ['far.beta@1', 'far.none@1'],
  ],
  name: [['beta-secret', 'none-secret']],
  userId: [['beta-owner', 'none-owner']],
  projectId: [['beta', 'nope']],
  project: [['beta', 'nope']],
  // Filled in once such ids exist.
  keyId: [],
  leaseId: [],
};

/** Ids that a request needs besides the tried one. */
const PARAMS: Readonly<Record<string, string>> = {
  version: '1',
  sha256: 'a'.repeat(64),
  name: 'a-secret',
  alias: 'key',
  actionId: 'core.noop',
};
const QUERIES: Partial<Record<OperationId, Readonly<Record<string, string>>>> = {
  diffWorkflow: { from: '1' },
  listPermits: { key: 'x' },
  removeAnnouncedAction: { project: 'alpha' },
  putSecret: { project: 'alpha' },
  deleteSecret: { project: 'alpha' },
};
const BODIES: Partial<Record<OperationId, Readonly<Record<string, unknown>>>> = {
  validateWorkflow: { definition: echo('alpha-new') },
  registerWorkflow: { definition: echo('alpha-new'), activate: false },
  bulkExecutions: { operation: 'resume', filter: {} },
  answerApproval: { node: 'ask', approved: true },
  signalExecution: { signal: 'x' },
  callBack: { node: 'ask' },
  replayExecution: { node: 'ask' },
  settleNode: { node: 'ask', happened: true },
  publishSignal: { signal: 'x', keep: '1ms' },
  putSecret: { value: 'some value' },
  putLaunchPlan: { workflowId: 'alpha-own' },
  putSchedule: { every: '1h' },
  registerWorker: { workerId: 'alpha-worker', actions: [] },
  logLease: { lines: [{ message: 'x' }] },
  failLease: { message: 'x' },
};

/** Ids under which something is created: a taken id is refused, without naming its owner. */
const MADE: ReadonlySet<string> = new Set([
  'startExecution.executionId',
  'putLaunchPlan.planId',
  'putSchedule.scheduleId',
  'putUser.userId',
  'putProject.projectId',
  'registerWorker.workerId',
]);
/** A live stream has no end that could be compared; it has events of visible runs only. */
const ENDLESS: ReadonlySet<string> = new Set(['followAll.workflowId']);

interface Trial {
  readonly operation: OperationId;
  readonly name: string;
  readonly in: 'params' | 'query' | 'body';
  readonly pair: readonly [string, string];
}

const propertiesOf = (schema: unknown): readonly string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

/** Every position of every operation that takes an id of a resource with an owner. */
function trials(): readonly Trial[] {
  return (Object.keys(ROUTES) as OperationId[]).flatMap((operation) => {
    const contract: Operation = OPERATIONS[operation];
    return (['params', 'query', 'body'] as const).flatMap((part) =>
      propertiesOf(contract[part])
        .filter((name) => Object.hasOwn(FOREIGN, name) && !(part === 'body' && name === 'name'))
        .flatMap((name) => (FOREIGN[name] ?? []).map((pair) => ({ operation, name, in: part, pair }))),
    );
  });
}

describe('ids of other projects', () => {
  let server: Booted;
  const as: Record<string, Headers> = {};

  const call = (who: string, line: string, body?: unknown): Promise<Answer> =>
    ask(server, line, { headers: as[who] as Headers, ...(body !== undefined && { body }) });

  async function must(who: string, line: string, body?: unknown): Promise<Answer> {
    const answer = await call(who, line.replace(' /', ` ${API_PREFIX}/`), body);
    expect(answer.status, `${line} ${answer.text}`).toBeLessThan(300);
    return answer;
  }

  beforeAll(async () => {
    server = await boot({ users: true });
    for (const project of ['alpha', 'beta']) {
      await addProject(server, project);
      for (const role of ['owner', 'viewer'] as const) {
        await addUser(server, `${project}-${role}`, { roles: { [project]: role } });
        as[`${project}-${role}`] = await signIn(server, `${project}-${role}`);
      }
    }
    await addUser(server, 'alpha-and-default', { roles: { alpha: 'editor', default: 'owner' } });
    as['alpha-and-default'] = await signIn(server, 'alpha-and-default');
    const scopes = { name: 'few', roles: { alpha: 'owner' }, scopes: ['getInfo', 'listExecutions'] };
    const key = await must('alpha-owner', 'POST /keys', scopes);
    as['alpha-key'] = { authorization: `Bearer ${key.json.token}` };
    await must('alpha-owner', 'POST /workflows', { definition: echo('alpha-own'), project: 'alpha' });
    await makeBeta();
  });
  afterAll(() => server.close());

  async function makeBeta(): Promise<void> {
    const triggers = [{ interval: { every: '1h' } }, { webhook: { path: '/beta-hook' } }];
    const own = (body: object) => must('beta-owner', 'POST /workflows', { ...body, project: 'beta' });
    await own({ definition: { ...approval('beta-private'), triggers } });
    await own({ definition: echo('beta-echo') });
    const run = { workflowId: 'beta-private', executionId: 'exe_of_beta' };
    await must('beta-owner', 'POST /executions', run);
    await must('beta-owner', 'POST /executions?wait=10s', { workflowId: 'beta-echo', executionId: 'exe_ended_beta' });
    await must('beta-owner', 'PUT /plans/beta-plan', { workflowId: 'beta-private' });
    await must('beta-owner', 'PUT /schedules/beta-schedule', { workflowId: 'beta-private', every: '1h' });
    await must('beta-owner', 'PUT /secrets/beta-secret?project=beta', { value: 'some value' });
    const { json } = await must('beta-owner', 'POST /keys', { name: 'k', roles: { beta: 'owner' } });
    FOREIGN['keyId'] = [[json.keyId, [...json.keyId].reverse().join('')]];
    await must('beta-owner', 'POST /workers', { workerId: 'beta-worker', actions: [FAR], project: 'beta' });
    await own({ definition: { id: 'beta-far', nodes: { work: { action: 'far.beta' } } } });
    await must('beta-owner', 'POST /executions', { workflowId: 'beta-far', executionId: 'exe_far_beta' });
    const claimed = await must('beta-owner', 'POST /workers/beta-worker/claim', { wait: '5s' });
    const { leaseId } = claimed.json.work[0];
    FOREIGN['leaseId'] = [[leaseId, leaseId.replace('exe_far_beta', 'exe_far_none')]];
  }

  /** The response without the id, the time and random ids. */
  const withoutId = ({ status, text }: Answer, id: string): readonly [number, string] => [
    status,
    text.replaceAll(id, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|exe_\w{26}/g, 'NEW'),
  ];

  async function tried(who: string, { operation, name, in: part }: Trial, id: string): Promise<Answer> {
    const [method, path] = ROUTES[operation].split(' ') as [string, string];
    const params: Record<string, string> = { ...PARAMS, ...(part === 'params' && { [name]: id }) };
    // The other ids of the path are those that the caller may see.
    const own: Record<string, string> = {
      workerId: 'alpha-worker',
      planId: 'alpha-plan',
      scheduleId: 'alpha-schedule',
    };
    const url = path.replaceAll(/:(\w+)/g, (_, one: string) => encodeURIComponent(params[one] ?? own[one] ?? 'x'));
    const query = new URLSearchParams({ ...QUERIES[operation], ...(part === 'query' && { [name]: id }) });
    const isWithBody = (OPERATIONS[operation] as Operation).body !== undefined;
    const body = { ...BODIES[operation], ...(part === 'body' && { [name]: id }) };
    if (part === 'body' && name === 'plan') delete (body as { workflowId?: string }).workflowId;
    return await call(who, `${method} ${API_PREFIX}${url}?${query}`, isWithBody ? body : undefined);
  }

  it('[SRV-640] every operation answers an id of another project like an unknown id', async () => {
    const failures: string[] = [];
    const seen = new Set<string>();
    for (const who of ['alpha-owner', 'alpha-viewer', 'alpha-and-default', 'alpha-key']) {
      for (const trial of trials()) {
        const parameter = `${trial.operation}.${trial.name}`;
        if (MADE.has(parameter) || ENDLESS.has(parameter)) continue;
        seen.add(trial.operation);
        const [foreign, none] = trial.pair;
        const [one, other] = [await tried(who, trial, foreign), await tried(who, trial, none)];
        const [a, b] = [withoutId(one, foreign), withoutId(other, none)].map((answer) => JSON.stringify(answer));
        if (a !== b) failures.push(`${who} ${parameter} ${foreign}: ${a} / ${b}`);
      }
    }
    expect(failures).toEqual([]);
    expect(seen.size).toBeGreaterThan(50);
  });

  it('[SRV-640] a list of ids, and a definition that names workflows and plans, are answered alike', async () => {
    const node = (id: string): Record<string, object> => ({
      child: { workflow: { id, mode: 'child' } },
      inline: { workflow: { id } },
      version: { workflow: { id, version: 1, mode: 'child' } },
      plan: { workflow: { plan: id.replace('private', 'plan') } },
    });
    const requests: Record<string, (id: string) => Promise<Answer>> = {
      bulk: (id) =>
        call('alpha-owner', `POST ${API_PREFIX}/executions/bulk`, {
          operation: 'cancel',
          ids: [id.replace('-private', '_exe'), id === 'beta-private' ? 'exe_of_beta' : 'exe_of_none'],
        }),
    };
    for (const kind of Object.keys(node(''))) {
      const definition = (id: string) => ({ id: `alpha-${kind}`, nodes: { it: node(id)[kind] } });
      for (const path of ['/workflows/validate', '/workflows']) {
        requests[`${path} ${kind}`] = (id) =>
          call('alpha-owner', `POST ${API_PREFIX}${path}`, { definition: definition(id), project: 'alpha' });
      }
      requests[`run ${kind}`] = async (id) => {
        const own = { ...definition(id), id: `alpha-run-${kind}` };
        await call('alpha-owner', `POST ${API_PREFIX}/workflows`, { definition: own, project: 'alpha' });
        return await call('alpha-owner', `POST ${API_PREFIX}/executions?wait=10s`, {
          workflowId: own.id,
          executionId: `exe_run_${kind}_${id.slice(0, 4)}`,
        });
      };
    }
    // The second definition is another version of the first.
    const plain = (answer: Answer, id: string) =>
      withoutId(answer, id).map((part) => String(part).replace(/"version":\d+/, ''));
    for (const [name, request] of Object.entries(requests)) {
      const [foreign, none] = [await request('beta-private'), await request('none-private')];
      expect([name, ...plain(foreign, 'beta')]).toEqual([name, ...plain(none, 'none')]);
    }
  });

  it('[SRV-640] every endpoint of workflow-graph answers an id of another project like an unknown id', async () => {
    const posted = await call('beta-owner', 'POST /api/workflows?project=beta', {
      name: 'ci',
      jobs: { a: { run: 'x' } },
    });
    expect(posted.status, posted.text).toBe(201);
    const { id } = posted.json;
    const none = [...id].reverse().join('');
    const [[lease, stale]] = FOREIGN['leaseId'] as [[string, string]];
    const lines: readonly (readonly [string, string, string])[] = [
      ...['status', 'jobs/a/logs', 'jobs/a/logs/stream', 'status?run=exe_of_beta'].map(
        (path) => [`GET /api/workflows/ID/${path}`, id, none] as const,
      ),
      ...['run', 'cancel'].map((path) => [`POST /api/workflows/ID/${path}`, id, none] as const),
      ['GET /api/jobs/ID/a/cancelled', id, none],
      ...['heartbeat', 'complete', 'fail', 'logs'].map((path) => [`POST /api/jobs/ID/${path}`, lease, stale] as const),
      ['POST /api/workers/ID/heartbeat', 'beta-worker', 'none-worker'],
    ];
    for (const who of ['alpha-owner', 'alpha-viewer', 'alpha-and-default', 'alpha-key']) {
      for (const [line, foreign, nothing] of lines) {
        const body = line.startsWith('POST') ? { chunks: [] } : undefined;
        const answers = [foreign, nothing].map(async (one) =>
          withoutId(await call(who, line.replace('ID', encodeURIComponent(one)), body), one),
        );
        const [a, b] = await Promise.all(answers);
        expect([who, line, a]).toEqual([who, line, b]);
        // Nothing was cancelled there, as far as this caller knows.
        const mayWork = who === 'alpha-owner' || who === 'alpha-and-default';
        if (line.endsWith('/cancelled') && mayWork) expect(a).toEqual([200, 'false']);
        else expect(a?.[0], `${who} ${line}`).toBeGreaterThanOrEqual(400);
      }
    }
  });

  it('[SRV-641] an id or a path that is taken is refused without a word about its owner', async () => {
    const makes: readonly (readonly [string, unknown])[] = [
      ['POST /workflows', { definition: echo('beta-private'), project: 'alpha' }],
      ['POST /executions', { workflowId: 'alpha-own', executionId: 'exe_of_beta' }],
      ['PUT /plans/beta-plan', { workflowId: 'alpha-own' }],
      ['PUT /schedules/beta-schedule', { workflowId: 'alpha-own', every: '1h' }],
      ['POST /workers', { workerId: 'beta-worker', actions: [] }],
      [
        'POST /workflows',
        { definition: echo('alpha-hook', { triggers: [{ webhook: { path: '/beta-hook' } }] }), project: 'alpha' },
      ],
    ];
    for (const [line, body] of makes) {
      const { status, text } = await call('alpha-owner', line.replace(' /', ` ${API_PREFIX}/`), body);
      expect([line, [403, 409].includes(status)], text).toEqual([line, true]);
      const named = JSON.stringify(body) + line;
      for (const word of ['project', 'beta', 'beta-private', 'beta-owner', 'of-beta']) {
        if (!named.includes(word)) expect(text, line).not.toContain(word);
      }
    }
  });
});
