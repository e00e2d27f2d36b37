export type {
  Action,
  ActionContext,
  ActionExample,
  ActionLogger,
  Capabilities,
  Catalog,
  Effect,
  Reaches,
  RetryPolicyFunction,
  ShellOptions,
  ShellResult,
  Verification,
} from './action.ts';
export { type CallbackToken, MARK_CHARS, replaceTokens, UNSIGNED } from './callback-url.ts';
export {
  CAPABILITY_LISTS,
  type Ceiling,
  capabilitiesOf,
  entriesOf,
  grantLine,
  grantsOne,
  isNothing,
  joinCeilings,
  NOTHING,
  narrow,
  overCeiling,
  patternsOf,
} from './capability/narrow.ts';
export { type CapabilityList, matchesName, matchesSegments, matchesSequence } from './capability/pattern.ts';
export { type ActionDescription, announcedAction, createCatalog, type OpenCatalog } from './catalog.ts';
export {
  type Compilation,
  type Compile,
  type CompileOptions,
  compilePlan,
  compileRead,
  compileSource,
} from './compile.ts';
export { beginCopy } from './copy.ts';
export { cronProblem, isTimezone, nextCronTime } from './cron.ts';
export { type ReadResult, readDefinitionObject } from './definition/check.ts';
export { type ErrorPlace, errorPlace, errorProblem } from './definition/error-place.ts';
export { countGraphs } from './definition/graphs.ts';
export { findJsonError } from './definition/json/syntax.ts';
export { WORKFLOW } from './definition/keys.ts';
export type { RuleContext } from './definition/kind-rules.ts';
export type {
  ConfigDefinition,
  EdgeDefinition,
  NodeDefinition,
  NodeKind,
  TriggerDefinition,
  WorkflowDefinition,
} from './definition/model.ts';
export { readDefinition, readDocument, readSource } from './definition/read.ts';
export { renderPlace, renderProblems } from './definition/report.ts';
export type { ScalarStyle } from './definition/scalar-replay.ts';
export { workflowJsonSchema } from './definition/schema.ts';
export type { Located, SourceMap } from './definition/source-map.ts';
export { type EdgeChange, type NodeChange, type StructureChanges, structureChanges } from './definition/structure.ts';
export { MIN_INTERVAL_MS } from './definition/trigger-rules.ts';
export { type TriggerWords, triggerWords } from './definition/trigger-words.ts';
export { type KeyType, type RecordType, recordOf, type ValueType } from './definition/value-type.ts';
export { type CheckOptions, DefinitionChecks, definitionChecks, type ProcessSettings } from './definition-checks.ts';
export { formatDuration, formatSize, isMoment, MOMENT_LIMITS, momentIn, parseDuration, parseSize } from './duration.ts';
export { assert, type ErrorKind, NebulaError, type NebulaErrorOptions, type RunError, unreachable } from './error.ts';
export {
  compileCondition,
  compileMatcher,
  compileValue,
  createBudget,
  ExpressionError,
  type FunctionListing,
  isOperators,
  listFunctions,
  parseExpression,
  placeOf,
  type Scope,
  StepBudget,
  stepCost,
  withFewPatterns,
} from './expression/index.ts';
export { buildGraph, edgesAt, nodeLevels, topologicalOrder } from './graph/index.ts';
export { Heap } from './heap.ts';
export type { ExecutionId, NodePath, WorkflowId } from './ids.ts';
export { JOB_FAILED, JOB_REFERENCE, JOB_REFUSED, jobCommand } from './imports/job-action.ts';
export { type JobSummary, jobsDefinition, jobsIn } from './imports/jobs-definition.ts';
export { readJobsDocument } from './imports/jobs-document.ts';
export { DEFINITION_LIMITS, EXPRESSION_LIMITS, type ExpressionLimits, RUN_DEFAULTS, SCHEMA_LIMITS } from './limits.ts';
export { idsInOrder } from './node-order.ts';
export { loadModules, provideModule } from './on-demand.ts';
export { effectOf, type Manifest, manifestOf } from './plan/manifest.ts';
export type { Pin, TestOptions } from './plan/pin.ts';
export { type CallbackUrl, isImplied, type Plan, type RetryRule, type TriggerPlan } from './plan/plan.ts';
export { mayServe, parseRoute } from './plan/route.ts';
export {
  definitionPathOf,
  definitionPaths,
  isTestVersion,
  pathsBefore,
  TEST_RETENTION_MS,
  testPlanOf,
  withTest,
} from './plan/test-plan.ts';
export { askedByTrigger, triggerInput, triggerKey } from './plan/trigger-plan.ts';
export { askedBy, pinWorkflows, type UsedWorkflow, usedWorkflows } from './plan/workflows.ts';
export {
  type DocumentPath,
  didYouMean,
  type Problem,
  type ProblemDocument,
  problemDocument,
  type SourceRange,
} from './problem.ts';
export type { AwaitedEvent, ConcurrencySlot, Entry } from './run/journal/entry.ts';
export { isFinal, isFinished } from './run/state/selectors.ts';
export type { FinalRunStatus, NodeStatus, RunStatus } from './run/state/status.ts';
export type { UndoPlan } from './run/undo/undo-plan.ts';
export { concurrencyPermit } from './run/waits/gates.ts';
export {
  compileSchema,
  describePath,
  describeProblems,
  givenProblem,
  isUnfinished,
  type SchemaCheck,
  type SchemaProblem,
} from './schema/index.ts';
export { allSteps, type Steps } from './steps.ts';
export {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonEquals,
  mapTexts,
  memberOf,
  TYPE_WORDS,
} from './value.ts';
export { gateWords, SKIP_WORDS, waitWords } from './view/cause-words.ts';
export type {
  AwaitedDocument,
  BareNode,
  BareRun,
  GateDocument,
  IterationsDocument,
  NodeDocument,
  RunDocument,
  ScopeDocument,
  WaitDocument,
} from './view/document.ts';
export {
  isNodeEvent,
  isRunEvent,
  type NodeEvent,
  nodeStatusAfter,
  type RunEvent,
  runStatusAfter,
} from './view/event-status.ts';
export { retrySteps } from './view/explain.ts';
export {
  type AttemptHistory,
  AttemptList,
  type IterationCounts,
  LoopHistory,
  type NodeHistory,
  RunHistory,
  type Span,
} from './view/history.ts';
export { RunView, type ViewFrame } from './view/run-view.ts';
export { isFinalEvent, type TimelineEvent, type TimelineEventType, timelineOf } from './view/timeline.ts';
