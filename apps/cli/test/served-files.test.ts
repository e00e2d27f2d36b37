/** Workflow files of a server: their texts, what is remembered over a restart, and saves from the API. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createClient, type NebulaClient } from '@nebula/client';
import { describe, expect, test } from 'vitest';
import { projectFolder, type RunningProcess, startNebula } from './support/nebula-process.ts';
import { say } from './support/served.ts';

const TIMEOUT = { timeout: 60_000 };
const flow = (id: string, value: number | string, comment = 'first'): string =>
  `# ${comment}\nid: ${id}\nnodes:\n  a: { action: core.set@1, with: { value: ${value} } } # why\noutput: "{{ $a }}"\n`;

interface Server extends RunningProcess {
  readonly api: NebulaClient;
  stop(): Promise<void>;
}

async function serve(cwd: string, ...args: string[]): Promise<Server> {
  const running = startNebula(['serve', '--port', '0', ...args], { cwd });
  await running.until('"server.started"');
  const url = /"server\.started".*?"url":"(http:[^"]+)"/.exec(running.stdout())?.[1] as string;
  const token = readFileSync(path.join(cwd, '.nebula/token'), 'utf8').trim();
  return {
    ...running,
    api: createClient({ url, token, retries: 0 }),
    async stop() {
      running.child.kill('SIGTERM');
      const { code, stderr } = await running.ended;
      expect([code, stderr]).toEqual([0, '']);
    },
  };
}

const summary = (api: NebulaClient, workflowId: string) => api.call('getWorkflow', { params: { workflowId } });
const textOf = async (api: NebulaClient, workflowId: string, version: number | 'active') =>
  (await api.call('getWorkflowVersion', { params: { workflowId, version } })).source;

describe('workflow files of a server', TIMEOUT, () => {
  test('[CLI-700, CLI-701] texts are stored, and versions of the API survive a restart', async () => {
    const cwd = projectFolder({
      'workflows/deep/order.yaml': flow('order', 1),
      'workflows/typed.ts': "export default { id: 'typed', nodes: { a: { action: 'core.noop@1' } } };\n",
      'package.json': '{ "type": "module" }',
    });
    const first = await serve(cwd);
    expect(await textOf(first.api, 'order', 1)).toEqual({
      text: flow('order', 1),
      format: 'yaml',
      filename: 'workflows/deep/order.yaml',
    });
    expect(await textOf(first.api, 'typed', 1)).toEqual({
      text: null,
      format: 'typescript',
      filename: 'workflows/typed.ts',
    });
    const origin = { kind: 'file', path: 'workflows/deep/order.yaml', version: 1, writable: true };
    expect((await summary(first.api, 'order')).origin).toEqual(origin);
    expect((await summary(first.api, 'typed')).origin).toMatchObject({ kind: 'file', writable: false });
    await first.api.call('registerWorkflow', { body: { source: flow('order', 2) } });
    await first.api.call('deactivateWorkflow', { params: { workflowId: 'typed' } });
    await first.stop();

    const second = await serve(cwd);
    expect(await summary(second.api, 'order')).toMatchObject({
      activeVersion: 2,
      newestVersion: 2,
      versions: 2,
      origin,
    });
    expect((await summary(second.api, 'typed')).activeVersion).toBeNull();
    expect(second.stdout()).toMatch(/"workflow\.registered".*"order","version":2/);
    expect(second.stdout()).toMatch(/"workflow\.registered".*"typed","version":1.*"active":false/);
    // A comment is a change of the file, but of no version.
    writeFileSync(path.join(cwd, 'workflows/deep/order.yaml'), flow('order', 1, 'other comment'));
    await second.until(/"workflow\.registered".*"order","version":1/);
    expect(await summary(second.api, 'order')).toMatchObject({ activeVersion: 1, versions: 2 });
    expect((await textOf(second.api, 'order', 1))?.text).toBe(flow('order', 1, 'other comment'));
    await second.api.call('activateWorkflow', { params: { workflowId: 'order' }, body: { version: 2 } });
    await second.stop();

    writeFileSync(path.join(cwd, 'workflows/deep/order.yaml'), flow('order', 3));
    const third = await serve(cwd);
    expect(await summary(third.api, 'order')).toMatchObject({ activeVersion: 3, versions: 3 });
    await third.stop();
  });

  test('[CLI-702] a save goes into the file, keeps its mode, and is not registered again', async () => {
    const cwd = projectFolder({ 'workflows/order.yaml': flow('order', 1), 'workflows/data.json': '{"id":"data"}' });
    const file = path.join(cwd, 'workflows/order.yaml');
    chmodSync(file, 0o640);
    const server = await serve(cwd);
    const save = (source: string) =>
      server.api.call('registerWorkflow', { body: { source, filename: 'order.yaml', saveToFile: true } });
    expect(await save(flow('order', 2, 'of the Studio'))).toMatchObject({ version: 2, active: true });
    expect(readFileSync(file, 'utf8')).toBe(flow('order', 2, 'of the Studio'));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(path.join(cwd, 'workflows'))).toEqual(['data.json', 'order.yaml']);
    expect((await summary(server.api, 'order')).origin).toMatchObject({ version: 2 });
    expect(await save(flow('order', 2, 'only a comment'))).toMatchObject({ version: 2, created: false });
    expect(readFileSync(file, 'utf8')).toBe(flow('order', 2, 'only a comment'));
    // The next change of another file comes after the watcher has seen the saves.
    writeFileSync(path.join(cwd, 'workflows/last.yaml'), flow('last', 1));
    await server.until(/"workflow\.registered".*"last"/);
    expect(server.stdout().match(/"workflow\.registered".*"order"/g)).toHaveLength(1);
    await server.stop();
    const again = await serve(cwd);
    expect(await summary(again.api, 'order')).toMatchObject({ activeVersion: 2, versions: 2 });
    await again.stop();
  });

  test('[CLI-703] a save is refused if the file has changed, is elsewhere, or is another format', async () => {
    const cwd = projectFolder({
      'workflows/order.yaml': flow('order', 1),
      'workflows/data.json': JSON.stringify({ id: 'data', nodes: { a: { action: 'core.noop@1' } } }),
      'workflows/code.ts': "export default { id: 'code', nodes: { a: { action: 'core.noop@1' } } };\n",
      'package.json': '{ "type": "module" }',
      'elsewhere/linked.yaml': flow('linked', 1),
    });
    mkdirSync(path.join(cwd, 'workflows/sub'));
    symlinkSync(path.join(cwd, 'elsewhere/linked.yaml'), path.join(cwd, 'workflows/sub/linked.yaml'));
    const server = await serve(cwd);
    const save = (source: string, more: object = {}) =>
      server.api.call('registerWorkflow', { body: { source, saveToFile: true, ...more } });
    const refused = (code: string, message: RegExp) =>
      expect.objectContaining({ status: 409, code, message: expect.stringMatching(message) });
    // The broken text is on disk, and the server knows the text before.
    writeFileSync(path.join(cwd, 'workflows/order.yaml'), 'id: order\nnodes: [');
    await expect(save(flow('order', 2))).rejects.toEqual(refused('FILE_CHANGED', /order\.yaml was changed/));
    await server.until(/"workflow\.broken"/);
    await expect(save(flow('order', 2))).rejects.toEqual(refused('FILE_CHANGED', /order\.yaml was changed/));
    expect(readFileSync(path.join(cwd, 'workflows/order.yaml'), 'utf8')).toBe('id: order\nnodes: [');
    await expect(save(flow('data', 2))).rejects.toEqual(refused('NOT_SAVED_TO_FILE', /data\.json is JSON/));
    await expect(save(flow('code', 2))).rejects.toEqual(refused('NOT_SAVED_TO_FILE', /code\.ts is code/));
    await expect(save(flow('linked', 2))).rejects.toEqual(refused('NOT_SAVED_TO_FILE', /is a link/));
    await expect(save(flow('new', 2))).rejects.toEqual(refused('NOT_SAVED_TO_FILE', /does not come from a file/));
    await expect(save(flow('order', 2), { activate: false })).rejects.toMatchObject({ status: 400 });
    for (const id of ['order', 'data', 'code', 'linked']) {
      expect(await summary(server.api, id)).toMatchObject({ versions: 1, activeVersion: 1 });
    }
    await expect(summary(server.api, 'new')).rejects.toMatchObject({ status: 404 });
    await server.stop();
  });

  test('[CLI-704] a server with users writes no files', async () => {
    const cwd = projectFolder({ 'workflows/order.yaml': flow('order', 1) });
    const running = startNebula(['serve', '--port', '0', '--preset', 'selfhost'], { cwd });
    await running.until('"server.started"');
    running.child.kill('SIGTERM');
    await running.ended;
    const { out } = await say(cwd, ['workflows', 'list', '--json']);
    expect(JSON.parse(out).items).toMatchObject([
      { workflowId: 'order', origin: { kind: 'file', path: 'workflows/order.yaml', writable: false } },
    ]);
    expect((await say(cwd, ['workflows', 'show', 'order'])).out).toContain('from workflows/order.yaml (v1)');
  });
});
