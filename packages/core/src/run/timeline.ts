/** The timeline of a run: a projection of its journal, with the event names that dashboards know. */
import type { Json } from '../value.ts';

export type TimelineEventType =
  | 'WorkflowStarted'
  | 'WorkflowCompleted'
  | 'WorkflowFailed'
  | 'WorkflowCancelled'
  | 'WorkflowTimedOut'
  | 'WorkflowReopened'
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
