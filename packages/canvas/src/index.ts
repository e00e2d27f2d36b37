/** `<nebula-graph>`, and what it is made of. Importing this defines the element. */
import { defineNebulaGraph } from './element/nebula-graph.ts';

export type { GraphEventName, GraphEvents } from './element/events.ts';
export { defineNebulaGraph, NebulaGraphElement } from './element/nebula-graph.ts';
export * from './layout/index.ts';
export * from './model/index.ts';
export { THEMES, type Theme, type ThemeName } from './view/theme.ts';

defineNebulaGraph();
