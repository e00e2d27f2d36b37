/** `<nebula-graph>`, and what it is made of. Importing this defines the element. */
import { defineNebulaGraph } from './element/nebula-graph.ts';

export type { GraphEventName, GraphEvents } from './element/events.ts';
export { defineNebulaGraph, NebulaGraphElement } from './element/nebula-graph.ts';
export { type Direction, GROUP, type LayoutInput, type LayoutResult, layout } from './layout/layout.ts';
export { type Bodies, graphOfDefinition } from './model/definition.ts';
export { EMPTY_GRAPH, type Graph, type GraphEdge, type GraphNode, graphOf } from './model/graph.ts';
export { type Iterations, type Scopes, statusCode } from './model/iterations.ts';
export { type LiveEvent, LiveRun } from './model/live-run.ts';
export { diffGraphs, type Mark, type Marks } from './model/marks.ts';
export { type DrawnRun, NODE_STATUSES, type NodeRunState, statesOf } from './model/run-state.ts';
export type { EdgeState } from './view/painting.ts';
export { THEMES, type Theme, type ThemeName } from './view/theme.ts';
export { ENGLISH, type GraphWords } from './view/words.ts';

defineNebulaGraph();
