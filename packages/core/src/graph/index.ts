export { buildGraph, type GraphDefinition } from './build.ts';
export { checkGraph } from './check.ts';
export { findCycles } from './cycles.ts';
export { type Adjacency, edgeCountAt, edgePath, edgesAt, type Graph, predecessorsOf } from './graph.ts';
export { criticalPathRanks, endNodes, entryNodes, nodeLevels, topologicalOrder } from './order.ts';
export { Reachability } from './reachability.ts';
