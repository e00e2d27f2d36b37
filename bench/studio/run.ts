/**
 * `npx node bench/studio/run.ts [--only canvas,xyflow] [--ms 3000] [--sizes 1000] [--motions 'pan at 1']
 * [--json FILE]`: frames per second of `<nebula-graph>`
 * and of `@xyflow/react` in a real Chromium, with 1,000 and 10,000 nodes, while panning, zooming and being updated 50
 * times a second. `npm ci --prefix bench/studio/xyflow` installs xyflow; without it, only the canvas is measured.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { layout } from '@nebula/canvas/layout';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, serve } from './browser.ts';
import { type BenchGraph, randomGraph } from './graphs.ts';
import type { Figures, Motion, PlacedGraph } from './pages/motion.ts';

interface BenchPage {
  show(graph: unknown): Promise<number>;
  measure(motion: Motion): Promise<Figures>;
}

interface Row extends Figures {
  readonly drawing: string;
  readonly nodes: number;
  readonly motion: string;
  readonly showMs: number;
  readonly goal: number;
  /** Processor time of the page's main thread for each frame: other load on the machine changes it less than the frames. */
  readonly cpuMs: number;
}

const GOALS: Readonly<Record<number, number>> = { 1000: 60, 10000: 30 };
const SIZE = { width: 1_440, height: 900 };

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'canvas,xyflow' },
    ms: { type: 'string', default: '3000' },
    json: { type: 'string' },
    sizes: { type: 'string', default: '1000,10000' },
    motions: { type: 'string', default: '' },
  },
});
const ms = Number(values.ms);
const wanted = new Set(values.only.split(','));
const hasPeer = existsSync(path.join(import.meta.dirname, 'xyflow/node_modules/@xyflow/react/package.json'));
if (wanted.has('xyflow') && !hasPeer) console.log('xyflow is not installed: npm ci --prefix bench/studio/xyflow');

const MOTIONS: readonly Motion[] = [
  ...[1, 0.5, 0.25, 0.1].map((zoom): Motion => ({ kind: 'pan', zoom, isUpdated: true, ms })),
  { kind: 'zoom', zoom: 0.5, isUpdated: true, ms },
  { kind: 'zoom', zoom: 0.15, isUpdated: true, ms },
];

const styles = `body { margin: 0 } nebula-graph, #root { display: block; width: 100vw; height: 100vh }
.react-flow { position: relative; width: 100%; height: 100%; overflow: hidden; direction: ltr }
.react-flow__renderer, .react-flow__pane, .react-flow__viewport, .react-flow__nodes, .react-flow__edges svg { position: absolute; width: 100%; height: 100%; top: 0; left: 0; transform-origin: 0 0; overflow: visible }
.react-flow__container { position: absolute; width: 100%; height: 100%; top: 0; left: 0 }
.react-flow__node { position: absolute; box-sizing: border-box; padding: 10px; border: 1px solid #1a192b; border-radius: 3px; background: white; font: 12px sans-serif; text-align: center }
.react-flow__edge-path { stroke: #b1b1b7; fill: none }
.react-flow__handle { position: absolute; width: 6px; height: 6px; background: #1a192b }`;

const site = await serve(
  { canvas: '<nebula-graph></nebula-graph>', xyflow: '<div id="root"></div>' },
  {
    canvas: 'bench/studio/pages/canvas.ts',
    ...(hasPeer ? { xyflow: 'bench/studio/xyflow/page.ts' } : {}),
    'layout-worker': 'packages/canvas/src/layout/layout-worker.ts',
  },
  styles,
);
const browser = await openBrowser();
const rows: Row[] = [];
const load = loadavg()[0]!.toFixed(1);
for (const count of values.sizes.split(',').map(Number)) {
  const graph = randomGraph(count);
  if (wanted.has('canvas')) rows.push(...(await measured(browser, 'canvas', 'nebula-graph', graph)));
  if (wanted.has('xyflow') && hasPeer) {
    for (const onlyVisible of count > 1_000 ? [true] : [false, true]) {
      const name = `xyflow, ${onlyVisible ? 'visible nodes only' : 'all nodes'}`;
      rows.push(...(await measured(browser, 'xyflow', name, placedOf(graph, onlyVisible))));
    }
  }
}
await browser.close();
site.close();
print(rows);
console.log(`\nload ${load} before, ${loadavg()[0]!.toFixed(1)} after; ${browser.version()}`);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ load, rows }, null, 2));

async function measured(
  opened: Browser,
  name: 'canvas' | 'xyflow',
  drawing: string,
  graph: BenchGraph | PlacedGraph,
): Promise<Row[]> {
  const page: Page = await opened.newPage({ viewport: SIZE });
  page.on('pageerror', (error) => console.error(error.message));
  await page.goto(`${site.url}/${name}`);
  await page.waitForFunction(() => 'show' in globalThis);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? 0;
  };
  const showMs = await page.evaluate((given) => (globalThis as unknown as BenchPage).show(given), graph);
  const found: Row[] = [];
  const nodes = 'ids' in graph ? graph.ids.length : graph.nodes.length;
  for (const motion of MOTIONS) {
    const text = motion.kind === 'pan' ? `pan at ${motion.zoom}` : `zoom around ${motion.zoom}`;
    if (!text.startsWith(values.motions)) continue;
    const before = await taskSeconds();
    const figures = await page.evaluate((given) => (globalThis as unknown as BenchPage).measure(given), motion);
    const cpuMs = Math.round((((await taskSeconds()) - before) * 10_000) / Math.max(1, figures.frames)) / 10;
    found.push({
      ...figures,
      cpuMs,
      drawing,
      nodes,
      motion: text,
      showMs: Math.round(showMs),
      goal: GOALS[nodes] ?? 0,
    });
    console.log(`${drawing}  ${nodes}  ${text}: ${figures.fps} fps, p95 ${figures.p95Ms} ms, ${cpuMs} ms of CPU`);
  }
  await page.close();
  return found;
}

/** Places as the canvas has them, so that both draw the same. */
function placedOf({ ids, edges }: BenchGraph, onlyVisible: boolean): PlacedGraph {
  const indexOf = new Map(ids.map((id, at) => [id, at]));
  const { x, y } = layout({
    direction: 'right',
    parent: new Int32Array(ids.length).fill(-1),
    width: new Float64Array(ids.length).fill(208),
    height: new Float64Array(ids.length).fill(56),
    edgeFrom: Int32Array.from(edges, ([from]) => indexOf.get(from)!),
    edgeTo: Int32Array.from(edges, ([, to]) => indexOf.get(to)!),
  });
  return { nodes: ids.map((id, at) => ({ id, x: x[at]!, y: y[at]! })), edges, onlyVisible };
}

function print(all: readonly Row[]): void {
  console.log(
    '\n| drawing | nodes | shown after | motion, 50 updates/s | fps | p95 between frames | CPU per frame | goal |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const { drawing, nodes, showMs, motion, fps, p95Ms, cpuMs, goal } of all)
    console.log(`| ${drawing} | ${nodes} | ${showMs} ms | ${motion} | ${fps} | ${p95Ms} ms | ${cpuMs} ms | ${goal} |`);
}
