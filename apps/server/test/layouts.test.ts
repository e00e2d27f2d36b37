/** The positions of nodes that were moved by hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { ask, type Headers } from './support/users.ts';
import { echo } from './support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
let booted: Booted;
beforeAll(async () => {
  booted = await boot();
  await booted.client.call('registerWorkflow', { body: { definition: echo('drawn') } });
});
afterAll(() => booted.close());

const put = (body: unknown, more: Headers = {}) =>
  ask(booted, 'PUT /api/v1/workflows/drawn/layout', { headers: { ...headers, ...more }, body });

describe('layouts', () => {
  it('[SRV-1020] are empty at first, fenced by their revision, and make no version', async () => {
    const params = { workflowId: 'drawn' };
    const before = await booted.client.call('getLayout', { params });
    expect(before).toEqual({ workflowId: 'drawn', direction: 'right', nodes: {}, collapsed: [], revision: 0 });
    const nodes = { say: { x: 10.5, y: -4 }, 'items/pack': { x: 0, y: 0 } };
    const made = await put({ nodes, collapsed: ['items', 'items'], direction: 'down' }, { 'if-match': '"0"' });
    expect(made.status).toBe(200);
    const layout = await booted.client.call('getLayout', { params });
    expect(layout).toEqual({ ...made.json, nodes, collapsed: ['items'], direction: 'down' });
    expect((await put({ nodes: {} }, { 'if-match': '"0"' })).status).toBe(412);
    const ifMatch = `"${layout.revision}"`;
    expect(await booted.client.call('putLayout', { params, ifMatch, body: {} })).toMatchObject({ nodes: {} });
    expect((await put({ nodes }, { 'if-match': ifMatch })).status).toBe(412);
    expect(await booted.client.call('getWorkflow', { params })).toMatchObject({ versions: 1, newestVersion: 1 });
    expect((await ask(booted, 'GET /api/v1/workflows/nothing/layout', { headers })).status).toBe(404);
  });

  it('[SRV-1021] are bounded', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, { x: index, y: 0 }]));
    expect((await put({ nodes: many(10_000) })).status).toBe(200);
    for (const body of [
      { nodes: many(10_001) },
      { nodes: { a: { x: 1e8, y: 0 } } },
      { nodes: { a: { x: 1 } } },
      { nodes: { ['x'.repeat(2_001)]: { x: 1, y: 1 } } },
      { collapsed: [''] },
      { direction: 'up' },
      { colours: {} },
    ]) {
      expect((await put(body)).status).toBe(400);
    }
  });
});
