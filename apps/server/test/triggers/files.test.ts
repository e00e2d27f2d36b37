/** Files that are put into a folder. */
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { localLeader } from '@nebula/drivers/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Launcher } from '../../src/launcher.ts';
import { FileWatch, type FileWatchParts } from '../../src/triggers/files.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };

describe('file drops', () => {
  let booted: Booted;
  let projectDir: string;
  let watch: { scan(): Promise<void> };
  let isLeader = true;
  const troubles: unknown[] = [];
  beforeEach(async () => {
    projectDir = await mkdtemp(path.join(tmpdir(), 'nebula-files-'));
    await mkdir(path.join(projectDir, 'inbox'));
    booted = await boot({ leader: localLeader() });
    isLeader = true;
    troubles.length = 0;
    watch = watching();
  });
  const watching = (more: Partial<FileWatchParts> = {}) => {
    const { parts } = booted;
    return new FileWatch({
      parts,
      launcher: new Launcher(parts),
      projectDir,
      isLeader: () => isLeader,
      onTrouble: (error) => troubles.push(error),
      ...more,
    }) as unknown as { scan(): Promise<void> };
  };
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
    await watch.scan();
    expect(await inputs()).toEqual([]);
    await appendFile(path.join(projectDir, 'inbox', 'growing.csv'), ',b,c,d');
    await watch.scan();
    expect(await inputs()).toEqual([expect.objectContaining({ path: 'inbox/whole.csv', name: 'whole.csv', size: 3 })]);
    await watch.scan();
    await watch.scan();
    expect((await inputs()).map(({ size }) => size)).toEqual([3, 7]);
    await put('whole.csv', 'changed since');
    await watch.scan();
    await watch.scan();
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
    for (let scan = 0; scan < 3; scan++) await watch.scan();
    expect(await inputs()).toEqual([]);
    await rm(outside, { recursive: true });
  });

  it('[SRV-725] no run learns of a reserved file, also through links and from a folder in which all are', async () => {
    const data = path.join(projectDir, '.nebula');
    await mkdir(path.join(data, 'blobs'), { recursive: true });
    await writeFile(path.join(data, 'secrets.json'), '{}');
    await writeFile(path.join(data, 'blobs', 'a'), '1');
    await writeFile(path.join(projectDir, 'nebula.config.ts'), '');
    await writeFile(path.join(projectDir, 'plain.txt'), 'told');
    await symlink(data, path.join(projectDir, 'link'));
    await symlink(path.join(data, 'secrets.json'), path.join(projectDir, 'inbox', 'secrets.json'));
    const patterns = ['.nebula/*', '.nebula/blobs/**', '**', '*', 'link/*', 'inbox/*', '.nebula', 'nebula.config.ts'];
    for (const [at, pattern] of patterns.entries()) {
      await register(echo(`drop${at}`, { triggers: [{ file: { path: pattern } }] }));
    }
    const reserved = (file: string) =>
      `${file}/`.startsWith(`${data}/`) || file.endsWith('nebula.config.ts') ? 'it is reserved' : undefined;
    const careful = watching({ reserved });
    for (let scan = 0; scan < 3; scan++) await careful.scan();
    expect((await inputs()).map((one) => one.path)).toEqual(['plain.txt', 'plain.txt']);
  });

  it('[SRV-726] a file trigger is activated only within what the project may read', async () => {
    const ceiling = (files?: readonly string[]) =>
      ask(booted, 'PUT /api/v1/projects/default', {
        headers,
        body: { ceiling: files === undefined ? {} : { files: { read: files } } },
      });
    const trigger = (pattern: string) => register(echo('drop', { triggers: [{ file: { path: pattern } }] }));
    await ceiling();
    const { status, json } = await trigger('inbox/*.csv');
    expect([status, json.code, json.detail]).toEqual([
      422,
      'OVER_CEILING',
      "The trigger on 'inbox/*.csv' reads inbox/*.csv, and the project 'default' may read nothing.",
    ]);
    expect(json.hint).toContain('nebula projects set default --allow files.read=inbox/*.csv');
    await ceiling(['inbox/**']);
    const codes: unknown[] = [];
    for (const one of [
      'inbox/*.csv',
      'inbox',
      'inbox/{a,b}?.csv',
      './inbox/[ab]',
      '{inbox/a,inbox/b}',
      '*',
      'inbox*',
    ]) {
      codes.push((await trigger(one)).json.code);
    }
    expect(codes).toEqual([undefined, undefined, undefined, undefined, 'OVER_CEILING', 'OVER_CEILING', 'OVER_CEILING']);
    // A version that is stored and not activated is warned of.
    const body = { definition: echo('later', { triggers: [{ file: { path: 'a/b?' } }] }), activate: false };
    const { json: stored } = await ask(booted, 'POST /api/v1/workflows', { headers, body });
    expect(stored.warnings).toMatchObject([{ code: 'OVER_CEILING', path: ['triggers', 0, 'file', 'path'] }]);
    const activated = await ask(booted, 'POST /api/v1/workflows/later/activate', { headers, body: { version: 1 } });
    expect(activated.json.code).toBe('OVER_CEILING');
  });

  it('[SRV-726] a trigger whose project may no longer read its files fires nothing, and is reported once', async () => {
    await register(echo('drop', { triggers: [{ file: { path: 'inbox/*' } }] }));
    const set = (body: object) => ask(booted, 'PUT /api/v1/projects/default', { headers, body });
    await mkdir(path.join(projectDir, 'other'));
    await writeFile(path.join(projectDir, 'other', 'b.txt'), '22');
    await set({ ceiling: {} });
    await put('a.txt', '1');
    for (let scan = 0; scan < 3; scan++) await watch.scan();
    expect(await inputs()).toEqual([]);
    expect(troubles).toMatchObject([{ code: 'OVER_CEILING' }]);
    await set({ ceiling: { files: { read: ['inbox/*'] } } });
    await symlink(path.join(projectDir, 'other', 'b.txt'), path.join(projectDir, 'inbox', 'linked.txt'));
    for (let scan = 0; scan < 3; scan++) await watch.scan();
    expect((await inputs()).map((one) => one.path)).toEqual(['inbox/a.txt']);
    expect(troubles).toHaveLength(1);
  });

  it('[SRV-727] the triggers of a project watch a limited number of files; what is beyond is reported once', async () => {
    await register(echo('a', { triggers: [{ file: { path: 'inbox/*.a' } }] }));
    await register(echo('b', { triggers: [{ file: { path: 'inbox/*.b' } }] }));
    for (const name of ['1.a', '2.a', '1.b', '2.b']) await put(name, name);
    const few = watching({ limits: { maxEntries: 1_000, maxFiles: 3 } });
    for (let scan = 0; scan < 3; scan++) await few.scan();
    expect(await inputs()).toHaveLength(3);
    expect(troubles).toMatchObject([{ code: 'TOO_LARGE' }]);
  });

  it('[SRV-85] a folder means the files in it; a server that is not the leader does nothing', async () => {
    await register(echo('drop', { triggers: [{ file: { path: 'inbox' } }] }));
    await put('a.txt', '1');
    isLeader = false;
    for (let scan = 0; scan < 3; scan++) await watch.scan();
    expect(await inputs()).toEqual([]);
    isLeader = true;
    for (let scan = 0; scan < 3; scan++) await watch.scan();
    expect(await inputs()).toHaveLength(1);
  });

  it('[SRV-86] known files are not taken again after a restart, even if their run was deleted', async () => {
    await register(echo('drop', { triggers: [{ file: { path: 'inbox' } }] }));
    await put('a.txt', '1');
    for (let scan = 0; scan < 2; scan++) await watch.scan();
    const [row] = (await booted.keeping.store.list({ limit: 1 })).rows;
    const executionId = row?.executionId as string;
    await ask(booted, `GET /api/v1/executions/${executionId}/result?wait=10s`, { headers });
    expect((await ask(booted, `DELETE /api/v1/executions/${executionId}`, { headers })).status).toBe(204);
    (watch as unknown as { seen: Map<string, unknown> }).seen.clear();
    for (let scan = 0; scan < 3; scan++) await watch.scan();
    expect(await inputs()).toEqual([]);
  });

  it('[SRV-87] a file that cannot start a run is reported once, and does not block the others', async () => {
    const needs = { type: 'object', properties: {}, required: ['never'] };
    await register(echo('a-strict', { input: needs, triggers: [{ file: { path: 'inbox/*' } }] }));
    await register(echo('b-fine', { triggers: [{ file: { path: 'inbox/*' } }] }));
    await put('a.txt', '1');
    await put('b.txt', '22');
    for (let scan = 0; scan < 4; scan++) await watch.scan();
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
