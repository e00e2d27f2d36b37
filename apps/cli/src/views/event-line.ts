/** One line per event: what a run says when nobody watches a screen. */
import { formatDuration, isJsonObject, type Json, type TimelineEvent } from '@nebula/core';
import type { StoredLogLine } from '@nebula/ports';
import type { RunProgress } from '../live/progress.ts';
import type { Colors } from '../terminal/io.ts';
import { columnRight, printableLine } from '../terminal/width.ts';
import { errorWords, eventWords } from './event-words.ts';
import { nodeGlyph, nodePaint, runGlyph, runPaint } from './theme.ts';
import { offsetText, shownPath } from './words.ts';

const OFFSET_CELLS = 8;

export interface LineOptions {
  readonly colors: Colors;
  /** Offsets count from here. */
  readonly startedAt: number;
}

/** `run` has the event applied already. Undefined for events that tell a reader nothing. */
export function eventLine(event: TimelineEvent, run: RunProgress, options: LineOptions): string | undefined {
  const text = event.node === null ? runText(event, run, options.colors) : nodeText(event, run, options.colors);
  return text === undefined ? undefined : `${offset(event.at, options)}  ${text}`;
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

function runText(event: TimelineEvent, run: RunProgress, colors: Colors): string | undefined {
  const sign = (text: string): string => runPaint(run.status, colors)(`${runGlyph(run.status)} ${text}`);
  switch (event.type) {
    case 'WorkflowStarted':
      return `${sign('run started')}  ${printableLine(run.title)}  ${run.executionId}`;
    case 'WorkflowReopened':
      return sign(`run reopened${more(event)}`);
    case 'WorkflowPaused':
      return sign(`run paused${more(event)}`);
    case 'WorkflowResumed':
      return sign('run goes on after the pause');
    case 'WorkflowStopping':
      return sign(`run is ending: ${eventWords(event)}`);
    case 'CompensationStarted':
    case 'SignalKept':
    case 'SignalTaken':
      return sign(eventWords(event));
    case 'WorkflowCompleted':
    case 'WorkflowFailed':
    case 'WorkflowCancelled':
    case 'WorkflowTimedOut':
      return sign(`run ${run.status}`);
    default:
      return undefined;
  }
}

/** `: what else there is to say`. */
function more(event: TimelineEvent): string {
  const words = eventWords(event);
  return words === '' ? '' : `: ${words}`;
}

function nodeText(event: TimelineEvent, run: RunProgress, colors: Colors): string | undefined {
  const path = event.node as string;
  if (event.type === 'RoundFailed') return `${colors.red('✗')} ${path} failed: ${errorWords(event)}`;
  const node = run.node(path);
  if (node === undefined) return undefined;
  const sign = (text: string): string =>
    `${nodePaint(node.status, colors)(nodeGlyph(node.status))} ${shownPath(path)} ${text}`;
  const took = formatDuration(event.at - (node.attemptAt ?? node.startedAt ?? event.at));
  const error = errorWords(event) === '' ? '' : `: ${errorWords(event)}`;
  switch (event.type) {
    case 'NodeStarted':
      return sign(node.attempts > 1 ? `started, attempt ${node.attempts}` : 'started');
    case 'NodeOpened':
      return sign(`opened${more(event)}`);
    case 'NodeCompleted':
      return sign(eventWords(event) || `completed in ${took}`);
    case 'NodeFailed':
      return sign(`failed after ${took}${error}`);
    case 'NodeStopping':
    case 'CompensationStarted':
      return sign(event.type === 'NodeStopping' ? `is ending${error}` : eventWords(event));
    case 'ChildRequested':
    case 'ItemsAdded':
    case 'NodeAnswered':
    case 'NodeConfigured':
    case 'NodeGated':
    case 'NodeGranted':
    case 'NodeWaiting':
    case 'RoundDelayed':
    case 'SignalRefused':
      return sign(eventWords(event));
    case 'NodeRetried': {
      const wait = node.retryAt === null ? 'will retry' : `retry in ${formatDuration(node.retryAt - event.at)}`;
      return sign(`attempt ${node.attempts} failed, ${wait}${error}`);
    }
    case 'NodeReturned':
      return sign('handed back');
    case 'NodeSkipped':
      return sign(`skipped${skipReason(event.details)}`);
    case 'NodeCancelled':
      return sign('cancelled');
    case 'NodeUnknown':
      return sign(`outcome unknown${error}`);
    case 'NodeSettled':
      return sign('settled');
    default:
      return undefined;
  }
}

const SKIP_REASONS: Readonly<Record<string, string>> = {
  when: ': its condition is false',
  disabled: ': it is disabled',
  failure: ': something before it failed',
  dead: ': too few edges lead to it',
};

function skipReason(details: Json): string {
  const why = isJsonObject(details) ? details.why : undefined;
  return typeof why === 'string' ? (SKIP_REASONS[why] ?? '') : '';
}
