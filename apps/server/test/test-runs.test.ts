/** Test runs, outputs and rehearsals on a real server. */
import type { Action, Json } from '@nebula/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAbout } from '../src/notifications/events.ts';
import type { NotificationRecord } from '../src/notifications/records.ts';
import { type Booted, boot, sqliteKeeping } from './support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from './support/users.ts';
import { approval, echo, large } from './support/workflows.ts';

const ran: string[] = [];
const note: Action = {
  id: 'note',
  version: '1',
  effect: 'idempotent',
  run: (ctx, input) => {
    ran.push(ctx.node);
    return input as Json;
  },
};

const SOURCE = `# an order
id: order
triggers: [{ schedule: { cron: "* * * * *" } }]
config: { start: { key: "'all'", policy: singleton } }
nodes:
  fetch: { action: note, with: { total: 5 } }
  charge: { needs: fetch, action: note, with: { amount: "{{ $fetch.total }}" } }
  ship: { needs: charge, action: note, with: { paid: "{{ $charge.amount }}" } }
  mend: { action: note }
  side: { needs: fetch, action: note }
edges: [{ from: charge, to: mend, on: error }]
output: "{{ $ship }}"
`;

let server: Booted;
let store: Awaited<ReturnType<typeof sqliteKeeping>>;
const as: Record<string, Headers> = {};

beforeAll(async () => {
  store = await sqliteKeeping();
  server = await boot({ users: true, actions: [note], keeping: store.keeping });
  for (const project of ['alpha', 'beta']) {
    await addProject(server, project);
    for (const role of ['owner', 'editor', 'operator', 'viewer'] as const) {
      await addUser(server, `${project}-${role}`, { roles: { [project]: role } });
      as[`${project}-${role}`] = await signIn(server, `${project}-${role}`);
    }
  }
});
afterAll(async () => {
  await server.close();
  await store.remove();
});

const call = (who: string, line: string, body?: unknown, headers: Headers = {}): Promise<Answer> =>
  ask(server, line.replace(' /', ' /api/v1/'), {
    headers: { ...(as[who] as Headers), ...headers },
    ...(body !== undefined && { body }),
  });

async function must(who: string, line: string, body?: unknown): Promise<Answer['json']> {
  const answer = await call(who, line, body);
  expect(answer.status, `${line} ${answer.text}`).toBeLessThan(300);
  return answer.json;
}

const tested = (body: object, who = 'alpha-editor') =>
  must(who, 'POST /tests?wait=20s', { source: SOURCE, project: 'alpha', ...body });
const refused = async (body: object, who = 'alpha-editor') => {
  const { status, json } = await call(who, 'POST /tests', body);
  return [status, json.code];
};

