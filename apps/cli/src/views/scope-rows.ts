/** Rows of the tree for the bodies of composite nodes: single bodies in full, loops by their open and failed iterations. */
import type { IterationsDocument } from '@nebula/core';
import type { ShownNode, ShownRun, ShownScope } from '../live/shown-run.ts';
import type { Colors } from '../terminal/io.ts';
import { countText, plural } from './words.ts';

/** A node, or a line of text between nodes. */
export interface Row {
  readonly prefix: string;
  readonly name: string;
  readonly node: ShownNode | null;
}

/** Iterations of one loop that are shown: those that run, the newest that failed, and those that were cancelled then. */
const OPEN_ITERATIONS = 4;
const FAILED_ITERATIONS = 3;
const CANCELLED_ITERATIONS = 2;
const GUIDE = '  ┊ ';

export function bodyRows({ scopes, state }: ShownNode, prefix: string): Row[] {
  const under = continued(prefix) + GUIDE;
  const once = scopes.filter((scope) => !isIteration(scope));
  return [...once.flatMap((scope) => scopeRows(scope, under)), ...iterationRows(scopes, state.rounds, under)];
}

function isIteration({ state: { round: iteration, undoes } }: ShownScope): boolean {
  return iteration !== null && undoes === undefined;
}

/** The prefix of the rows below a node. */
function continued(prefix: string): string {
  return prefix.replaceAll('├─ ', '│  ').replaceAll('└─ ', '   ');
}

/** Compensations that run or have run, last first. */
export function undoRows({ undo, isOpen }: ShownRun): Row[] {
  if (undo === undefined || undo.nodes.length === 0) return [];
  const heading = isOpen ? '↺ undoing completed nodes, last first' : '↺ undone, last first';
  return [text('', heading), ...undoSteps(undo.nodes)];
}

/** More compensations than this are cut to those around the running one and the failed ones. */
const UNDO_STEPS = 12;
const UNDO_AROUND = 4;

function undoSteps(nodes: readonly ShownNode[]): Row[] {
  const rows = nodes.map((node) => row(node, '  ', node.name));
  if (nodes.length <= UNDO_STEPS) return rows;
  const now = nodes.findIndex(({ state: { status } }) => status !== 'completed' && status !== 'failed');
  const at = now < 0 ? nodes.length : now;
  const isShown = (index: number): boolean =>
    Math.abs(index - at) <= UNDO_AROUND || ['failed', 'unknown'].includes(nodes[index]?.state.status ?? '');
  const shown = rows.filter((_, index) => isShown(index)).slice(0, 2 * UNDO_STEPS);
  const done = nodes.filter(({ state }) => state.status === 'completed').length;
  return [...shown, text('  ', `… ${done} of ${nodes.length} are undone`)];
}

function scopeRows(scope: ShownScope, prefix: string): Row[] {
  if (scope.state.undoes === undefined)
    return scope.nodes.flatMap((node) => withBody(row(node, prefix + node.prefix, node.name)));
  return [text(prefix, '↺ undoing'), ...scope.nodes.map((node) => row(node, `${prefix}  `, node.name))];
}

function withBody(one: Row): Row[] {
  return one.node === null ? [one] : [one, ...bodyRows(one.node, one.prefix)];
}

function iterationRows(
  scopes: readonly ShownScope[],
  iterations: IterationsDocument | undefined,
  prefix: string,
): Row[] {
  if (iterations === undefined) return [];
  const all = scopes.filter(isIteration);
  const open = all.filter(({ state }) => state.status !== 'failed');
  const cancelled = all.filter(({ isCancelled }) => isCancelled);
  const failed = all.filter(({ state, isCancelled }) => state.status === 'failed' && !isCancelled);
  const ended = [...failed.slice(-FAILED_ITERATIONS), ...cancelled.slice(0, CANCELLED_ITERATIONS)];
  const shown = [...open.slice(0, OPEN_ITERATIONS), ...ended.sort(byIteration)];
  const rows = shown.flatMap((scope) => oneIteration(scope, prefix));
  const more = [
    moreText(open.length === 0 ? 0 : iterations.open, OPEN_ITERATIONS, 'open'),
    moreText(iterations.failed, FAILED_ITERATIONS, 'failed'),
    moreText(cancelled.length, CANCELLED_ITERATIONS, 'cancelled'),
  ].filter((part) => part !== '');
  return more.length === 0 ? rows : [...rows, text(prefix, `… ${more.join(', ')}`)];
}

function byIteration(one: ShownScope, other: ShownScope): number {
  return (one.state.round ?? 0) - (other.state.round ?? 0);
}

function moreText(count: number, shown: number, status: string): string {
  return count > shown ? `${plural(count - shown, 'more iteration')} ${status}` : '';
}

/** A body of one node needs no heading. */
function oneIteration(scope: ShownScope, prefix: string): Row[] {
  const { state, nodes } = scope;
  const iteration = String(state.round);
  const [only] = nodes;
  if (nodes.length === 1 && only !== undefined) return withBody(row(only, prefix, `${iteration}/${only.name}`));
  const inside = nodes.flatMap((node) => withBody(row(node, `${prefix}  ${node.prefix}`, node.name)));
  return [text(prefix, iteration), ...inside];
}

function row(node: ShownNode, prefix: string, name: string): Row {
  return { prefix, name, node };
}

function text(prefix: string, words: string): Row {
  return { prefix, name: words, node: null };
}

/** `12 of 100 iterations, 3 open, 1 failed`. An ended loop has cancelled those that were open. */
export function iterationsText(
  { total, open, succeeded, failed }: IterationsDocument,
  { colors, isEnded }: { readonly colors: Colors; readonly isEnded: boolean },
): string {
  const ended = succeeded + failed;
  const done = total === null ? plural(ended, 'iteration') : `${countText(ended)} of ${plural(total, 'iteration')}`;
  const lost = failed > 0 ? [colors.red(`${countText(failed)} failed`)] : [];
  const rest = open > 0 ? [`${countText(open)} ${isEnded ? 'cancelled' : 'open'}`] : [];
  return [done, ...(isEnded ? [...lost, ...rest] : [...rest, ...lost])].join(', ');
}

/** Cuts to at most `budget` rows, with a note of the rest. */
export function trimmed(rows: readonly Row[], budget: number): readonly Row[] {
  if (rows.length <= budget) return rows;
  if (budget <= 0) return [];
  const kept = rows.slice(0, budget - 1);
  return [...kept, text(rows[0]?.prefix ?? '', `… ${plural(rows.length - kept.length, 'more line')}`)];
}
