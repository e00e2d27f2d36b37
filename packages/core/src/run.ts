/**
 * Runs: their state, the turns that decide on them, the fold of their journals, and what is shown of a state. For the
 * engine and the test kit; apps, drivers and authors use `index.ts`.
 */
export { narrowCeiling } from './capability/narrow.ts';
export { isLeaseId, LEASE_PREFIX, type LeaseId } from './ids.ts';
export { HERE } from './plan/route.ts';
export { startKey } from './plan/trigger-plan.ts';
export type { DivergenceKind } from './rehearsal/differences.ts';
export { type Divergence, type ReplayResult, replaySteps, withoutIterations } from './rehearsal/replay-journal.ts';
export { type OpenChild, openChild, openChildren } from './run/composite/children.ts';
export { completeTurn, decide, resumeTurn, timeoutError } from './run/decide/decide.ts';
export { refuseCancel, refuseReplay, refuseSettle } from './run/decide/preconditions.ts';
export { hasPayload, stepsBefore } from './run/decide/prepare.ts';
export { type ReopenPreview, reopenPreview } from './run/decide/reopen.ts';
export type { ChildResult, OpenAttempt, Outcome, Settlement, Stimulus } from './run/decide/stimulus.ts';
export { type Abort, type ChildCancel, type ChildStart, newTurn, type Turn } from './run/decide/turn.ts';
export { type Attempt, backlogOf, nextReady, seal, startAttempt } from './run/dispatch/dispatch.ts';
export { blobsToDecide, blobsToStart } from './run/dispatch/prefetch.ts';
export { countFrame, foldFrames } from './run/evolve/evolve.ts';
export { isTaken } from './run/joins/joins.ts';
export {
  type CacheHit,
  type CacheMiss,
  type Gate,
  type Parent,
  type RunAuthority,
  type RunStarted,
  valuesIn,
} from './run/journal/entry.ts';
export { decodeSnapshot, encodeSnapshot, snapshotVersion } from './run/journal/snapshot.ts';
export { type BlobRef, exceedsBytes, inlineValue, NULL_VALUE, type StoredValue } from './run/journal/stored-value.ts';
export { isMovable } from './run/migrate/migrate.ts';
export {
  checkMigration,
  type Migration,
  type MigrationChange,
  type MigrationDecision,
  type MigrationDecisions,
} from './run/migrate/migration.ts';
export { childAuthority, grantTo } from './run/state/authority.ts';
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
export type { FinishedPhase, NodeState, PlanOf, RunState } from './run/state/state.ts';
export { delayedNodes, totalLeftMs } from './run/timers/timers.ts';
export {
  concerns,
  hasEndChecks,
  isParked,
  isParkedExceptChildren,
  isQuiescent,
  openAttempts,
  toVerify,
  wakeTime,
} from './run/timers/wake.ts';
export { spilledInUndoPlan, undoPlanOf } from './run/undo/undo-plan.ts';
export { gateRequestId, permitKey } from './run/waits/gates.ts';
export { isAwaitedCall } from './run/waits/waits.ts';
export type { Steps } from './steps.ts';
export type { Explanation } from './view/cause.ts';
export {
  bareDocumentOf,
  type DocumentPart,
  documentOf,
  nodeDocument,
  spilledInDocument,
  spilledInNode,
} from './view/document.ts';
export { explainEnded, explainNode, explainRun } from './view/explain.ts';
export { type Holders, holderCauses } from './view/node-causes.ts';
