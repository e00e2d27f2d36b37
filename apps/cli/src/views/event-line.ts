/** One line per event, for output without a live screen. */
import {
  formatDuration,
  isNodeEvent,
  isRunEvent,
  type NodeEvent,
  nodeStatusAfter,
  type RunEvent,
  runStatusAfter,
  type TimelineEvent,
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
    const text = this.#text(event);
    return text === undefined ? undefined : `${offset(event.at, this.#options)}  ${text}`;
  }

  #text(event: TimelineEvent): string | undefined {
    if (isRunEvent(event)) return this.#runText(event);
    if (event.type === 'WorkflowMigrated') return `${this.#options.colors.cyan('●')} run moved ${eventWords(event)}`;
    if (event.type === 'RoundFailed') return `${this.#options.colors.red('✗')} ${event.node} failed${errorPart(event)}`;
    // Every node is scheduled before it starts, and a failure has its own event.
    if (!isNodeEvent(event) || event.type === 'NodeScheduled' || event.type === 'NodeUnhandled') return undefined;
    return this.#nodeText(event);
  }

  #runText(event: RunEvent): string {
    const status = runStatusAfter(event);
    const words = eventWords(event);
    const more = words === '' ? '' : `: ${words}`;
    const sign = (text: string): string => statusPaint(status, this.#options.colors)(`${statusGlyph(status)} ${text}`);
    switch (event.type) {
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
      case 'SignalKept':
      case 'SignalTaken':
      case 'CompensationStarted':
      case 'CompensationCompleted':
        return sign(words);
    }
  }

  #nodeText(event: Exclude<NodeEvent, { type: 'NodeScheduled' | 'NodeUnhandled' }>): string {
    const { colors } = this.#options;
    const { node: path, at } = event;
    const error = errorPart(event);
    const status = nodeStatusAfter(event);
    const { at: since = at, attempt = 1 } = this.#begun.get(path) ?? {};
    if (status !== 'running' && status !== 'waiting') this.#begun.delete(path);
    const words = eventWords(event);
    const more = words === '' ? '' : `: ${words}`;
    const took = (word: string): string => (at === since ? '' : ` ${word} ${formatDuration(at - since)}`);
    const sign = (text: string): string =>
      `${statusPaint(status, colors)(statusGlyph(status))} ${shownPath(path)} ${text}`;
    switch (event.type) {
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
        return sign(words || `completed${took('in')}`);
      case 'NodeFailed':
        return sign(`failed${took('after')}${error}`);
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
      case 'NodeConfigured':
      case 'NodeGated':
      case 'NodeGranted':
      case 'NodeAnswered':
      case 'SignalRefused':
      case 'ItemsAdded':
      case 'RoundDelayed':
      case 'CompensationStarted':
      case 'CompensationCompleted':
        return sign(words);
    }
  }
}

function errorPart(event: TimelineEvent): string {
  const words = errorWords(event);
  return words === '' ? '' : `: ${words}`;
}

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
