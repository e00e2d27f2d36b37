/** The hostile suite, of workers: nobody takes the work, the credentials or the leases of others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from '../support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, type Person, signIn } from '../support/users.ts';
import { forgedLeases, leaseRequests } from './worker-cases.ts';

const SECRET = 'of alpha only, and of nobody else';
const BUILTIN = { id: 'core.set', version: '1', effect: 'pure' } as const;
const FAR = { id: 'far.work', version: '1', effect: 'pure' } as const;

let booted: Booted;
const as: Record<string, Headers> = {};

beforeAll(async () => {
  booted = await boot({ users: true });
  for (const project of ['alpha', 'beta']) {
    await addProject(booted, project);
    for (const role of ['owner', 'editor', 'operator'] as const)
      await person(`${project}-${role}`, { [project]: role });
  }
  await person('alpha-second', { alpha: 'operator' });
  await person('both', { alpha: 'operator', beta: 'operator' });
  await addUser(booted, 'admin', { admin: true });
  as['admin'] = await signIn(booted, 'admin');
  await must('alpha-owner', 'PUT /api/v1/secrets/press?project=alpha', { value: SECRET });
});
afterAll(() => booted.close());

async function person(name: string, roles: NonNullable<Person['roles']>): Promise<void> {
  await addUser(booted, name, { roles });
  as[name] = await signIn(booted, name);
}

const call = (who: string, line: string, body?: unknown): Promise<Answer> =>
  ask(booted, line, { headers: as[who] as Headers, ...(body !== undefined && { body }) });

async function must(who: string, line: string, body?: unknown): Promise<Answer> {
  const answer = await call(who, line, body);
  expect(answer.status, `${who} ${line} ${answer.text}`).toBeLessThan(300);
  return answer;
}

async function started(project: string, id: string, node: object): Promise<string> {
  const nodes = { work: { credentials: { key: 'press' }, ...node } };
  await must(`${project}-editor`, 'POST /api/v1/workflows', { definition: { id, nodes }, project });
  return (await must(`${project}-operator`, 'POST /api/v1/executions', { workflowId: id })).json.executionId;
}

const announce = (who: string, workerId: string, action: object, labels: readonly string[] = [], project?: string) =>
  call(who, 'POST /api/v1/workers', { workerId, labels, actions: [action], ...(project && { project }) });

async function claim(who: string, workerId: string): Promise<{ leaseId: string; executionId: string }[]> {
  return (await must(who, `POST /api/v1/workers/${workerId}/claim`, { max: 50, wait: '300ms', lease: '10m' })).json
    .work;
}

describe('hostile workers', () => {
  it('[SRV-460] a worker that has a built-in gets none of the nodes that the server runs', async () => {
    expect((await announce('alpha-operator', 'taker', BUILTIN)).status).toBe(200);
    const waiting = claim('alpha-operator', 'taker');
    const id = await started('alpha', 'alpha-plain', { action: 'core.set@1', with: { value: 1 } });
    expect(await waiting).toEqual([]);
    const result = await must('alpha-operator', `GET /api/v1/executions/${id}/result?wait=10s`);
    expect(result.json).toMatchObject({ status: 'completed' });
    expect((await must('alpha-operator', 'GET /api/v1/actions/core.set')).json).toMatchObject({ runs: 'server' });
  });

  it('[SRV-460] a node whose labels the server lacks goes to a worker of its project with these labels only', async () => {
    const id = await started('alpha', 'alpha-labelled', { action: 'core.set@1', labels: ['gpu'], with: { value: 1 } });
    expect((await announce('beta-operator', 'beta-gpu', BUILTIN, ['gpu'])).status).toBe(200);
    expect((await announce('both', 'both-gpu', BUILTIN, ['gpu'], 'beta')).status).toBe(200);
    expect((await announce('alpha-operator', 'alpha-cpu', BUILTIN, ['cpu'])).status).toBe(200);
    expect((await announce('alpha-operator', 'alpha-other', FAR, ['gpu'])).status).toBe(200);
    for (const [who, worker] of [
      ['beta-operator', 'beta-gpu'],
      ['both', 'both-gpu'],
      ['alpha-operator', 'alpha-cpu'],
      ['alpha-operator', 'alpha-other'],
      ['alpha-operator', 'taker'],
    ] as const) {
      expect(await claim(who, worker), worker).toEqual([]);
    }
    for (const version of ['1.99', '2', '0']) {
      const refused = await announce('alpha-operator', 'newer', { ...BUILTIN, version }, ['gpu']);
      expect([refused.status, refused.json.code], version).toEqual([409, 'ACTION_OWNED']);
    }
    expect((await announce('alpha-operator', 'alpha-gpu', BUILTIN, ['gpu'])).status).toBe(200);
    const [work] = await claim('alpha-operator', 'alpha-gpu');
    expect(work?.executionId).toBe(id);
    const lease = `POST /api/v1/leases/${work?.leaseId}`;
    expect((await must('alpha-operator', `${lease}/credentials/key`)).json).toEqual({ value: SECRET });
    await must('alpha-operator', `${lease}/complete`, { output: 1 });
  });

  it('[SRV-501] a lease does not work for another operator, on any route', async () => {
    expect((await announce('alpha-operator', 'far-1', FAR)).status).toBe(200);
    const id = await started('alpha', 'alpha-far', { action: 'far.work@1' });
    const [work] = await claim('alpha-operator', 'far-1');
    expect(work?.executionId).toBe(id);
    const leaseId = work?.leaseId as string;
    const failures: string[] = [];
    for (const lease of forgedLeases(leaseId)) {
      for (const who of ['alpha-second', 'alpha-owner', 'beta-operator', 'both', 'admin']) {
        for (const [line, body] of leaseRequests(lease)) {
          const { status, text } = await call(who, line, body);
          if (![403, 404, 409].includes(status) || text.includes(SECRET))
            failures.push(`${who} ${line}: ${status} ${text}`);
        }
      }
    }
    for (const who of ['alpha-second', 'beta-operator', 'both']) {
      for (const line of [
        'POST /api/v1/workers/far-1/claim',
        'POST /api/v1/workers/far-1/heartbeat',
        'DELETE /api/v1/workers/far-1',
      ]) {
        const { status, text } = await call(who, line, line.startsWith('POST') ? {} : undefined);
        if (status !== (who === 'beta-operator' ? 404 : 403)) failures.push(`${who} ${line}: ${status} ${text}`);
      }
    }
    expect(failures).toEqual([]);
    await must('alpha-operator', `POST /api/v1/leases/${leaseId}/complete`, { output: 'true' });
    const result = await must('alpha-operator', `GET /api/v1/executions/${id}/result?wait=10s`);
    expect(result.text).not.toContain('forged');
    expect((await must('alpha-operator', `GET /api/v1/executions/${id}/logs`)).text).not.toContain('forged');
  });

  it('[SRV-501] an endpoint of workflow-graph does nothing for a key that lacks its scope', async () => {
    const made = await must('alpha-operator', 'POST /api/v1/keys', {
      name: 'beat',
      roles: { alpha: 'operator' },
      scopes: ['extendLease'],
    });
    as['key'] = { authorization: `Bearer ${made.json.token}` };
    const lease = 'lse_x.exe_of_a.1.ask';
    const failures: string[] = [];
    for (const [line, body] of [
      ['GET /api/workers', undefined],
      ['POST /api/workers/register', { worker_id: 'k' }],
      ['POST /api/workers/k/heartbeat', {}],
      ['POST /api/jobs/claim', { worker_id: 'k' }],
      [`POST /api/jobs/${lease}/complete`, {}],
      [`POST /api/jobs/${lease}/fail`, { error: 'x' }],
      [`POST /api/jobs/${lease}/logs`, { chunks: [] }],
      ['GET /api/workflows', undefined],
      ['POST /api/workflows?project=alpha', { name: 'x', jobs: { a: { run: 'true' } } }],
      ['GET /api/workflows/alpha-far/status', undefined],
      ['POST /api/workflows/alpha-far/run', {}],
      ['POST /api/workflows/alpha-far/cancel', {}],
      ['GET /api/workflows/alpha-far/jobs/work/logs', undefined],
      ['GET /api/workflows/alpha-far/jobs/work/logs/stream', undefined],
    ] as const) {
      const { status, text } = await call('key', line, body);
      if (status !== 403) failures.push(`${line}: ${status} ${text.slice(0, 200)}`);
    }
    expect(failures).toEqual([]);
  });

  it('[SRV-461] an endpoint of workflow-graph puts a worker into no project in which its key may not work', async () => {
    for (const line of ['POST /api/workers/register?project=beta', 'POST /api/jobs/claim?project=beta']) {
      const { status } = await call('alpha-operator', line, { worker_id: 'intruder', labels: [] });
      expect([line, status]).toEqual([line, 403]);
    }
    expect((await must('admin', 'GET /api/v1/workers')).text).not.toContain('intruder');
  });
});
