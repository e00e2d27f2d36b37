/** Lists of workflows, archived ones, manifests and comparisons. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, sqliteKeeping, TOKEN } from './support/boot.ts';
import { addProject, addUser, ask, signIn } from './support/users.ts';
import { echo, failing, waiting } from './support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
let booted: Booted;
let removeFolder: () => Promise<void>;
beforeAll(async () => {
  const { keeping, remove } = await sqliteKeeping();
  removeFolder = remove;
  booted = await boot({ keeping });
});
afterAll(async () => {
  await booted.close();
  await removeFolder();
});

const register = (definition: object, more: object = {}) =>
  booted.client.call('registerWorkflow', { body: { definition, ...more } });
const list = async (query: object) => (await booted.client.call('listWorkflows', { query })).items;
const ids = async (query: object) => (await list(query)).map(({ workflowId }) => workflowId);

describe('lists of workflows', () => {
  it('[SRV-1040] are searched in id, name, description and tags', async () => {
    await register(echo('find-by-id'));
    await register(echo('s-one', { name: 'Grüße an ALLE' }));
    await register(echo('s-two', { description: 'Sends the Weekly report' }));
    await register(echo('s-three', { tags: ['Billing', 'nightly'] }));
    expect(await ids({ search: 'D-BY-I' })).toEqual(['find-by-id']);
    expect(await ids({ search: 'grÜsse' })).toEqual([]);
    expect(await ids({ search: 'GRÜSSE'.toLowerCase().replace('ss', 'ß') })).toEqual(['s-one']);
    expect(await ids({ search: 'weekly' })).toEqual(['s-two']);
    expect(await ids({ search: 'bill' })).toEqual(['s-three']);
    expect(await ids({ search: 'bill', tag: 'nightly' })).toEqual(['s-three']);
    expect(await ids({ search: 'bill', tag: 'other' })).toEqual([]);
    // A definition that changes is not shown from memory.
    await register(echo('s-two', { description: 'Sends nothing' }));
    expect(await ids({ search: 'weekly' })).toEqual([]);
    const pages = await booted.client.call('listWorkflows', { query: { search: 's-', limit: 2 } });
    expect(pages.items).toHaveLength(2);
    const cursor = pages.next as string;
    expect(await ids({ search: 's-', limit: 2, cursor })).toEqual(['s-two']);
  });

  it('[SRV-1040] show the triggers of the active version', async () => {
    await register(echo('timed', { triggers: [{ interval: { every: '2h' } }] }));
    await register(echo('timed', { triggers: [{ webhook: { path: '/timed' } }] }), { activate: false });
    const triggers = async () => (await list({ search: 'timed' }))[0]?.triggers;
    expect(await triggers()).toEqual([{ kind: 'interval', text: 'every 2h' }]);
    await booted.client.call('deactivateWorkflow', { params: { workflowId: 'timed' } });
    expect(await triggers()).toEqual([{ kind: 'webhook', text: 'POST /hooks/timed' }]);
  });

  it('[SRV-1041] show the newest executions where asked', async () => {
    await register(echo('ran'));
    await register(failing('ran-badly'));
    await register(waiting('still-runs'));
    for (let run = 0; run < 4; run++) await booted.client.start('ran', { input: run } as never).result();
    await booted.client.start('ran-badly').result();
    const open = await booted.client.start('still-runs');
    const found = Object.fromEntries((await list({ recent: 3 })).map(({ workflowId, recent }) => [workflowId, recent]));
    expect(found['ran']).toHaveLength(3);
    expect(found['ran']?.[0]).toEqual({
      executionId: expect.stringMatching(/^exe_/),
      status: 'completed',
      durationMs: expect.any(Number),
    });
    expect(found['ran-badly']).toMatchObject([{ status: 'failed' }]);
    expect(found['still-runs']).toEqual([{ executionId: open.executionId, status: 'running', durationMs: null }]);
    expect(found['find-by-id']).toEqual([]);
    expect((await list({ search: 'ran' }))[0]).not.toHaveProperty('recent');
    expect((await ask(booted, 'GET /api/v1/workflows?recent=21', { headers })).status).toBe(400);
  });

  it('[SRV-1042] an archived workflow is inactive and hidden; its runs go on', async () => {
    const params = { workflowId: 'kept-away' };
    await register({ ...waiting('kept-away'), triggers: [{ webhook: { path: '/away', respond: 'immediate' } }] });
    const run = await booted.client.start('kept-away');
    const archived = await booted.client.call('archiveWorkflow', { params });
    expect(archived).toMatchObject({ archived: true, activeVersion: null });
    expect(await ids({ search: 'kept-away' })).toEqual([]);
    expect(await ids({ search: 'kept-away', archived: true })).toEqual(['kept-away']);
    expect((await fetch(`${booted.server.url}/hooks/away`, { method: 'POST' })).status).toBe(404);
    await booted.client.call('signalExecution', { params: { executionId: run.executionId }, body: { signal: 'go' } });
    expect(await run.result()).toMatchObject({ status: 'completed' });
    expect(await booted.client.call('unarchiveWorkflow', { params })).toMatchObject({ archived: false });
    expect(await ids({ search: 'kept-away' })).toEqual(['kept-away']);
    await booted.client.call('archiveWorkflow', { params });
    await booted.client.call('deactivateWorkflow', { params });
    expect(await ids({ search: 'kept-away' })).toEqual([]);
    expect(await booted.client.call('activateWorkflow', { params, body: {} })).toMatchObject({ archived: false });
    expect((await ask(booted, 'POST /api/v1/workflows/nothing/archive', { headers })).status).toBe(404);
  });
});

describe('projects', () => {
  it('[SRV-1041] a list shows no executions of another project', async () => {
    const own = await boot({ users: true });
    await addProject(own, 'a');
    await addProject(own, 'b');
    await addUser(own, 'root', { admin: true });
    await addUser(own, 'ada', { roles: { a: 'viewer' } });
    const root = await signIn(own, 'root');
    for (const project of ['a', 'b']) {
      const body = { definition: echo(`of-${project}`), project };
      await ask(own, 'POST /api/v1/workflows', { headers: root, body });
      await ask(own, 'POST /api/v1/executions?wait=20s', { headers: root, body: { workflowId: `of-${project}` } });
    }
    const seen = await ask(own, 'GET /api/v1/workflows?recent=5', { headers: await signIn(own, 'ada') });
    expect(seen.json.items).toMatchObject([{ workflowId: 'of-a', recent: [{ status: 'completed' }] }]);
    await own.close();
  });
});

describe('manifests', () => {
  it('[SRV-1030] come with a validation, and with a version that is asked for one', async () => {
    await register({ id: 'part', nodes: { a: { action: 'http.request@1', with: { url: 'http://x' } } } });
    const definition = {
      id: 'whole',
      config: { capabilities: { network: ['x'] } },
      triggers: [{ webhook: { path: '/whole' } }],
      nodes: { in: { workflow: { id: 'part' } }, say: { action: 'core.set@1', with: { value: 1 } } },
    };
    const expected = {
      actions: [
        { action: 'core.set@1', effect: 'pure', nodes: 1 },
        { action: 'http.request@1', effect: 'depends on the input', nodes: 1 },
      ],
      capabilities: { network: ['x'] },
      credentials: [],
      plans: [],
      triggers: [{ kind: 'webhook', text: 'POST /hooks/whole' }],
    };
    const checked = await booted.client.call('validateWorkflow', { body: { definition } });
    expect(checked.manifest).toMatchObject(expected);
    await register(definition);
    const params = { workflowId: 'whole', version: 1 };
    const shown = await booted.client.call('getWorkflowVersion', { params, query: { manifest: true } });
    expect(shown.manifest).toMatchObject({
      ...expected,
      workflows: [{ workflowId: 'part', version: 1, mode: 'inline' }],
    });
    expect(await booted.client.call('getWorkflowVersion', { params })).not.toHaveProperty('manifest');
    const broken = await booted.client.call('validateWorkflow', { body: { source: 'id: [' } });
    expect([broken.valid, broken.manifest]).toEqual([false, undefined]);
  });
});

describe('comparisons', () => {
  const params = { workflowId: 'compared' };
  const text = (node: string, value: number): string =>
    `id: compared\nnodes:\n  ${node}: { action: core.set, with: { value: ${value} } }\n  in: { needs: [${node}], workflow: { id: compared-part } }\n`;

  it('[SRV-1045] [SRV-1046] name nodes, edges and keys; order and pins are no change', async () => {
    await register(echo('compared-part'));
    await booted.client.call('registerWorkflow', { body: { source: text('first', 1) } });
    await booted.client.call('registerWorkflow', { body: { source: text('first', 2) } });
    const diff = await booted.client.call('diffWorkflow', { params, query: { from: 1 } });
    expect(diff).toMatchObject({
      from: 1,
      to: 2,
      changes: [{ path: 'nodes.first.with.value', change: 'changed', before: 1, after: 2 }],
      structure: { workflow: [], nodes: [{ change: 'changed', path: 'first', keys: ['with'] }], edges: [] },
    });
    const compare = (body: object) => booted.client.call('compareWorkflow', { params, body });
    const same = { from: 2, changes: [], structure: { workflow: [], nodes: [], edges: [] } };
    expect(await compare({ source: `# a comment\n${text('first', 2)}` })).toEqual(same);
    expect((await compare({ source: text('begin', 2) })).structure).toEqual({
      workflow: [],
      nodes: [{ change: 'renamed', path: 'begin', from: 'first' }],
      edges: [],
    });
    expect((await compare({ source: text('first', 1), version: 1 })).structure.nodes).toEqual([]);
    expect((await compare({ source: text('first', 3), version: 'active' })).from).toBe(2);
    const answer = await ask(booted, 'POST /api/v1/workflows/compared/compare', { headers, body: { source: 'id: [' } });
    expect([answer.status, answer.json.code]).toEqual([422, 'DEFINITION_INVALID']);
    expect(await booted.client.call('getWorkflow', { params })).toMatchObject({ versions: 2 });
  });
});

describe('actions', () => {
  it('[SRV-1035] show category, icon, documentation and examples, announced ones included', async () => {
    const request = await booted.client.call('getAction', { params: { actionId: 'http.request' } });
    expect(request).toMatchObject({
      category: 'network',
      icon: 'globe',
      docs: null,
      examples: [{ with: { method: 'POST' } }],
    });
    const shown = {
      category: 'press',
      icon: 'printer',
      docs: 'Prints.',
      examples: [{ title: 'One', with: { copies: 1 } }],
    };
    await booted.client.call('registerWorker', {
      body: { workerId: 'far', actions: [{ id: 'far.print', ...shown }, { id: 'far.plain' }] },
    });
    expect(await booted.client.call('getAction', { params: { actionId: 'far.print' } })).toMatchObject(shown);
    const plain = { category: null, icon: null, docs: null, examples: [] };
    expect(await booted.client.call('getAction', { params: { actionId: 'far.plain' } })).toMatchObject(plain);
  });
});
