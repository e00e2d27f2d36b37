/** A run as a tree of nodes: the live view, `executions show` and the last picture of a run. */
import { formatDuration, type NodeStatus } from '@nebula/core';
import type { NodeProgress, RunProgress } from '../live/progress.ts';
import type { Colors } from '../terminal/io.ts';
import { column, fit, printableLine, visibleWidth } from '../terminal/width.ts';
import { nodeGlyph, nodePaint, runGlyph, runPaint, SPINNER } from './theme.ts';
import { countText, tickText } from './words.ts';

export interface TreeOptions {
  readonly colors: Colors;
  readonly width: number;
  /** Lines that may be used; without it, all that it takes. */
  readonly height?: number;
  readonly now: number;
  /** Counts up with every painting and turns the spinners; below 0 they stand still. */
  readonly frame: number;
}

const BAR_CELLS = 12;
const MAX_NAME_CELLS = 40;
const DURATION_CELLS = 8;
/** Header and the blank line under it. */
const HEADER_LINES = 2;
/** Above it the nodes that are merely pending are not even looked at. */
const SMALL_GRAPH = 2_000;

export function treeLines(run: RunProgress, options: TreeOptions): string[] {
  const room = (options.height ?? Number.POSITIVE_INFINITY) - HEADER_LINES;
  const visible = visibleNodes(run, room);
  const isFolded = visible.length < run.nodes.length;
  const nameCells = nameColumn(visible, isFolded, options.width);
  const rows = visible.map((node) => nodeLine(node, nameCells, isFolded, options));
  return [headerLine(run, options), '', ...withSummaries(run, visible, rows, options)];
}

export function headerLine(run: RunProgress, { colors, now, frame, width }: TreeOptions): string {
  const isRunning = run.status === 'running' || run.status === 'pending';
  const glyph = isRunning && run.finishedAt === null ? spinner(frame) : runGlyph(run.status);
  const paint = runPaint(run.status, colors);
  const elapsed = elapsedText(run, now);
  const total = run.nodes.length;
  const done =
    total - run.counts.pending - run.counts.queued - run.counts.running - run.counts.waiting - run.counts.unknown;
  const count = total === 0 ? '' : colors.dim(`${countText(done)}/${countText(total)}`);
  const parts = [colors.bold(printableLine(run.title)), paint(run.status), elapsed, count, colors.dim(run.executionId)];
  return fit(`${paint(glyph)} ${parts.filter((part) => part !== '').join(colors.dim(' · '))}`, width);
}

function elapsedText({ startedAt, finishedAt }: RunProgress, now: number): string {
  if (startedAt === null) return '';
  return finishedAt === null ? tickText(now - startedAt) : formatDuration(finishedAt - startedAt);
}

function spinner(frame: number): string {
  return frame < 0 ? nodeGlyph('running') : (SPINNER[frame % SPINNER.length] as string);
}

/** All nodes when there is room; else the notable ones, and as many others as fit, nearest to what happens now. */
function visibleNodes(run: RunProgress, room: number): NodeProgress[] {
  if (run.nodes.length <= room) return run.nodes;
  // Two lines are kept for the summaries of what is hidden.
  const budget = Math.max(1, room - 2);
  const chosen = new Set(mostNotable(run, budget));
  const fill = (nodes: Iterable<NodeProgress>, wanted: (node: NodeProgress) => boolean): void => {
    for (const node of nodes) {
      if (chosen.size >= budget) return;
      if (wanted(node)) chosen.add(node);
    }
  };
  fill(run.recent.slice(-Math.ceil((budget - chosen.size) / 2)).reverse(), () => true);
  if (run.nodes.length <= SMALL_GRAPH) {
    fill(run.nodes, (node) => node.status === 'queued');
    fill(run.nodes, (node) => node.status === 'pending');
  }
  fill([...run.recent].reverse(), () => true);
  return [...chosen].sort((a, b) => a.order - b.order);
}

const URGENCY: Partial<Record<NodeStatus, number>> = { failed: 0, unknown: 1, running: 2, waiting: 3 };

function mostNotable(run: RunProgress, budget: number): NodeProgress[] {
  if (run.notable.size <= budget) return [...run.notable];
  const urgency = (node: NodeProgress): number => URGENCY[node.status] ?? 4;
  // Many failures must not push what runs off the screen: they get two thirds of it at the most.
  const sorted = [...run.notable].sort((a, b) => urgency(a) - urgency(b) || b.order - a.order);
  const failed = sorted.filter((node) => node.status === 'failed');
  const others = sorted.filter((node) => node.status !== 'failed');
  const failedRoom = Math.max(budget - others.length, Math.ceil((budget * 2) / 3));
  return [...failed.slice(0, failedRoom), ...others].slice(0, budget);
}

