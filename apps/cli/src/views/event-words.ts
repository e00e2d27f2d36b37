/** What an event says besides its name and its node, in plain words; the same in every view. */
import { isJsonObject, type Json, type TimelineEvent } from '@nebula/core';
import { errorOf, numberOf, textOf } from '../live/event-details.ts';
import { printableLine } from '../terminal/width.ts';
import { gateOf, gateText } from './gate-words.ts';
import { waitingOf, waitingText } from './wait-words.ts';
import { momentText, plural } from './words.ts';

/** Empty when there is nothing to say. */
export function eventWords(event: TimelineEvent): string {
  const { details } = event;
  switch (event.type) {
    case 'NodeOpened': {
      const items = numberOf(details, 'items');
      return items === null ? '' : plural(items, 'item');
    }
    case 'ItemsAdded':
      return `${plural(numberOf(details, 'items') ?? 0, 'item')} added`;
    case 'RoundDelayed':
      return `next round at ${momentText(numberOf(details, 'until') ?? event.at, event.at)}`;
    case 'ChildRequested':
      return `workflow ${word(details, 'workflowId')} as ${word(details, 'executionId')}`;
    case 'NodeWaiting':
      return `waits ${waitingText(waitingOf(details), event.at)}`;
    case 'NodeAnswered':
      return answerWords(details);
    case 'NodeGated':
      return gateWords(details);
    case 'NodeConfigured':
      return Object.entries(isJsonObject(details) ? details : {})
        .map(([key, value]) => `${key} is ${String(value)}`)
        .join(', ');
    case 'NodeGranted':
      return `may begin at ${momentText(numberOf(details, 'until') ?? event.at, event.at)}`;
    case 'NodeCompleted':
      return isJsonObject(details) && isJsonObject(details.cached)
        ? `from the cache: ${cachedFrom(details.cached)}`
        : '';
    case 'SignalKept':
      return `${signalWords(details)} came before anybody waited for it, and is kept`;
    case 'SignalTaken':
      return `${signalWords(details)}, which was kept, is taken up`;
    case 'SignalRefused':
      return `${word(details, 'event')} does not fit, so the wait goes on: ${word(details, 'problem')}`;
    case 'CompensationStarted':
      return `what was done is undone, last first; then it ends as ${word(details, 'status')}`;
    case 'WorkflowPaused':
    case 'WorkflowStopping':
      return word(details, event.type === 'WorkflowPaused' ? 'reason' : 'status');
    case 'WorkflowReopened':
      return isJsonObject(details) && Array.isArray(details.nodes)
        ? `from ${details.nodes.map(String).join(', ')}`
        : '';
    default:
      return '';
  }
}

/** The error of an event, as one line. */
export function errorWords(event: TimelineEvent): string {
  const error = errorOf(event.details);
  return error === null ? '' : `${error.code}: ${printableLine(error.message)}`;
}

function word(details: Json, key: string): string {
  return printableLine(textOf(details, key) ?? '');
}

function signalWords(details: Json): string {
  const key = word(details, 'key');
  return `signal ${word(details, 'signal')}${key === '' ? '' : ` (key ${key})`}`;
}

function answerWords(details: Json): string {
  const isApproved = isJsonObject(details) && details.approved === true;
  const comment = word(details, 'comment');
  return `${isApproved ? 'approved' : 'rejected'} by ${word(details, 'by')}${comment === '' ? '' : `: ${comment}`}`;
}

function gateWords(details: Json): string {
  const gate = gateOf(details);
  return gate === null ? 'waits' : `waits ${gateText(gate)}`;
}

function cachedFrom(cached: Json): string {
  return [word(cached, 'node'), word(cached, 'executionId')].filter((part) => part !== '').join(' of ');
}