describe('a test run', () => {
  it('[SRV-1130] runs a text that is not saved, and is no version in any list', async () => {
    const { executionId, output } = await tested({});
    expect(output).toEqual({ paid: 5 });
    expect(await must('alpha-viewer', `GET /executions/${executionId}`)).toMatchObject({
      version: 0,
      workflowId: 'order',
      trigger: { type: 'test', by: 'alpha-editor' },
    });
    const listed = await must('alpha-viewer', 'GET /executions?workflowId=order');
    expect(listed.items).toMatchObject([{ executionId, version: 0, project: 'alpha' }]);
    expect((await must('alpha-viewer', 'GET /workflows')).items).toEqual([]);
    expect((await must('alpha-viewer', 'GET /workflows/order/versions')).items).toEqual([]);
    expect((await call('alpha-viewer', 'GET /workflows/order')).status).toBe(404);
    expect((await must('alpha-viewer', 'GET /schedules')).items).toEqual([]);
    const shown = await must('alpha-viewer', `GET /executions/${executionId}/definition`);
    expect(shown).toMatchObject({ version: 0, definition: { id: 'order', nodes: { mend: { action: 'note' } } } });
    expect(Object.keys(shown.definition)).not.toContain('$test');
  });

  it('[SRV-1131] of a part, with pins: only the rest runs', async () => {
    ran.length = 0;
    const pins = { fetch: { output: { total: 9 } } };
    const { executionId, output } = await tested({ until: 'charge', pins });
    expect([output, ran]).toEqual([{ amount: 9 }, ['charge']]);
    const document = await must('alpha-viewer', `GET /executions/${executionId}`);
    expect(document.trigger).toEqual({ type: 'test', by: 'alpha-editor', until: 'charge', pins: ['fetch'] });
    expect(document.nodes).toMatchObject({
      ship: { skipped: 'test' },
      side: { skipped: 'test' },
      fetch: { attempts: 0 },
    });
    const why = await must('alpha-viewer', `GET /executions/${executionId}/explain?node=fetch`);
    expect(why.causes[0].code).toBe('pinned');
    const failing = await tested({ until: 'mend', pins: { charge: { error: { code: 'X', message: 'no' } } } });
    expect((await must('alpha-viewer', `GET /executions/${failing.executionId}`)).nodes).toMatchObject({
      charge: { status: 'failed', error: { code: 'X' } },
      mend: { status: 'completed' },
    });
  });

  it('[SRV-1131] of one node, with the results of an earlier run', async () => {
    const { executionId: from } = await tested({});
    ran.length = 0;
    const { executionId, output } = await tested({ only: 'ship', from });
    expect([output, ran]).toEqual([{ paid: 5 }, ['ship']]);
    expect((await must('alpha-viewer', `GET /executions/${executionId}`)).trigger).toMatchObject({
      only: 'ship',
      from,
    });
  });

  it('[SRV-1131] that names unknown nodes, or lacks pins, is refused with their names', async () => {
    const bad = { source: SOURCE, project: 'alpha', pins: { chrage: { output: 1 }, fetch: { output: 1 } } };
    const answer = await call('alpha-editor', 'POST /tests', { ...bad, until: 'shop' });
    expect([answer.status, answer.json.code]).toEqual([422, 'TEST_INVALID']);
    expect(answer.json.errors).toEqual([
      { pointer: '/pins/chrage', detail: "there is no node 'chrage'. Did you mean 'charge'?" },
      { pointer: '/until', detail: "there is no node 'shop'. Did you mean 'ship'?" },
    ]);
    const alone = await call('alpha-editor', 'POST /tests', { source: SOURCE, project: 'alpha', only: 'ship' });
    expect(alone.json).toMatchObject({
      status: 422,
      code: 'TEST_INVALID',
      detail: "'ship' alone needs the outputs of 'charge', 'fetch'",
    });
    expect(await refused({ source: 'id: x\nnodes: { a: { action: nothing } }', project: 'alpha' })).toEqual([
      422,
      'DEFINITION_INVALID',
    ]);
    expect(await refused({ project: 'alpha' })).toEqual([400, 'BODY_INVALID']);
    expect(await refused({ source: SOURCE, project: 'alpha', version: 1 })).toEqual([400, 'BODY_INVALID']);
    expect(await refused({ source: SOURCE, project: 'alpha', pins: { a: 7 } })).toEqual([400, 'BODY_INVALID']);
  });

  it('[SRV-1132] of a registered version may be started by an operator; an edit or a pin needs an editor', async () => {
    await must('alpha-editor', 'POST /workflows', { definition: echo('known'), project: 'alpha', activate: false });
    const body = { workflowId: 'known', version: 1 };
    const { executionId } = await must('alpha-operator', 'POST /tests?wait=20s', { ...body, until: 'say' });
    expect((await must('alpha-viewer', `GET /executions/${executionId}`)).trigger).toMatchObject({ version: 1 });
    expect((await must('alpha-viewer', 'GET /workflows/known/versions')).items).toHaveLength(1);
    const pins = { say: { output: 1 } };
    expect(await refused({ ...body, pins }, 'alpha-operator')).toEqual([403, 'NOT_ALLOWED']);
    const edit = { source: SOURCE, project: 'alpha' };
    expect(await refused(edit, 'alpha-operator')).toEqual([403, 'NOT_ALLOWED']);
    expect(await refused(body, 'alpha-viewer')).toEqual([403, 'NOT_ALLOWED']);
    expect(await refused(body, 'beta-editor')).toEqual([404, 'UNKNOWN_WORKFLOW']);
    expect((await call('beta-editor', 'POST /tests', edit)).status).toBe(404);
    expect(await refused({ workflowId: 'ghost' })).toEqual([404, 'UNKNOWN_WORKFLOW']);
    expect(await refused({ workflowId: 'known', version: 9 })).toEqual([404, 'UNKNOWN_WORKFLOW']);
    const foreign = { source: echo('mine'), project: 'beta' };
    const other = { definition: foreign.source, project: 'beta', only: 'say', from: executionId };
    expect(await refused(other, 'beta-editor')).toEqual([404, 'UNKNOWN_EXECUTION']);
    expect((await call('beta-viewer', `GET /executions/${executionId}`)).status).toBe(404);
  });

  it('[SRV-1133] has the ceiling of its project', async () => {
    const definition = {
      id: 'shelly',
      config: { capabilities: { shell: ['*'] } },
      nodes: { sh: { action: 'shell.run', with: { program: 'id' } } },
    };
    const body = { definition, project: 'alpha' };
    expect((await must('alpha-editor', 'POST /tests?wait=20s', body)).error).toMatchObject({
      code: 'CAPABILITY_DENIED',
    });
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { shell: ['id'] } });
    expect((await must('alpha-editor', 'POST /tests?wait=20s', body)).status).toBe('completed');
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-1134] is deleted with its definition, and is neither relaunched nor forked', async () => {
    const { executionId } = await tested({ until: 'fetch' });
    const row = await server.parts.store.execution(executionId);
    expect(row?.expiresAt).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
    const version = row?.version ?? 0;
    expect(await server.parts.store.workflowVersion('order', version)).toBeDefined();
    const relaunched = await call('alpha-operator', `POST /executions/${executionId}/relaunch`, {});
    expect([relaunched.status, relaunched.json.code]).toEqual([422, 'TEST_RUN']);
    const fork = { node: 'fetch', fork: true };
    expect((await call('alpha-operator', `POST /executions/${executionId}/replay`, fork)).json.code).toBe('TEST_RUN');
    await must('alpha-operator', `POST /executions/${executionId}/replay`, { node: 'fetch' });
    await must('alpha-operator', `GET /executions/${executionId}/result?wait=20s`);
    await must('alpha-operator', `DELETE /executions/${executionId}`);
    expect(await server.parts.store.workflowVersion('order', version)).toBeUndefined();
  });

  it('[SRV-1134] is no subject of notifications', async () => {
    const record = { project: 'alpha', workflows: null, tag: null } as NotificationRecord;
    const about = (version: number) =>
      isAbout(server.parts.store, record, { project: 'alpha', workflowId: 'w', version });
    expect([await about(1), await about(-1)]).toEqual([true, false]);
  });

  it('[SRV-1135] is started once for an idempotency key or an id', async () => {
    const body = { source: SOURCE, project: 'alpha', until: 'fetch' };
    const start = () => call('alpha-editor', 'POST /tests', body, { 'idempotency-key': 'once' });
    const [first, second] = [await start(), await start()];
    expect(second.json.executionId).toBe(first.json.executionId);
    const named = { ...body, executionId: 'exe_named' };
    expect((await call('alpha-editor', 'POST /tests', named)).status).toBe(201);
    expect((await call('alpha-editor', 'POST /tests', named)).status).toBe(200);
    const mine = { definition: echo('mine'), project: 'beta', executionId: 'exe_named' };
    expect(await refused(mine, 'beta-editor')).toEqual([409, 'EXECUTION_ID_TAKEN']);
  });

  it('[SRV-1136] has a bounded number and size of pins', async () => {
    const body = { source: SOURCE, project: 'alpha' };
    const text = { output: 'x'.repeat(1_100_000) };
    expect(await refused({ ...body, pins: { fetch: text } })).toEqual([413, 'TOO_LARGE']);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`n${n}`, { output: n }]));
    expect(await refused({ ...body, pins: many })).toEqual([400, 'BODY_INVALID']);
  });

  it('[SRV-1137] belongs to the project of its workflow, whose id it claims', async () => {
    const fresh = { definition: echo('fresh'), project: 'alpha' };
    await must('alpha-editor', 'POST /tests?wait=20s', fresh);
    expect(await refused({ ...fresh, project: 'beta' }, 'beta-editor')).toEqual([409, 'ID_TAKEN']);
    expect(await must('alpha-editor', 'POST /workflows', fresh)).toMatchObject({ version: 1, created: true });
  });

  it('[SRV-1138] neither waits for other runs of its start policy nor takes their place', async () => {
    const definition = { ...approval('single'), config: { start: { key: "'all'", policy: 'singleton' } } };
    await must('alpha-editor', 'POST /workflows', { definition, project: 'alpha' });
    const first = await must('alpha-operator', 'POST /executions', { workflowId: 'single' });
    const test = await must('alpha-operator', 'POST /tests', { workflowId: 'single' });
    const again = await must('alpha-operator', 'POST /executions', { workflowId: 'single' });
    expect(test.executionId).not.toBe(first.executionId);
    expect(again.executionId).toBe(first.executionId);
  });
});

