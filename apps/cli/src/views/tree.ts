/** A run as a tree of nodes: the live view, `executions show` and the last picture of a run. */
import { type BareNode, formatDuration, type NodeStatus } from '@nebula/core';
import type { ShownNode, ShownRun } from '../live/shown-run.ts';
import type { View } from '../terminal/io.ts';
import { column, fit, printableLine, visibleWidth } from '../terminal/width.ts';
import { noteOf } from './node-note.ts';
import { bodyRows, type Row, trimmed, undoRows } from './scope-rows.ts';
import { nextLines } from './summary.ts';
import { SPINNER, statusGlyph, statusPaint } from './theme.ts';
import { answerCommands, pausedAt } from './wait-words.ts';
import { countText, tickText } from './words.ts';

export interface TreeOptions extends View {
  /** The limit on lines; if absent, there is none. */
  readonly height?: number;
  readonly now: number;
  /** Counts up with every painting and turns the spinners; below 0 they stand still. */
  readonly frame: number;
  /** Writes a command for a run. */
  readonly command?: (executionId: string, verb: string, rest?: string) => string;
}

const MAX_NAME_CELLS = 40;
const DURATION_CELLS = 8;
/** Commands that are offered at once. */
const MAX_STEPS = 4;
/** Header and the line under it. */
const HEADER_LINES = 2;
/** In larger graphs pending nodes are not considered for display. */
const SMALL_GRAPH = 2_000;

export function treeLines(run: ShownRun, options: TreeOptions): string[] {
  const steps = stepLines(run, options);
  const room = (options.height ?? Number.POSITIVE_INFINITY) - HEADER_LINES - steps.length;
  const inside = insideOf(run, room);
  const visible = visibleNodes(run, room - inside.count);
  const isFolded = visible.length < run.nodes.length;
  // The parents of the node may be folded away, so its indentation would mean nothing.
  const shown = visible.map((node) => [
    { prefix: isFolded ? '' : node.prefix, name: node.name, node },
    ...(inside.rows.get(node) ?? []).map((row) => (isFolded ? { ...row, prefix: row.prefix.trimStart() } : row)),
  ]);
  const rows = [...shown.flat(), ...inside.undo];
  const nameCells = nameColumn(rows, options.width);
  const lines = shown.flat().map((row) => rowLine(run, row, nameCells, options));
  const undo = inside.undo.map((row) => rowLine(run, row, nameCells, options));
  return [...headerLines(run, options), ...withSummaries(run, visible, lines, options), ...undo, ...steps];
}

interface Inside {
  /** Keyed by the enclosing node. */
  readonly rows: ReadonlyMap<ShownNode, readonly Row[]>;
  readonly undo: readonly Row[];
  readonly count: number;
}

/** Bodies get the rows that the nodes leave free, or at least half of the room. */
function insideOf(run: ShownRun, room: number): Inside {
  const blocks = run.nodes
    .filter(({ scopes }) => scopes.length > 0)
    .map((node) => [node, bodyRows(node, node.prefix)] as const);
  const all = undoRows(run);
  const wanted = blocks.reduce((sum, [, rows]) => sum + rows.length, all.length);
  let budget = Math.max(room - run.nodes.length, Math.floor(room / 2));
  const take = (rows: readonly Row[], share: number): readonly Row[] => {
    const taken = wanted <= budget ? rows : trimmed(rows, Math.min(budget, share));
    budget -= taken.length;
    return taken;
  };
  if (wanted <= budget) return { rows: new Map(blocks), undo: all, count: wanted };
  const before = budget;
  const undo = take(all, Math.ceil(budget / 2));
  const rows = new Map<ShownNode, readonly Row[]>();
  blocks.forEach(([node, block], at) => {
    rows.set(node, take(block, Math.ceil(budget / (blocks.length - at))));
  });
  return { rows, undo, count: before - budget };
}

