/** The strip of iterations: a column for each, or for several of them; failures are always seen. */
import { type Iterations, NO_STATUS, statusCode, statusCounts, stripOf } from '../model/iterations.ts';
import { NODE_STATUSES, type NodeRunState } from '../model/run-state.ts';
import type { Theme } from './theme.ts';

type Ink = CanvasRenderingContext2D;

/** Iterations of a loop as they are drawn: immutable, so columns and counts are computed once. */
export interface Strip {
  readonly iterations: Iterations;
  readonly counts: Uint32Array;
}

export function stripFrom(iterations: Iterations): Strip {
  return { iterations, counts: statusCounts(iterations) };
}

export interface Progress {
  /** Undefined: not known. */
  readonly total: number | undefined;
  readonly done: number;
  readonly failed: number;
}

const codeOf = Object.fromEntries(NODE_STATUSES.map((status) => [status, statusCode(status)])) as Readonly<
  Record<(typeof NODE_STATUSES)[number], number>
>;

/** Counts of the state are exact; those of the strip stand in for them. */
export function progressOf(state: NodeRunState | undefined, strip: Strip | undefined): Progress | undefined {
  const counts = state?.iterations;
  if (counts !== undefined) {
    const { total, succeeded, failed } = counts;
    return { total: total ?? undefined, done: succeeded + failed, failed };
  }
  if (strip === undefined) return undefined;
  const of = (status: (typeof NODE_STATUSES)[number]): number => strip.counts[codeOf[status]]!;
  const done = of('completed') + of('failed') + of('skipped') + of('cancelled') + of('unknown');
  return { total: strip.counts.reduce((sum, count) => sum + count, 0), done, failed: of('failed') };
}

const COLUMNS_MAX = 600;
const knownColumns = new WeakMap<Iterations, { readonly most: number; readonly columns: Uint8Array }>();

function columnsOf({ iterations }: Strip, most: number): Uint8Array {
  const known = knownColumns.get(iterations);
  if (known?.most === most) return known.columns;
  const columns = stripOf(iterations, most);
  knownColumns.set(iterations, { most, columns });
  return columns;
}

/** The width of one column; a gap is left between wide ones. */
export function columnCount(width: number): number {
  return Math.max(1, Math.min(COLUMNS_MAX, Math.floor(width)));
}

/** What is over is pale; a failure has its full colour, and is at least two pixels wide. */
export function drawStrip(
  ink: Ink,
  theme: Theme,
  strip: Strip,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const columns = columnsOf(strip, columnCount(width));
  const each = width / columns.length;
  const gap = each >= 5 ? 1 : 0;
  const alpha = ink.globalAlpha;
  ink.fillStyle = theme.dimEdge;
  ink.fillRect(x, y, width, height);
  const runs = new Map<number, number[]>();
  for (let from = 0; from < columns.length; ) {
    const code = columns[from]!;
    let to = from + 1;
    if (gap === 0) while (to < columns.length && columns[to] === code) to++;
    if (code !== NO_STATUS && code !== codeOf.pending) {
      const list = runs.get(code);
      if (list === undefined) runs.set(code, [from, to]);
      else list.push(from, to);
    }
    from = to;
  }
  for (const [code, list] of [...runs].sort(
    ([a], [b]) => (a === codeOf.failed ? 1 : 0) - (b === codeOf.failed ? 1 : 0),
  )) {
    const status = NODE_STATUSES[code]!;
    const isFailed = status === 'failed';
    ink.fillStyle = theme.status[status];
    ink.globalAlpha =
      alpha * (status === 'completed' ? 0.55 : status === 'skipped' || status === 'cancelled' ? 0.35 : 1);
    const [top, tall] = isFailed ? [y - 1, height + 2] : [y, height];
    for (let at = 0; at < list.length; at += 2) {
      const left = x + list[at]! * each;
      const wide = (list[at + 1]! - list[at]!) * each - gap;
      ink.fillRect(left, top, isFailed ? Math.max(2, wide) : wide, tall);
    }
  }
  ink.globalAlpha = alpha;
}

/** Without a status of each iteration: the shares of those that failed, succeeded and run. */
export function drawShares(
  ink: Ink,
  theme: Theme,
  iterations: NonNullable<NodeRunState['iterations']>,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const { open, succeeded, failed } = iterations;
  const total = Math.max(1, iterations.total ?? open + succeeded + failed);
  const alpha = ink.globalAlpha;
  ink.fillStyle = theme.dimEdge;
  ink.fillRect(x, y, width, height);
  let at = x;
  for (const [count, status] of [
    [failed, 'failed'],
    [succeeded, 'completed'],
    [open, 'running'],
  ] as const) {
    if (count === 0) continue;
    const part = Math.min(x + width - at, Math.max(2, (width * count) / total));
    ink.fillStyle = theme.status[status];
    ink.globalAlpha = alpha * (status === 'completed' ? 0.55 : 1);
    ink.fillRect(at, y, part, height);
    at += part;
  }
  ink.globalAlpha = alpha;
}

/** A ring that is closed when all iterations are over; the share of failures in their colour. */
export function drawProgressRing(
  ink: Ink,
  theme: Theme,
  progress: Progress,
  x: number,
  y: number,
  radius: number,
): void {
  const { total, done, failed } = progress;
  const share = total === undefined || total === 0 ? 0 : Math.min(1, done / total);
  const turn = 2 * Math.PI;
  const start = -turn / 4;
  ink.setLineDash(total === undefined ? [2, 3] : []);
  ink.lineWidth = 3;
  ink.strokeStyle = theme.dimEdge;
  ink.beginPath();
  ink.arc(x, y, radius, 0, turn);
  ink.stroke();
  ink.setLineDash([]);
  if (share === 0) return;
  ink.strokeStyle = theme.status.completed;
  ink.beginPath();
  ink.arc(x, y, radius, start, start + share * turn);
  ink.stroke();
  if (failed === 0 || total === undefined) return;
  ink.strokeStyle = theme.status.failed;
  ink.beginPath();
  ink.arc(x, y, radius, start, start + Math.max(0.06, failed / total) * turn);
  ink.stroke();
}
