/**
 * No caller reaches across the border of a project: ceilings, workflows, secrets, announcements, workers and leases.
 */
import { spawnSync } from 'node:child_process';
import { type Action, NebulaError } from '@nebula/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../src/http/problem.ts';
import { ceilingIn } from '../src/projects.ts';
import { type Booted, boot } from './support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from './support/users.ts';
import { echo } from './support/workflows.ts';

const FAR = { id: 'far.work', version: '1', effect: 'pure' } as const;
const graph: Action = {
  id: 'test.graph',
  version: '1',
  effect: 'pure',
  run: (_ctx, input) => (input as { graph: null }).graph,
};

describe('borders', () => {
  let server: Booted;
  const as: Record<string, Headers> = {};

  beforeAll(async () => {
    server = await boot({ users: true, actions: [graph] });
    for (const project of ['alpha', 'beta']) {
      await addProject(server, project);
      for (const role of ['owner', 'editor', 'operator', 'viewer'] as const) {
        await addUser(server, `${project}-${role}`, { roles: { [project]: role } });
        as[`${project}-${role}`] = await signIn(server, `${project}-${role}`);
      }
    }
    await addUser(server, 'both', { roles: { alpha: 'operator', beta: 'operator' } });
    await addUser(server, 'admin', { admin: true });
    for (const name of ['both', 'admin']) as[name] = await signIn(server, name);
  });
  afterAll(() => server.close());

  const call = (who: string, line: string, body?: unknown): Promise<Answer> =>
    ask(server, line.replace(' /', ' /api/v1/'), { headers: as[who] as Headers, ...(body !== undefined && { body }) });

  async function must(who: string, line: string, body?: unknown): Promise<Answer> {
    const answer = await call(who, line, body);
    expect(answer.status, `${line} ${answer.text}`).toBeLessThan(300);
    return answer;
  }

  const register = (who: string, definition: object): Promise<Answer> =>
    must(who, 'POST /workflows', { definition, project: who.split('-')[0] });

  /** Registers a definition in the project of the caller, runs it, and returns the result. */
  async function ran(who: string, definition: { readonly id: string; readonly nodes: object }): Promise<Answer> {
    await register(who, definition);
    return await must(who, 'POST /executions?wait=20s', { workflowId: definition.id });
  }

  const shell = (id: string, capabilities: object) => ({
    id,
    config: { capabilities },
    nodes: { sh: { action: 'shell.run', with: { program: 'id', args: ['-u'] } } },
  });

  it('[SRV-450] an editor who requests a shell gets only what the project allows: nothing, unless an owner says so', async () => {
    const definition = shell('alpha-shell', { shell: ['*'], files: { read: ['/**'] } });
    const registered = await register('alpha-editor', definition);
    expect(registered.json.warnings).toMatchObject([
      { code: 'OVER_CEILING', path: ['config', 'capabilities', 'files', 'read', 0] },
      { code: 'OVER_CEILING', path: ['config', 'capabilities', 'shell', 0] },
    ]);
    expect((await ran('alpha-editor', definition)).json).toMatchObject({ error: { code: 'CAPABILITY_DENIED' } });
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { shell: ['id'] } });
    expect((await ran('alpha-editor', definition)).json).toMatchObject({ status: 'completed' });
    expect((await ran('alpha-editor', shell('alpha-cat', { shell: ['cat'] }))).json).toMatchObject({
      status: 'failed',
    });
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
    expect((await ran('alpha-editor', definition)).json).toMatchObject({ error: { code: 'CAPABILITY_DENIED' } });
  });

  it('[SRV-645] grants of the configuration do not widen the ceilings of other projects', () => {
    const ofDefault = { shell: ['git'] };
    const ceilings = { standard: {}, configured: { beta: { network: ['b.example'] } }, ofDefault };
    const owned = { name: 'x', ceiling: { env: ['HOME'] }, createdAt: 0 };
    expect(ceilingIn('default', undefined, ceilings)).toEqual(ofDefault);
    expect(ceilingIn('default', owned, ceilings)).toEqual({ env: ['HOME'], ...ofDefault });
    expect(ceilingIn('alpha', undefined, ceilings)).toEqual({});
    expect(ceilingIn('alpha', owned, ceilings)).toEqual({ env: ['HOME'] });
    expect(ceilingIn('beta', undefined, ceilings)).toEqual({ network: ['b.example'] });
  });

  describe('an operator with a worker reaches no secret that the workflow does not hand to the action', () => {
    const steal = { nodes: { s: { action: 'far.steal@1', credentials: { api: 'alpha-key' } } } };
    const noop = { nodes: { x: { action: 'core.noop' } } };
    const planned = (id: string, more: object = {}) => ({
      id,
      nodes: { d: { dynamic: { action: 'test.graph', with: { graph: noop } }, ...more } },
    });
    const edited = { node: 'd', input: { graph: steal } };

    beforeAll(async () => {
      await must('alpha-owner', 'PUT /secrets/alpha-key?project=alpha', { value: 'alpha-secret-0123456789' });
      const actions = ['far.steal', 'far.plan'].map((id) => ({ id, version: '1', effect: 'pure' }));
      await must('alpha-operator', 'POST /workers', { workerId: 'thief', actions });
    });

    afterAll(async () => {
      await must('alpha-operator', 'DELETE /workers/thief');
      await must('alpha-owner', 'DELETE /secrets/alpha-key?project=alpha');
    });

    const claimed = async () => (await must('alpha-operator', 'POST /workers/thief/claim', {})).json.work;
    const ended = async (executionId: string) => {
      await server.parts.engine.waitFor(executionId);
      return (await must('alpha-viewer', `GET /executions/${executionId}/result`)).json;
    };

    it('[PLN-93, SRV-684] by a replay or a fork with a graph that names it', async () => {
      const { executionId } = (await ran('alpha-editor', planned('alpha-planned'))).json;
      const forked = await must('alpha-operator', `POST /executions/${executionId}/replay`, { ...edited, fork: true });
      await must('alpha-operator', `POST /executions/${executionId}/replay`, edited);
      for (const id of [executionId, forked.json.executionId]) {
        expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'BAD_GRAPH' } });
      }
      expect(await claimed()).toEqual([]);
    });

    it('[PLN-93] by an action of its own that returns the graph', async () => {
      await register('alpha-editor', { id: 'alpha-far', nodes: { d: { dynamic: { action: 'far.plan@1' } } } });
      const { executionId } = (await must('alpha-operator', 'POST /executions', { workflowId: 'alpha-far' })).json;
      const work = (await must('alpha-operator', 'POST /workers/thief/claim', { wait: '5s' })).json.work[0];
      await must('alpha-operator', `POST /leases/${encodeURIComponent(work.leaseId)}/complete`, { output: steal });
      expect(await ended(executionId)).toMatchObject({ status: 'failed', error: { code: 'BAD_GRAPH' } });
      expect(await claimed()).toEqual([]);
    });

    it('[SRV-684] by other parameters of a node that uses it', async () => {
      const shared = planned('alpha-shared', { credentials: { api: 'alpha-key' } });
      const { executionId } = (await ran('alpha-editor', shared)).json;
      for (const fork of [false, true]) {
        const replay = { ...edited, fork };
        const refused = await call('alpha-operator', `POST /executions/${executionId}/replay`, replay);
        expect([refused.status, refused.json.code]).toEqual([403, 'NOT_ALLOWED']);
      }
      await must('alpha-operator', `POST /executions/${executionId}/replay`, { node: 'd' });
      await ended(executionId);
      expect(await claimed()).toEqual([]);
      // An editor could as well change the workflow.
      await must('alpha-editor', `POST /executions/${executionId}/replay`, edited);
      const work = (await must('alpha-operator', 'POST /workers/thief/claim', { wait: '5s' })).json.work[0];
      expect(work.credentials).toEqual(['api']);
      await must('alpha-operator', `POST /leases/${encodeURIComponent(work.leaseId)}/complete`, { output: 1 });
    });

    it('[SRV-684] by an output that it tells of a dynamic node that uses it', async () => {
      const fail = { action: 'core.fail', with: { kind: 'SYSTEM', details: { outcome: 'unknown' } } };
      const node = { dynamic: fail, effect: 'once', credentials: { api: 'alpha-key' } };
      const unsure = { id: 'alpha-unsure', nodes: { d: node } };
      await register('alpha-editor', unsure);
      const { executionId } = (await must('alpha-operator', 'POST /executions', { workflowId: unsure.id })).json;
      await expect
        .poll(async () => (await must('alpha-viewer', `GET /executions/${executionId}`)).json.nodes.d.status)
        .toBe('unknown');
      const settle = { node: 'd', happened: true, output: steal };
      expect((await call('alpha-operator', `POST /executions/${executionId}/settle`, settle)).status).toBe(403);
      await must('alpha-operator', `POST /executions/${executionId}/settle`, {
        node: 'd',
        happened: false,
        then: 'fail',
      });
    });
  });

  it('[SRV-451] owners of the project and administrators set its ceiling, which is shown and audited', async () => {
    for (const who of ['alpha-editor', 'alpha-operator', 'alpha-viewer']) {
      expect((await call(who, 'PUT /projects/alpha', { ceiling: 'all' })).status, who).toBe(403);
    }
    for (const who of ['beta-owner', 'beta-editor']) {
      expect((await call(who, 'PUT /projects/alpha', { ceiling: 'all' })).status, who).toBe(404);
    }
    expect((await call('alpha-owner', 'PUT /projects/gamma', { ceiling: 'all' })).status).toBe(404);
    expect((await call('alpha-owner', 'PUT /projects/alpha', { ceiling: { shell: 'x' } })).status).toBe(400);
    const ceiling = { network: ['*.example.com'], files: { read: ['data/**'] } };
    const answer = await must('alpha-owner', 'PUT /projects/alpha', { ceiling });
    expect(answer.json).toMatchObject({ projectId: 'alpha', ceiling });
    const listed = await must('alpha-viewer', 'GET /projects');
    expect(listed.json.items).toMatchObject([{ projectId: 'alpha', ceiling }]);
    const audit = await must('admin', 'GET /audit?limit=5');
    expect(audit.json.items[0]).toMatchObject({ who: 'alpha-owner', operation: 'putProject', details: { ceiling } });
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-452] a graph returned at run time neither grants itself a shell nor runs the workflow of another project', async () => {
    await register('beta-editor', { ...echo('beta-private'), description: 'a secret plan' });
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { shell: ['*'] } });
    const dynamic = (id: string, node: object) => ({
      id,
      nodes: { plan: { dynamic: { action: 'test.graph', with: { graph: { nodes: { it: node } } } } } },
    });
    const sh = { action: 'shell.run', with: { program: 'id' }, capabilities: { shell: ['*'] } };
    expect((await ran('alpha-editor', dynamic('alpha-root', sh))).json).toMatchObject({
      error: { code: 'CAPABILITY_DENIED' },
    });
    const child = { workflow: { id: 'beta-private', mode: 'child' } };
    const stolen = await ran('alpha-editor', dynamic('alpha-thief', child));
    expect(stolen.json).toMatchObject({ error: { code: 'UNKNOWN_WORKFLOW' } });
    const { executionId } = stolen.json;
    for (const view of ['', '/journal', '/definition', '/timeline', '/explain']) {
      const answer = await call('alpha-viewer', `GET /executions/${executionId}${view}`);
      expect(answer.text, view).not.toContain('a secret plan');
    }
    expect((await call('alpha-viewer', 'GET /workflows/beta-private')).status).toBe(404);
    const runs = await must('beta-viewer', 'GET /executions');
    expect(runs.json.items).toEqual([]);
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-453] a secret belongs to a project: others can neither name, list nor delete it', async () => {
    await must('beta-owner', 'PUT /secrets/press?project=beta', { value: 'of beta only' });
    await must('alpha-owner', 'PUT /secrets/own?project=alpha', { value: 'of alpha only' });
    const names = async (who: string, project: string) =>
      (await must(who, `GET /secrets?project=${project}`)).json.items.map(({ name }: { name: string }) => name);
    expect(await names('beta-editor', 'beta')).toEqual(['press']);
    expect(await names('alpha-editor', 'alpha')).toEqual(['own']);
    // The default project stores its secrets without a prefix.
    expect(await names('admin', 'default')).toEqual([]);
    expect((await call('alpha-owner', 'GET /secrets?project=beta')).status).toBe(404);
    expect((await call('alpha-owner', 'GET /secrets')).status).toBe(404);
    expect((await call('alpha-editor', 'PUT /secrets/x?project=alpha', { value: 'some value' })).status).toBe(403);
    expect((await call('alpha-owner', 'DELETE /secrets/press?project=alpha')).status).toBe(404);
    expect((await call('alpha-owner', 'PUT /secrets/beta%2Fpress?project=alpha', { value: 'x y z' })).status).toBe(400);
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { network: ['127.0.0.1', 'localhost'] } });
    for (const name of ['press', 'beta/press']) {
      const thief = {
        id: `alpha-secret-${name.length}`,
        config: { capabilities: { network: ['localhost'] } },
        nodes: {
          send: {
            action: 'http.request',
            with: { url: 'http://localhost:1/', auth: { type: 'bearer' } },
            credentials: { token: name },
          },
        },
      };
      const registered = await call('alpha-editor', 'POST /workflows', { definition: thief, project: 'alpha' });
      if (registered.status >= 300) continue;
      const { json } = await must('alpha-editor', 'POST /executions?wait=20s', { workflowId: thief.id });
      expect(json.error.code).toBe('SECRET_NOT_FOUND');
    }
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  const announce = (who: string, workerId: string, actions: readonly object[], project?: string): Promise<Answer> =>
    call(who, 'POST /workers', { workerId, actions, ...(project && { project }) });

  it('[SRV-454] [SRV-644] a worker cannot announce an action of the server, in any version', async () => {
    for (const id of ['http.request', 'core.noop', 'test.graph']) {
      const answer = await announce('alpha-operator', 'taker', [{ id, version: '1.99', effect: 'pure' }]);
      expect([answer.status, answer.json.code], id).toEqual([409, 'ACTION_OWNED']);
    }
    // With other actions beside it, only this one is refused: a worker of a neighbouring release keeps working.
    const mixed = await announce('alpha-operator', 'mixed', [
      { id: 'http.request', version: '1.99', effect: 'pure' },
      { id: 'core.noop', version: '1', effect: 'pure' },
      FAR,
    ]);
    expect(mixed.json).toMatchObject({
      actions: ['core.noop@1', 'far.work@1'],
      refused: [{ action: 'http.request@1.99', code: 'ACTION_OWNED' }],
    });
    await must('alpha-operator', 'DELETE /workers/mixed');
    await must('alpha-operator', 'DELETE /actions/far.work@1?project=alpha');
    const action = await must('alpha-viewer', 'GET /actions/http.request');
    expect(action.json).toMatchObject({ runs: 'server', project: null });
  });

  it('[SRV-455] announced actions are known, visible and removable only in their project', async () => {
    expect((await announce('alpha-operator', 'alpha-1', [FAR], 'beta')).status).toBe(404);
    expect((await announce('both', 'both-1', [FAR])).json).toMatchObject({ code: 'PROJECT_NEEDED' });
    const registered = await announce('alpha-operator', 'alpha-1', [FAR]);
    expect(registered.json).toMatchObject({ workerId: 'alpha-1', project: 'alpha' });
    expect((await must('alpha-viewer', 'GET /actions/far.work')).json).toMatchObject({
      runs: 'worker',
      project: 'alpha',
    });
    expect((await call('beta-viewer', 'GET /actions/far.work')).status).toBe(404);
    expect((await must('beta-viewer', 'GET /actions?limit=200')).text).not.toContain('far.work');
    expect((await must('beta-viewer', 'GET /workers')).text).not.toContain('alpha-1');
    expect((await must('alpha-viewer', 'GET /workers')).json.items).toMatchObject([{ workerId: 'alpha-1' }]);
    const definition = (id: string) => ({ id, nodes: { work: { action: 'far.work' } } });
    await register('alpha-editor', definition('alpha-far'));
    const refused = await call('beta-editor', 'POST /workflows', {
      definition: definition('beta-far'),
      project: 'beta',
    });
    expect(refused.json).toMatchObject({ code: 'DEFINITION_INVALID' });
    expect((await call('beta-operator', 'DELETE /actions/far.work@1?project=alpha')).status).toBe(404);
    await must('alpha-operator', 'DELETE /actions/far.work@1?project=alpha');
    expect((await call('alpha-viewer', 'GET /actions/far.work')).status).toBe(404);
    await must('alpha-operator', 'DELETE /workers/alpha-1');
  });

  it('[SRV-647] a worker whose id is taken announces nothing', async () => {
    expect((await announce('alpha-operator', 'first', [FAR])).status).toBe(200);
    const refused = await announce('alpha-owner', 'first', [{ ...FAR, id: 'far.planted' }]);
    expect(refused.status).toBe(403);
    expect((await call('alpha-viewer', 'GET /actions/far.planted')).status).toBe(404);
    await must('alpha-operator', 'DELETE /workers/first');
    await must('alpha-operator', 'DELETE /actions/far.work@1?project=alpha');
  });

  it('[SRV-456] a worker gets tasks of its project only, whatever its key may do elsewhere', async () => {
    for (const project of ['alpha', 'beta']) {
      expect((await announce('both', `both-${project}`, [FAR], project)).status).toBe(200);
      await register(`${project}-editor`, { id: `${project}-far`, nodes: { work: { action: 'far.work' } } });
      await must(`${project}-operator`, 'POST /executions', { workflowId: `${project}-far` });
    }
    const claimed = await must('both', 'POST /workers/both-alpha/claim', { max: 10, wait: '1s' });
    expect(claimed.json.work.map(({ workflowId }: { workflowId: string }) => workflowId)).toEqual(['alpha-far']);
    expect((await announce('both', 'both-alpha', [FAR], 'beta')).status).toBe(403);
  });

  it('[SRV-457] a lease works only for its holder, and is shown nowhere', async () => {
    await must('alpha-owner', 'PUT /secrets/press?project=alpha', { value: 'of alpha only' });
    expect((await announce('alpha-operator', 'gpu-7', [FAR], 'alpha')).status).toBe(200);
    await register('alpha-editor', {
      id: 'alpha-lease',
      nodes: { work: { action: 'far.work', credentials: { key: 'press' } } },
    });
    const { executionId } = (await must('alpha-operator', 'POST /executions', { workflowId: 'alpha-lease' })).json;
    const claimed = await must('alpha-operator', 'POST /workers/gpu-7/claim', { max: 10, wait: '2s' });
    const work = claimed.json.work.find((one: { executionId: string }) => one.executionId === executionId);
    const lease = `/leases/${encodeURIComponent(work.leaseId)}`;
    for (const who of ['alpha-owner', 'alpha-editor', 'both', 'admin']) {
      for (const [line, body] of [
        [`POST ${lease}/credentials/key`, undefined],
        [`POST ${lease}/heartbeat`, {}],
        [`POST ${lease}/logs`, { lines: [{ message: 'forged' }] }],
        [`POST ${lease}/complete`, { output: 'forged' }],
        [`POST ${lease}/fail`, { message: 'forged' }],
      ] as const) {
        const answer = await call(who, line, body);
        expect([answer.status, answer.json.code], `${who} ${line}`).toEqual([409, 'STALE_LEASE']);
      }
    }
    const [bearer] = work.leaseId.split('.');
    for (const view of ['', '/journal', '/timeline', '/explain?node=work', '/logs', '/result']) {
      expect((await call('alpha-owner', `GET /executions/${executionId}${view}`)).text, view).not.toContain(bearer);
    }
    expect((await must('alpha-owner', `GET /executions/${executionId}/timeline`)).text).toContain('gpu-7');
    expect((await must('admin', 'GET /audit?limit=200')).text).not.toContain(bearer);
    const secret = await must('alpha-operator', `POST ${lease}/credentials/key`);
    expect(secret.json).toEqual({ value: 'of alpha only' });
    await must('alpha-operator', `POST ${lease}/complete`, { output: 1 });
  });

  it('[SRV-458] a run shows who started it, and its ceiling', async () => {
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { shell: ['id'] } });
    await register('alpha-editor', echo('alpha-who'));
    const { json } = await must('alpha-operator', 'POST /executions?wait=10s', { workflowId: 'alpha-who' });
    const journal = await must('alpha-viewer', `GET /executions/${json.executionId}/journal`);
    expect(journal.text).toContain('"authority":{"principal":"alpha-operator","ceiling":{"shell":["id"]}}');
    const again = await must('alpha-operator', `POST /executions/${json.executionId}/relaunch`, {});
    const other = await must('alpha-viewer', `GET /executions/${again.json.executionId}/journal`);
    expect(other.text).toContain('"principal":"alpha-operator"');
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-459] an error of the server’s data is reported without file names, and is not an error of the caller', () => {
    const file = '/var/lib/nebula/nebula.db';
    for (const [code, status] of [
      ['STORE_GONE', 503],
      ['STORE_FAILED', 503],
      ['STORE_CORRUPT', 500],
      ['DISK_FULL', 507],
      ['SECRETS_DAMAGED', 500],
    ] as const) {
      const { status: actual, body } = problemOf(
        new NebulaError(code, `${file} is gone`, { hint: `Look at ${file}.` }),
      );
      expect([actual, body.code]).toEqual([status, code]);
      expect(JSON.stringify(body)).not.toContain('/var');
    }
  });

  it('there is a program for these tests', () => {
    expect(spawnSync('id', ['-u']).status).toBe(0);
  });
});
