/** One node of a run: its status, attempts, input and output or error. */
import { formatDuration, type NodeDocument } from '@nebula/core';
import type { Attempt } from '../attempts.ts';
import type { View } from '../terminal/io.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonLines } from './json.ts';
import { iterationsText } from './scope-rows.ts';
import { nextLines } from './summary.ts';
import { tableLines } from './table.ts';
import { statusGlyph, statusPaint } from './theme.ts';
import { clockText, plural } from './words.ts';

const MAX_LINES = 40;
const MAX_TEXT = 400;

export interface NodeDetailsOptions extends View {
  /** Nothing is cut. */
  readonly full: boolean;
  /** The lines that follow the error: where it comes from. */
  readonly cause: readonly string[];
  /** Writes a command for the run: `executions show`, `items/3/pack`. */
  readonly command: (verb: string, rest?: string) => string;
}

export function nodeDetailLines(
  path: string,
  node: NodeDocument | undefined,
  attempts: readonly Attempt[],
  options: NodeDetailsOptions,
): string[] {
  const { colors } = options;
  if (node === undefined) return [colors.bold(path), '', ...attemptLines(attempts, options)];
  const paint = statusPaint(node.status, colors);
  const took = node.durationMs === null ? '' : ` in ${formatDuration(node.durationMs)}`;
  const iterations =
    node.rounds === undefined
      ? ''
      : `  ${colors.dim(iterationsText(node.rounds, { colors, isEnded: node.finishedAt !== null }))}`;
  const lines = [
    `${paint(`${statusGlyph(node.status)} ${colors.bold(path)}`)}  ${paint(node.status)}${took}${iterations}`,
  ];
  if (attempts.length > 0) lines.push('', ...attemptLines(attempts, options));
  const { error } = node;
  if (error !== null) {
    const inside = error.node !== undefined && error.node !== path ? error.node : undefined;
    const where = inside === undefined ? '' : ` ${colors.dim('at')} ${colors.bold(inside)}`;
    const head = `${colors.red(`error ${colors.bold(error.code)}`)}${where}${colors.red(':')}`;
    lines.push('', `${head} ${printableLine(error.message)}`, ...options.cause);
    if (inside !== undefined) lines.push('', ...nextLines([[options.command('executions show', inside), '']], options));
  }
  lines.push(...valueLines('input', node.input, options));
  if (node.status === 'completed') lines.push(...valueLines('output', node.output, options));
  return lines;
}

function attemptLines(attempts: readonly Attempt[], view: View): string[] {
  // The id of an engine tells people nothing; the name of a remote worker does.
  const isRemote = attempts.some(({ worker }) => worker !== null && !worker.startsWith('wrk_'));
  const rows = attempts.map(({ attempt, worker, startedAt, endedAt, end, error }) => [
    String(attempt),
    clockText(Date.parse(startedAt)),
    endedAt === null ? '' : formatDuration(Date.parse(endedAt) - Date.parse(startedAt)),
    ...(isRemote ? [printableLine(worker ?? '')] : []),
    end ?? 'running',
    printableLine(error === null ? '' : `${error.code}: ${error.message}`),
  ]);
  const headings = [{ title: 'ATTEMPT', align: 'right' as const }, 'STARTED', 'TOOK'];
  return tableLines([...headings, ...(isRemote ? ['WORKER'] : []), 'END', 'ERROR'], rows, view);
}

function valueLines(title: string, value: NodeDocument['input'], options: NodeDetailsOptions): string[] {
  if (value === null) return [];
  const limits = options.full ? {} : { maxLines: MAX_LINES, maxText: MAX_TEXT };
  const { lines, cut, hasCutText } = jsonLines(value, { ...options, ...limits });
  const more =
    cut > 0 ? `… ${plural(cut, 'more line')}; --full shows everything` : 'long texts are cut; --full shows them';
  return ['', options.colors.dim(title), ...lines, ...(cut > 0 || hasCutText ? [options.colors.dim(more)] : [])];
}
