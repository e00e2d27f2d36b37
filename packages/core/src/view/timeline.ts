/**
 * The timeline of a run: a projection of its journal, with the event names that dashboards know. Each event follows from
 * one entry alone, so any part of a journal can be projected without the rest.
 */
import { type RunError, unreachable } from '../error.ts';
import type { SettingValues } from '../plan/plan.ts';
import type {
  AwaitedEvent,
  CacheHit,
  Entry,
  FailureHandling,
  Gate,
  NodeSettled,
  SkipReason,
} from '../run/journal/entry.ts';
import { workerName } from '../run/state/selectors.ts';
import type { FinalRunStatus } from '../run/state/status.ts';

/** What each type of event carries besides its time and its node. Moments are milliseconds since the epoch. */
export interface TimelineDetails {
  /** `place`: the run is pending until it is granted one of so many places. */
  readonly WorkflowStarted: {
    readonly workflowId: string;
    readonly version: number;
    readonly place?: { readonly key: string; readonly limit: number };
  };
  readonly WorkflowHeld: { readonly until: number; readonly placed?: true };
  readonly WorkflowBegun: Nothing;
  readonly WorkflowPaused: { readonly reason: string | null };
  readonly WorkflowResumed: Nothing;
  readonly WorkflowStopping: { readonly status: FinalRunStatus };
  readonly WorkflowCompleted: MaybeError;
  readonly WorkflowFailed: MaybeError;
  readonly WorkflowCancelled: MaybeError;
  readonly WorkflowTimedOut: MaybeError;
  readonly WorkflowReopened: { readonly nodes: readonly string[] };
  readonly StateCheckpointed: { readonly seq: number };
  readonly NodeScheduled: Nothing;
  readonly NodeConfigured: SettingValues;
  readonly NodeGated: Gate;
  readonly NodeGranted: { readonly until: number };
  readonly NodeStarted: { readonly attempt: number; readonly worker: string };
  readonly NodeCompleted: { readonly cached?: CacheHit };
  readonly NodeFailed: { readonly error: RunError; readonly handling: FailureHandling };
  readonly NodeRetried: { readonly error: RunError; readonly until: number };
  readonly NodeReturned: Nothing;
  readonly NodeUnhandled: { readonly handling: FailureHandling };
  readonly NodeSkipped: { readonly why: SkipReason };
  readonly NodeCancelled: Nothing;
  readonly NodeUnknown: { readonly error: RunError };
  readonly NodeSettled: Pick<NodeSettled, 'by' | 'outcome'>;
  readonly NodeOpened: { readonly items?: number };
  readonly NodeStopping: { readonly error: RunError };
  readonly NodeWaiting: { readonly waits: readonly AwaitedEvent[]; readonly deadline: number | null };
  readonly NodeAnswered: { readonly approved: boolean; readonly by: string; readonly comment: string | null };
  /** `node` of the events of an iteration is the path of its scope: `items/3`. */
  readonly RoundStarted: Nothing;
  readonly RoundCompleted: Nothing;
  readonly RoundFailed: { readonly error: RunError };
  readonly RoundStopping: MaybeError;
  readonly RoundDelayed: { readonly until: number };
  readonly ItemsAdded: { readonly items: number };
  readonly ChildRequested: {
    readonly executionId: string;
    readonly workflowId: string | null;
    readonly plan?: string;
    readonly attempt: number;
  };
  readonly SignalKept: { readonly signal: string; readonly key: string };
  readonly SignalTaken: { readonly signal: string; readonly key: string };
  readonly SignalRefused: { readonly event: string; readonly problem: string };
  /** `status`: the run, or the scope in `node`, ends like this afterwards. `error`: the node begins again afterwards. */
  readonly CompensationStarted: { readonly status: FinalRunStatus } | { readonly error: RunError };
  readonly CompensationCompleted: { readonly undone: number; readonly left: number };
}

type Nothing = Readonly<Record<string, never>>;

interface MaybeError {
  readonly error?: RunError;
}

export type TimelineEventType = keyof TimelineDetails;

type EventOf<T extends TimelineEventType> = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: T;
  /** Path of the node; null for events of the run. */
  readonly node: string | null;
  readonly details: TimelineDetails[T];
};

export type TimelineEvent = { readonly [T in TimelineEventType]: EventOf<T> }[TimelineEventType];

