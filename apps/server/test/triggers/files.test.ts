/** Files that are put into a folder. */
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { localLeader } from '@nebula/drivers/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Launcher } from '../../src/launcher.ts';
import { FileWatch } from '../../src/triggers/files.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };

describe('file drops', () => {
  let booted: Booted;
  let projectDir: string;
  let watch: { look(): Promise<void> };
  let isLeader = true;
  const troubles: unknown[] = [];
  beforeEach(async () => {
    projectDir = await mkdtemp(path.join(tmpdir(), 'nebula-files-'));
    await mkdir(path.join(projectDir, 'inbox'));
    booted = await boot({ leader: localLeader() });
    isLeader = true;
    troubles.length = 0;
    const { parts } = booted;
    watch = new FileWatch({
      parts,
      launcher: new Launcher(parts),
      projectDir,
      isLeader: () => isLeader,
      onTrouble: (error) => troubles.push(error),
    }) as unknown as { look(): Promise<void> };
  });
  afterEach(async () => {
    await booted.close();
    await rm(projectDir, { recursive: true, force: true });
  });

  const register = (definition: object) => ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
  const inputs = async (): Promise<{ path: string; size: number }[]> => {
    const { rows } = await booted.keeping.store.list({ limit: 100 });
    const all = await Promise.all(rows.map(({ executionId }) => booted.parts.engine.input(executionId)));
    return (all as { path: string; size: number }[]).toSorted((a, b) => a.size - b.size);
  };
  const put = (name: string, text: string) => writeFile(path.join(projectDir, 'inbox', name), text);

  it('[SRV-85] a file starts a run once it is whole; one that is still written to waits', async () => {
    await register(echo('drop', { triggers: [{ file: { path: 'inbox/*.csv' } }] }));
    await put('whole.csv', 'a,b');
    await put('growing.csv', 'a');
    await put('other.txt', 'x');
    await watch.look();
    expect(await inputs()).toEqual([]);
    await appendFile(path.join(projectDir, 'inbox', 'growing.csv'), ',b,c,d');
    await watch.look();
    expect(await inputs()).toEqual([expect.objectContaining({ path: 'inbox/whole.csv', name: 'whole.csv', size: 3 })]);
    await watch.look();
    await watch.look();
    expect((await inputs()).map(({ size }) => size)).toEqual([3, 7]);
    await put('whole.csv', 'changed since');
    await watch.look();
    await watch.look();
    expect((await inputs()).map(({ size }) => size)).toEqual([3, 7, 13]);
  });

  it('[SRV-600] no pattern and no link leads out of the project', async () => {
    const outside = await mkdtemp(path.join(tmpdir(), 'nebula-outside-'));
    await writeFile(path.join(outside, 'private.csv'), 'a');
    await symlink(outside, path.join(projectDir, 'link'));
    await symlink(path.join(outside, 'private.csv'), path.join(projectDir, 'inbox', 'private.csv'));
    const name = path.basename(outside);
    const patterns = ['link/*', 'inbox/*', `.{.,}/${name}/*`, `[.][.]/${name}/*`, `{,/}${outside.slice(1)}/*`];
    for (const [at, pattern] of patterns.entries()) {
      await register(echo(`drop${at}`, { triggers: [{ file: { path: pattern } }] }));
    }
    for (let look = 0; look < 3; look++) await watch.look();
    expect(await inputs()).toEqual([]);
    await rm(outside, { recursive: true });
  });

  it('[SRV-85] a folder means the files in it; a server that is not the leader does nothing', async () => {
    await register(echo('drop', { triggers: [{ file: { path: 'inbox' } }] }));
    await put('a.txt', '1');
    isLeader = false;
    for (let look = 0; look < 3; look++) await watch.look();
    expect(await inputs()).toEqual([]);
    isLeader = true;
    for (let look = 0; look < 3; look++) await watch.look();
    expect(await inputs()).toHaveLength(1);
  });

  it('[SRV-86] known files are not taken again after a restart, even if their run was deleted', async () => {
    await register(echo('drop', { triggers: [{ file: { path: 'inbox' } }] }));
    await put('a.txt', '1');
    for (let look = 0; look < 2; look++) await watch.look();
    const [row] = (await booted.keeping.store.list({ limit: 1 })).rows;
    const executionId = row?.executionId as string;
    await ask(booted, `GET /api/v1/executions/${executionId}/result?wait=10s`, { headers });
    expect((await ask(booted, `DELETE /api/v1/executions/${executionId}`, { headers })).status).toBe(204);
    (watch as unknown as { seen: Map<string, unknown> }).seen.clear();
    for (let look = 0; look < 3; look++) await watch.look();
    expect(await inputs()).toEqual([]);
  });

  it('[SRV-87] a file that cannot start a run is reported once, and does not block the others', async () => {
    const needs = { type: 'object', properties: {}, required: ['never'] };
    await register(echo('a-strict', { input: needs, triggers: [{ file: { path: 'inbox/*' } }] }));
    await register(echo('b-fine', { triggers: [{ file: { path: 'inbox/*' } }] }));
    await put('a.txt', '1');
    await put('b.txt', '22');
    for (let look = 0; look < 4; look++) await watch.look();
    expect((await inputs()).map(({ size }) => size)).toEqual([1, 2]);
    expect(troubles).toHaveLength(2);
  });

  it('[SRV-88] a path that leads out of the project folder is refused', async () => {
    for (const out of ['../secrets/*', '/etc/*', 'inbox/../../x', '..', 'C:\\x']) {
      const answer = await register(echo('out', { triggers: [{ file: { path: out } }] }));
      expect(answer.json.code, out).toBe('PATH_OUTSIDE');
    }
  });
});
