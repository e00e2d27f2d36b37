/** Versions of workflows, and durations of their nodes. */

import type { Store } from '@nebula/ports';
import { expect } from 'vitest';
import { portSuite, put } from './store-subject.ts';

export const definitionsSuite = portSuite('definitions', (test) => {
  test('[STO-62] workflows in order of their ids, each with its newest version', async ({ store, reopen }) => {
    expect(await store.workflows({ limit: 5 })).toEqual([]);
    await register(store, 'b', [3, 1, 7]);
    await register(store, 'a', [1]);
    await register(store, 'c', [2, 1]);
    await register(store, 'B', [1]);
    const heads = [
      { workflowId: 'B', version: 1, versions: 1 },
      { workflowId: 'a', version: 1, versions: 1 },
      { workflowId: 'b', version: 7, versions: 3 },
      { workflowId: 'c', version: 1, versions: 2 },
    ];
    const again = reopen === undefined ? store : await reopen();
    expect(await again.workflows({ limit: 10 })).toEqual(heads);
    expect(await again.workflows({ limit: 2 })).toEqual(heads.slice(0, 2));
    expect(await again.workflows({ after: 'a', limit: 2 })).toEqual(heads.slice(2));
    expect(await again.workflows({ after: 'aa', limit: 1 })).toEqual(heads.slice(2, 3));
    expect(await again.workflows({ after: 'c', limit: 1 })).toEqual([]);
    expect(await again.workflows({ workflowId: 'b', limit: 2 })).toEqual(heads.slice(2, 3));
    expect(await again.workflows({ workflowId: 'b', after: 'b', limit: 2 })).toEqual([]);
    expect(await again.workflows({ workflowId: 'aa', limit: 2 })).toEqual([]);
  });

  test('[STO-63] versions, the highest first, without their definitions', async ({ store }) => {
    await register(store, 'a', [3, 1, 7]);
    await register(store, 'b', [9]);
    const heads = [7, 3, 1].map((version) => ({
      workflowId: 'a',
      version,
      hash: `hash of ${version}`,
      createdAt: version * 10,
    }));
    expect(await store.workflowVersions('a', { limit: 10 })).toEqual(heads);
    expect(await store.workflowVersions('a', { limit: 2 })).toEqual(heads.slice(0, 2));
    expect(await store.workflowVersions('a', { after: 3, limit: 2 })).toEqual(heads.slice(2));
    expect(await store.workflowVersions('a', { after: 1, limit: 2 })).toEqual([]);
    expect(await store.workflowVersions('ghost', { limit: 2 })).toEqual([]);
  });

  test('[STO-28] versions count up; the same content is the same version', async ({ store }) => {
    const row = (hash: string, workflowId = 'orders') => ({
      workflowId,
      hash,
      definition: `{"${hash}":1}`,
      createdAt: 5,
    });
    expect(await store.registerWorkflow(row('h1'))).toEqual({ ok: true, version: 1, created: true });
    expect(await store.registerWorkflow(row('h2'))).toEqual({ ok: true, version: 2, created: true });
    expect(await store.registerWorkflow(row('h1'))).toEqual({ ok: true, version: 1, created: false });
    expect(await store.registerWorkflow(row('h1', 'other'))).toEqual({ ok: true, version: 1, created: true });
    expect(await store.registerWorkflow({ ...row('h7'), version: 7 })).toEqual({ ok: true, version: 7, created: true });
    expect(await store.registerWorkflow(row('h8'))).toEqual({ ok: true, version: 8, created: true });
    expect(await store.registerWorkflow({ ...row('h9'), version: 7 })).toEqual({ ok: false, reason: 'version-taken' });
    expect(await store.registerWorkflow({ ...row('h2'), version: 7 })).toEqual({
      ok: true,
      version: 2,
      created: false,
    });
    expect(await store.registerWorkflow({ ...row('h5'), version: 5 })).toEqual({ ok: true, version: 5, created: true });
  });

  test('[STO-28] of many rivals for the same content one creates it', async ({ store }) => {
    const row = { workflowId: 'orders', hash: 'h', definition: '{}', createdAt: 5 };
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.registerWorkflow(row)));
    expect(outcomes.filter((outcome) => outcome.ok && outcome.created)).toHaveLength(1);
    expect(outcomes.every((outcome) => outcome.ok && outcome.version === 1)).toBe(true);
  });

  test('[STO-29] [STO-62] a version, the newest, or none', async ({ store }) => {
    const row = (hash: string) => ({ workflowId: 'orders', hash, definition: `{"${hash}":"😀"}`, createdAt: 5 });
    expect(await store.workflowVersion('orders')).toBeUndefined();
    await store.registerWorkflow({ ...row('h9'), version: 9 });
    await store.registerWorkflow({ ...row('h9'), workflowId: 'others' });
    expect(await store.workflowVersion('orders')).toEqual({ ...row('h9'), version: 9 });
    await store.registerWorkflow({ ...row('h3'), version: 3 });
    expect(await store.workflowVersion('orders')).toEqual({ ...row('h3'), version: 3 });
    for (const [hash, version] of [
      ['h9', 9],
      ['h9', 9],
      ['h3', 3],
      ['h10', 10],
      ['h3', 3],
    ] as const) {
      expect(await store.registerWorkflow(row(hash))).toMatchObject({ ok: true, version });
      expect(await store.workflowVersion('orders')).toEqual({ ...row(hash), version });
      expect(await store.workflows({ workflowId: 'orders', limit: 1 })).toMatchObject([{ version }]);
    }
    expect(await store.workflowVersion('orders', 3)).toEqual({ ...row('h3'), version: 3 });
    expect(await store.workflowVersion('orders', 4)).toBeUndefined();
    expect(await store.workflowVersion('Orders')).toBeUndefined();
  });

  test('[STO-150] the text of a version is stored, replaced and kept', async ({ store, reopen }) => {
    const row = { workflowId: 'orders', hash: 'h1', definition: '{}', createdAt: 5 };
    const yaml = { text: '# first\nid: orders # 😀\n', format: 'yaml', filename: 'orders.yaml' };
    expect(await store.workflowSource('orders', 1)).toBeUndefined();
    await store.registerWorkflow({ ...row, source: yaml });
    expect(await store.workflowSource('orders', 1)).toEqual(yaml);
    expect(await store.workflowVersion('orders', 1)).toEqual({ ...row, version: 1 });
    // Other content without a text, then the first again with another one: no new version.
    expect(await store.registerWorkflow({ ...row, hash: 'h2' })).toMatchObject({ version: 2, created: true });
    const json = { text: '{"id":"orders"}', format: 'json', filename: null };
    expect(await store.registerWorkflow({ ...row, source: json })).toMatchObject({ version: 1, created: false });
    const again = reopen === undefined ? store : await reopen();
    expect(await again.workflowSource('orders', 1)).toEqual(json);
    expect(await again.workflowSource('orders', 2)).toBeUndefined();
    expect(await again.registerWorkflow(row)).toMatchObject({ version: 1, created: false });
    expect(await again.workflowSource('orders', 1)).toEqual(json);
    const module = { text: null, format: 'typescript', filename: 'orders.ts' };
    await again.registerWorkflow({ ...row, source: module });
    expect(await again.workflowSource('orders', 1)).toEqual(module);
    // A refused registration changes no text.
    await again.registerWorkflow({ ...row, hash: 'h3', version: 1, source: yaml });
    expect(await again.workflowSource('orders', 1)).toEqual(module);
    expect(await again.workflowSource('Orders', 1)).toBeUndefined();
  });

  test('[ENG-410] the definition of a test run is in no list, and goes with its execution', async ({
    store,
    reopen,
  }) => {
    const row = { workflowId: 'orders', hash: 'h', definition: '{"test":1}', createdAt: 500 };
    const test = { ...row, version: -7, executionId: 'a' };
    await store.storeTestVersion(test);
    await store.storeTestVersion({ ...test, definition: '{"other":1}' });
    await store.storeTestVersion({ ...test, version: -8, executionId: 'lost' });
    const again = reopen === undefined ? store : await reopen();
    expect(await again.workflowVersion('orders', -7)).toEqual({ ...row, version: -7 });
    expect(await again.workflowVersion('orders')).toBeUndefined();
    expect(await again.workflows({ limit: 5 })).toEqual([]);
    expect(await again.workflowVersions('orders', { limit: 5 })).toEqual([]);
    expect(await again.registerWorkflow(row)).toEqual({ ok: true, version: 1, created: true });
    const create = { workflowId: 'orders', version: -7, createdAt: 1_000, owner: 'worker-1' };
    await put(again, 'a', { create, status: 'completed' });
    expect(await again.purgeTestVersions(500, 10)).toBe(0);
    expect(await again.purgeTestVersions(501, 10)).toBe(1);
    expect(await again.workflowVersion('orders', -8)).toBeUndefined();
    expect(await again.deleteExecution('a')).toBe(true);
    expect(await again.workflowVersion('orders', -7)).toBeUndefined();
    expect(await again.workflowVersion('orders')).toMatchObject({ version: 1 });
  });

  test('[ENG-430] an execution may have several definitions of tests, which go with it', async ({ store }) => {
    const test = { workflowId: 'orders', hash: 'h', definition: '{"test":1}', createdAt: 500, executionId: 'a' };
    await store.storeTestVersion({ ...test, version: -7 });
    await store.storeTestVersion({ ...test, version: -9, definition: '{"test":2}' });
    await store.storeTestVersion({ ...test, version: -7, createdAt: 900 });
    // Stored again, the first one is young again.
    expect(await store.purgeTestVersions(800, 10)).toBe(1);
    expect(await store.workflowVersion('orders', -7)).toMatchObject({ definition: '{"test":1}' });
    await store.storeTestVersion({ ...test, version: -9, definition: '{"test":2}' });
    expect(await store.workflowVersion('orders', -9)).toMatchObject({ definition: '{"test":2}' });
    const create = { workflowId: 'orders', version: -9, createdAt: 1_000, owner: 'worker-1' };
    await put(store, 'a', { create, status: 'completed' });
    expect(await store.deleteExecution('a')).toBe(true);
    expect(await store.workflowVersion('orders', -7)).toBeUndefined();
    expect(await store.workflowVersion('orders', -9)).toBeUndefined();
  });

  test('[STO-42] durations of nodes are stored with their write', async ({ store }) => {
    await put(store, 'a');
    const durations = [
      { workflowId: 'w', node: 'n', ms: 10 },
      { workflowId: 'w', node: 'm', ms: 20 },
      { workflowId: 'v', node: 'n', ms: 30 },
    ];
    await store.append([{ executionId: 'a', durations }]);
    await store.append([{ executionId: 'none', durations: [{ workflowId: 'w', node: 'n', ms: 99 }] }]);
    await store.append([{ executionId: 'a', durations: [{ workflowId: 'w', node: 'm', ms: 25 }] }]);
    expect([...(await store.durations('w'))].sort()).toEqual([
      ['m', 25],
      ['n', 10],
    ]);
    expect([...(await store.durations('nothing'))]).toEqual([]);
  });
});

async function register(store: Store, workflowId: string, versions: readonly number[]): Promise<void> {
  for (const version of versions) {
    const row = { workflowId, version, hash: `hash of ${version}`, definition: '{}', createdAt: version * 10 };
    expect(await store.registerWorkflow(row)).toMatchObject({ created: true });
  }
}