export function timelineOf(entry: Entry, at: number): TimelineEvent[] {
  const event = <T extends TimelineEventType>(type: T, node: string | null, details: TimelineDetails[T]) =>
    ({ at, type, node, details }) as TimelineEvent;
  switch (entry.type) {
    case 'run.started': {
      const { workflowId, version, place } = entry;
      const waits = place !== undefined && place.policy !== 'skip' && { place: { key: place.key, limit: place.limit } };
      return [event('WorkflowStarted', null, { workflowId, version, ...waits })];
    }
    case 'node.scheduled':
      return entry.nodes.map((node) => event('NodeScheduled', node, {}));
    case 'node.configured':
      return [event('NodeConfigured', entry.node, entry.values)];
    case 'node.started':
      return [event('NodeStarted', entry.node, { attempt: entry.attempt, worker: workerName(entry.worker) })];
    case 'node.completed':
      return [event('NodeCompleted', entry.node, entry.cached === undefined ? {} : { cached: entry.cached })];
    case 'node.retrying':
      return [event('NodeRetried', entry.node, { error: entry.error, until: entry.until })];
    case 'node.returned':
      return [event('NodeReturned', entry.node, {})];
    case 'node.failed':
      return [event('NodeFailed', entry.node, { error: entry.error, handling: entry.handling })];
    case 'node.unhandled':
      return [event('NodeUnhandled', entry.node, { handling: entry.handling })];
    case 'node.skipped':
      return entry.nodes.map((node) => event('NodeSkipped', node, { why: entry.why }));
    case 'node.cancelled':
      return [event('NodeCancelled', entry.node, {})];
    case 'node.unknown':
      return [event('NodeUnknown', entry.node, { error: entry.error })];
    case 'node.settled':
      return [event('NodeSettled', entry.node, { by: entry.by, outcome: entry.outcome })];
    case 'node.opened':
      return [event('NodeOpened', entry.node, entry.count === undefined ? {} : { items: entry.count })];
    case 'node.stopping':
      return [event('NodeStopping', entry.node, { error: entry.error })];
    case 'scopes.opened':
      return Array.from({ length: entry.to - entry.from }, (_, round) =>
        event('RoundStarted', `${entry.node}/${entry.from + round}`, {}),
      );
    case 'scope.stopping':
      return [event('RoundStopping', entry.scope, entry.error === null ? {} : { error: entry.error })];
    case 'scope.closed':
      return entry.error === undefined
        ? [event('RoundCompleted', entry.scope, {})]
        : [event('RoundFailed', entry.scope, { error: entry.error })];
    case 'items.added':
      return [event('ItemsAdded', entry.node, { items: entry.count })];
    case 'round.delayed':
      return [event('RoundDelayed', entry.node, { until: entry.until })];
    case 'child.requested': {
      const { executionId, workflowId = null, launchPlan, attempt } = entry;
      const plan = launchPlan !== undefined && { plan: launchPlan };
      return [event('ChildRequested', entry.node, { executionId, workflowId, ...plan, attempt })];
    }
    case 'node.waiting':
      return [event('NodeWaiting', entry.node, { waits: entry.waits, deadline: entry.deadline ?? null })];
    case 'node.answered': {
      const { approved, by, comment = null } = entry;
      return [event('NodeAnswered', entry.node, { approved, by, comment })];
    }
    case 'signal.kept':
      return [event('SignalKept', null, { signal: entry.signal, key: entry.key })];
    case 'signal.taken':
      return [event('SignalTaken', null, { signal: entry.signal, key: entry.key })];
    case 'signal.refused':
      return [event('SignalRefused', entry.node, { event: entry.event, problem: entry.problem })];
    case 'node.gated':
      return [event('NodeGated', entry.node, entry.gate)];
    case 'node.granted':
      return [event('NodeGranted', entry.node, { until: entry.until })];
    case 'scope.compensating':
      return [event('CompensationStarted', entry.scope === '' ? null : entry.scope, { status: entry.status })];
    case 'scope.compensated': {
      const { scope, undone, left } = entry;
      return [event('CompensationCompleted', scope === '' ? null : scope, { undone, left })];
    }
    case 'node.compensating':
      return [event('CompensationStarted', entry.node, { error: entry.error })];
    case 'run.held':
      return [event('WorkflowHeld', null, { until: entry.until, ...(entry.placed === true && { placed: true }) })];
    case 'run.begun':
      return [event('WorkflowBegun', null, {})];
    case 'run.paused':
      return [event('WorkflowPaused', null, { reason: entry.reason ?? null })];
    case 'run.resumed':
      return [event('WorkflowResumed', null, {})];
    case 'run.stopping':
      return [event('WorkflowStopping', null, { status: entry.status })];
    case 'run.finished':
      return [event(FINISH_EVENTS[entry.status], null, entry.error === undefined ? {} : { error: entry.error })];
    case 'run.reopened':
      return [event('WorkflowReopened', null, { nodes: entry.nodes })];
    case 'run.checkpointed':
      return [event('StateCheckpointed', null, { seq: entry.seq })];
    default:
      return unreachable(entry);
  }
}

const FINISH_EVENTS = {
  completed: 'WorkflowCompleted',
  failed: 'WorkflowFailed',
  cancelled: 'WorkflowCancelled',
  'timed-out': 'WorkflowTimedOut',
} as const satisfies Record<FinalRunStatus, TimelineEventType>;

/** The run has ended with this event. */
export function isFinalEvent({ type }: TimelineEvent): boolean {
  return Object.values<TimelineEventType>(FINISH_EVENTS).includes(type);
}
