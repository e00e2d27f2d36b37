export { type Applied, applyChange, type Change } from './changes.ts';
export { copyText, pasteChange } from './clipboard.ts';
export { type Refusal, refusalOf } from './connect.ts';
export { graphOfDefinition } from './definition.ts';
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
export { type DrawnRun, type DrawnStatus, NODE_STATUSES, type NodeRunState, statesOf } from './run-state.ts';
