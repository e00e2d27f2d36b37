/** Describes the details of an event; shared by all views. */
import { SKIP_WORDS, type TimelineEvent, type TimelineEventType } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { gateText, waitingText } from './wait-words.ts';
import { momentText, plural } from './words.ts';

/** Returns an empty text for an event without details. */
export function eventWords(event: TimelineEvent): string {
  // A newer server may send types of events that this table lacks.
  const words = WORDS[event.type] as ((details: TimelineEvent['details'], at: number) => string) | undefined;
  return words?.(event.details, event.at) ?? '';
}

type Details<T> = Extract<TimelineEvent, { type: T }>['details'];

const none = (): string => '';

const WORDS: { readonly [T in TimelineEventType]: (details: Details<T>, at: number) => string } = {
  WorkflowStarted: ({ place }) =>
    place === undefined ? '' : `waits for a concurrency slot: ${place.limit} at once of ${place.key}`,
  WorkflowHeld: ({ until }, at) => `begins at ${momentText(until, at)}`,
  WorkflowBegun: none,
  WorkflowPaused: ({ reason }) => printableLine(reason ?? ''),
  WorkflowResumed: none,
  WorkflowStopping: ({ status }) => status,
  WorkflowCompleted: none,
  WorkflowFailed: none,
  WorkflowCancelled: none,
  WorkflowTimedOut: none,
  WorkflowReopened: ({ nodes }) => `${pathsText(nodes)} ${nodes.length === 1 ? 'runs' : 'run'} again`,
  WorkflowMigrated: ({ version, nodes, decisions = {}, back }) => {
    const decided = Object.entries(decisions).map(([node, decision]) => `${decision} ${node}`);
    return [
      `${back ? 'back ' : ''}to version ${version}`,
      ...(decided.length === 0 ? [] : [`decided: ${decided.join(', ')}`]),
      ...(nodes.length === 0 ? [] : [`${pathsText(nodes)} ${nodes.length === 1 ? 'runs' : 'run'} again`]),
    ].join('; ');
  },
  StateCheckpointed: ({ seq }) => `frame ${seq}`,
  NodeScheduled: none,
  NodeConfigured: (details) =>
    Object.entries(details)
      .map(([key, value]) => `${key} is ${String(value)}`)
      .join(', '),
  NodeGated: (gate) => `waits ${gateText(gate)}`,
  NodeGranted: ({ until }, at) => `may begin at ${momentText(until, at)}`,
  NodeStarted: none,
  NodeCompleted: ({ cached }) =>
    cached === undefined ? '' : `from the cache: ${printableLine(cached.node)} of ${cached.executionId}`,
  NodeFailed: none,
  NodeRetried: none,
  NodeReturned: none,
  NodeUnhandled: none,
  NodeSkipped: ({ why }) => SKIP_WORDS[why],
  NodeCancelled: none,
  NodeUnknown: none,
  NodeSettled: none,
  NodeOpened: ({ items }) => (items === undefined ? '' : plural(items, 'item')),
  NodeStopping: none,
  NodeWaiting: ({ waits, deadline }, at) => `waits ${waitingText({ events: waits, deadline }, at)}`,
  NodeAnswered: ({ approved, by, comment }) =>
    `${approved ? 'approved' : 'rejected'} by ${printableLine(by)}${comment === null ? '' : `: ${printableLine(comment)}`}`,
  RoundStarted: none,
  RoundCompleted: none,
  RoundFailed: none,
  RoundStopping: none,
  RoundDelayed: ({ until }, at) => `next iteration at ${momentText(until, at)}`,
  ItemsAdded: ({ items }) => `${plural(items, 'item')} added`,
  ChildRequested: ({ workflowId, plan, executionId }) =>
    `${plan === undefined ? `workflow ${printableLine(workflowId ?? '')}` : `plan ${printableLine(plan)}`} as ${executionId}`,
  SignalKept: (signal) => `${signalWords(signal)} arrived early and is buffered`,
  SignalTaken: (signal) => `buffered ${signalWords(signal)} is taken`,
  SignalRefused: ({ event, problem }) =>
    `${printableLine(event)} does not fit, so the wait continues: ${printableLine(problem)}`,
  CompensationStarted: (details) =>
    `completed nodes are undone, last first; then it ${'status' in details ? `ends as ${details.status}` : 'begins again'}`,
  CompensationCompleted: ({ undone, left }) =>
    `compensation ended: ${plural(undone, 'step')} undone${left === 0 ? '' : `, ${left} not`}`,
};

/** The error of an event, as one line. */
export function errorWords({ details }: TimelineEvent): string {
  const error = 'error' in details ? details.error : undefined;
  if (error === undefined || typeof error !== 'object') return '';
  return `${error.code}: ${printableLine(error.message)}`;
}

/** The paths that are listed; the others are counted. */
const MAX_PATHS = 5;

/** `a, items/2/pack and 3 more`, in the order of paths. */
function pathsText(paths: readonly string[]): string {
  const sorted = paths.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  const shown = sorted.slice(0, MAX_PATHS).join(', ');
  return sorted.length > MAX_PATHS ? `${shown} and ${sorted.length - MAX_PATHS} more` : shown;
}

function signalWords({ signal, key }: { readonly signal: string; readonly key: string }): string {
  return `signal ${printableLine(signal)}${key === '' ? '' : ` (key ${printableLine(key)})`}`;
}
