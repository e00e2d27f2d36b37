/** The page with `<nebula-graph>`. */
import { type GraphNode, graphOf, NebulaGraphElement } from '@nebula/canvas';
import type { BenchGraph } from '../graphs.ts';
import { type Drawing, type Figures, type Motion, measure } from './motion.ts';

NebulaGraphElement.workerUrl = '/layout-worker.js';
const STATUSES = ['completed', 'running', 'queued', 'failed', 'waiting', 'pending'] as const;

const element = document.querySelector('nebula-graph') as NebulaGraphElement;
let ids: readonly string[] = [];

/** Resolves to the time until the graph is drawn. */
async function show(graph: BenchGraph): Promise<number> {
  ids = graph.ids;
  const begin = performance.now();
  const nodes = graph.ids.map(
    (id, at): GraphNode => ({ id, kind: 'action', label: `Step ${at}`, detail: 'http.request@1', category: 'http' }),
  );
  element.graph = graphOf(
    nodes,
    graph.edges.map(([from, to]) => ({ id: `${from}→${to}`, from, to, kind: 'success' as const })),
  );
  element.states = new Map(
    graph.ids.map((id, at) => [id, { status: STATUSES[at % STATUSES.length]!, durationMs: at, attempts: 1 }]),
  );
  while (element.boxOf(graph.ids.at(-1)!) === undefined) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begin;
}

const drawing: Drawing = {
  zoomTo: (zoom) => {
    element.fit();
    element.zoomBy(zoom / element.camera.zoom);
  },
  panBy: (dx, dy) => element.panBy(dx, dy),
  zoomBy: (factor) => element.zoomBy(factor),
  update: (changed, step) =>
    element.update(
      changed.map((id, at) => [
        id,
        { status: STATUSES[(step + at) % STATUSES.length]!, durationMs: step, attempts: 2 },
      ]),
    ),
};

const page = globalThis as unknown as { show: typeof show; measure: (motion: Motion) => Promise<Figures> };
page.show = show;
page.measure = (motion) => measure(drawing, ids, motion);
