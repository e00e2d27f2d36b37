import { expect, test } from 'vitest';
import type { Action } from '../../src/action.ts';
import { createCatalog } from '../../src/catalog.ts';
import { manifestOf } from '../../src/plan/manifest.ts';

const action = (id: string, effect?: Action['effect']): Action => ({
  id,
  version: '1',
  ...(effect && { effect }),
  run: () => null,
});
const catalog = createCatalog([
  action('pay.charge'),
  action('pay.refund', 'idempotent'),
  action('http.get', () => 'pure'),
]);

const inner = {
  id: 'inner',
  config: { capabilities: { shell: ['git'] } },
  triggers: [{ file: { path: 'in/*.csv' } }],
  nodes: { a: { action: 'http.get', credentials: { api: 'press' } }, again: { workflow: { id: 'outer' } } },
};
const outer = {
  id: 'outer',
  config: { capabilities: { network: ['api.example.com'] } },
  triggers: [
    { webhook: { path: '/orders', method: 'PUT' as const } },
    { schedule: { cron: '0 6 * * *', timezone: 'Europe/Berlin' } },
    { interval: { every: '5m' } },
    { event: { name: 'order' } },
    { file: { path: 'orders/*.json' } },
  ],
  nodes: {
    charge: {
      action: 'pay.charge@1',
      credentials: { bank: 'bank-key' },
      compensate: { action: 'pay.refund@1' },
      capabilities: { env: ['HOME'] },
    },
    loop: { forEach: { in: '[1]' }, do: { nodes: { again: { action: 'pay.charge@1' }, far: { action: 'far.away' } } } },
    made: { dynamic: { action: 'http.get' } },
    inlined: { workflow: { id: 'inner', version: 3 } },
    child: { workflow: { id: 'other', mode: 'child' as const } },
    planned: { workflow: { plan: 'nightly' } },
  },
};

test('a manifest lists what a workflow and the workflows that it inlines use and ask for', () => {
  const found = { inner, outer } as Readonly<Record<string, object>>;
  const manifest = manifestOf(outer as never, catalog, (id) => found[id] as never);
  expect(manifest).toEqual({
    actions: [
      { action: 'pay.charge@1', effect: 'once', nodes: 2 },
      { action: 'pay.refund@1', effect: 'idempotent', nodes: 1 },
      { action: 'http.get', effect: 'depends on the input', nodes: 2 },
      { action: 'far.away', effect: null, nodes: 1 },
    ],
    capabilities: {
      network: ['api.example.com'],
      files: { read: ['orders/*.json'], write: [] },
      shell: ['git'],
      env: ['HOME'],
    },
    credentials: [
      { alias: 'bank', secret: 'bank-key' },
      { alias: 'api', secret: 'press' },
    ],
    workflows: [
      { workflowId: 'inner', version: 3, mode: 'inline' },
      { workflowId: 'other', version: null, mode: 'child' },
      { workflowId: 'outer', version: null, mode: 'inline' },
    ],
    plans: ['nightly'],
    triggers: [
      { kind: 'webhook', text: 'PUT /hooks/orders' },
      { kind: 'schedule', text: '0 6 * * * Europe/Berlin' },
      { kind: 'interval', text: 'every 5m' },
      { kind: 'event', text: 'signal order' },
      { kind: 'file', text: 'files in orders/*.json' },
    ],
  });
});

test('inlined workflows that are not found are only named', () => {
  expect(manifestOf(outer as never, catalog).workflows).toHaveLength(2);
  expect(manifestOf({ id: 'empty' } as never, catalog)).toEqual({
    actions: [],
    capabilities: {},
    credentials: [],
    workflows: [],
    plans: [],
    triggers: [],
  });
});
