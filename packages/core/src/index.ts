export type {
  Action,
  ActionContext,
  ActionLogger,
  Capabilities,
  Catalog,
  Effect,
  RetryPolicyFunction,
  ShellOptions,
  ShellResult,
  Verification,
} from './action.ts';
export type {
  ConfigDefinition,
  EdgeDefinition,
  NodeDefinition,
  RetryDefinition,
  WorkflowDefinition,
} from './definition/model.ts';
export { assert, type ErrorKind, NebulaError, type NebulaErrorOptions, type RunError, unreachable } from './error.ts';
export { DEFINITION_LIMITS, EXPRESSION_LIMITS, type ExpressionLimits, RUN_DEFAULTS } from './limits.ts';
export { type DocumentPath, didYouMean, type Problem, type SourceRange } from './problem.ts';
export type { NodeDocument, RunDocument } from './run/document.ts';
export type { FinalRunStatus, NodeStatus, RunStatus } from './run/status.ts';
export type { TimelineEvent, TimelineEventType } from './run/timeline.ts';
export {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonEquals,
  memberOf,
} from './value.ts';