/** Commands that end waits, while the run is open. The summary has them for an ended or parked run. */
function stepLines(run: ShownRun, { command, frame, colors, width }: TreeOptions): string[] {
  if (command === undefined || frame < 0 || run.counts.waiting + run.counts.running === 0) return [];
  const steps = run.waiting.flatMap(([path, { waitsFor }]) =>
    waitsFor?.kind !== 'event'
      ? []
      : answerCommands((verb, rest) => command(run.executionId, verb, rest), path, waitsFor.events),
  );
  return steps.length === 0 ? [] : ['', ...nextLines(steps.slice(0, MAX_STEPS), { colors, width })];
}

/** The id goes to the second line, which is blank, if it does not fit into the first. */
function headerLines(run: ShownRun, options: TreeOptions): string[] {
  const id = options.colors.dim(run.executionId);
  const whole = headerText(run, options, id);
  if (visibleWidth(whole) <= options.width) return [whole, ''];
  return [fit(headerText(run, options, ''), options.width), fit(`  ${id}`, options.width)];
}

export function headerLine(run: ShownRun, options: TreeOptions): string {
  return fit(headerText(run, options, options.colors.dim(run.executionId)), options.width);
}

function headerText(run: ShownRun, { colors, now, frame }: TreeOptions, id: string): string {
  const { status, counts, document } = run;
  const isMoving = frame >= 0 && (status === 'running' || status === 'pending');
  const isParked = status === 'running' && document?.finishedAt === null && document.parked;
  const glyph = isMoving && !isParked ? spinner(frame) : isParked ? '⏸' : statusGlyph(status);
  const paint = isParked ? colors.yellow : statusPaint(status, colors);
  const total = run.nodes.length;
  const done = counts.completed + counts.failed + counts.skipped;
  const count = total === 0 ? '' : colors.dim(`${countText(done)}/${countText(total)}`);
  const why = document?.finishedAt === null ? (document.paused?.reason ?? slotText(document.place)) : null;
  const reason = why === null ? '' : ` (${printableLine(why)})`;
  const parts = [
    colors.bold(printableLine(run.title)),
    paint((isParked ? 'parked' : status) + reason),
    elapsedText(run, now),
    count,
    id,
  ];
  return `${paint(glyph)} ${parts.filter((part) => part !== '').join(colors.dim(' · '))}`;
}

function slotText(slot: { readonly key: string; readonly limit: number } | undefined): string | null {
  return slot === undefined
    ? null
    : `waits for ${slot.limit === 1 ? 'the concurrency slot' : 'a concurrency slot'} of ${slot.key}`;
}

function elapsedText({ document }: ShownRun, now: number): string {
  if (document === undefined || document.startedAt === null) return '';
  if (document.finishedAt !== null) return formatDuration(document.durationMs);
  return tickText(now - Date.parse(document.startedAt));
}

function spinner(frame: number): string {
  return frame < 0 ? statusGlyph('running') : (SPINNER[frame % SPINNER.length] as string);
}

/** All nodes when there is room; else the notable ones, and as many others as fit, nearest to what happens now. */
function visibleNodes({ nodes, notable, recent }: ShownRun, room: number): readonly ShownNode[] {
  if (nodes.length <= room) return nodes;
  // Two lines are reserved for the summaries of hidden nodes.
  const budget = Math.max(1, room - 2);
  const chosen = new Set(mostNotable(notable, budget));
  const fill = (some: Iterable<ShownNode>, wanted: (node: ShownNode) => boolean): void => {
    for (const node of some) {
      if (chosen.size >= budget) return;
      if (wanted(node)) chosen.add(node);
    }
  };
  fill(recent.slice(0, Math.ceil((budget - chosen.size) / 2)), () => true);
  if (nodes.length <= SMALL_GRAPH) {
    fill(nodes, ({ state }) => state.status === 'queued');
    fill(nodes, ({ state }) => state.status === 'pending');
  }
  fill(recent, () => true);
  return [...chosen].sort((a, b) => a.order - b.order);
}

