/**
 * `npx node bench/studio/pictures.ts DIR [NAME …]`: pictures of example workflows and of runs of them, in all themes and
 * directions. They are looked at, not compared.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { NebulaGraphElement } from '@nebula/canvas';
import { type DrawnStatus, graphOfDefinition, type Mark, NODE_STATUSES, type NodeRunState } from '@nebula/canvas/model';
import { readDefinition, type WorkflowDefinition } from '@nebula/core';
import type { Page } from 'playwright-core';
import { openBrowser, ROOT, serve } from './browser.ts';

interface Picture {
  readonly name: string;
  readonly example: string;
  readonly theme?: string;
  readonly direction?: string;
  readonly isRun?: boolean;
  readonly zoom?: number;
  readonly width?: number;
  readonly height?: number;
  readonly attributes?: readonly string[];
  readonly collapsed?: readonly string[];
  readonly marks?: Readonly<Record<string, Mark>>;
  readonly scopes?: Readonly<Record<string, number>>;
}

/** A loop, a called workflow, a group and every kind of node. */
const KINDS = `
id: kinds
nodes:
  orders: { action: http.request@1, name: Fetch the orders of the day }
  check:
    needs: [orders]
    branch: { on: '{{ $orders.status }}', cases: { ready: items, late: [remind, items] }, default: stop }
  items:
    forEach: { in: '{{ $orders.items }}' }
    do:
      nodes:
        pick: { action: warehouse.pick@1 }
        pack: { needs: [pick], action: warehouse.pack@1 }
        label: { needs: [pick], action: shell.run@1 }
        hand: { needs: [pack, label], action: courier.book@1 }
  remind: { action: mail.send@1 }
  pause: { needs: [remind], wait: { for: 10m } }
  approve: { needs: [items], wait: { approval: { title: Ship above the limit? } } }
  bill: { needs: [approve], workflow: { id: billing } }
  total: { needs: [items], set: { total: '{{ 1 }}' } }
  plan: { needs: [total], dynamic: { action: planner.plan@1 } }
  archive: { needs: [bill, plan], group: { nodes: { zip: { action: shell.run@1 }, store: { needs: [zip], action: file.write@1 } } } }
  stop: { terminate: failed }
  alert: { action: pager.page@1, enabled: false }
edges:
  - { from: bill, to: alert, on: error, match: { code: CARD_DECLINED } }
`;

const EXAMPLES = ['order', 'ci', 'etl', 'incident', 'release', 'kinds'];

const BASIC: readonly Picture[] = EXAMPLES.flatMap((example): Picture[] => [
  ...['light', 'dark', 'contrast'].flatMap((theme) => [
    { name: `${example}-${theme}`, example, theme },
    { name: `${example}-run-${theme}`, example, theme, isRun: true },
  ]),
  { name: `${example}-down`, example, direction: 'down', isRun: true },
  { name: `${example}-far`, example, isRun: true, zoom: 0.4 },
  { name: `${example}-phone`, example, isRun: true, direction: 'down', width: 390, height: 700 },
]);

const PICTURES: readonly Picture[] = [
  ...BASIC,
  { name: 'kinds-collapsed', example: 'kinds', isRun: true, collapsed: ['items', 'archive'] },
  { name: 'kinds-collapsed-dark', example: 'kinds', theme: 'dark', isRun: true, collapsed: ['items', 'archive'] },
  { name: 'kinds-past', example: 'kinds', theme: 'dark', isRun: true, attributes: ['past'] },
  { name: 'kinds-near', example: 'kinds', isRun: true, zoom: 1.6, scopes: { items: 17 } },
  {
    name: 'kinds-marks',
    example: 'kinds',
    attributes: ['editable'],
    collapsed: ['archive'],
    marks: {
      orders: { errors: 2, pin: 'fresh' },
      check: { warnings: 1 },
      items: { change: 'changed', errors: 1 },
      'items/pack': { change: 'added', pin: 'stale' },
      pause: { change: 'removed' },
      total: { change: 'changed' },
      'remind→pause': { change: 'removed' },
      'items/pick→items/pack': { change: 'added' },
    },
  },
];

