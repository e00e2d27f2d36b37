/** A test run cannot be used to get around a check, an approval or the border of a project. */
import type { Action, Json } from '@nebula/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Booted, boot, type Keeping, sqliteKeeping } from './support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from './support/users.ts';
import { approval } from './support/workflows.ts';

const sent: Json[] = [];
const send: Action = {
  id: 'send',
  version: '1',
  effect: 'idempotent',
  run: (_ctx, input) => {
    sent.push(input as Json);
    return input as Json;
  },
};

let server: Booted;
let folder: { readonly keeping: Keeping; remove(): Promise<void> };
const as: Record<string, Headers> = {};

beforeAll(async () => {
  folder = await sqliteKeeping();
  server = await boot({ users: true, actions: [send], keeping: folder.keeping });
  await addUser(server, 'root', { admin: true });
  await addProject(server, 'alpha');
  for (const role of ['editor', 'operator'] as const) await addUser(server, role, { roles: { alpha: role } });
  for (const name of ['root', 'editor', 'operator']) as[name] = await signIn(server, name);
});
afterAll(async () => {
  await server.close();
  await folder.remove();
});

const call = (who: string, line: string, body?: unknown): Promise<Answer> =>
  ask(server, line.replace(' /', ' /api/v1/'), { headers: as[who] as Headers, ...(body !== undefined && { body }) });

it('[SRV-1190] results of a run with another input need an editor', async () => {
  const definition = {
    id: 'guarded',
    nodes: {
      check: { action: 'send', with: { known: "{{ $input.host == 'ours' }}" } },
      post: { needs: ['check'], action: 'send', with: { host: '{{ $input.host }}' } },
    },
  };
  await call('editor', 'POST /workflows', { definition, project: 'alpha' });
  const start = { workflowId: 'guarded', input: { host: 'ours' } };
  const { executionId: from } = (await call('operator', 'POST /executions?wait=20s', start)).json;
  sent.length = 0;
  const test = { workflowId: 'guarded', only: 'post', from, input: { host: 'theirs' } };
  const refused = await call('operator', 'POST /tests?wait=20s', test);
  expect([refused.status, refused.json.code, sent]).toEqual([403, 'NOT_ALLOWED', []]);
  expect((await call('editor', 'POST /tests?wait=20s', test)).json.output).toEqual({ host: 'theirs' });
});

it('[SRV-1191] a project with a test run is not empty: the run keeps its ceiling', async () => {
  await addProject(server, 'gone');
  const body = { definition: approval('lonely'), project: 'gone', executionId: 'exe_lonely' };
  expect((await call('root', 'POST /tests', body)).status).toBe(201);
  expect((await call('root', 'PUT /workflows/lonely/layout', { nodes: { ask: { x: 1, y: 2 } } })).status).toBe(200);
  const refused = await call('root', 'DELETE /projects/gone');
  expect([refused.status, refused.json.code]).toEqual([409, 'PROJECT_NOT_EMPTY']);
  await call('root', 'POST /executions/exe_lonely/cancel', {});
  await call('root', 'GET /executions/exe_lonely/result?wait=20s');
  expect((await call('root', 'DELETE /executions/exe_lonely')).status).toBe(204);
  expect((await call('root', 'DELETE /projects/gone')).status).toBe(204);
  const { definition } = body;
  await call('editor', 'POST /workflows', { definition, project: 'alpha', activate: false });
  expect((await call('editor', 'GET /workflows/lonely/layout')).json.nodes).toEqual({});
});

it('[SRV-1192] a test that could not start leaves its id to another definition', async () => {
  const definition = (text: string) => ({
    id: 'twice',
    input: { type: 'object', required: ['n'] },
    nodes: { say: { action: 'send', with: { text } }, ask: { needs: ['say'], wait: { approval: { title: text } } } },
  });
  const body = { project: 'alpha', executionId: 'exe_twice' };
  const first = await call('editor', 'POST /tests', { ...body, definition: definition('one'), input: {} });
  expect([first.status, first.json.code]).toEqual([422, 'INPUT_INVALID']);
  const second = await call('editor', 'POST /tests', { ...body, definition: definition('two'), input: { n: 1 } });
  expect(second.status).toBe(201);
  const shown = (await call('editor', 'GET /executions/exe_twice/definition')).json.definition;
  expect(shown.nodes.say.with).toEqual({ text: 'two' });
});