describe('outputs of a run', () => {
  it('[SRV-1140] are listed in pages, and long ones are cut', async () => {
    const { executionId } = await tested({});
    const page = await must('alpha-viewer', `GET /executions/${executionId}/outputs?limit=2`);
    expect(page).toMatchObject({
      items: [
        { node: 'fetch', path: 'fetch', status: 'completed', output: { total: 5 }, bytes: 11 },
        { node: 'charge', output: { amount: 5 } },
      ],
      next: '2',
    });
    const rest = await must('alpha-viewer', `GET /executions/${executionId}/outputs?cursor=2`);
    expect(rest.items.map(({ node, status }: { node: string; status: string }) => `${node} ${status}`)).toEqual([
      'ship completed',
      'mend skipped',
      'side completed',
    ]);
    expect(rest.next).toBeNull();
    const body = { definition: large('big'), project: 'alpha' };
    const big = await must('alpha-editor', 'POST /tests?wait=20s', body);
    const [cut] = (await must('alpha-viewer', `GET /executions/${big.executionId}/outputs`)).items;
    expect([cut.bytes, cut.preview.length, cut.output]).toEqual([80_002, 16_384, undefined]);
    expect((await call('alpha-viewer', `GET /executions/${executionId}/outputs?cursor=x`)).status).toBe(400);
    expect((await call('alpha-viewer', 'GET /executions/exe_none/outputs')).status).toBe(404);
  });
});

