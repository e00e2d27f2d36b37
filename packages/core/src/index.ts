export type {
  Action,
  ActionContext,
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
  isNothing,
  isWithin,
  joinCapabilities,
  joinCeilings,
  NOTHING,
  narrow,
  narrowCeiling,
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
  compileSteps,
  type SourceCompilation,
} from './compile.ts';
export { cronProblem, isTimezone, nextCronTime } from './cron.ts';
export { type ReadResult, readDefinitionObject } from './definition/check.ts';
export { countGraphs } from './definition/graphs.ts';
export { findJsonError } from './definition/json/syntax.ts';
export type {
  ConfigDefinition,
  EdgeDefinition,
  NodeDefinition,
  NodeKind,
  TriggerDefinition,
  WorkflowDefinition,
} from './definition/model.ts';
export { readDefinition } from './definition/read.ts';
export { renderProblems } from './definition/report.ts';
export { workflowJsonSchema } from './definition/schema.ts';
export type { SourceMap } from './definition/source-map.ts';
export { MIN_INTERVAL_MS } from './definition/trigger-rules.ts';
export { readYaml } from './definition/yaml/library.ts';
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
  type Scope,
  StepBudget,
  stepCost,
  withFewPatterns,
} from './expression/index.ts';
export { buildGraph, edgesAt, nodeLevels, topologicalOrder } from './graph/index.ts';
export { Heap } from './heap.ts';
export { type ExecutionId, isLeaseId, LEASE_PREFIX, type LeaseId, type NodePath, type WorkflowId } from './ids.ts';
export { JOB_FAILED, JOB_REFERENCE, JOB_REFUSED, jobCommand } from './imports/job-action.ts';
export { type JobSummary, jobsDefinition, jobsIn } from './imports/jobs-definition.ts';
export { readJobsDocument } from './imports/jobs-document.ts';
export { DEFINITION_LIMITS, EXPRESSION_LIMITS, type ExpressionLimits, RUN_DEFAULTS, SCHEMA_LIMITS } from './limits.ts';
export { idsInOrder, writtenOrder } from './node-order.ts';
export { loadModules, provideModule } from './on-demand.ts';
export {
  type CallbackUrl,
  isImplied,
  type Plan,
  type RetryPlan,
  type RetryRule,
  type TriggerPlan,
} from './plan/plan.ts';
export { HERE, mayServe, parseRoute } from './plan/route.ts';
export { startKey, triggerInput, triggerKey } from './plan/trigger-plan.ts';
export { askedBy, pinWorkflows, type UsedWorkflow, usedWorkflows } from './plan/workflows.ts';
export { type DocumentPath, didYouMean, type Problem, type SourceRange } from './problem.ts';
export { type OpenChild, openChild, openChildren } from './run/composite/children.ts';
export { completeTurn, decide, resumeTurn, timeoutError } from './run/decide/decide.ts';
export { refuseCancel, refuseReplay, refuseSettle } from './run/decide/preconditions.ts';
export {
  type ChildResult,
  type OpenAttempt,
  type Outcome,
  type Settlement,
  type Stimulus,
  stepsBefore,
} from './run/decide/stimulus.ts';
export { type Abort, type ChildCancel, type ChildStart, newTurn, type Turn } from './run/decide/turn.ts';
export { type Attempt, backlogOf, nextReady, type ReadyNode, seal, startAttempt } from './run/dispatch/dispatch.ts';
export { blobsToDecide, blobsToStart } from './run/dispatch/prefetch.ts';
export { evolve, foldFrames } from './run/evolve/evolve.ts';
export {
  type AwaitedEvent,
  type CacheHit,
  type CacheMiss,
  type ConcurrencySlot,
  type Entry,
  type Gate,
  type Parent,
  type RunAuthority,
  type RunStarted,
  valuesIn,
} from './run/journal/entry.ts';
export { decodeSnapshot, encodeSnapshot } from './run/journal/snapshot.ts';
export { type BlobRef, exceedsBytes, inlineValue, NULL_VALUE, type StoredValue } from './run/journal/stored-value.ts';
export { ceilingOf, childAuthority, grantTo } from './run/state/authority.ts';
export type { Estimates } from './run/state/estimates.ts';
export { newRunState } from './run/state/new-state.ts';
export { recallDispatched } from './run/state/phases.ts';
export {
  actionWork,
  bodyOf,
  endingOf,
  idempotencyKey,
  isFinished,
  isFinishedPhase,
  isPaused,
  nodeAt,
  pathOf,
  runError,
  runOutput,
  slotPermit,
  startPermit,
  statusOf,
  stopReason,
} from './run/state/selectors.ts';
export { timeoutsOf } from './run/state/settings.ts';
export type { FinishedPhase, NodeState, RunState } from './run/state/state.ts';
export type { FinalRunStatus, NodeStatus, RunStatus } from './run/state/status.ts';
export { TIMEOUT_MARGIN_MS } from './run/timers/timers.ts';
export {
  concerns,
  hasEndChecks,
  isParked,
  isParkedExceptChildren,
  isQuiescent,
  openAttempts,
  PARKS_AFTER_MS,
  toVerify,
  wakeTime,
} from './run/timers/wake.ts';
export { spilledInUndoPlan, type UndoPlan, undoPlanOf } from './run/undo/undo-plan.ts';
export { gateRequestId, permitKey } from './run/waits/gates.ts';
export { isAwaitedCall } from './run/waits/waits.ts';
export { compileSchema, describePath, givenProblem, type SchemaCheck } from './schema/index.ts';
export type { Steps } from './steps.ts';
export {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonEquals,
  mapTexts,
  memberOf,
} from './value.ts';
export type { Explanation } from './view/cause.ts';
export {
  type AwaitedDocument,
  type BareNode,
  type BareRun,
  bareDocumentOf,
  documentOf,
  type GateDocument,
  type IterationsDocument,
  type NodeDocument,
  type RunDocument,
  type ScopeDocument,
  spilledInDocument,
  type WaitDocument,
} from './view/document.ts';
export { explainEnded, explainNode, explainRun } from './view/explain.ts';
export { IterationPage, type NodeHistory, RunHistory, type Span } from './view/history.ts';
export { type Holders, holderCauses } from './view/node-causes.ts';
export { RunView, type ViewFrame } from './view/run-view.ts';
export { isFinalEvent, type TimelineEvent, type TimelineEventType, timelineOf } from './view/timeline.ts';
