/** Every operation of the table, called with valid input, responds as its schema says. */
import { API_PREFIX, OPERATIONS, type Operation, type OperationId, ROUTES } from '@nebula/client/contract';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, sqliteKeeping, TOKEN } from './support/boot.ts';
import { type Answer, addProject, addUser, ask, PASSWORD } from './support/users.ts';
import {
  approval,
  callback,
  chatty,
  echo,
  failing,
  keeping,
  large,
  looping,
  remote,
  unsure,
  waiting,
} from './support/workflows.ts';

interface Scenario {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: string;
  readonly body?: unknown;
}

const headers = { authorization: `Bearer ${TOKEN}` };

async function registered(booted: Booted, definition: { readonly id: string }): Promise<string> {
  const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
  expect(answer.json.workflowId, answer.text).toBe(definition.id);
  return definition.id;
}

async function started(booted: Booted, definition: { readonly id: string }, wait = ''): Promise<string> {
  await registered(booted, definition);
  const body = { workflowId: definition.id, input: { a: 1 } };
  const answer = await ask(booted, `POST /api/v1/executions${wait}`, { headers, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.executionId;
}

const ended = (booted: Booted, definition: { readonly id: string }) => started(booted, definition, '?wait=10s');

async function parked(booted: Booted, definition: { readonly id: string }): Promise<string> {
  const executionId = await started(booted, definition);
  await booted.parts.engine.waitFor(executionId);
  return executionId;
}

const put = (booted: Booted, path: string, body: unknown) => ask(booted, `PUT /api/v1${path}`, { headers, body });

const having = async (made: Promise<unknown>, scenario: Scenario): Promise<Scenario> => {
  await made;
  return scenario;
};

const SCENARIOS: Partial<Record<OperationId, (booted: Booted) => Promise<Scenario>>> = {
  getInfo: async () => ({}),
  validateWorkflow: async () => ({ body: { definition: echo() } }),
  registerWorkflow: async () => ({ body: { definition: echo('fresh') } }),
  listWorkflows: (b) => having(registered(b, echo()), { query: 'limit=5&project=default' }),
  getWorkflow: async (b) => ({ params: { workflowId: await registered(b, echo()) } }),
  listWorkflowVersions: async (b) => ({ params: { workflowId: await registered(b, echo()) } }),
  getWorkflowVersion: async (b) => ({ params: { workflowId: await registered(b, echo()), version: 'active' } }),
  activateWorkflow: async (b) => ({ params: { workflowId: await registered(b, echo()) }, body: { version: 1 } }),
  deactivateWorkflow: async (b) => ({ params: { workflowId: await registered(b, echo('off')) } }),
  diffWorkflow: async (b) => {
    await registered(b, echo('differs'));
    return {
      params: { workflowId: await registered(b, { ...echo('differs'), ...{ name: 'Other' } }) },
      query: 'from=1',
    };
  },
  compareWorkflow: async (b) => ({
    params: { workflowId: await registered(b, echo('differs')) },
    body: { source: 'id: differs\nnodes: { other: { action: core.noop } }\n' },
  }),
  archiveWorkflow: async (b) => ({ params: { workflowId: await registered(b, echo('away')) } }),
  unarchiveWorkflow: async (b) => ({ params: { workflowId: await registered(b, echo('back')) } }),
  getLayout: async (b) => ({ params: { workflowId: await registered(b, echo()) } }),
  putLayout: async (b) => ({
    params: { workflowId: await registered(b, echo()) },
    body: { nodes: { say: { x: 1, y: 2 } } },
  }),
  listDrafts: (b) => having(put(b, '/drafts/one', { text: 'id: one' }), { query: 'limit=2&project=default' }),
  getDraft: (b) => having(put(b, '/drafts/one', { text: 'id: one' }), { params: { draftId: 'one' } }),
  putDraft: async () => ({ params: { draftId: 'two' }, body: { text: 'id: two', baseVersion: 1 } }),
  deleteDraft: (b) => having(put(b, '/drafts/three', { text: '' }), { params: { draftId: 'three' } }),
  startExecution: async (b) => ({
    query: 'wait=10s',
    body: { workflowId: await registered(b, echo()), input: { x: 1 } },
  }),
  listExecutions: (b) => having(ended(b, echo()), { query: 'workflowId=echo&status=completed,failed' }),
  countExecutions: (b) => having(ended(b, echo()), { query: 'workflowId=echo' }),
  bulkExecutions: async (b) => ({ body: { operation: 'delete', ids: [await ended(b, echo()), 'exe_unknown'] } }),
  getExecution: async (b) => ({ params: { executionId: await ended(b, echo()) } }),
  getResult: async (b) => ({ params: { executionId: await ended(b, failing()) }, query: 'wait=1s' }),
  awaitRest: async (b) => ({ params: { executionId: await parked(b, approval()) }, query: 'wait=1s' }),
  listPermits: async (b) => ({ params: { executionId: await parked(b, waiting()) }, query: 'key=nobody' }),
  deleteExecution: async (b) => ({ params: { executionId: await ended(b, echo()) } }),
  relaunchExecution: async (b) => ({ params: { executionId: await ended(b, echo()) }, body: { version: 'active' } }),
  getJournal: async (b) => ({ params: { executionId: await ended(b, echo()) }, query: 'limit=1' }),
  getTimeline: async (b) => ({ params: { executionId: await ended(b, echo()) }, query: 'limit=2&after=1' }),
  listIterations: async (b) => ({ params: { executionId: await ended(b, looping()) }, query: 'node=each&limit=2' }),
  listAttempts: async (b) => ({
    params: { executionId: await ended(b, looping()) },
    query: 'node=each%2F0%2Fsay&limit=2',
  }),
  explainExecution: async (b) => ({ params: { executionId: await ended(b, echo()) }, query: 'node=say' }),
  getUndoPlan: async (b) => ({ params: { executionId: await parked(b, waiting()) } }),
  getDefinition: async (b) => ({ params: { executionId: await ended(b, echo()) } }),
  getValues: async (b) => ({ params: { executionId: await ended(b, echo()) }, query: 'node=say' }),
  getBlob: async (b) => {
    const executionId = await ended(b, large());
    const journal = await ask(b, `GET /api/v1/executions/${executionId}/journal`, { headers });
    const [sha256] = journal.text.match(/[0-9a-f]{64}/) ?? [];
    return { params: { executionId, sha256: sha256 as string } };
  },
  listLogs: async (b) => ({
    params: { executionId: await ended(b, chatty()) },
  }),
  downloadLogs: async (b) => ({ params: { executionId: await ended(b, chatty()) } }),
  listHumanTasks: (b) => having(parked(b, approval()), { query: 'kind=approval&order=deadline' }),
  countHumanTasks: (b) => having(parked(b, approval()), { query: 'project=default' }),
  getStatistics: (b) => having(ended(b, echo()), { query: 'bucket=1h' }),
  listTriggers: (b) => having(schedule(b), { query: 'fires=2' }),
  getFleet: async () => ({}),
  cancelExecution: async (b) => ({ params: { executionId: await parked(b, waiting()) }, body: { reason: 'enough' } }),
  pauseExecution: async (b) => ({ params: { executionId: await parked(b, waiting()) }, body: {} }),
  resumeExecution: async (b) => ({ params: { executionId: await parked(b, waiting()) }, body: {} }),
  signalExecution: async (b) => ({ params: { executionId: await parked(b, waiting()) }, body: { signal: 'go' } }),
  answerApproval: async (b) => ({
    params: { executionId: await parked(b, approval()) },
    body: { node: 'ask', approved: true, comment: 'yes' },
  }),
  callBack: async (b) => ({ params: { executionId: await parked(b, callback()) }, body: { node: 'hold', payload: 1 } }),
  retryExecution: async (b) => ({ params: { executionId: await ended(b, failing()) }, body: {} }),
  migrateExecution: async (b) => ({
    params: { executionId: await ended(b, echo()) },
    body: { dryRun: true },
  }),
  replayExecution: async (b) => ({
    params: { executionId: await ended(b, echo()) },
    body: { node: 'say', fork: true },
  }),
  settleNode: async (b) => {
    const executionId = await parked(b, unsure());
    return { params: { executionId }, body: { node: 'say', happened: false, then: 'fail' } };
  },
  startTest: async () => ({ query: 'wait=10s', body: { definition: echo('tested'), until: 'say' } }),
  listOutputs: async (b) => ({ params: { executionId: await ended(b, echo()) }, query: 'limit=5' }),
  rehearseWorkflow: async (b) =>
    having(ended(b, echo()), { params: { workflowId: 'echo' }, body: { definition: echo() } }),
  publishSignal: async () => ({ body: { signal: 'nobody-waits', payload: { a: 1 }, keep: '1m' } }),
  followExecution: async (b) => ({ params: { executionId: await ended(b, echo()) } }),
  followLogs: async (b) => ({ params: { executionId: await ended(b, chatty()) } }),
  followAll: (b) => having(ended(b, echo()), { query: 'workflowId=echo' }),
  listActions: async () => ({ query: 'limit=3' }),
  getAction: async () => ({ params: { actionId: 'core.noop' } }),
  removeAnnouncedAction: async (b) => {
    await worker(b, 'announcing');
    return { params: { actionId: 'far.work@1' } };
  },
  listSecrets: (b) => having(put(b, '/secrets/one', { value: 'four' }), { query: 'limit=2' }),
  putSecret: async () => ({ params: { name: 'two' }, body: { value: { user: 'a', password: 'b' } } }),
  deleteSecret: async (b) => {
    await put(b, '/secrets/three', { value: 'gone soon' });
    return { params: { name: 'three' } };
  },
  listLaunchPlans: (b) => having(plan(b), { query: 'limit=2' }),
  getLaunchPlan: async (b) => ({ params: { planId: await plan(b) } }),
  putLaunchPlan: async (b) => ({
    params: { planId: 'made' },
    body: {
      workflowId: await registered(b, echo()),
      inputs: { a: 1 },
      fixed: { b: 2 },
      concurrency: { limit: 1, policy: 'skip' },
    },
  }),
  deleteLaunchPlan: async (b) => ({ params: { planId: await plan(b) } }),
  listSchedules: (b) => having(schedule(b), { query: 'project=default' }),
  getSchedule: async (b) => ({ params: { scheduleId: await schedule(b) } }),
  putSchedule: async (b) => ({
    params: { scheduleId: 'nightly' },
    body: { workflowId: await registered(b, echo()), cron: '0 3 * * *', timezone: 'Europe/Berlin', catchUp: 'last' },
  }),
  deleteSchedule: async (b) => ({ params: { scheduleId: await schedule(b) } }),
  fireSchedule: async (b) => ({ params: { scheduleId: await schedule(b) } }),
  listWorkers: (b) => having(worker(b), { query: 'limit=1' }),
  registerWorker: async () => ({
    body: {
      workerId: 'fresh',
      labels: ['far'],
      actions: [{ id: 'far.work', version: '1', effect: 'pure', input: { type: 'object' }, description: 'Works.' }],
    },
  }),
  claimWork: async (b) => {
    await worker(b);
    await started(b, remote());
    return { params: { workerId: 'w1' }, body: { max: 1, wait: '5s', lease: '1m', actions: ['far.work'] } };
  },
  beatWorker: async (b) => ({ params: { workerId: await worker(b) } }),
  deleteWorker: async (b) => {
    await worker(b, 'leaving');
    return { params: { workerId: 'leaving' } };
  },
  extendLease: async (b) => ({ params: await lease(b), body: { lease: '1m', progress: 0.5, message: 'half' } }),
  logLease: async (b) => ({
    params: await lease(b),
    body: { lines: [{ message: 'on it', level: 'warn', at: '2026-01-01T00:00:00.000Z', fields: { a: 1 } }] },
  }),
  completeLease: async (b) => ({ params: await lease(b), body: { output: { done: true } } }),
  failLease: async (b) => ({
    params: await lease(b),
    body: { code: 'NO_PAPER', message: 'none left', kind: 'USER', details: { tray: 1 }, outcome: 'failed' },
  }),
  revealCredential: async (b) => {
    await put(b, '/secrets/press', { value: { user: 'ann', password: 'four' } });
    return { params: { ...(await lease(b)), alias: 'key' } };
  },
  listCache: (b) => having(ended(b, keeping()), { query: 'action=core.set&limit=1' }),
  forgetCache: (b) => having(ended(b, keeping()), { query: 'action=core.set' }),
  listAudit: async () => ({ query: 'limit=3&who=owner' }),
  listNotifications: (b) => having(notification(b), { query: 'project=default' }),
  putNotification: async () => ({
    params: { notificationId: 'ops' },
    body: { url: 'http://localhost:9/', on: ['failed'] },
  }),
  deleteNotification: async (b) => ({ params: { notificationId: await notification(b) } }),
  testNotification: async (b) => ({ params: { notificationId: await notification(b) } }),
  createBackup: async () => ({ body: { withKey: false } }),
  login: async (b) => {
    await addUser(b, 'dora');
    return { body: { user: 'dora', password: PASSWORD } };
  },
  logout: async () => ({}),
  createSignInCode: async () => ({}),
  signIn: async (b) => {
    const created = await ask(b, 'POST /api/v1/sign-in-codes', { headers });
    return { body: { code: (JSON.parse(created.text) as { code: string }).code } };
  },
  getMe: async () => ({}),
  listUsers: (b) => having(put(b, '/users/ann', { password: 'twelve letters and more' }), { query: 'limit=1' }),
  putUser: async (b) => {
    await addProject(b, 'shop');
    return { params: { userId: 'bob' }, body: { password: 'twelve letters and more', roles: { shop: 'editor' } } };
  },
  deleteUser: async (b) => {
    await put(b, '/users/carl', { password: 'twelve letters and more' });
    return { params: { userId: 'carl' } };
  },
  listKeys: async () => ({ query: 'limit=4' }),
  createKey: async () => ({
    body: { name: 'ci', roles: { default: 'operator' }, scopes: ['startExecution'], expires: '1h' },
  }),
  deleteKey: async (b) => {
    const key = await ask(b, 'POST /api/v1/keys', { headers, body: { name: 'short', roles: {} } });
    return { params: { keyId: key.json.keyId } };
  },
  listProjects: async () => ({}),
  putProject: async () => ({ params: { projectId: 'garden' }, body: { name: 'The garden' } }),
  deleteProject: async (b) => {
    await addProject(b, 'empty');
    return { params: { projectId: 'empty' } };
  },
};

async function plan(booted: Booted): Promise<string> {
  await put(booted, '/plans/some-plan', { workflowId: await registered(booted, echo()) });
  return 'some-plan';
}

async function notification(booted: Booted): Promise<string> {
  await put(booted, '/notifications/told', { url: 'http://localhost:9/' });
  return 'told';
}

async function schedule(booted: Booted): Promise<string> {
  const workflowId = await registered(booted, echo());
  const answer = await put(booted, '/schedules/hourly', { workflowId, every: '1h', input: { from: 'schedule' } });
  expect(answer.status, answer.text).toBeLessThan(300);
  return 'hourly';
}

async function worker(booted: Booted, workerId = 'w1'): Promise<string> {
  const body = { workerId, labels: ['far'], actions: [{ id: 'far.work' }] };
  const answer = await ask(booted, 'POST /api/v1/workers', { headers, body });
  expect(answer.status, answer.text).toBe(200);
  return workerId;
}

/** The lease of a task that a worker has claimed. */
async function lease(booted: Booted): Promise<{ readonly leaseId: string }> {
  await worker(booted);
  await started(booted, remote());
  const answer = await ask(booted, 'POST /api/v1/workers/w1/claim', { headers, body: { wait: '5s' } });
  expect(answer.json.work, answer.text).toHaveLength(1);
  return { leaseId: answer.json.work[0].leaseId };
}

function expectFits(schema: unknown, value: unknown): void {
  const check = formats.default(new Ajv({ strict: false }), ['date-time']).compile(schema as object);
  const isRight = check(value);
  expect(check.errors, JSON.stringify(value).slice(0, 500)).toBe(null);
  expect(isRight).toBe(true);
}

function lineOf(operation: OperationId, { params = {}, query }: Scenario): string {
  const [method, path] = ROUTES[operation].split(' ') as [string, string];
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  return `${method} ${API_PREFIX}${filled}${query === undefined ? '' : `?${query}`}`;
}

const transports = [
  ['memory', async () => undefined],
  ['SQLite', sqliteKeeping],
] as const;

describe.each(transports)('the contract, on %s', (_name, open) => {
  let booted: Booted;
  let remove: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const opened = await open();
    remove = opened?.remove;
    booted = await boot(opened === undefined ? {} : { keeping: opened.keeping });
  });
  afterAll(async () => {
    await booted.close();
    await remove?.();
  });

  it('[SRV-1] every operation that is served has a scenario here', () => {
    const missing = (Object.keys(ROUTES) as OperationId[]).filter((operation) => SCENARIOS[operation] === undefined);
    // The token of this server has no password: see own-password.test.ts.
    expect(missing).toEqual(['changeOwnPassword']);
  });

  it.each(Object.keys(SCENARIOS) as OperationId[])('[SRV-1] %s answers as its schema says', async (operation) => {
    const contract: Operation = OPERATIONS[operation];
    const scenario = await (SCENARIOS[operation] as (b: Booted) => Promise<Scenario>)(booted);
    const line = lineOf(operation, scenario);
    if (contract.stream === 'events') return expectFits(contract.answers[200], await firstEvent(booted, line));
    const answer = await ask(booted, line, { headers, ...(scenario.body !== undefined && { body: scenario.body }) });
    expectAnswer(contract, answer);
    expect(booted.troubles).toEqual([]);
  });
});

function expectAnswer({ answers, stream }: Operation, { status, text, json }: Answer): void {
  const schema = answers[status];
  expect(schema, `${status} ${text.slice(0, 500)}`).toBeDefined();
  if (stream === 'bytes') expectFits(schema, text);
  else expectFits(schema, status === 204 ? null : json);
}

async function firstEvent({ server }: Booted, line: string): Promise<unknown> {
  const response = await fetch(server.url + line.slice(4), { headers });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    const data = text.match(/^data: (.*)$/m)?.[1];
    if (data !== undefined) return JSON.parse(data);
  }
  throw new Error('the stream ended');
}
