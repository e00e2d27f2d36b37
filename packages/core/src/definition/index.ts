export { type ReadResult, readDefinitionObject } from './check.ts';
export { countGraphs } from './graphs.ts';
export { findJsonError } from './json/syntax.ts';
export type {
  ConfigDefinition,
  EdgeDefinition,
  NodeDefinition,
  NodeKind,
  RetryDefinition,
  TriggerDefinition,
  WebhookDefinition,
  WorkflowDefinition,
} from './model.ts';
export { type ReadOptions, readDefinition } from './read.ts';
export { renderProblems } from './report.ts';
export { workflowJsonSchema } from './schema.ts';
export type { SourceMap } from './source-map.ts';
export { MIN_INTERVAL_MS } from './trigger-rules.ts';
