/**
 * Iterations of loops. The run names what happens in iteration 3 of the loop `items` by the path `items/3/pack`; the
 * graph has one node `items/pack` for all iterations, and shows one of them.
 */
import { type Graph, groupsAround } from './graph.ts';
import { type DrawnStatus, NODE_STATUSES } from './run-state.ts';

/** The iteration that each loop shows, by the id of the loop in the graph. */
export type Scopes = Readonly<Record<string, number>>;

/**
 * Iterations of a loop. `Uint8Array`: the status of each, as its index in `NODE_STATUSES`. `Uint32Array`: cells that sum
 * up several iterations, in their order; a cell has a count for each of `NODE_STATUSES`.
 */
export type Iterations = Uint8Array | Uint32Array;

const STATUS_COUNT = NODE_STATUSES.length;

/** What a cell of several iterations shows: a failure is never hidden by a success. */
const URGENCY: Readonly<Record<DrawnStatus, number>> = {
  failed: 9,
  unknown: 8,
  waiting: 7,
  running: 6,
  queued: 5,
  cancelled: 4,
  completed: 3,
  skipped: 2,
  pending: 1,
};

const URGENCY_OF_CODE = Uint8Array.from(NODE_STATUSES, (status) => URGENCY[status]);

/** The code of a cell without iterations. */
export const NO_STATUS = 255;

export function statusCode(status: DrawnStatus): number {
  return NODE_STATUSES.indexOf(status);
}

/** The path of a node in a run: `items/3/pack` for the node `items/pack` while iteration 3 of `items` is shown. */
export function pathInRun(graph: Graph, id: string, scopes: Scopes): string {
  let [path, above] = ['', ''];
  for (const group of groupsAround(graph, id).toReversed()) {
    const step = group.slice(above === '' ? 0 : above.length + 1);
    path = path === '' ? step : `${path}/${step}`;
    const iteration = scopes[group];
    if (iteration !== undefined) path = `${path}/${iteration}`;
    above = group;
  }
  const last = above === '' ? id : id.slice(above.length + 1);
  return path === '' ? last : `${path}/${last}`;
}

/** The node of a path in a run, with the iterations that it is in; undefined: the graph has no such node. */
export function locate(
  graph: Graph,
  path: string,
): { readonly node: string; readonly iterations: readonly (readonly [loop: string, iteration: number])[] } | undefined {
  const iterations: (readonly [string, number])[] = [];
  let id = '';
  let isInLoop = false;
  for (const step of path.split('/')) {
    if (isInLoop && /^\d+$/.test(step)) {
      iterations.push([id, Number(step)]);
      isInLoop = false;
      continue;
    }
    id = id === '' ? step : `${id}/${step}`;
    isInLoop = graph.nodes.get(id)?.kind === 'loop';
  }
  return graph.nodes.has(id) ? { node: id, iterations } : undefined;
}

export function iterationCount(iterations: Iterations): number {
  return iterations instanceof Uint8Array ? iterations.length : iterations.reduce((sum, count) => sum + count, 0);
}

/** The number of iterations with each status, by its code. */
export function statusCounts(iterations: Iterations): Uint32Array {
  const counts = new Uint32Array(STATUS_COUNT);
  if (iterations instanceof Uint8Array) for (const code of iterations) counts[code]!++;
  else for (const [at, count] of iterations.entries()) counts[at % STATUS_COUNT]! += count;
  return counts;
}

/** A strip of at most this many columns: the code of the most urgent status of each. */
export function stripOf(iterations: Iterations, most: number): Uint8Array {
  const cells = iterations instanceof Uint8Array ? iterations : codesOf(iterations);
  if (cells.length <= most) return cells;
  const strip = new Uint8Array(most).fill(NO_STATUS);
  for (let at = 0; at < cells.length; at++) {
    const column = Math.floor((at * most) / cells.length);
    strip[column] = moreUrgent(strip[column]!, cells[at]!);
  }
  return strip;
}

/** The iteration that is meant by a place in the strip: the first of the most urgent status there. */
export function iterationAt(iterations: Iterations, share: number, columns: number): number | undefined {
  const isSingle = iterations instanceof Uint8Array;
  const cells = isSingle ? iterations.length : iterations.length / STATUS_COUNT;
  if (cells === 0) return undefined;
  const shown = Math.min(cells, columns);
  const column = Math.min(shown - 1, Math.max(0, Math.floor(share * shown)));
  const [from, to] = [Math.ceil((column * cells) / shown), Math.ceil(((column + 1) * cells) / shown)];
  if (!isSingle) return iterationCount(iterations.subarray(0, from * STATUS_COUNT));
  let best = from;
  for (let at = from + 1; at < to; at++)
    if (moreUrgent(iterations[best]!, iterations[at]!) !== iterations[best]) best = at;
  return best;
}

/** The nearest iteration before or after one that has a status; without a status, the next one. */
export function nextIteration(
  iterations: Iterations | undefined,
  from: number | undefined,
  step: 1 | -1,
  status?: DrawnStatus,
): number | undefined {
  const start = from === undefined ? (step > 0 ? 0 : undefined) : from + step;
  if (iterations === undefined) return start === undefined || start < 0 ? undefined : start;
  const count = iterationCount(iterations);
  let at = start ?? count - 1;
  if (status !== undefined && iterations instanceof Uint8Array) {
    const code = statusCode(status);
    while (at >= 0 && at < count && iterations[at] !== code) at += step;
  }
  return at >= 0 && at < count ? at : undefined;
}

function moreUrgent(a: number, b: number): number {
  if (a === NO_STATUS) return b;
  return b !== NO_STATUS && URGENCY_OF_CODE[b]! > URGENCY_OF_CODE[a]! ? b : a;
}

function codesOf(cells: Uint32Array): Uint8Array {
  const codes = new Uint8Array(cells.length / STATUS_COUNT).fill(NO_STATUS);
  for (const [at, count] of cells.entries()) {
    const cell = Math.floor(at / STATUS_COUNT);
    if (count > 0) codes[cell] = moreUrgent(codes[cell]!, at % STATUS_COUNT);
  }
  return codes;
}
