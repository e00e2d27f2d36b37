/** The page with `@xyflow/react`, with the same nodes at the same places. */
import { type Edge, type Node, ReactFlow, type ReactFlowInstance, useNodesState } from '@xyflow/react';
import { createElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { type Drawing, type Figures, type Motion, measure, type PlacedGraph } from '../pages/motion.ts';

const COLOURS = ['#fff', '#def', '#efd', '#fed', '#fdf', '#eee'];
let flow: ReactFlowInstance | undefined;
let setNodes: ((change: (nodes: Node[]) => Node[]) => void) | undefined;
let shown: PlacedGraph | undefined;

function Flow({ graph }: { readonly graph: PlacedGraph }) {
  const [nodes, set, onNodesChange] = useNodesState<Node>(
    graph.nodes.map(({ id, x, y }) => ({ id, position: { x, y }, data: { label: id }, width: 208, height: 56 })),
  );
  const edges: Edge[] = graph.edges.map(([source, target]) => ({ id: `${source}-${target}`, source, target }));
  useEffect(() => {
    setNodes = set;
  }, [set]);
  return createElement(ReactFlow, {
    nodes,
    defaultEdges: edges,
    onNodesChange,
    minZoom: 0.02,
    onlyRenderVisibleElements: graph.onlyVisible,
    onInit: (instance: ReactFlowInstance) => {
      flow = instance;
    },
  });
}

async function show(graph: PlacedGraph): Promise<number> {
  shown = graph;
  flow = undefined;
  const begin = performance.now();
  createRoot(document.getElementById('root')!).render(createElement(Flow, { graph }));
  while (flow === undefined) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begin;
}

const drawing: Drawing = {
  zoomTo: (zoom) => {
    const { innerWidth: width, innerHeight: height } = globalThis as unknown as Window;
    const [x, y] = [
      Math.max(...shown!.nodes.map((node) => node.x)) / 2,
      Math.max(...shown!.nodes.map((node) => node.y)) / 2,
    ];
    void flow!.setViewport({ zoom, x: width / 2 - x * zoom, y: height / 2 - y * zoom });
  },
  panBy: (dx, dy) => {
    const { x, y, zoom } = flow!.getViewport();
    void flow!.setViewport({ x: x + dx, y: y + dy, zoom });
  },
  zoomBy: (factor) => {
    const { x, y, zoom } = flow!.getViewport();
    const [middleX, middleY] = [innerWidth / 2, innerHeight / 2];
    void flow!.setViewport({
      zoom: zoom * factor,
      x: middleX - (middleX - x) * factor,
      y: middleY - (middleY - y) * factor,
    });
  },
  update: (ids, step) => {
    const changed = new Set(ids);
    setNodes!((nodes) =>
      nodes.map((node) =>
        changed.has(node.id) ? { ...node, style: { background: COLOURS[step % COLOURS.length]! } } : node,
      ),
    );
  },
};

const page = globalThis as unknown as { show: typeof show; measure: (motion: Motion) => Promise<Figures> };
page.show = show;
page.measure = (motion) =>
  measure(
    drawing,
    shown!.nodes.map(({ id }) => id),
    motion,
  );
