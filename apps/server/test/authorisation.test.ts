/**
 * Every route, called by every kind of caller: the permissions are written here by hand, and compared with the
 * responses.
 */
import { API_PREFIX, type OperationId, ROUTES } from '@nebula/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from './support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, PASSWORD, signIn } from './support/users.ts';
import { approval, echo } from './support/workflows.ts';

/**
 * The least role that may call; `members`: a role in any project; `all`: also callers without one; `admins`, `world`.
 */
type Least = 'viewer' | 'operator' | 'editor' | 'owner' | 'all' | 'admins' | 'world';
/** A resource of project A is seen only by its members. A resource of no project needs a role anywhere. */
type About = 'A' | 'none';

const RULES: Readonly<Record<OperationId, readonly [Least, About]>> = {
  getInfo: ['world', 'none'],
  validateWorkflow: ['editor', 'none'],
  registerWorkflow: ['editor', 'A'],
  listWorkflows: ['viewer', 'none'],
  getWorkflow: ['viewer', 'A'],
  listWorkflowVersions: ['viewer', 'A'],
  getWorkflowVersion: ['viewer', 'A'],
  activateWorkflow: ['editor', 'A'],
  deactivateWorkflow: ['editor', 'A'],
  diffWorkflow: ['viewer', 'A'],
  compareWorkflow: ['editor', 'A'],
  archiveWorkflow: ['editor', 'A'],
  unarchiveWorkflow: ['editor', 'A'],
  getLayout: ['viewer', 'A'],
  putLayout: ['editor', 'A'],
  listDrafts: ['editor', 'A'],
  getDraft: ['editor', 'A'],
  putDraft: ['editor', 'A'],
  deleteDraft: ['editor', 'A'],
  startExecution: ['operator', 'A'],
  listExecutions: ['viewer', 'none'],
  countExecutions: ['viewer', 'none'],
  bulkExecutions: ['operator', 'none'],
  getExecution: ['viewer', 'A'],
  getResult: ['viewer', 'A'],
  awaitRest: ['viewer', 'A'],
  listPermits: ['viewer', 'A'],
  deleteExecution: ['operator', 'A'],
  relaunchExecution: ['operator', 'A'],
  getJournal: ['viewer', 'A'],
  getTimeline: ['viewer', 'A'],
  listIterations: ['viewer', 'A'],
  listAttempts: ['viewer', 'A'],
  explainExecution: ['viewer', 'A'],
  getUndoPlan: ['viewer', 'A'],
  getDefinition: ['viewer', 'A'],
  getValues: ['viewer', 'A'],
  getBlob: ['viewer', 'A'],
  listLogs: ['viewer', 'A'],
  downloadLogs: ['viewer', 'A'],
  listHumanTasks: ['viewer', 'none'],
  countHumanTasks: ['viewer', 'none'],
  getStatistics: ['viewer', 'none'],
  listTriggers: ['viewer', 'none'],
  getFleet: ['admins', 'none'],
  changeOwnPassword: ['all', 'none'],
  cancelExecution: ['operator', 'A'],
  pauseExecution: ['operator', 'A'],
  resumeExecution: ['operator', 'A'],
  signalExecution: ['operator', 'A'],
  answerApproval: ['operator', 'A'],
  callBack: ['operator', 'A'],
  retryExecution: ['operator', 'A'],
  replayExecution: ['operator', 'A'],
  migrateExecution: ['operator', 'A'],
  settleNode: ['operator', 'A'],
  publishSignal: ['operator', 'A'],
  followExecution: ['viewer', 'A'],
  followLogs: ['viewer', 'A'],
  followAll: ['viewer', 'none'],
  listActions: ['all', 'none'],
  getAction: ['all', 'none'],
  removeAnnouncedAction: ['operator', 'A'],
  listSecrets: ['editor', 'A'],
  putSecret: ['owner', 'A'],
  deleteSecret: ['owner', 'A'],
  listLaunchPlans: ['viewer', 'none'],
  getLaunchPlan: ['viewer', 'A'],
  putLaunchPlan: ['editor', 'A'],
  deleteLaunchPlan: ['editor', 'A'],
  listSchedules: ['viewer', 'none'],
  getSchedule: ['viewer', 'A'],
  putSchedule: ['editor', 'A'],
  deleteSchedule: ['editor', 'A'],
  fireSchedule: ['operator', 'A'],
  listWorkers: ['all', 'none'],
  registerWorker: ['operator', 'none'],
  claimWork: ['operator', 'none'],
  beatWorker: ['operator', 'none'],
  deleteWorker: ['operator', 'none'],
  extendLease: ['operator', 'A'],
  logLease: ['operator', 'A'],
  completeLease: ['operator', 'A'],
  failLease: ['operator', 'A'],
  revealCredential: ['operator', 'A'],
  listCache: ['admins', 'none'],
  forgetCache: ['admins', 'none'],
  listAudit: ['admins', 'none'],
  createBackup: ['admins', 'none'],
  listNotifications: ['editor', 'none'],
  putNotification: ['editor', 'A'],
  deleteNotification: ['editor', 'A'],
  testNotification: ['editor', 'A'],
  startTest: ['operator', 'A'],
  listOutputs: ['viewer', 'A'],
  rehearseWorkflow: ['editor', 'A'],
  login: ['world', 'none'],
  createSignInCode: ['admins', 'none'],
  signIn: ['world', 'none'],
  logout: ['all', 'none'],
  getMe: ['all', 'none'],
  listUsers: ['admins', 'none'],
  putUser: ['admins', 'none'],
  deleteUser: ['admins', 'none'],
  listKeys: ['all', 'none'],
  createKey: ['all', 'none'],
  deleteKey: ['all', 'none'],
  listProjects: ['all', 'none'],
  putProject: ['owner', 'A'],
  deleteProject: ['admins', 'none'],
};

