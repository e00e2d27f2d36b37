/** A run over time: one bar per node. Waiting in the queue is light, running solid, a failed attempt ends in a cross. */
import {
  formatDuration,
  isFinalEvent,
  type NodeHistory,
  RunHistory,
  type Span,
  type TimelineEvent,
} from '@nebula/core';
import type { Colors, View } from '../terminal/io.ts';
import { column, columnRight, fit, printableLine, visibleWidth } from '../terminal/width.ts';
import { errorWords, eventWords } from './event-words.ts';
import { type Paint, statusGlyph, statusPaint } from './theme.ts';
import { offsetText, plural, shownPath } from './words.ts';

export interface TimelineOptions extends View {
  /** The end of bars of open nodes. */
  readonly now: number;
  readonly maxRows?: number;
}

const MAX_NAME_CELLS = 28;
const NOTE_CELLS = 18;
const MIN_CHART_CELLS = 20;

export function timelineLines(events: readonly TimelineEvent[], options: TimelineOptions): string[] {
  const first = events[0];
  if (first === undefined) return ['nothing has happened yet'];
  const until = endOf(events, options.now);
  const history = new RunHistory();
  for (const event of events) history.note(event);
  const lanes = [...history.nodes];
  const shown = lanes.slice(0, options.maxRows ?? lanes.length);
  const nameCells = Math.min(MAX_NAME_CELLS, Math.max(4, ...shown.map((lane) => visibleWidth(shownPath(lane.path)))));
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

const TYPE_CELLS = 21;

function endOf(events: readonly TimelineEvent[], now: number): number {
  const last = events.at(-1) as TimelineEvent;
  return isFinalEvent(last) ? last.at : Math.max(now, last.at);
}

interface Scale {
  readonly from: number;
  readonly to: number;
  readonly cells: number;
}

function laneLine(lane: NodeHistory, nameCells: number, scale: Scale, { colors }: TimelineOptions): string {
  const paint = statusPaint(lane.status, colors);
  const ran = lane.spans.filter(({ kind }) => kind === 'running');
  const total = ran.reduce((sum, { from, to }) => sum + (to ?? scale.to) - from, 0);
  const attempts = ran.filter(({ attempt }) => attempt !== undefined).length;
  const times = attempts > 1 ? colors.yellow(` ×${attempts}`) : '';
  const note = ran.length === 0 ? colors.dim(lane.status) : `${formatDuration(total)}${times}`;
  const name = column(printableLine(shownPath(lane.path)), nameCells);
  return `${paint(statusGlyph(lane.status))} ${name}  ${bar(lane.spans, scale, colors)}  ${fit(note, NOTE_CELLS)}`;
}

function bar(spans: readonly Span[], scale: Scale, colors: Colors): string {
  const cells = new Array<string>(scale.cells).fill(' ');
  const cellOf = (at: number): number =>
    Math.min(scale.cells - 1, Math.floor(((at - scale.from) / (scale.to - scale.from)) * scale.cells));
  for (const span of spans) {
    const { sign, paint } = spanStyle(span, colors);
    const from = cellOf(span.from);
    const to = Math.max(from, cellOf((span.to ?? scale.to) - 1));
    for (let cell = from; cell <= to; cell++) cells[cell] = paint(sign);
  }
  // Drawn last, because the next span may begin in the cell in which an attempt ended.
  for (const span of spans) {
    const end = Math.max(cellOf(span.from), cellOf((span.to ?? scale.to) - 1));
    if (span.end === 'failed') cells[end] = colors.red('╳');
    if (span.end === 'unknown') cells[end] = colors.magenta('?');
  }
  return cells.join('');
}

function spanStyle({ kind, end }: Span, colors: Colors): { sign: string; paint: Paint } {
  if (kind === 'queued') return { sign: '░', paint: colors.dim };
  if (kind === 'waiting') return { sign: '┄', paint: colors.yellow };
  return end === 'returned'
    ? { sign: '▒', paint: colors.dim }
    : { sign: '█', paint: statusPaint(end ?? 'running', colors) };
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
