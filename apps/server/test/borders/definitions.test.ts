/** Definitions come from editors, and are read by the process that serves everybody. */
import type { Action } from '@nebula/core';
import { afterEach, expect, it } from 'vitest';
import { boot, TOKEN } from '../support/boot.ts';
import { raw } from '../support/sockets.ts';
import { addProject, addUser, ask, signIn } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it('[SRV-496] validateWorkflow is for editors, and reveals nothing about other projects', async () => {
  const booted = await boot({ users: true });
  closing.push(() => booted.close());
  for (const project of ['alpha', 'beta']) await addProject(booted, project);
  await addUser(booted, 'ann', { roles: { alpha: 'editor' } });
  await addUser(booted, 'bob', { roles: { beta: 'editor', alpha: 'operator' } });
  await addUser(booted, 'eve');
  const [ann, bob, eve] = await Promise.all(['ann', 'bob', 'eve'].map((user) => signIn(booted, user)));
  const secret = echo('beta-priv', { input: { type: 'object', required: ['hidden'], properties: { hidden: {} } } });
  const made = await ask(booted, 'POST /api/v1/workflows', {
    headers: bob as never,
    body: { definition: secret, project: 'beta' },
  });
  expect(made.status).toBe(201);
  const outer = { id: 'outer', nodes: { in: { workflow: { id: 'beta-priv', mode: 'child', input: { wrong: 1 } } } } };
  const check = (who: unknown) =>
    ask(booted, 'POST /api/v1/workflows/validate', { headers: who as never, body: { definition: outer } });
  expect((await check(eve)).status).toBe(403);
  expect((await check(ann)).text).not.toContain('hidden');
});

it('[SRV-728] a definition is checked in the project that it names, or in the only one of the caller', async () => {
  const booted = await boot({ users: true });
  closing.push(() => booted.close());
  await addProject(booted, 'beta');
  await addUser(booted, 'dan', { roles: { default: 'editor' } });
  await addUser(booted, 'bob', { roles: { beta: 'editor', default: 'viewer' } });
  await addUser(booted, 'eva', { roles: { beta: 'editor' } });
  await addUser(booted, 'two', { roles: { beta: 'editor', default: 'owner' } });
  const [dan, bob, eva, two] = await Promise.all(['dan', 'bob', 'eva', 'two'].map((user) => signIn(booted, user)));
  const priv = (id: string) => echo(id, { input: { type: 'object', required: [`${id}-hidden`] } });
  for (const [headers, project] of [
    [dan, 'default'],
    [eva, 'beta'],
  ] as const) {
    const body = { definition: priv(`${project}-priv`), project };
    expect((await ask(booted, 'POST /api/v1/workflows', { headers: headers as never, body })).status).toBe(201);
  }
  await ask(booted, 'PUT /api/v1/projects/default', {
    headers: two as never,
    body: { ceiling: { shell: ['dangerous'] } },
  });
  const nodes = (id: string) => ({ c: { workflow: { id, mode: 'child' } } });
  const check = async (headers: unknown, id: string, project?: string) =>
    await ask(booted, 'POST /api/v1/workflows/validate', {
      headers: headers as never,
      body: { definition: { id: 'outer', nodes: nodes(id) }, ...(project !== undefined && { project }) },
    });
  for (const who of [bob, eva]) {
    const foreign = await check(who, 'default-priv');
    expect(foreign.json).toMatchObject({ ceiling: {}, problems: [{ code: 'UNKNOWN_WORKFLOW' }] });
    expect(foreign.text).not.toContain('hidden');
    expect((await check(who, 'beta-priv')).text).toContain('beta-priv-hidden');
  }
  expect([(await check(bob, 'x', 'default')).status, (await check(eva, 'x', 'default')).status]).toEqual([403, 404]);
  expect((await check(two, 'x')).json).toMatchObject({ code: 'PROJECT_NEEDED' });
  expect((await check(two, 'default-priv', 'default')).text).toContain('default-priv-hidden');
  expect((await check(two, 'beta-priv', 'beta')).text).toContain('beta-priv-hidden');
});

it('[SRV-497] a definition that is sent is limited in text and in nodes', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  const validate = (body: object) => ask(booted, 'POST /api/v1/workflows/validate', { headers, body });
  const nodes = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, { action: 'core.noop' }]));
  expect((await validate({ source: `id: x${'\n'.repeat(256 * 1024)}` })).status).toBe(400);
  expect((await validate({ source: `id: x${'\n'.repeat(200_000)}` })).status).toBe(200);
  expect((await validate({ definition: { id: 'x', nodes: nodes(2_001) } })).json.code).toBe('TOO_LARGE');
  expect((await validate({ definition: { id: 'x', nodes: nodes(500) } })).json).toMatchObject({ valid: true });
  const inner = { id: 'x', nodes: { loop: { forEach: { in: '$.a' }, do: { nodes: nodes(2_000) } } } };
  expect((await validate({ definition: inner })).json.code).toBe('TOO_LARGE');
});

it('[SRV-649] a definition that is sent is limited in edges', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  const ids = Array.from({ length: 150 }, (_, index) => `n${index}`);
  const needs = Object.fromEntries(ids.map((id, at) => [id, { action: 'core.noop', needs: ids.slice(0, at) }]));
  const cases = {
    n0: { branch: { cases: Array(10_001).fill({ when: 'true', to: 'n1' }) } },
    n1: { action: 'core.noop' },
  };
  for (const nodes of [needs, cases]) {
    const body = { definition: { id: 'x', nodes } };
    const { status, json } = await ask(booted, 'POST /api/v1/workflows/validate', { headers, body });
    expect([status, json.code, json.title ?? json.detail]).toEqual([413, 'TOO_LARGE', expect.anything()]);
  }
});

it('[SRV-650] a definition that is too long is refused by its head', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  for (const line of ['POST /api/v1/workflows', 'POST /api/v1/workflows/validate']) {
    const { over } = await raw(
      booted,
      `${line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n` +
        `content-type: application/json\r\ncontent-length: ${2 * 1024 * 1024 + 1}\r\n\r\n`,
    );
    expect(await over).toMatch(/^HTTP\/1.1 413 .*TOO_LARGE/s);
  }
});

it('[SRV-750] a definition is compiled once to be validated, registered and started', async () => {
  let compiled = 0;
  const action: Action = {
    id: 'counted',
    version: '1',
    effect: 'pure',
    run: () => null,
    get credentials() {
      compiled++;
      return [];
    },
  };
  const booted = await boot({ actions: [action] });
  closing.push(() => booted.close());
  const { client } = booted;
  const definition = { id: 'once', nodes: { a: { action: 'counted' } } };
  await client.call('validateWorkflow', { body: { definition } });
  expect(compiled).toBe(1);
  await client.call('registerWorkflow', { body: { definition } });
  for (const _ of [1, 2]) expect((await client.start('once').result()).status).toBe('completed');
  expect(compiled).toBe(1);
  const source = JSON.stringify({ ...definition, id: 'text' });
  await client.call('registerWorkflow', { body: { source } });
  await client.start('text').result();
  expect(compiled).toBe(2);
});