const ROLES = ['viewer', 'operator', 'editor', 'owner'] as const;

/** Refused by the authorisation, or let in; the response of the handler does not matter here. */
type Verdict = 'in' | 401 | 403 | 404;

const BODIES: Partial<Record<OperationId, unknown>> = {
  validateWorkflow: { definition: echo() },
  registerWorkflow: { definition: echo('of-a'), project: 'a' },
  activateWorkflow: { version: 1 },
  compareWorkflow: { definition: echo('of-a') },
  putLayout: { nodes: { ask: { x: 1, y: 2 } } },
  putDraft: { text: 'id: of-a' },
  startExecution: { workflowId: 'of-a' },
  bulkExecutions: { operation: 'resume', ids: ['exe_nothing'] },
  answerApproval: { node: 'ask', approved: true },
  signalExecution: { signal: 'x' },
  callBack: { node: 'ask' },
  replayExecution: { node: 'ask' },
  migrateExecution: { version: 1, dryRun: true },
  settleNode: { node: 'ask', happened: true },
  publishSignal: { signal: 'x', project: 'a', keep: '1ms' },
  putSecret: { value: 'some value' },
  putLaunchPlan: { workflowId: 'of-a' },
  putSchedule: { workflowId: 'of-a', every: '1h' },
  putNotification: { url: 'http://localhost:9/', project: 'a' },
  startTest: { workflowId: 'of-a' },
  rehearseWorkflow: { definition: echo('of-a') },
  changeOwnPassword: { current: 'a wrong password', password: 'correct horse battery' },
  login: { user: 'nobody-at-all', password: 'x' },
  signIn: { code: 'no code' },
  createKey: { name: 'k', roles: {} },
  claimWork: { wait: '0s' },
  extendLease: { progress: 1 },
  logLease: { lines: [{ message: 'x' }] },
  completeLease: { output: 1 },
  failLease: { message: 'x' },
};

/** Each caller has its own worker, because no one may act for that of another. */
const bodyOf = (operation: OperationId, caller: string): unknown =>
  operation === 'registerWorker' ? { workerId: caller.replaceAll(' ', '-'), actions: [] } : BODIES[operation];

const PARAMS: Readonly<Record<string, string>> = {
  workflowId: 'of-a',
  draftId: 'of-a',
  version: '1',
  executionId: 'exe_of_a',
  sha256: 'a'.repeat(64),
  actionId: 'core.noop',
  name: 'not-there',
  planId: 'plan-of-a',
  scheduleId: 'schedule-of-a',
  notificationId: 'note-of-a',
  userId: 'not-there',
  keyId: 'not-there',
  projectId: 'a',
  workerId: 'not-there',
  leaseId: 'lse_x.exe_of_a.1.ask',
  alias: 'key',
};

