/** The text of a version, and where a workflow comes from. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, sqliteKeeping, TOKEN } from './support/boot.ts';
import { ask } from './support/users.ts';
import { echo } from './support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const yaml = (id: string, comment = 'says nothing', value = '1'): string =>
  `# ${comment}\nnodes: # order is kept\n  b: { action: core.set, with: { value: ${value} } }\nid: ${id}\n`;

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

const register = (body: object) => booted.client.call('registerWorkflow', { body });
const version = (workflowId: string, number: number) =>
  booted.client.call('getWorkflowVersion', { params: { workflowId, version: number } });

describe('the text of a version', () => {
  it('[SRV-1000] is kept with comments and order, and shown with its runs', async () => {
    const text = yaml('kept');
    await register({ source: text, filename: 'kept.yaml' });
    const source = { text, format: 'yaml', filename: 'kept.yaml' };
    expect((await version('kept', 1)).source).toEqual(source);
    const run = await booted.client.start('kept');
    await run.result();
    const params = { executionId: run.executionId };
    expect((await booted.client.call('getDefinition', { params })).source).toEqual(source);
    await register({ definition: echo('plain') });
    expect((await version('plain', 1)).source).toBeNull();
  });

  it('[SRV-1000] has its format by its name, or by its content; code has none', async () => {
    await register({ source: JSON.stringify(echo('as-json')) });
    expect((await version('as-json', 1)).source).toMatchObject({ format: 'json', filename: null });
    await register({ source: yaml('as-yaml') });
    expect((await version('as-yaml', 1)).source).toMatchObject({ format: 'yaml', filename: null });
    await register({ definition: echo('as-code'), filename: 'flows/as-code.ts' });
    const code = { text: null, format: 'typescript', filename: 'flows/as-code.ts' };
    expect((await version('as-code', 1)).source).toEqual(code);
  });

  it('[SRV-1001] is replaced by another one of the same definition, without a new version', async () => {
    await register({ source: yaml('same'), filename: 'same.yaml' });
    const again = await register({ source: yaml('same', 'says more'), filename: 'same.yaml' });
    expect(again).toMatchObject({ version: 1, created: false });
    expect((await version('same', 1)).source?.text).toBe(yaml('same', 'says more'));
    const { definition } = await version('same', 1);
    expect(await register({ definition })).toMatchObject({ version: 1, created: false });
    expect((await version('same', 1)).source?.text).toBe(yaml('same', 'says more'));
    expect(await register({ source: yaml('same', 'other', '2') })).toMatchObject({ version: 2, created: true });
    expect((await version('same', 1)).source?.text).toBe(yaml('same', 'says more'));
    expect((await version('same', 2)).source?.text).toBe(yaml('same', 'other', '2'));
  });

  it('[SRV-1002] must be that of the definition beside it', async () => {
    await register({ definition: echo('inner') });
    const outer = (more: object = {}) => ({ id: 'outer', nodes: { in: { workflow: { id: 'inner', ...more } } } });
    const body = { source: JSON.stringify(outer()), definition: outer({ version: 1 }) };
    expect(await register(body)).toMatchObject({ version: 1, created: true });
    expect((await version('outer', 1)).definition).toMatchObject({ nodes: { in: { workflow: { version: 1 } } } });
    await register({ definition: echo('inner', { name: 'Second' }) });
    const uses = (...versions: (object | undefined)[]) => ({
      id: 'uses',
      nodes: Object.fromEntries(versions.map((more, index) => [`n${index}`, { workflow: { id: 'inner', ...more } }])),
    });
    const written = uses({ version: 1 }, {}, { mode: 'child' }, { version: 1 });
    const pinned = uses({ version: 1 }, { version: 2 }, { mode: 'child' }, { version: 1 });
    expect(await register({ source: JSON.stringify(written), definition: pinned })).toMatchObject({ version: 1 });
    for (const definition of [outer({ mode: 'child' }), { id: 'outer' }, 7, null]) {
      const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body: { ...body, definition } });
      expect([answer.status, answer.json.code]).toEqual([400, 'BODY_INVALID']);
    }
  });

  it('[SRV-1000] survives hostile characters', async () => {
    const text = `# \u2028 \u{1f680} \ud800 </script>\n${yaml('hostile')}`;
    await register({ source: text });
    expect((await version('hostile', 1)).source?.text).toBe(text.toWellFormed());
  });
});

describe('the origin of a workflow', () => {
  it('[SRV-1003] is the API, or the file that was registered last', async () => {
    await register({ source: yaml('from-file') });
    const origin = async () =>
      (await booted.client.call('getWorkflow', { params: { workflowId: 'from-file' } })).origin;
    expect(await origin()).toEqual({ kind: 'api' });
    await booted.server.origins.note('from-file', { path: 'workflows/a.yaml', hash: 'h', version: 1 });
    expect(await booted.server.origins.read('from-file')).toMatchObject({ hash: 'h' });
    const file = { kind: 'file', path: 'workflows/a.yaml', version: 1, writable: false };
    expect(await origin()).toEqual(file);
    // Activations keep it.
    await register({ source: yaml('from-file', 'x', '2') });
    const params = { workflowId: 'from-file' };
    expect(await booted.client.call('getWorkflow', { params })).toMatchObject({
      origin: file,
      versions: 2,
      activeVersion: 2,
      newestVersion: 2,
    });
    await booted.client.call('deactivateWorkflow', { params });
    expect(await origin()).toEqual(file);
    await booted.server.origins.note('from-file', undefined);
    expect(await origin()).toEqual({ kind: 'api' });
  });

  it('[SRV-1004] a server that writes no files rejects a save, and registers nothing', async () => {
    const body = { source: yaml('unsaved'), saveToFile: true };
    const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body });
    expect([answer.status, answer.json.code]).toEqual([409, 'NOT_SAVED_TO_FILE']);
    const unknown = await ask(booted, 'GET /api/v1/workflows/unsaved', { headers });
    expect(unknown.status).toBe(404);
  });
});
