/** A loop with 10,000 iterations, of which one failed; every event of the element is kept. */
import { type NebulaGraphElement, statusCode } from '@nebula/canvas';

const NAMES = [
  'select',
  'open',
  'toggle',
  'iteration',
  'menu',
  'move',
  'connect',
  'remove',
  'copy',
  'paste',
  'drop',
  'add',
  'rename',
  'undo',
];
const page = globalThis as unknown as { seen: { type: string; detail: unknown }[]; prevented: Set<string> };
page.seen = [];
page.prevented = new Set();

const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
for (const name of NAMES)
  graph.addEventListener(`nebula-${name}`, (event) => {
    const { detail } = event as CustomEvent<object>;
    page.seen.push({ type: event.type, detail: { ...detail, clipboard: undefined } });
    if (page.prevented.has(event.type)) event.preventDefault();
  });
graph.definition = {
  id: 'order',
  nodes: {
    fetch: { action: 'http.request@1' },
    items: {
      needs: ['fetch'],
      forEach: { in: [1] },
      do: { nodes: { pick: { action: 'warehouse.pick@1' }, pack: { needs: ['pick'], action: 'warehouse.pack@1' } } },
    },
    ship: { needs: ['items'], action: 'courier.book@1' },
    note: { needs: ['fetch'], action: 'core.log@1' },
  },
};
const iterations = new Uint8Array(10_000).fill(statusCode('completed'));
iterations[7_000] = statusCode('failed');
graph.states = new Map([
  ['fetch', { status: 'completed' }],
  ['items', { status: 'failed', iterations: { total: 10_000, open: 0, succeeded: 9_999, failed: 1 } }],
  ['items/7000/pick', { status: 'completed' }],
  ['items/7000/pack', { status: 'failed' }],
  ['items/3/pick', { status: 'completed' }],
  ['items/3/pack', { status: 'completed' }],
  ['ship', { status: 'skipped' }],
  ['note', { status: 'completed' }],
] as const);
graph.iterations = { items: iterations };