/** Codes of missing resources, from handlers that were reached. */
const ROOM_CODES = /^(UNKNOWN_(ACTION|DRAFT|SECRET|USER|KEY|PROJECT|WORKER)|BLOB_MISSING)$/;
/** Codes of handlers that look like those of the authorisation. */
const ROOM_REFUSALS = /^LOGIN_FAILED$/;

function verdictOf({ status, json }: Answer): Verdict {
  if (ROOM_CODES.test(json?.code) || ROOM_REFUSALS.test(json?.code)) return 'in';
  return status === 401 || status === 403 || status === 404 ? status : 'in';
}

interface Caller {
  readonly signedIn: boolean;
  readonly admin?: boolean;
  readonly roleInA?: string;
  readonly roleInB?: string;
  readonly scopes?: readonly string[];
  readonly isKey?: true;
}

const CALLERS: Readonly<Record<string, Caller>> = {
  nobody: { signedIn: false },
  disabled: { signedIn: false },
  'a stranger': { signedIn: true },
  admin: { signedIn: true, admin: true },
  ...Object.fromEntries(ROLES.map((role) => [`a-${role}`, { signedIn: true, roleInA: role }])),
  ...Object.fromEntries(ROLES.map((role) => [`b-${role}`, { signedIn: true, roleInB: role }])),
  'key of an owner': { signedIn: true, isKey: true, roleInA: 'owner' },
  'key to look': { signedIn: true, isKey: true, roleInA: 'viewer' },
  'key with scopes': {
    signedIn: true,
    isKey: true,
    roleInA: 'owner',
    scopes: ['startExecution', 'getResult', 'listAudit'],
  },
  'key of an admin': { signedIn: true, isKey: true, roleInA: 'owner' },
};

function expected(operation: OperationId, caller: Caller): Verdict {
  const [least, about] = RULES[operation];
  if (least === 'world') return 'in';
  if (!caller.signedIn) return 401;
  if (caller.scopes !== undefined && !caller.scopes.includes(operation)) return 403;
  // A key does not make keys, and has no password.
  if ((operation === 'createKey' || operation === 'changeOwnPassword') && caller.isKey) return 403;
  if (least === 'all' || caller.admin) return 'in';
  if (least === 'admins') return 403;
  const ranks: readonly string[] = ROLES;
  const isEnough = (role: string | undefined): boolean =>
    role !== undefined && ranks.indexOf(role) >= ranks.indexOf(least);
  if (about === 'none') return isEnough(caller.roleInA) || isEnough(caller.roleInB) ? 'in' : 403;
  // A lease of another project is answered as one that has passed: 409.
  if (caller.roleInA === undefined) return ROUTES[operation].includes('/leases/') ? 'in' : 404;
  return isEnough(caller.roleInA) ? 'in' : 403;
}

const served = Object.keys(ROUTES) as OperationId[];

