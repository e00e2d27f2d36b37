/** A run over time: one bar per node. Waiting in the queue is light, running solid, a failed attempt ends in a cross. */
import { formatDuration, type NodeStatus, type TimelineEvent, type TimelineEventType } from '@nebula/core';
import type { Colors } from '../terminal/io.ts';
import { column, columnRight, fit, printableLine, visibleWidth } from '../terminal/width.ts';
import { errorWords, eventWords } from './event-words.ts';
import { nodeGlyph, nodePaint, type Paint } from './theme.ts';
import { offsetText, plural, shownPath } from './words.ts';

export interface TimelineOptions {
  readonly colors: Colors;
  readonly width: number;
  /** Where bars of what is not finished end. */
  readonly now: number;
  readonly maxRows?: number;
}

/** How an attempt or a wait ended. */
type SpanEnd = 'queued' | 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled' | 'unknown' | 'returned';

interface Span {
  readonly from: number;
  readonly to: number;
  readonly end: SpanEnd;
}

interface Lane {
  readonly node: string;
  status: NodeStatus;
  readonly spans: Span[];
  attempts: number;
  open: { readonly from: number; readonly kind: 'queued' | 'waiting' | 'running' } | null;
}

const MAX_NAME_CELLS = 28;
const NOTE_CELLS = 18;
const MIN_CHART_CELLS = 20;

export function timelineLines(events: readonly TimelineEvent[], options: TimelineOptions): string[] {
  const first = events[0];
  if (first === undefined) return ['nothing has happened yet'];
  const until = endOf(events, options.now);
  const lanes = lanesOf(events, until);
  const shown = lanes.slice(0, options.maxRows ?? lanes.length);
  const nameCells = Math.min(MAX_NAME_CELLS, Math.max(4, ...shown.map((lane) => visibleWidth(shownPath(lane.node)))));
  const chartCells = Math.max(MIN_CHART_CELLS, options.width - nameCells - NOTE_CELLS - 6);
  const scale = { from: first.at, to: Math.max(until, first.at + 1), cells: chartCells };
  const lines = [
    `${' '.repeat(nameCells + 4)}${options.colors.dim(axis(scale))}`,
    ...shown.map((lane) => laneLine(lane, nameCells, scale, options)),
  ];
  if (shown.length < lanes.length) {
    lines.push(options.colors.dim(`… ${plural(lanes.length - shown.length, 'more node')}: --all`));
  }
  return [...lines, '', legend(options.colors)];
}

/** The events themselves, one per line. */
export function timelineEventLines(events: readonly TimelineEvent[], colors: Colors): string[] {
  const start = events[0]?.at ?? 0;
  return events.map((event) => {
    const error = errorWords(event);
    const when = colors.dim(columnRight(`+${offsetText(event.at - start)}`, 9));
    return [
      when,
      column(event.type, TYPE_CELLS),
      event.node ?? '',
      eventWords(event),
      error === '' ? '' : colors.red(error),
    ]
      .filter((part) => part !== '')
      .join('  ')
      .trimEnd();
  });
}

const TYPE_CELLS = 19;

const FINAL_EVENTS = new Set<TimelineEventType>([
  'WorkflowCompleted',
  'WorkflowFailed',
  'WorkflowCancelled',
  'WorkflowTimedOut',
]);

function endOf(events: readonly TimelineEvent[], now: number): number {
  const last = events.at(-1) as TimelineEvent;
  return FINAL_EVENTS.has(last.type) ? last.at : Math.max(now, last.at);
}

const ABOUT_SCOPES = new Set<TimelineEventType>([
  'RoundStarted',
  'RoundCompleted',
  'RoundFailed',
  'RoundStopping',
  'CompensationStarted',
]);

function lanesOf(events: readonly TimelineEvent[], until: number): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const event of events) {
    // Rounds are no nodes; what ran in them is.
    if (event.node === null || ABOUT_SCOPES.has(event.type)) continue;
    let lane = lanes.get(event.node);
    if (lane === undefined) {
      lane = { node: event.node, status: 'pending', spans: [], attempts: 0, open: null };
      lanes.set(event.node, lane);
    }
    advance(lane, event);
  }
  for (const lane of lanes.values()) close(lane, until, lane.open?.kind ?? 'running');
  return [...lanes.values()];
}

