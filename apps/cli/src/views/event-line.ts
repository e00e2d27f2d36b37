/** One line per event, for output without a live screen. */
import {
  formatDuration,
  type NodeStatus,
  type RunStatus,
  type TimelineEvent,
  type TimelineEventType,
} from '@nebula/core';
import type { StoredLogLine } from '@nebula/ports';
import type { Colors } from '../terminal/io.ts';
import { columnRight, printableLine } from '../terminal/width.ts';
import { errorWords, eventWords } from './event-words.ts';
import { statusGlyph, statusPaint } from './theme.ts';
import { offsetText, shownPath } from './words.ts';

const OFFSET_CELLS = 8;

export interface LineOptions {
  readonly colors: Colors;
  /** The time from which offsets count. */
  readonly startedAt: number;
}

/** Formats the events of one run. Remembers the start of each attempt under way. */
export class EventLines {
  readonly #title: string;
  readonly #executionId: string;
  readonly #options: LineOptions;
  readonly #begun = new Map<string, { readonly at: number; readonly attempt: number }>();

  constructor(run: { readonly title: string; readonly executionId: string }, options: LineOptions) {
    this.#title = run.title;
    this.#executionId = run.executionId;
    this.#options = options;
  }

  /** Returns undefined for events without information for a reader. */
  line(event: TimelineEvent): string | undefined {
    const text = event.node === null ? this.#runText(event) : this.#nodeText(event, event.node);
    return text === undefined ? undefined : `${offset(event.at, this.#options)}  ${text}`;
  }

  #runText(event: TimelineEvent): string | undefined {
    const { type } = event;
    const status = type === 'WorkflowStarted' && event.details.place !== undefined ? 'pending' : RUN_STATUS[type];
    if (status === undefined) return undefined;
    const words = eventWords(event);
    const more = words === '' ? '' : `: ${words}`;
    const sign = (text: string): string => statusPaint(status, this.#options.colors)(`${statusGlyph(status)} ${text}`);
    switch (type) {
      case 'WorkflowStarted':
        return `${sign(`run started${more}`)}  ${printableLine(this.#title)}  ${this.#executionId}`;
      case 'WorkflowHeld':
        return sign(`run ${words}`);
      case 'WorkflowBegun':
        return sign('run begins');
      case 'WorkflowReopened':
        return sign(`run reopened${more}`);
      case 'WorkflowPaused':
        return sign(`run paused${more}`);
      case 'WorkflowResumed':
        return sign('run resumed');
      case 'WorkflowStopping':
        return sign(`run is ending${more}`);
      case 'WorkflowCompleted':
      case 'WorkflowFailed':
      case 'WorkflowCancelled':
      case 'WorkflowTimedOut':
        return sign(`run ${status}`);
      default:
        return sign(words);
    }
  }

  #nodeText(event: TimelineEvent, path: string): string | undefined {
    const { colors } = this.#options;
    const { type, at } = event;
    const error = errorWords(event) === '' ? '' : `: ${errorWords(event)}`;
    if (type === 'RoundFailed') return `${colors.red('✗')} ${path} failed${error}`;
    const status = NODE_STATUS[type];
    if (status === undefined) return undefined;
    const { at: since = at, attempt = 1 } = this.#begun.get(path) ?? {};
    if (status !== 'running' && status !== 'waiting') this.#begun.delete(path);
    const words = eventWords(event);
    const more = words === '' ? '' : `: ${words}`;
    const took = formatDuration(at - since);
    const sign = (text: string): string =>
      `${statusPaint(status, colors)(statusGlyph(status))} ${shownPath(path)} ${text}`;
    switch (type) {
      case 'NodeStarted':
        this.#begun.set(path, { at, attempt: event.details.attempt });
        return sign(event.details.attempt > 1 ? `started, attempt ${event.details.attempt}` : 'started');
      case 'NodeOpened':
        this.#begun.set(path, { at, attempt: 1 });
        return sign(`opened${more}`);
      case 'ChildRequested':
      case 'NodeWaiting':
        this.#begun.set(path, { at, attempt: 1 });
        return sign(words);
      case 'NodeCompleted':
        return sign(words || `completed in ${took}`);
      case 'NodeFailed':
        return sign(`failed after ${took}${error}`);
      case 'NodeStopping':
        return sign(`is ending${error}`);
      case 'NodeRetried':
        return sign(`attempt ${attempt} failed, retry in ${formatDuration(event.details.until - at)}${error}`);
      case 'NodeReturned':
        return sign('handed back');
      case 'NodeSkipped':
        return sign(`skipped${more}`);
      case 'NodeCancelled':
        return sign('cancelled');
      case 'NodeUnknown':
        return sign(`outcome unknown${error}`);
      case 'NodeSettled':
        return sign('settled');
      default:
        return sign(words);
    }
  }
}

/** The sign of an event; events without one are not shown. */
const RUN_STATUS: Partial<Record<TimelineEventType, RunStatus>> = {
  WorkflowStarted: 'running',
  WorkflowHeld: 'pending',
  WorkflowBegun: 'running',
  WorkflowReopened: 'running',
  WorkflowPaused: 'paused',
  WorkflowResumed: 'running',
  WorkflowStopping: 'running',
  CompensationStarted: 'compensating',
  CompensationCompleted: 'compensating',
  SignalKept: 'running',
  SignalTaken: 'running',
  WorkflowCompleted: 'completed',
  WorkflowFailed: 'failed',
  WorkflowCancelled: 'cancelled',
  WorkflowTimedOut: 'timed-out',
};

const NODE_STATUS: Partial<Record<TimelineEventType, NodeStatus>> = {
  NodeConfigured: 'pending',
  NodeGated: 'waiting',
  NodeGranted: 'waiting',
  NodeStarted: 'running',
  NodeOpened: 'running',
  ChildRequested: 'running',
  ItemsAdded: 'running',
  RoundDelayed: 'running',
  NodeStopping: 'running',
  CompensationStarted: 'running',
  CompensationCompleted: 'running',
  NodeWaiting: 'waiting',
  NodeAnswered: 'waiting',
  SignalRefused: 'waiting',
  NodeRetried: 'waiting',
  NodeReturned: 'queued',
  NodeCompleted: 'completed',
  NodeFailed: 'failed',
  NodeSkipped: 'skipped',
  NodeCancelled: 'cancelled',
  NodeUnknown: 'unknown',
  NodeSettled: 'unknown',
};

export function logLine(line: StoredLogLine, options: LineOptions): string {
  const { colors } = options;
  const level = line.level === 'info' ? '' : `${levelPaint(line.level, colors)(line.level)} `;
  const where = line.node === null ? '' : `${line.node}: `;
  return `${offset(line.at, options)}  ${colors.dim('│')} ${colors.dim(where)}${level}${printableLine(line.message)}`;
}

export function levelPaint(level: StoredLogLine['level'], colors: Colors): (text: string) => string {
  if (level === 'error') return colors.red;
  if (level === 'warn') return colors.yellow;
  return level === 'debug' ? colors.dim : colors.blue;
}

function offset(at: number, { colors, startedAt }: LineOptions): string {
  return colors.dim(columnRight(offsetText(at - startedAt), OFFSET_CELLS));
}