describe('permissions', () => {
  let booted: Booted;
  const headersOf: Record<string, Headers> = { nobody: {} };

  beforeAll(async () => {
    booted = await boot({ users: true });
    await addProject(booted, 'a');
    await addProject(booted, 'b');
    await addUser(booted, 'admin', { admin: true });
    await addUser(booted, 'stranger');
    for (const role of ROLES) {
      await addUser(booted, `a-${role}`, { roles: { a: role } });
      await addUser(booted, `b-${role}`, { roles: { b: role } });
    }
    await addUser(booted, 'disabled');
    headersOf['disabled'] = await signIn(booted, 'disabled');
    await addUser(booted, 'disabled', { disabled: true });
    headersOf['a stranger'] = await signIn(booted, 'stranger');
    for (const name of ['admin', ...ROLES.flatMap((role) => [`a-${role}`, `b-${role}`])]) {
      headersOf[name] = await signIn(booted, name);
    }
    const keyOf = async (owner: string, body: unknown): Promise<Headers> => {
      const { json } = await ask(booted, 'POST /api/v1/keys', { headers: headersOf[owner] as Headers, body });
      return { authorization: `Bearer ${json.token}` };
    };
    headersOf['key of an owner'] = await keyOf('a-owner', { name: 'all', roles: { a: 'owner' } });
    headersOf['key to look'] = await keyOf('a-owner', { name: 'look', roles: { a: 'viewer' } });
    headersOf['key with scopes'] = await keyOf('a-owner', {
      name: 'some',
      roles: { a: 'owner' },
      scopes: ['startExecution', 'getResult', 'listAudit'],
    });
    headersOf['key of an admin'] = await keyOf('admin', { name: 'root', roles: { a: 'owner' } });
    await prepare();
  });
  afterAll(() => booted.close());

  /** Creates the objects that the routes act on, again for each operation: some operations delete them. */
  async function prepare(): Promise<void> {
    const headers = headersOf['admin'] as Headers;
    const must = async (line: string, body: unknown): Promise<void> => {
      const answer = await ask(booted, line, { headers, body });
      expect(answer.status, `${line} ${answer.text}`).toBeLessThan(300);
    };
    await must('POST /api/v1/workflows', { definition: approval('of-a'), project: 'a' });
    await must('POST /api/v1/executions', { workflowId: 'of-a', executionId: 'exe_of_a' });
    await must('PUT /api/v1/plans/plan-of-a', { workflowId: 'of-a' });
    await must('PUT /api/v1/schedules/schedule-of-a', { workflowId: 'of-a', every: '1h' });
    await must('PUT /api/v1/projects/a', { ceiling: { network: ['localhost:9'] } });
    await must('PUT /api/v1/notifications/note-of-a', { url: 'http://localhost:9/', project: 'a' });
  }

  /** Queries of operations that need one, or that would read more than the callers may see. */
  const QUERIES: Readonly<Record<string, string>> = {
    diffWorkflow: '?from=1',
    listDrafts: '?project=a',
    getDraft: '?project=a',
    putDraft: '?project=a',
    deleteDraft: '?project=a',
    listExecutions: '?workflowId=x',
    countExecutions: '?workflowId=x',
    listPermits: '?key=x',
    listIterations: '?node=ask',
    listAttempts: '?node=ask',
    removeAnnouncedAction: '?project=a',
    listSecrets: '?project=a',
    putSecret: '?project=a',
    deleteSecret: '?project=a',
  };

  it.each(served)('[SRV-10] [SRV-11] %s admits exactly the allowed callers', async (operation) => {
    const [method, route] = ROUTES[operation].split(' ') as [string, string];
    const query = QUERIES[operation] ?? '';
    const line = `${method} ${API_PREFIX}${route.replaceAll(/:(\w+)/g, (_, name: string) => PARAMS[name] as string)}${query}`;
    for (const [name, caller] of Object.entries(CALLERS)) {
      // A logout would end the session that later operations need.
      if (operation === 'logout' && caller.signedIn) continue;
      const headers = headersOf[name] as Headers;
      const verdict = await asked(line, headers, bodyOf(operation, name));
      expect(`${name}: ${verdict}`).toBe(`${name}: ${expected(operation, caller)}`);
      if (method === 'DELETE' && verdict === 'in') await prepare();
    }
    expect(booted.troubles).toEqual([]);
  });

  /** Streams never end by themselves: their head says enough. */
  async function asked(line: string, headers: Headers, body: unknown): Promise<Verdict> {
    if (!/\/(events|stream)$/.test(line))
      return verdictOf(await ask(booted, line, { headers, ...(body !== undefined && { body }) }));
    const response = await fetch(booted.server.url + line.slice(4), { headers });
    await response.body?.cancel();
    return response.status === 200 ? 'in' : (response.status as Verdict);
  }

  it('[SRV-12] a write without a project goes to the default one, and needs a role there', async () => {
    const headers = headersOf['a-owner'] as Headers;
    const body = { definition: echo('smuggled') };
    expect((await ask(booted, 'POST /api/v1/workflows', { headers, body })).status).toBe(404);
    const unknown = { definition: echo('homeless'), project: 'nowhere' };
    const answer = await ask(booted, 'POST /api/v1/workflows', {
      headers: headersOf['admin'] as Headers,
      body: unknown,
    });
    expect(answer.json.code).toBe('UNKNOWN_PROJECT');
  });

  it('[SRV-11] lists show only resources of the caller’s projects, and no page is short', async () => {
    const admin = headersOf['admin'] as Headers;
    for (let index = 0; index < 6; index++) {
      const project = index % 2 === 0 ? 'a' : 'b';
      const workflowId = `list-${index}`;
      await ask(booted, 'POST /api/v1/workflows', { headers: admin, body: { definition: echo(workflowId), project } });
      await ask(booted, `PUT /api/v1/plans/list-${index}`, { headers: admin, body: { workflowId } });
      await ask(booted, `PUT /api/v1/schedules/list-${index}`, { headers: admin, body: { workflowId, every: '1h' } });
    }
    const headers = headersOf['b-viewer'] as Headers;
    for (const [list, id] of [
      ['workflows', 'workflowId'],
      ['plans', 'planId'],
      ['schedules', 'scheduleId'],
    ] as const) {
      const first = await ask(booted, `GET /api/v1/${list}?limit=2`, { headers });
      const ids = first.json.items.map((item: Record<string, string>) => item[id]);
      expect(ids, list).toEqual(['list-1', 'list-3']);
      const second = await ask(booted, `GET /api/v1/${list}?limit=2&cursor=${first.json.next}`, { headers });
      expect(
        second.json.items.map((item: Record<string, string>) => item[id]),
        list,
      ).toEqual(['list-5']);
      expect(second.json.next, list).toBe(null);
    }
    const projects = await ask(booted, 'GET /api/v1/projects', { headers });
    expect(projects.json.items.map(({ projectId }: { projectId: string }) => projectId)).toEqual(['b']);
    const all = await ask(booted, 'GET /api/v1/projects', { headers: admin });
    expect(all.json.items.map(({ projectId }: { projectId: string }) => projectId)).toContain('default');
    const executions = await ask(booted, 'GET /api/v1/executions', { headers });
    expect(executions.json.items).toEqual([]);
  });

  it('[SRV-11] a start under an existing id does not reveal the run of another project', async () => {
    const admin = headersOf['admin'] as Headers;
    await ask(booted, 'POST /api/v1/workflows', { headers: admin, body: { definition: echo('of-b'), project: 'b' } });
    const body = { workflowId: 'of-b', executionId: 'exe_of_a' };
    const answer = await ask(booted, 'POST /api/v1/executions', { headers: headersOf['b-owner'] as Headers, body });
    expect(answer.status).toBe(409);
    expect(answer.json.code).toBe('EXECUTION_ID_TAKEN');
    expect(answer.text).not.toContain('of-a');
  });

  it('[SRV-13] a bulk operation changes only executions that its caller may operate', async () => {
    const body = { operation: 'cancel', ids: ['exe_of_a'] };
    const strange = await ask(booted, 'POST /api/v1/executions/bulk', {
      headers: headersOf['b-owner'] as Headers,
      body,
    });
    expect(strange.json).toMatchObject({ done: 0, failed: [{ executionId: 'exe_of_a', code: 'UNKNOWN_EXECUTION' }] });
    const filter = { operation: 'cancel', filter: { project: 'a' } };
    const other = await ask(booted, 'POST /api/v1/executions/bulk', {
      headers: headersOf['b-owner'] as Headers,
      body: filter,
    });
    expect(other.status).toBe(403);
    const own = await ask(booted, 'POST /api/v1/executions/bulk', {
      headers: headersOf['a-operator'] as Headers,
      body: { operation: 'pause', filter: {} },
    });
    expect(own.json.failed).toEqual([]);
    expect(own.json.done).toBeGreaterThan(0);
  });

  it('[SRV-14, SRV-841] an approval is answered by those it names: by users and by their keys, not by others', async () => {
    const admin = headersOf['admin'] as Headers;
    await ask(booted, 'POST /api/v1/workflows', {
      headers: admin,
      body: { definition: approval('named', ['a-editor']), project: 'a' },
    });
    const started = await ask(booted, 'POST /api/v1/executions', { headers: admin, body: { workflowId: 'named' } });
    const { executionId } = started.json;
    await booted.parts.engine.waitFor(executionId);
    const body = { node: 'ask', approved: true };
    const line = `POST /api/v1/executions/${executionId}/answer`;
    for (const name of ['a-operator', 'admin', 'key of an owner']) {
      expect((await ask(booted, line, { headers: headersOf[name] as Headers, body })).json.code, name).toBe(
        'NOT_ALLOWED',
      );
    }
    const made = { name: 'phone', roles: { a: 'operator' }, scopes: ['answerApproval'] };
    const editor = headersOf['a-editor'] as Headers;
    const { json: phone } = await ask(booted, 'POST /api/v1/keys', { headers: editor, body: made });
    const key = { authorization: `Bearer ${phone.token}` };
    const other = await ask(booted, line, { headers: key, body: { ...body, by: 'a-owner' } });
    expect(other.json.code).toBe('NOT_ALLOWED');
    expect((await ask(booted, line, { headers: key, body })).status).toBe(202);
    const result = await ask(booted, `GET /api/v1/executions/${executionId}/result?wait=10s`, { headers: admin });
    expect(result.json.status).toBe('completed');
    const again = await ask(booted, 'POST /api/v1/executions', { headers: admin, body: { workflowId: 'named' } });
    await booted.parts.engine.waitFor(again.json.executionId);
    const second = `POST /api/v1/executions/${again.json.executionId}/answer`;
    const named = (by: string) => ask(booted, second, { headers: key, body: { ...body, by } });
    expect((await named('a-editor/laptop')).json.code).toBe('NOT_ALLOWED');
    expect((await named('a-editor/phone')).status).toBe(202);
  });

  it('[SRV-15] a workflow runs workflows of its own project only', async () => {
    const headers = headersOf['admin'] as Headers;
    const definition = { id: 'nosy', nodes: { other: { workflow: { id: 'of-a', mode: 'child' } } } };
    const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition, project: 'b' } });
    expect(answer.status).toBe(201);
    const run = await ask(booted, 'POST /api/v1/executions?wait=10s', { headers, body: { workflowId: 'nosy' } });
    expect(run.json.error.code).toBe('UNKNOWN_WORKFLOW');
    const fine = await ask(booted, 'POST /api/v1/workflows', {
      headers,
      body: { definition: { ...definition, id: 'kin' }, project: 'a' },
    });
    expect(fine.status).toBe(201);
  });

  it('[SRV-15] a workflow id that another workflow will run cannot be claimed by another project', async () => {
    const headers = headersOf['admin'] as Headers;
    await addProject(booted, 'c');
    const definition = { id: 'early', nodes: { later: { workflow: { id: 'later', mode: 'child' } } } };
    const register = (body: object) => ask(booted, 'POST /api/v1/workflows', { headers, body });
    expect((await register({ definition, project: 'c' })).status).toBe(201);
    expect((await register({ definition: echo('later'), project: 'b' })).json.code).toBe('ID_TAKEN');
    expect((await ask(booted, 'GET /api/v1/workflows/later', { headers })).status).toBe(404);
    expect((await register({ definition: echo('later'), project: 'c' })).status).toBe(201);
    const run = await ask(booted, 'POST /api/v1/executions?wait=10s', { headers, body: { workflowId: 'early' } });
    expect(run.json.status).toBe('completed');
  });

  it('[SRV-15] a claim goes with its project; a project with workflows stays', async () => {
    const headers = headersOf['admin'] as Headers;
    await addProject(booted, 'd');
    await booted.parts.records.commit([{ kind: 'workflow', id: 'ghost', body: '{"project":"d","active":null}' }]);
    expect((await ask(booted, 'DELETE /api/v1/projects/a', { headers })).json.code).toBe('PROJECT_NOT_EMPTY');
    expect((await ask(booted, 'DELETE /api/v1/projects/default', { headers })).json.code).toBe('UNKNOWN_PROJECT');
    expect((await ask(booted, 'DELETE /api/v1/projects/d', { headers })).status).toBe(204);
    const body = { definition: echo('ghost'), project: 'b' };
    expect((await ask(booted, 'POST /api/v1/workflows', { headers, body })).status).toBe(201);
  });

  it('[SRV-16] a schedule starts nothing in another project, even after its launch plan has moved there', async () => {
    const admin = headersOf['admin'] as Headers;
    await ask(booted, 'PUT /api/v1/plans/moving', { headers: admin, body: { workflowId: 'of-a' } });
    await ask(booted, 'PUT /api/v1/schedules/follows', { headers: admin, body: { plan: 'moving', every: '1h' } });
    await ask(booted, 'DELETE /api/v1/plans/moving', { headers: admin });
    await ask(booted, 'PUT /api/v1/plans/moving', { headers: admin, body: { workflowId: 'of-b' } });
    const answer = await ask(booted, 'POST /api/v1/schedules/follows/fire', {
      headers: headersOf['a-operator'] as Headers,
    });
    expect(answer.json.code).toBe('UNKNOWN_PLAN');
  });

  it('[SRV-17] a key gives at most its owner’s roles of today, and goes with its owner', async () => {
    const admin = headersOf['admin'] as Headers;
    await addUser(booted, 'maker', { roles: { a: 'editor' } });
    const maker = await signIn(booted, 'maker');
    const more = await ask(booted, 'POST /api/v1/keys', { headers: maker, body: { name: 'k', roles: { a: 'owner' } } });
    expect(more.status).toBe(403);
    const made = await ask(booted, 'POST /api/v1/keys', {
      headers: maker,
      body: { name: 'k', roles: { a: 'editor' } },
    });
    const token = made.json.token as string;
    const key = { authorization: `Bearer ${token}` };
    const listed = await ask(booted, 'GET /api/v1/keys', { headers: maker });
    expect(listed.json.items).toHaveLength(1);
    expect(listed.text).not.toContain(token.split('_')[2]);
    expect((await ask(booted, 'POST /api/v1/keys', { headers: key, body: { name: 'l', roles: {} } })).status).toBe(403);
    const line = 'POST /api/v1/workflows';
    const body = { definition: echo('by-key'), project: 'a' };
    expect((await ask(booted, line, { headers: key, body })).status).toBe(201);
    await ask(booted, 'PUT /api/v1/users/maker', { headers: admin, body: { roles: { a: 'viewer' } } });
    expect((await ask(booted, line, { headers: key, body })).status).toBe(403);
    expect((await ask(booted, 'GET /api/v1/workflows/by-key', { headers: key })).status).toBe(200);
    expect((await ask(booted, 'DELETE /api/v1/users/maker', { headers: admin })).status).toBe(204);
    expect((await ask(booted, 'GET /api/v1/workflows/by-key', { headers: key })).status).toBe(401);
    expect((await ask(booted, 'GET /api/v1/me', { headers: maker })).status).toBe(401);
    const again = { password: PASSWORD, roles: { a: 'editor' } };
    await ask(booted, 'PUT /api/v1/users/maker', { headers: admin, body: again });
    expect((await ask(booted, 'GET /api/v1/me', { headers: key })).status).toBe(401);
    expect((await ask(booted, 'GET /api/v1/me', { headers: maker })).status).toBe(401);
    const rows = await booted.parts.records.list('key-of', { prefix: 'maker ', limit: 10 });
    expect(rows).toEqual([]);
  });

  it('[SRV-10] a scope that was stored before its operation was renamed still admits it', async () => {
    const body = { name: 'former', roles: { a: 'viewer' }, scopes: ['listAudit'] };
    const { json } = await ask(booted, 'POST /api/v1/keys', { headers: headersOf['a-owner'] as Headers, body });
    const { records } = booted.parts;
    const key = (await records.list('key', { limit: 100 })).find((one) => one.body.includes('"name":"former"'));
    if (key === undefined) expect.fail('the key is not stored');
    await records.commit([{ kind: 'key', id: key.id, body: key.body.replace('listAudit', 'listPlans') }]);
    const headers = { authorization: `Bearer ${json.token}` };
    const status = async (path: string) => (await ask(booted, `GET /api/v1/${path}?project=a`, { headers })).status;
    expect([await status('plans'), await status('schedules')]).toEqual([200, 403]);
  });

  it('[SRV-17] scopes are ids of operations, and roles are in projects that exist', async () => {
    const headers = headersOf['admin'] as Headers;
    const scopes = await ask(booted, 'POST /api/v1/keys', {
      headers,
      body: { name: 'k', roles: {}, scopes: ['startAll'] },
    });
    expect(scopes.json.code).toBe('BODY_INVALID');
    const roles = await ask(booted, 'POST /api/v1/keys', {
      headers,
      body: { name: 'k', roles: { nowhere: 'viewer' } },
    });
    expect(roles.json.code).toBe('UNKNOWN_PROJECT');
    const user = await ask(booted, 'PUT /api/v1/users/x', {
      headers,
      body: { password: PASSWORD, roles: { nowhere: 'viewer' } },
    });
    expect(user.json.code).toBe('UNKNOWN_PROJECT');
  });
});
