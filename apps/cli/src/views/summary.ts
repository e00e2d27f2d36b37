/** The summary of an ended run: status, duration, output or error, and next commands. */
import { formatDuration, type RunDocument, type RunError } from '@nebula/core';
import type { View } from '../terminal/io.ts';
import { column, printable, visibleWidth, wrap } from '../terminal/width.ts';
import { jsonLines } from './json.ts';
import { statusGlyph, statusPaint } from './theme.ts';
import { plural, shortened } from './words.ts';

export interface SummaryOptions extends View {
  /** Writes a command for this run: `executions show`, `--json` → `nebula executions show exe_1 --json`. */
  readonly command: (verb: string, rest?: string) => string;
  /** Nothing is cut. */
  readonly full?: boolean;
  /** The lines that follow the error: where it comes from. */
  readonly cause?: readonly string[];
  /** The commands that continue a failed run. */
  readonly retry?: readonly string[];
}

const MAX_OUTPUT_LINES = 24;
/** The most characters of a text in the output and of an error message. */
const MAX_TEXT = 400;

/** Below a tree the first line is left out, because it repeats the header. */
export function summaryLines(
  document: RunDocument,
  options: SummaryOptions & { readonly isUnderTree?: boolean },
): string[] {
  const { colors } = options;
  const paint = statusPaint(document.status, colors);
  const took = durationOf(document);
  const head = `${paint(`${statusGlyph(document.status)} ${colors.bold(document.status)}`)}${took}  ${colors.dim(document.executionId)}`;
  const body = document.status === 'completed' ? outputLines(document, options) : errorPart(document, options);
  return options.isUnderTree === true ? body.slice(body[0] === '' ? 1 : 0) : [head, ...body];
}

function durationOf(document: RunDocument): string {
  if (document.startedAt === null || document.finishedAt === null) return '';
  return ` in ${formatDuration(Date.parse(document.finishedAt) - Date.parse(document.startedAt))}`;
}

function outputLines(document: RunDocument, options: SummaryOptions): string[] {
  if (document.output === null) return [];
  const limits = options.full === true ? {} : { maxLines: MAX_OUTPUT_LINES, maxText: MAX_TEXT };
  const { lines, cut, hasCutText } = jsonLines(document.output, { ...options, ...limits });
  if (cut === 0 && !hasCutText) return ['', ...lines];
  const rest = cut > 0 ? `… ${plural(cut, 'more line')}; ` : '';
  const all = `${rest}all of it: ${options.command('executions show', '--full')}`;
  return ['', ...lines, ...wrap(all, options.width).map((line) => options.colors.dim(line))];
}

function errorPart(document: RunDocument, options: SummaryOptions): string[] {
  const { command } = options;
  const lines: string[] = [];
  if (document.error !== null) lines.push('', ...runErrorLines(document.error, options));
  const node = document.error?.node;
  const next: [string, string][] = [
    [command('executions explain', node), 'why it ended like this'],
    ...(node === undefined ? [] : [[command('executions show', node), 'its attempts and input'] as [string, string]]),
    [command('executions timeline'), 'when each step ran'],
  ];
  for (const step of options.retry ?? []) next.push([step, retryPurpose(step)]);
  if (document.status === 'failed' && !next.some(([step]) => isWithFile(step))) {
    next.push([command('executions retry', '--to FILE'), 'continue with a corrected file']);
  }
  return [...lines, '', ...nextLines(next, options)];
}

function isWithFile(step: string): boolean {
  return step.includes(' --to ');
}

function retryPurpose(step: string): string {
  return isWithFile(step) ? 'continue with the corrected file' : 'run the failed nodes again';
}

function runErrorLines(error: RunError, { colors, full, cause = [] }: SummaryOptions): string[] {
  const where = error.node === undefined ? '' : ` ${colors.dim('at')} ${colors.bold(error.node)}`;
  const { kept, note } = shortened(error.message, full === true ? Number.POSITIVE_INFINITY : MAX_TEXT);
  const head = `${colors.red(`error ${colors.bold(error.code)}`)}${where}${colors.red(':')}`;
  return [`${head} ${printable(kept)}${colors.dim(note)}`, ...cause];
}

/** Commands with their purpose, in two columns, or below each other if these do not fit. */
export function nextLines(
  next: readonly (readonly [command: string, purpose: string])[],
  { colors, width }: View,
): string[] {
  const commandCells = Math.max(...next.map(([command]) => visibleWidth(command)));
  const purposeCells = Math.max(...next.map(([, purpose]) => visibleWidth(purpose)));
  if (NEXT_INDENT + commandCells + 2 + purposeCells > width) {
    const stacked = next.flatMap(([command, purpose]) => [
      ...(purpose === '' ? [] : wrap(purpose, width - 4).map((line) => colors.dim(`  # ${line}`))),
      `  ${colors.bold(command)}`,
    ]);
    return [colors.dim('next'), ...stacked];
  }
  return next.map(([command, purpose], at) => {
    const label = column(at === 0 ? 'next' : '', NEXT_INDENT);
    const padding = ' '.repeat(commandCells - visibleWidth(command));
    return `${colors.dim(label)}${colors.bold(command)}${padding}  ${colors.dim(purpose)}`.trimEnd();
  });
}

const NEXT_INDENT = 6;