function definitionOf(example: string): WorkflowDefinition {
  const text = example === 'kinds' ? KINDS : readFileSync(path.join(ROOT, 'examples', `${example}.yaml`), 'utf8');
  const { definition, problems } = readDefinition(text);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  return definition;
}

/** A run that has come half the way: every status occurs. */
function statesFor(definition: WorkflowDefinition): [string, NodeRunState][] {
  const ids = [...graphOfDefinition(definition).nodes.values()];
  const statuses: DrawnStatus[] = [
    'completed',
    'completed',
    'running',
    'failed',
    'waiting',
    'queued',
    'skipped',
    'unknown',
    'cancelled',
    'pending',
  ];
  return ids.map(({ id, kind }, at): [string, NodeRunState] => {
    const share = at / ids.length;
    const status = share < 0.35 ? 'completed' : (statuses[at % statuses.length] ?? 'pending');
    const path = id.replace(/^items\//, 'items/17/');
    const isOver = status === 'completed' || status === 'failed';
    return [
      path,
      {
        status: kind === 'loop' ? 'running' : status,
        attempts: status === 'failed' ? 3 : 1,
        ...(isOver ? { durationMs: 12 * 7 ** (at % 6) } : {}),
        ...(kind === 'loop' ? { iterations: { total: 1_200, open: 40, succeeded: 800, failed: 3 } } : {}),
      },
    ];
  });
}

function iterationsOf(): number[] {
  const code = (status: DrawnStatus): number => NODE_STATUSES.indexOf(status);
  return Array.from({ length: 1_200 }, (_, at) =>
    code(at === 17 || at === 400 || at === 650 ? 'failed' : at < 803 ? 'completed' : at < 843 ? 'running' : 'pending'),
  );
}

async function take(page: Page, picture: Picture, folder: string): Promise<void> {
  const definition = definitionOf(picture.example);
  await page.setViewportSize({ width: picture.width ?? 1_440, height: picture.height ?? 860 });
  await page.evaluate(
    ({ picture: wanted, text, states, iterations }) => {
      const old = document.querySelector('nebula-graph')!;
      const graph = document.createElement('nebula-graph') as NebulaGraphElement;
      graph.setAttribute('theme', wanted.theme ?? 'light');
      graph.setAttribute('direction', wanted.direction ?? 'right');
      for (const name of wanted.attributes ?? []) graph.setAttribute(name, '');
      old.replaceWith(graph);
      graph.definition = JSON.parse(text) as { id: string };
      if (wanted.isRun === true) {
        graph.states = new Map(states);
        graph.iterations = { items: Uint8Array.from(iterations) };
      }
      if (wanted.scopes !== undefined) graph.scopes = wanted.scopes;
      if (wanted.marks !== undefined) graph.marks = wanted.marks;
      graph.collapsed = wanted.collapsed ?? [];
      graph.fit();
      if (wanted.zoom !== undefined) graph.zoomBy(wanted.zoom / graph.camera.zoom);
    },
    { picture, text: JSON.stringify(definition), states: statesFor(definition), iterations: iterationsOf() },
  );
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.screenshot({ path: path.join(folder, `${picture.name}.png`) });
}

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined) throw new Error('The folder of the pictures is missing.');
mkdirSync(folder, { recursive: true });
const site = await serve(
  { pictures: '<nebula-graph></nebula-graph>' },
  { pictures: 'bench/studio/pages/pictures.ts', 'layout-worker': 'packages/canvas/src/layout/layout-worker.ts' },
  'body { margin: 0 } nebula-graph { height: 100vh }',
);
const browser = await openBrowser();
const page = await browser.newPage();
page.on('pageerror', (error) => console.error(error.message));
await page.goto(`${site.url}/pictures`);
for (const picture of PICTURES) {
  if (names.length > 0 && !names.some((name) => picture.name.startsWith(name))) continue;
  await take(page, picture, folder);
}
await browser.close();
site.close();