function advance(lane: Lane, event: TimelineEvent): void {
  const enter = (status: NodeStatus, end: SpanEnd, kind: 'queued' | 'waiting' | 'running' | null): void => {
    close(lane, event.at, end);
    lane.status = status;
    lane.open = kind === null ? null : { from: event.at, kind };
  };
  switch (event.type) {
    case 'NodeScheduled':
      return enter('queued', 'waiting', 'queued');
    case 'NodeStarted':
      lane.attempts++;
      return enter('running', 'queued', 'running');
    case 'ChildRequested':
      lane.attempts++;
      return enter('running', 'queued', 'running');
    case 'NodeOpened':
      return enter('running', 'queued', 'running');
    case 'NodeWaiting':
    case 'NodeGated':
      return enter('waiting', 'queued', 'waiting');
    case 'NodeRetried':
      return enter('waiting', 'failed', 'waiting');
    case 'NodeReturned':
      return enter('queued', 'returned', 'queued');
    case 'NodeCompleted':
      return enter('completed', 'completed', null);
    case 'NodeFailed':
      return enter('failed', 'failed', null);
    case 'NodeSkipped':
      return enter('skipped', 'queued', null);
    case 'NodeCancelled':
      return enter('cancelled', 'cancelled', null);
    case 'NodeUnknown':
      return enter('unknown', 'unknown', null);
    default:
      return;
  }
}

/** Ends what is open. An attempt ends as the event says; a wait stays a wait, whatever ended it. */
function close(lane: Lane, at: number, end: SpanEnd): void {
  if (lane.open === null) return;
  lane.spans.push({ from: lane.open.from, to: at, end: lane.open.kind === 'running' ? end : lane.open.kind });
  lane.open = null;
}

interface Scale {
  readonly from: number;
  readonly to: number;
  readonly cells: number;
}

function laneLine(lane: Lane, nameCells: number, scale: Scale, { colors }: TimelineOptions): string {
  const paint = nodePaint(lane.status, colors);
  const ran = lane.spans.filter((span) => span.end !== 'queued' && span.end !== 'waiting');
  const total = ran.reduce((sum, span) => sum + span.to - span.from, 0);
  const attempts = lane.attempts > 1 ? colors.yellow(` ×${lane.attempts}`) : '';
  const note = ran.length === 0 ? colors.dim(lane.status) : `${formatDuration(total)}${attempts}`;
  const name = column(printableLine(shownPath(lane.node)), nameCells);
  return `${paint(nodeGlyph(lane.status))} ${name}  ${bar(lane.spans, scale, colors)}  ${fit(note, NOTE_CELLS)}`;
}

function bar(spans: readonly Span[], scale: Scale, colors: Colors): string {
  const cells = new Array<string>(scale.cells).fill(' ');
  const cellOf = (at: number): number =>
    Math.min(scale.cells - 1, Math.floor(((at - scale.from) / (scale.to - scale.from)) * scale.cells));
  for (const span of spans) {
    const { sign, paint } = spanLook(span.end, colors);
    const from = cellOf(span.from);
    const to = Math.max(from, cellOf(span.to - 1));
    for (let cell = from; cell <= to; cell++) cells[cell] = paint(sign);
  }
  // Last, because what follows an attempt may begin in the cell in which it ended.
  for (const span of spans) {
    const end = Math.max(cellOf(span.from), cellOf(span.to - 1));
    if (span.end === 'failed') cells[end] = colors.red('╳');
    if (span.end === 'unknown') cells[end] = colors.magenta('?');
  }
  return cells.join('');
}

function spanLook(end: SpanEnd, colors: Colors): { sign: string; paint: Paint } {
  switch (end) {
    case 'queued':
      return { sign: '░', paint: colors.dim };
    case 'waiting':
      return { sign: '┄', paint: colors.yellow };
    case 'returned':
      return { sign: '▒', paint: colors.dim };
    default:
      return { sign: '█', paint: nodePaint(end, colors) };
  }
}

/** Marks at round times: `0ms      500ms     1.0s`. */
function axis(scale: Scale): string {
  const length = scale.to - scale.from;
  const step = roundStep(length / Math.max(1, Math.floor(scale.cells / 12)));
  let line = '';
  for (let at = 0; at <= length; at += step) {
    const cell = Math.floor((at / length) * scale.cells);
    const text = `╷${at === 0 ? '0' : formatDuration(at)}`;
    if (cell + text.length > scale.cells + NOTE_CELLS) break;
    line = line.padEnd(cell) + text;
  }
  return line;
}

function roundStep(atLeast: number): number {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  ];
  const found = steps.find((step) => step >= atLeast);
  if (found !== undefined) return found;
  const hour = 3_600_000;
  return Math.ceil(atLeast / (hour / 6)) * (hour / 6);
}

function legend(colors: Colors): string {
  return [
    `${colors.dim('░')} queued`,
    `${colors.green('█')} ran`,
    `${colors.red('╳')} failed attempt`,
    `${colors.yellow('┄')} waits`,
  ].join(colors.dim('   '));
}
