/** The timeline of a run: a projection of its journal, with the event names that dashboards know. */
import { type RunError, unreachable } from '../error.ts';
import type { Json } from '../value.ts';
import type { Entry } from './entry.ts';
import { workerName } from './worker-name.ts';

export type TimelineEventType =
  | 'WorkflowStarted'
  | 'WorkflowCompleted'
  | 'WorkflowFailed'
  | 'WorkflowCancelled'
  | 'WorkflowTimedOut'
  | 'WorkflowReopened'
  | 'WorkflowStopping'
  | 'NodeScheduled'
  | 'NodeStarted'
  | 'NodeCompleted'
  | 'NodeFailed'
  | 'NodeRetried'
  | 'NodeReturned'
  | 'NodeUnhandled'
  | 'NodeSkipped'
  | 'NodeCancelled'
  | 'NodeUnknown'
  | 'NodeSettled'
  | 'NodeOpened'
  | 'NodeStopping'
  | 'RoundStarted'
  | 'RoundCompleted'
  | 'RoundFailed'
  | 'RoundStopping'
  | 'RoundDelayed'
  | 'ItemsAdded'
  | 'ChildRequested'
  | 'NodeWaiting'
  | 'NodeAnswered'
  | 'SignalKept'
  | 'SignalTaken'
  | 'SignalRefused'
  | 'NodeGated'
  | 'NodeGranted'
  | 'NodeConfigured'
  | 'CompensationStarted'
  | 'WorkflowHeld'
  | 'WorkflowBegun'
  | 'WorkflowPaused'
  | 'WorkflowResumed';

export interface TimelineEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: TimelineEventType;
  /** Path of the node; null for events of the run. */
  readonly node: string | null;
  readonly details: Json;
}

/** The events of one journal entry. */
export function timelineOf(entry: Entry, at: number): TimelineEvent[] {
  const event = (type: TimelineEventType, node: string | null, details: Json = {}): TimelineEvent => ({
    at,
    type,
    node,
    details,
  });
  switch (entry.type) {
    case 'run.started':
      return [event('WorkflowStarted', null, { workflowId: entry.workflowId, version: entry.version })];
    case 'node.scheduled':
      return entry.nodes.map((node) => event('NodeScheduled', node));
    case 'node.configured':
      return [event('NodeConfigured', entry.node, { ...entry.values })];
    case 'node.started':
      return [event('NodeStarted', entry.node, { attempt: entry.attempt, worker: workerName(entry.worker) })];
    case 'node.completed':
      return [event('NodeCompleted', entry.node, entry.cached === undefined ? {} : { cached: { ...entry.cached } })];
    case 'node.retrying':
      return [event('NodeRetried', entry.node, { error: errorDetails(entry.error), until: entry.until })];
    case 'node.returned':
      return [event('NodeReturned', entry.node)];
    case 'node.failed':
      return [event('NodeFailed', entry.node, { error: errorDetails(entry.error), handling: entry.handling })];
    case 'node.unhandled':
      return [event('NodeUnhandled', entry.node, { handling: entry.handling })];
    case 'node.skipped':
      return entry.nodes.map((node) => event('NodeSkipped', node, { why: entry.why }));
    case 'node.cancelled':
      return [event('NodeCancelled', entry.node)];
    case 'node.unknown':
      return [event('NodeUnknown', entry.node, { error: errorDetails(entry.error) })];
    case 'node.settled':
      return [event('NodeSettled', entry.node, { by: entry.by, outcome: entry.outcome })];
    case 'node.opened':
      return [event('NodeOpened', entry.node, entry.count === undefined ? {} : { items: entry.count })];
    case 'node.stopping':
      return [event('NodeStopping', entry.node, { error: errorDetails(entry.error) })];
    case 'scopes.opened':
      return Array.from({ length: entry.to - entry.from }, (_, at) =>
        event('RoundStarted', `${entry.node}/${entry.from + at}`),
      );
    case 'scope.stopping':
      return [event('RoundStopping', entry.scope, entry.error === null ? {} : { error: errorDetails(entry.error) })];
    case 'scope.closed':
      return entry.error === undefined
        ? [event('RoundCompleted', entry.scope)]
        : [event('RoundFailed', entry.scope, { error: errorDetails(entry.error) })];
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
      return [
        event('NodeWaiting', entry.node, { waits: entry.waits as unknown as Json, deadline: entry.deadline ?? null }),
      ];
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
      return [event('NodeGated', entry.node, { ...entry.gate })];
    case 'node.granted':
      return [event('NodeGranted', entry.node, { until: entry.until })];
    case 'scope.compensating':
      return [event('CompensationStarted', entry.scope === '' ? null : entry.scope, { status: entry.status })];
    case 'node.compensating':
      return [event('CompensationStarted', entry.node, { error: errorDetails(entry.error) })];
    case 'run.held':
      return [event('WorkflowHeld', null, { until: entry.until, ...(entry.placed && { placed: true }) })];
    case 'run.begun':
      return [event('WorkflowBegun', null)];
    case 'run.paused':
      return [event('WorkflowPaused', null, { reason: entry.reason ?? null })];
    case 'run.resumed':
      return [event('WorkflowResumed', null)];
    case 'run.stopping':
      return [event('WorkflowStopping', null, { status: entry.status })];
    case 'run.finished':
      return [event(FINISH_EVENTS[entry.status], null, entry.error ? { error: errorDetails(entry.error) } : {})];
    case 'run.reopened':
      return [event('WorkflowReopened', null, { nodes: entry.nodes })];
    default:
      return unreachable(entry);
  }
}

const FINISH_EVENTS = {
  completed: 'WorkflowCompleted',
  failed: 'WorkflowFailed',
  cancelled: 'WorkflowCancelled',
  'timed-out': 'WorkflowTimedOut',
} as const satisfies Record<string, TimelineEventType>;

function errorDetails({ code, kind, message, node, details }: RunError): Json {
  return {
    code,
    kind,
    message,
    ...(node === undefined ? {} : { node }),
    ...(details === undefined ? {} : { details }),
  };
}
