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
export { grantLine } from './capability/grant-line.ts';
export {
  CAPABILITY_LISTS,
  type Ceiling,
  entriesOf,
  isNothing,
  isWithin,
  joinCapabilities,
  joinCeilings,
  NOTHING,
  narrow,
  narrowCeiling,
  type OverCeiling,
  overCeiling,
  patternsOf,
} from './capability/narrow.ts';
export type { CapabilityList } from './capability/pattern.ts';
export { matchesName, matchesSegments, matchesSequence } from './capability/wildcard.ts';
export { type ActionDescription, announcedAction, createCatalog, type OpenCatalog } from './catalog.ts';
export { type Compilation, type CompileOptions, compilePlan, compileSteps } from './compile.ts';
export { compileRead, compileSource, type SourceCompilation } from './compile-source.ts';
export { cronProblem, isTimezone, nextCronTime } from './cron.ts';
export {
  type ConfigDefinition,
  countGraphs,
  type EdgeDefinition,
  findJsonError,
  MIN_INTERVAL_MS,
  type NodeDefinition,
  type NodeKind,
  type ReadOptions,
  type ReadResult,
  type RetryDefinition,
  readDefinition,
  readDefinitionObject,
  renderProblems,
  type SourceMap,
  type TriggerDefinition,
  type WebhookDefinition,
  type WorkflowDefinition,
  workflowJsonSchema,
} from './definition/index.ts';
export { formatDuration, formatSize, parseDuration, parseSize, type TextProblem } from './duration.ts';
export { assert, type ErrorKind, NebulaError, type NebulaErrorOptions, type RunError, unreachable } from './error.ts';
export {
  compileCondition,
  compileValue,
  createBudget,
  ExpressionError,
  type FunctionListing,
  listFunctions,
  type NodeView,
  parseExpression,
  type Scope,
} from './expression/index.ts';
export {
  buildGraph,
  edgesAt,
  type Graph,
  nodeLevels,
  topologicalOrder,
} from './graph/index.ts';
export { Heap } from './heap.ts';
export {
  JOB_ACTION,
  JOB_FAILED,
  JOB_REFERENCE,
  JOB_REFUSED,
  type JobSummary,
  jobCommand,
  jobsDefinition,
  jobsIn,
  readJobsDocument,
} from './imports/index.ts';
export { DEFINITION_LIMITS, EXPRESSION_LIMITS, type ExpressionLimits, RUN_DEFAULTS, SCHEMA_LIMITS } from './limits.ts';
export { isMoment, MOMENT_LIMITS, momentIn } from './moment.ts';
export { idsInOrder, writtenOrder } from './node-order.ts';
export { provideModule } from './on-demand.ts';
export {
  type CallbackUrl,
  isImplied,
  type Plan,
  type RetryPlan,
  type RetryRule,
  type TriggerPlan,
} from './plan/plan.ts';
export { HERE, mayServe, parseRoute, type Route } from './plan/route.ts';
export { triggerInput, triggerKey } from './plan/trigger-plan.ts';
export { askedBy, pinWorkflows, type UsedWorkflow, usedWorkflows } from './plan/workflows.ts';
export { type DocumentPath, didYouMean, type Problem, type SourceRange } from './problem.ts';
export { decideRetry } from './retry/retry.ts';
export { actionWork } from './run/action-work.ts';
export { ceilingOf, childAuthority, grantTo } from './run/authority.ts';
export { type OpenChild, openChild, openChildren } from './run/children.ts';
export { decide, goOnWith, isOpen, timeoutError } from './run/decide.ts';
export { type Attempt, backlogOf, nextReady, type ReadyNode, seal, take } from './run/dispatch.ts';
export {
  type Awaited,
  type CacheHit,
  type CacheMiss,
  type Entry,
  type Gate,
  type Parent,
  type RunAuthority,
  type RunPlace,
  type RunStarted,
  valuesIn,
} from './run/entry.ts';
export type { Estimates } from './run/estimates.ts';
export { evolve, replay } from './run/evolve.ts';
export { askOf, permitKey } from './run/gates.ts';
export { type BlobRef, type Held, hold, outweighs, spill } from './run/held.ts';
export { blobsToDecide, blobsToStart } from './run/needs.ts';
export { newRunState } from './run/new-state.ts';
export { recallDispatched } from './run/phases.ts';
export { refuseCancel, refuseReplay, refuseSettle } from './run/refusals.ts';
export { stepsBefore } from './run/returned.ts';
export { timeoutsOf } from './run/settings.ts';
export { decodeSnapshot, encodeSnapshot } from './run/snapshot.ts';
export {
  idempotencyKey,
  isFinished,
  isStopped,
  nodeAt,
  pathOf,
  placePermit,
  startPermit,
  statusOf,
  stopReason,
} from './run/standing.ts';
export { startKey } from './run/start-key.ts';
export type { NodeState, RunState } from './run/state.ts';
export type { FinalRunStatus, NodeStatus, RunStatus } from './run/status.ts';
export type { ChildResult, OpenAttempt, Outcome, Settlement, Stimulus } from './run/stimulus.ts';
export { TIMEOUT_MARGIN_MS } from './run/timers.ts';
export { type Abort, type ChildCancel, type ChildStart, newTurn, type Turn } from './run/turn.ts';
export { spilledInUndoPlan, type UndoPlan, type UndoStep, undoPlanOf } from './run/undo-plan.ts';
export { isAwaitedCall } from './run/waits.ts';
export {
  concerns,
  hasLeftOver,
  isParked,
  isResting,
  isStanding,
  openAttempts,
  PARKS_AFTER_MS,
  toVerify,
  wakeTime,
} from './run/wake.ts';
export { compileSchema, describePath, type SchemaCheck, type SchemaProblem } from './schema/index.ts';
export { allSteps, type Steps } from './steps.ts';
export {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonEquals,
  memberOf,
  nestsDeeper,
} from './value.ts';
export type { Cause, EdgeCause, Explanation } from './view/cause.ts';
export {
  type AwaitedDocument,
  type BareNode,
  type BareRun,
  bareDocumentOf,
  documentOf,
  type GateDocument,
  type NodeDocument,
  type RoundsDocument,
  type RunDocument,
  type ScopeDocument,
  spilledInDocument,
  type WaitDocument,
} from './view/document.ts';
export { explainEnded, explainNode, explainRun } from './view/explain.ts';
export { type NodeHistory, type RoundHistory, RunHistory, type Span } from './view/history.ts';
export { type Holders, holderCauses } from './view/node-causes.ts';
export { RunView, type ViewFrame } from './view/run-view.ts';
export {
  isFinalEvent,
  type TimelineDetails,
  type TimelineEvent,
  type TimelineEventType,
  timelineOf,
} from './view/timeline.ts';
