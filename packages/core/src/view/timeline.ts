/**
 * The timeline of a run: a projection of its journal, with the event names that dashboards know. Each event follows from
 * one entry alone, so any part of a journal can be projected without the rest.
 */
import type { RunError } from '../error.ts';
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

/** The details of each type of event, besides its time and node. Moments are milliseconds since the epoch. */
export interface TimelineDetails {
  /** `place`: the run is pending until it is granted a concurrency slot. */
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
  /** `back`: the last migration was taken back. */
  readonly WorkflowMigrated: {
    readonly version: number;
    readonly nodes: readonly string[];
    readonly decisions?: Readonly<Record<string, 'keep' | 'again' | 'drop'>>;
    readonly back?: true;
  };
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
  /** `status`: how the run, or the scope in `node`, ends afterwards. `error`: the node is retried afterwards. */
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
  const event: NewEvent = (type, node, details) => ({ at, type, node, details }) as TimelineEvent;
  // The table has the events of each type of entry.
  const eventsOf = EVENTS[entry.type] as (one: Entry, create: NewEvent) => TimelineEvent | TimelineEvent[];
  const events = eventsOf(entry, event);
  return Array.isArray(events) ? events : [events];
}

type NewEvent = <T extends TimelineEventType>(
  type: T,
  node: string | null,
  details: TimelineDetails[T],
) => TimelineEvent;

type EventsOf<T> = (entry: Extract<Entry, { type: T }>, event: NewEvent) => TimelineEvent | TimelineEvent[];

const EVENTS: { readonly [T in Entry['type']]: EventsOf<T> } = {
  'run.started': ({ workflowId, version, place }, event) => {
    const waits = place !== undefined && place.policy !== 'skip' && { place: { key: place.key, limit: place.limit } };
    return event('WorkflowStarted', null, { workflowId, version, ...waits });
  },
  'node.scheduled': ({ nodes }, event) => nodes.map((node) => event('NodeScheduled', node, {})),
  'node.configured': ({ node, values }, event) => event('NodeConfigured', node, values),
  'node.started': ({ node, attempt, worker }, event) =>
    event('NodeStarted', node, { attempt, worker: workerName(worker) }),
  'node.completed': ({ node, cached }, event) => event('NodeCompleted', node, cached === undefined ? {} : { cached }),
  'node.retrying': ({ node, error, until }, event) => event('NodeRetried', node, { error, until }),
  'node.returned': ({ node }, event) => event('NodeReturned', node, {}),
  'node.failed': ({ node, error, handling }, event) => event('NodeFailed', node, { error, handling }),
  'node.unhandled': ({ node, handling }, event) => event('NodeUnhandled', node, { handling }),
  'node.skipped': ({ nodes, why }, event) => nodes.map((node) => event('NodeSkipped', node, { why })),
  'node.cancelled': ({ node }, event) => event('NodeCancelled', node, {}),
  'node.unknown': ({ node, error }, event) => event('NodeUnknown', node, { error }),
  'node.settled': ({ node, by, outcome }, event) => event('NodeSettled', node, { by, outcome }),
  'node.opened': ({ node, count }, event) => event('NodeOpened', node, count === undefined ? {} : { items: count }),
  'node.stopping': ({ node, error }, event) => event('NodeStopping', node, { error }),
  'scopes.opened': ({ node, from, to }, event) =>
    Array.from({ length: to - from }, (_, round) => event('RoundStarted', `${node}/${from + round}`, {})),
  'scope.stopping': ({ scope, error }, event) => event('RoundStopping', scope, error === null ? {} : { error }),
  'scope.closed': ({ scope, error }, event) =>
    error === undefined ? event('RoundCompleted', scope, {}) : event('RoundFailed', scope, { error }),
  'items.added': ({ node, count }, event) => event('ItemsAdded', node, { items: count }),
  'round.delayed': ({ node, until }, event) => event('RoundDelayed', node, { until }),
  'child.requested': ({ node, executionId, workflowId = null, launchPlan, attempt }, event) => {
    const plan = launchPlan !== undefined && { plan: launchPlan };
    return event('ChildRequested', node, { executionId, workflowId, ...plan, attempt });
  },
  'node.waiting': ({ node, waits, deadline = null }, event) => event('NodeWaiting', node, { waits, deadline }),
  'node.answered': ({ node, approved, by, comment = null }, event) =>
    event('NodeAnswered', node, { approved, by, comment }),
  'signal.kept': ({ signal, key }, event) => event('SignalKept', null, { signal, key }),
  'signal.taken': ({ signal, key }, event) => event('SignalTaken', null, { signal, key }),
  'signal.refused': ({ node, event: name, problem }, event) => event('SignalRefused', node, { event: name, problem }),
  'node.gated': ({ node, gate }, event) => event('NodeGated', node, gate),
  'node.granted': ({ node, until }, event) => event('NodeGranted', node, { until }),
  'scope.compensating': ({ scope, status }, event) => event('CompensationStarted', nodeOf(scope), { status }),
  'scope.compensated': ({ scope, undone, left }, event) =>
    event('CompensationCompleted', nodeOf(scope), { undone, left }),
  'node.compensating': ({ node, error }, event) => event('CompensationStarted', node, { error }),
  'run.held': ({ until, placed }, event) =>
    event('WorkflowHeld', null, { until, ...(placed === true && { placed: true }) }),
  'run.begun': (_, event) => event('WorkflowBegun', null, {}),
  'run.paused': ({ reason = null }, event) => event('WorkflowPaused', null, { reason }),
  'run.resumed': (_, event) => event('WorkflowResumed', null, {}),
  'run.stopping': ({ status }, event) => event('WorkflowStopping', null, { status }),
  'run.finished': ({ status, error }, event) =>
    event(FINISH_EVENTS[status], null, error === undefined ? {} : { error }),
  'run.reopened': ({ nodes }, event) => event('WorkflowReopened', null, { nodes }),
  'run.migrated': ({ version, nodes = [], decisions, back }, event) =>
    event('WorkflowMigrated', null, { version, nodes, ...(decisions && { decisions }), ...(back && { back }) }),
  'run.checkpointed': ({ seq }, event) => event('StateCheckpointed', null, { seq }),
};

/** The run itself is the scope ''. */
function nodeOf(scope: string): string | null {
  return scope === '' ? null : scope;
}

const FINISH_EVENTS = {
  completed: 'WorkflowCompleted',
  failed: 'WorkflowFailed',
  cancelled: 'WorkflowCancelled',
  'timed-out': 'WorkflowTimedOut',
} as const satisfies Record<FinalRunStatus, TimelineEventType>;

/** Returns whether the event ends a run. */
export function isFinalEvent({ type }: TimelineEvent): boolean {
  return Object.values<TimelineEventType>(FINISH_EVENTS).includes(type);
}
