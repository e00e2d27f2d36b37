/** The timeline of a run: a projection of its journal, with the event names that dashboards know. */
import { type RunError, unreachable } from '../error.ts';
import type { Json } from '../value.ts';
import type { Entry } from './entry.ts';

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
  | 'NodeSkipped'
  | 'NodeCancelled'
  | 'NodeUnknown'
  | 'NodeSettled';

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
    case 'node.started':
      return [event('NodeStarted', entry.node, { attempt: entry.attempt, worker: entry.worker })];
    case 'node.completed':
      return [event('NodeCompleted', entry.node)];
    case 'node.retrying':
      return [event('NodeRetried', entry.node, { error: errorDetails(entry.error), until: entry.until })];
    case 'node.returned':
      return [event('NodeReturned', entry.node)];
    case 'node.failed':
      return [event('NodeFailed', entry.node, { error: errorDetails(entry.error), handling: entry.handling })];
    case 'node.skipped':
      return entry.nodes.map((node) => event('NodeSkipped', node, { why: entry.why }));
    case 'node.cancelled':
      return [event('NodeCancelled', entry.node)];
    case 'node.unknown':
      return [event('NodeUnknown', entry.node, { error: errorDetails(entry.error) })];
    case 'node.settled':
      return [event('NodeSettled', entry.node, { by: entry.by, outcome: entry.outcome })];
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