describe('a rehearsal', () => {
  it('[SRV-1145] compares the last runs with an edit, and runs nothing', async () => {
    const definition = {
      id: 'priced',
      nodes: {
        check: { action: 'note', with: { n: '{{ $input.n }}' } },
        route: { needs: ['check'], branch: { cases: [{ when: '$check.n > 10', to: 'big' }], default: 'small' } },
        big: { action: 'note' },
        small: { action: 'note' },
      },
    };
    await must('alpha-editor', 'POST /workflows', { definition, project: 'alpha' });
    for (const n of [5, 15, 25]) {
      await must('alpha-operator', 'POST /executions?wait=20s', { workflowId: 'priced', input: { n } });
    }
    ran.length = 0;
    const rehearse = (edit: object, more: object = {}, who = 'alpha-editor') =>
      call(who, 'POST /workflows/priced/rehearse', { definition: edit, ...more });
    const same = (await rehearse({ ...definition, description: 'as before' })).json;
    expect(same.counts).toEqual({ same: 3, differs: 0, notReplayed: 0 });
    const edit = structuredClone(definition);
    edit.nodes.route.branch.cases = [{ when: '$check.n > 20', to: 'big' }];
    const { counts, runs } = (await rehearse(edit)).json;
    expect(counts).toEqual({ same: 2, differs: 1, notReplayed: 0 });
    expect(runs[1]).toMatchObject({ result: 'differs', difference: { kind: 'other-edges', node: 'route' } });
    expect(runs[1].difference.text).toContain("'route' would lead to 'small' instead of 'big'");
    expect((await rehearse(edit, { limit: 1 })).json.runs).toHaveLength(1);
    expect(ran).toEqual([]);
    expect((await rehearse(edit, { limit: 51 })).status).toBe(400);
    expect((await rehearse({ ...edit, id: 'other' })).json.code).toBe('DEFINITION_INVALID');
    expect((await rehearse(edit, {}, 'alpha-operator')).status).toBe(403);
    expect((await rehearse(edit, {}, 'beta-editor')).status).toBe(404);
    const crowd = await Promise.all(Array.from({ length: 6 }, () => rehearse(edit)));
    expect(crowd.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });
});
