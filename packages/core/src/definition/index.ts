export { type EdgeTextPart, parseEdgeText } from './edge-text.ts';
export { ACTION_PATTERN, ID_PATTERN, LANGUAGE_VERSION, RECORDS } from './keys.ts';
export type {
  ConfigDefinition,
  EdgeDefinition,
  FailurePolicy,
  Mode,
  NodeDefinition,
  OnError,
  RetryDefinition,
  TimeoutDefinition,
  WorkflowDefinition,
} from './model.ts';
export { inTextOrder } from './problem-list.ts';
export { type ReadOptions, type ReadResult, readDefinition, readDefinitionObject } from './read.ts';
export { type ReportOptions, type ReportStyle, renderProblems } from './report.ts';
export { retryPolicyOf } from './rules.ts';
export { workflowJsonSchema } from './schema.ts';
export type { SourceMap } from './source-map.ts';
export type { KeyType, RecordType, ValueType } from './value-type.ts';
