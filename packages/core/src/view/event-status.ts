/** The status of a node, and that of a run, after each event about it. */
import type { NodeStatus, RunStatus } from '../run/state/status.ts';
import type { TimelineEvent, TimelineEventType } from './timeline.ts';

const NODE_STATUS = {
  NodeConfigured: 'pending',
  NodeScheduled: 'queued',
  NodeReturned: 'queued',
  NodeGated: 'waiting',
  NodeGranted: 'waiting',
  NodeStarted: 'running',
  NodeOpened: 'running',
  NodeStopping: 'running',
  ItemsAdded: 'running',
  RoundDelayed: 'running',
  ChildRequested: 'running',
  CompensationStarted: 'running',
  CompensationCompleted: 'running',
  NodeWaiting: 'waiting',
  NodeAnswered: 'waiting',
  SignalRefused: 'waiting',
  NodeRetried: 'waiting',
  NodeCompleted: 'completed',
  NodeFailed: 'failed',
  NodeUnhandled: 'failed',
  NodeSkipped: 'skipped',
  NodeCancelled: 'cancelled',
  NodeUnknown: 'unknown',
  NodeSettled: 'unknown',
} as const satisfies Partial<Record<TimelineEventType, NodeStatus>>;

const RUN_STATUS = {
  WorkflowStarted: 'running',
  WorkflowHeld: 'pending',
  WorkflowBegun: 'running',
  WorkflowReopened: 'running',
  WorkflowPaused: 'paused',
  WorkflowResumed: 'running',
  WorkflowStopping: 'running',
  SignalKept: 'running',
  SignalTaken: 'running',
  CompensationStarted: 'compensating',
  CompensationCompleted: 'compensating',
  WorkflowCompleted: 'completed',
  WorkflowFailed: 'failed',
  WorkflowCancelled: 'cancelled',
  WorkflowTimedOut: 'timed-out',
} as const satisfies Partial<Record<TimelineEventType, RunStatus>>;

/** An event after which the status of its node is known. */
export type NodeEvent = Extract<TimelineEvent, { type: keyof typeof NODE_STATUS }> & { readonly node: string };
export type RunEvent = Extract<TimelineEvent, { type: keyof typeof RUN_STATUS }>;

export function isNodeEvent(event: TimelineEvent): event is NodeEvent {
  return event.node !== null && Object.hasOwn(NODE_STATUS, event.type);
}

export function isRunEvent(event: TimelineEvent): event is RunEvent {
  return event.node === null && Object.hasOwn(RUN_STATUS, event.type);
}

export function nodeStatusAfter({ type }: NodeEvent): NodeStatus {
  return NODE_STATUS[type];
}

export function runStatusAfter(event: RunEvent): RunStatus {
  const waitsForSlot = event.type === 'WorkflowStarted' && event.details.place !== undefined;
  return waitsForSlot ? 'pending' : RUN_STATUS[event.type];
}
