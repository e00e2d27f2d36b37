export { buildGraph, type GraphBuild, type GraphDefinition } from './build.ts';
export { checkGraph, type JoinDefinition } from './check.ts';
export { type Cycle, type Cycles, findCycles } from './cycles.ts';
export { type Adjacency, edgeCountAt, edgePath, edgesAt, type Graph } from './graph.ts';
export { criticalPathRanks, endNodes, entryNodes, nodeLevels, topologicalOrder } from './order.ts';
export { Reachability } from './reachability.ts';
