/** Describes the details of an event; shared by all views. */
import { SKIP_WORDS, type TimelineEvent } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { gateText, waitingText } from './wait-words.ts';
import { momentText, plural } from './words.ts';

/** Returns an empty text for an event without details. */
export function eventWords({ type, details, at }: TimelineEvent): string {
  switch (type) {
    case 'NodeOpened':
      return details.items === undefined ? '' : plural(details.items, 'item');
    case 'ItemsAdded':
      return `${plural(details.items, 'item')} added`;
    case 'RoundDelayed':
      return `next iteration at ${momentText(details.until, at)}`;
    case 'ChildRequested': {
      const { workflowId, plan, executionId } = details;
      const what = plan === undefined ? `workflow ${printableLine(workflowId ?? '')}` : `plan ${printableLine(plan)}`;
      return `${what} as ${executionId}`;
    }
    case 'NodeWaiting':
      return `waits ${waitingText({ events: details.waits, deadline: details.deadline }, at)}`;
    case 'NodeAnswered': {
      const comment = details.comment === null ? '' : `: ${printableLine(details.comment)}`;
      return `${details.approved ? 'approved' : 'rejected'} by ${printableLine(details.by)}${comment}`;
    }
    case 'NodeGated':
      return `waits ${gateText(details)}`;
    case 'NodeConfigured':
      return Object.entries(details)
        .map(([key, value]) => `${key} is ${String(value)}`)
        .join(', ');
    case 'NodeGranted':
      return `may begin at ${momentText(details.until, at)}`;
    case 'NodeCompleted': {
      const { cached } = details;
      return cached === undefined ? '' : `from the cache: ${printableLine(cached.node)} of ${cached.executionId}`;
    }
    case 'NodeSkipped':
      return SKIP_WORDS[details.why];
    case 'SignalKept':
      return `${signalWords(details)} arrived early and is buffered`;
    case 'SignalTaken':
      return `buffered ${signalWords(details)} is taken`;
    case 'SignalRefused':
      return `${printableLine(details.event)} does not fit, so the wait continues: ${printableLine(details.problem)}`;
    case 'CompensationStarted':
      return `completed nodes are undone, last first; then it ${'status' in details ? `ends as ${details.status}` : 'begins again'}`;
    case 'CompensationCompleted': {
      const { undone, left } = details;
      return `compensation ended: ${plural(undone, 'step')} undone${left === 0 ? '' : `, ${left} not`}`;
    }
    case 'StateCheckpointed':
      return `frame ${details.seq}`;
    case 'WorkflowStarted':
      return details.place === undefined
        ? ''
        : `waits for a concurrency slot: ${details.place.limit} at once of ${details.place.key}`;
    case 'WorkflowHeld':
      return `begins at ${momentText(details.until, at)}`;
    case 'WorkflowPaused':
      return printableLine(details.reason ?? '');
    case 'WorkflowStopping':
      return details.status;
    case 'WorkflowReopened':
      return `from ${details.nodes.join(', ')}`;
    case 'WorkflowBegun':
    case 'WorkflowResumed':
    case 'WorkflowCompleted':
    case 'WorkflowFailed':
    case 'WorkflowCancelled':
    case 'WorkflowTimedOut':
    case 'NodeScheduled':
    case 'NodeStarted':
    case 'NodeFailed':
    case 'NodeUnhandled':
    case 'NodeRetried':
    case 'NodeReturned':
    case 'NodeCancelled':
    case 'NodeUnknown':
    case 'NodeSettled':
    case 'NodeStopping':
    case 'RoundStarted':
    case 'RoundCompleted':
    case 'RoundFailed':
    case 'RoundStopping':
      return '';
  }
}

/** The error of an event, as one line. */
export function errorWords({ details }: TimelineEvent): string {
  const error = 'error' in details ? details.error : undefined;
  if (error === undefined || typeof error !== 'object') return '';
  return `${error.code}: ${printableLine(error.message)}`;
}

function signalWords({ signal, key }: { readonly signal: string; readonly key: string }): string {
  return `signal ${printableLine(signal)}${key === '' ? '' : ` (key ${printableLine(key)})`}`;
}