const URGENCY: Partial<Record<NodeStatus, number>> = { failed: 0, unknown: 1, running: 2, waiting: 3 };

function mostNotable(notable: readonly ShownNode[], budget: number): readonly ShownNode[] {
  if (notable.length <= budget) return notable;
  const urgency = ({ state }: ShownNode): number => URGENCY[state.status] ?? 4;
  // Many failures must not push running nodes off the screen: they get at most two thirds of it.
  const sorted = notable.toSorted((a, b) => urgency(a) - urgency(b) || b.order - a.order);
  const failed = sorted.filter(({ state }) => state.status === 'failed');
  const others = sorted.filter(({ state }) => state.status !== 'failed');
  const failedRoom = Math.max(budget - others.length, Math.ceil((budget * 2) / 3));
  return [...failed.slice(0, failedRoom), ...others].slice(0, budget);
}

const FINISHED: readonly NodeStatus[] = ['completed', 'skipped', 'cancelled', 'failed', 'unknown'];
const OPEN: readonly NodeStatus[] = ['running', 'waiting', 'queued', 'pending'];

function withSummaries(
  run: ShownRun,
  visible: readonly ShownNode[],
  rows: readonly string[],
  options: TreeOptions,
): string[] {
  if (visible.length === run.nodes.length) return [...rows];
  const hidden = { ...run.counts };
  for (const { state } of visible) hidden[state.status]--;
  const line = (statuses: readonly NodeStatus[], more: string): string[] => {
    const parts = statuses
      .filter((status) => hidden[status] > 0)
      .map((status) =>
        statusPaint(status, options.colors)(`${statusGlyph(status)} ${countText(hidden[status])} ${status}`),
      );
    return parts.length === 0 ? [] : [options.colors.dim(more) + parts.join(options.colors.dim(' · '))];
  };
  return [...line(FINISHED, ''), ...rows, ...line(OPEN, '… ')];
}

function nameColumn(rows: readonly Row[], width: number): number {
  let widest = 0;
  for (const { prefix, name, node } of rows) {
    if (node !== null) widest = Math.max(widest, prefix.length + 2 + visibleWidth(name));
  }
  return Math.min(widest, MAX_NAME_CELLS, Math.max(10, Math.floor(width / 2)));
}

/** `├─ ✓ name            1.2s  what there is to say`. */
function rowLine(run: ShownRun, { prefix, name, node }: Row, nameCells: number, options: TreeOptions): string {
  const { colors, frame, width } = options;
  if (node === null) return fit(colors.dim(prefix + printableLine(name)), width);
  const { status } = node.state;
  const paint = statusPaint(status, colors);
  const glyph = status === 'running' ? spinner(frame < 0 ? frame : frame + node.order) : statusGlyph(status);
  const isQuiet = status === 'pending' || status === 'skipped';
  const cell = column(printableLine(name), Math.max(4, nameCells - prefix.length - 2));
  const shownName = isQuiet ? colors.dim(cell) : status === 'running' ? colors.bold(cell) : cell;
  const left = `${colors.dim(prefix)}${paint(glyph)} ${shownName}  ${durationCell(node.state, options)}`;
  const note = noteOf(node.state, run.hintOf(node.path), { ...options, paused: pausedAt(run.document) });
  return fit(note === '' ? left.trimEnd() : `${left}  ${note}`, width);
}

function durationCell(node: BareNode, { colors, now }: TreeOptions): string {
  const since = node.attempt?.startedAt ?? node.startedAt;
  if (node.status === 'running' && since !== null) return durationText(tickText(now - Date.parse(since)));
  const { durationMs } = node;
  if (durationMs === null || node.status === 'skipped') return ' '.repeat(DURATION_CELLS);
  return colors.dim(durationText(formatDuration(durationMs)));
}

function durationText(text: string): string {
  return text.padStart(DURATION_CELLS);
}