const FINISHED: readonly NodeStatus[] = ['completed', 'skipped', 'cancelled', 'failed', 'unknown'];
const OPEN: readonly NodeStatus[] = ['running', 'waiting', 'queued', 'pending'];

function withSummaries(
  run: RunProgress,
  visible: readonly NodeProgress[],
  rows: readonly string[],
  options: TreeOptions,
): string[] {
  if (visible.length === run.nodes.length) return [...rows];
  const hidden = { ...run.counts };
  for (const node of visible) hidden[node.status]--;
  const line = (statuses: readonly NodeStatus[], more: string): string[] => {
    const parts = statuses
      .filter((status) => hidden[status] > 0)
      .map((status) =>
        nodePaint(status, options.colors)(`${nodeGlyph(status)} ${countText(hidden[status])} ${status}`),
      );
    return parts.length === 0 ? [] : [options.colors.dim(more) + parts.join(options.colors.dim(' · '))];
  };
  return [...line(FINISHED, ''), ...rows, ...line(OPEN, '… ')];
}

function nameColumn(nodes: readonly NodeProgress[], isFolded: boolean, width: number): number {
  let widest = 0;
  for (const { prefix, name } of nodes) {
    widest = Math.max(widest, (isFolded ? 0 : prefix.length) + 2 + visibleWidth(name));
  }
  return Math.min(widest, MAX_NAME_CELLS, Math.max(10, Math.floor(width / 2)));
}

/** `├─ ✓ name            1.2s  what there is to say`. */
function nodeLine(node: NodeProgress, nameCells: number, isFolded: boolean, options: TreeOptions): string {
  const { colors, frame, width } = options;
  const paint = nodePaint(node.status, colors);
  // Its parents may be folded away, so its place in the tree would say nothing.
  const prefix = isFolded ? '' : node.prefix;
  const glyph = node.status === 'running' ? spinner(frame < 0 ? frame : frame + node.order) : nodeGlyph(node.status);
  const isQuiet = node.status === 'pending' || node.status === 'skipped';
  const name = column(printableLine(node.name), Math.max(4, nameCells - prefix.length - 2));
  const shownName = isQuiet ? colors.dim(name) : node.status === 'running' ? colors.bold(name) : name;
  const left = `${colors.dim(prefix)}${paint(glyph)} ${shownName}  ${durationCell(node, options)}`;
  const note = noteOf(node, options);
  return fit(note === '' ? left.trimEnd() : `${left}  ${note}`, width);
}

function durationCell(node: NodeProgress, { colors, now }: TreeOptions): string {
  if (node.startedAt === null || node.status === 'skipped') return ' '.repeat(DURATION_CELLS);
  const isRunning = node.status === 'running';
  const from = isRunning ? (node.attemptAt ?? node.startedAt) : node.startedAt;
  const until = node.finishedAt ?? (isRunning ? now : null);
  const text = until === null ? '' : isRunning ? tickText(until - from) : formatDuration(until - from);
  const cell = ' '.repeat(Math.max(0, DURATION_CELLS - text.length)) + text;
  return isRunning ? cell : colors.dim(cell);
}

function noteOf(node: NodeProgress, options: TreeOptions): string {
  const { colors, now } = options;
  const attempt = node.attempts > 1 ? colors.yellow(`attempt ${node.attempts}`) : '';
  const error = node.error === null ? '' : `${node.error.code}: ${printableLine(node.error.message)}`;
  switch (node.status) {
    case 'running':
      return joined(attempt, progressText(node, colors), node.log === null ? '' : colors.dim(printableLine(node.log)));
    case 'waiting': {
      const wait = node.retryAt === null ? '' : colors.yellow(`retry in ${tickText(node.retryAt - now)}`);
      return joined(wait, attempt, colors.dim(error));
    }
    case 'failed':
      return joined(attempt, colors.red(error));
    case 'unknown':
      return joined(colors.magenta('outcome unknown'), colors.dim(error));
    case 'completed':
      return node.attempts > 1 ? colors.dim(`${node.attempts} attempts`) : '';
    case 'skipped':
    case 'cancelled':
      return colors.dim(node.status);
    case 'queued':
      return joined(attempt, colors.dim('queued'));
    default:
      return '';
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('  ');
}

function progressText(node: NodeProgress, colors: Colors): string {
  const message = node.message === null ? '' : printableLine(node.message);
  if (node.fraction === null) return message;
  const fraction = Math.min(1, Math.max(0, node.fraction));
  const filled = Math.round(fraction * BAR_CELLS);
  const bar = colors.cyan('━'.repeat(filled)) + colors.dim('─'.repeat(BAR_CELLS - filled));
  return joined(`${bar} ${String(Math.floor(fraction * 100)).padStart(3)}%`, message);
}
