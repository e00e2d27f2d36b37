/** `<nebula-graph>`, and what it is made of. Importing this defines the element. */
import { defineNebulaGraph } from './element/nebula-graph.ts';

export type { GraphEventName, GraphEvents } from './element/events.ts';
export { defineNebulaGraph, NebulaGraphElement } from './element/nebula-graph.ts';
export { type Direction, GROUP, type LayoutInput, type LayoutResult, layout } from './layout/layout.ts';
export { graphOfDefinition } from './model/definition.ts';
export { EMPTY_GRAPH, type Graph, type GraphEdge, type GraphNode, graphOf } from './model/graph.ts';
export { type DrawnRun, type NodeRunState, statesOf } from './model/run-state.ts';
export { THEMES, type Theme, type ThemeName } from './view/theme.ts';

defineNebulaGraph();
