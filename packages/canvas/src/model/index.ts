export { type Applied, applyChange, type Change } from './changes.ts';
export { copyText, pasteChange } from './clipboard.ts';
export { type Refusal, refusalOf } from './connect.ts';
export { type Bodies, graphOfDefinition } from './definition.ts';
export {
  type EdgeKind,
  EMPTY_GRAPH,
  type Graph,
  type GraphEdge,
  type GraphNode,
  graphOf,
  groupsAround,
  linksOf,
  type NodeKind,
  type Point,
  type Port,
  pathThrough,
  withContents,
} from './graph.ts';
export { GraphHistory } from './history.ts';
export {
  type Iterations,
  iterationAt,
  iterationCount,
  locate,
  nextIteration,
  pathInRun,
  type Scopes,
  statusCode,
  statusCounts,
  stripOf,
} from './iterations.ts';
export { type LiveEvent, LiveRun } from './live-run.ts';
export { diffGraphs, type Mark, type Marks } from './marks.ts';
export { type DrawnRun, type DrawnStatus, NODE_STATUSES, type NodeRunState, statesOf } from './run-state.ts';
