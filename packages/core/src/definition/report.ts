/**
 * Problems as text for people:
 *
 *   order.yaml:12:5  error UNKNOWN_KEY  unknown key 'retires' in a node
 *
 *     11 │     action: http.request@1
 *     12 │     retires: 3
 *        │     ^^^^^^^
 *     hint: did you mean 'retry'?
 */
import { clipped, type Problem, type SourceRange } from '../problem.ts';

export interface ReportOptions {
  /** Shown before line and column. */
  readonly file?: string | undefined;
  /** The text that the ranges refer to (`source.text`); without it, no source lines are shown. */
  readonly text?: string | undefined;
  /** `true` for ANSI colours, or a custom style. Default: no colours. */
  readonly color?: boolean | ReportStyle;
  /** Maximum number of problems shown; default 20. */
  readonly limit?: number;
}

/** Formats each part of a report. */
export interface ReportStyle {
  location(text: string): string;
  error(text: string): string;
  warning(text: string): string;
  code(text: string): string;
  message(text: string): string;
  gutter(text: string): string;
  hint(text: string): string;
}

const REPORT_DEFAULTS = {
  limit: 20,
  /** Width of a source line; a longer line is cut to a window around the underline. */
  windowColumns: 100,
  messageLength: 500,
} as const;

const ansi =
  (...codes: number[]) =>
  (text: string): string =>
    `\u001b[${codes.join(';')}m${text}\u001b[0m`;

const ANSI: ReportStyle = {
  location: ansi(36),
  error: ansi(31, 1),
  warning: ansi(33, 1),
  code: ansi(2),
  message: ansi(1),
  gutter: ansi(2),
  hint: ansi(32),
};

const same = (text: string): string => text;
const PLAIN: ReportStyle = {
  location: same,
  error: same,
  warning: same,
  code: same,
  message: same,
  gutter: same,
  hint: same,
};

export function renderProblems(problems: readonly Problem[], options: ReportOptions = {}): string {
  if (problems.length === 0) return '';
  const { limit = REPORT_DEFAULTS.limit } = options;
  const style = styleOf(options.color);
  const shown = problems.slice(0, limit).map((problem) => renderProblem(problem, options, style));
  const hidden = problems.length - shown.length;
  if (hidden > 0) shown.push(style.gutter(`… and ${hidden} more`));
  shown.push(renderTotals(problems, style));
  return `${shown.join('\n\n')}\n`;
}

function renderTotals(problems: readonly Problem[], style: ReportStyle): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
  const parts: string[] = [];
  if (errors > 0) parts.push(style.error(count(errors, 'error')));
  if (warnings > 0) parts.push(style.warning(count(warnings, 'warning')));
  return parts.join(' and ');
}

/** The position and the source line of one problem, for a report that has its message already. */
export function renderPlace(problem: Problem, options: ReportOptions): string[] {
  const style = styleOf(options.color);
  const { range, hint } = problem;
  const lines = [style.location(locationOf(problem, options.file))];
  if (range && options.text) lines.push('', ...renderExcerpt(options.text, range, problem.severity, style));
  if (hint !== undefined) lines.push(`  ${style.hint('hint:')} ${clean(hint)}`);
  return lines;
}

function styleOf(color: ReportOptions['color'] = false): ReportStyle {
  return color === true ? ANSI : color === false ? PLAIN : color;
}

function renderProblem(problem: Problem, options: ReportOptions, style: ReportStyle): string {
  const { severity, code, message, hint, range } = problem;
  const location = locationOf(problem, options.file);
  const head = `${location === '' ? '' : `${style.location(location)}  `}${style[severity](severity)} ${style.code(code)}  ${style.message(clean(message))}`;
  const lines = [head];
  const excerpt = range && options.text ? renderExcerpt(options.text, range, severity, style) : [];
  if (excerpt.length > 0) lines.push('', ...excerpt);
  if (hint !== undefined) lines.push(`  ${style.hint('hint:')} ${clean(hint)}`);
  return lines.join('\n');
}

function locationOf({ range, path }: Problem, file: string | undefined): string {
  if (range) return [...(file === undefined ? [] : [clean(file)]), range.line, range.column].join(':');
  const where = clean(path.join('.'));
  return [file === undefined ? '' : clean(file), where].filter((part) => part !== '').join(': ');
}

function renderExcerpt(text: string, range: SourceRange, severity: Problem['severity'], style: ReportStyle): string[] {
  const start = range.offset - range.column + 1;
  const line = lineAt(text, start);
  const before = start > 0 ? lineAt(text, text.lastIndexOf('\n', start - 2) + 1) : '';
  const width = String(range.line).length;
  const gutter = (label: string): string => style.gutter(`  ${label.padStart(width)} │ `);
  const length = Math.max(1, Math.min(range.length, line.length - range.column + 1));
  const view = windowOf(line, range.column - 1, length);
  const rows: string[] = [];
  if (before.trim() !== '') rows.push(gutter(String(range.line - 1)) + cut(before, view.from));
  rows.push(gutter(String(range.line)) + view.text);
  rows.push(gutter('') + ' '.repeat(view.indent) + style[severity]('^'.repeat(view.carets)));
  return rows.map((row) => row.trimEnd());
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? text.length : end).replace(/\r$/, '');
}

interface LineWindow {
  readonly text: string;
  /** Offset of the first character shown. */
  readonly from: number;
  /** Screen columns before the underline, and its width. */
  readonly indent: number;
  readonly carets: number;
}

/** The part of a line around `column`; the underline is measured in screen columns. */
function windowOf(line: string, column: number, length: number): LineWindow {
  const max = REPORT_DEFAULTS.windowColumns;
  const fits = line.length <= max;
  const from = fits ? 0 : Math.max(0, Math.min(column - Math.floor(max / 3), line.length - max));
  const to = fits ? line.length : Math.min(line.length, from + max);
  const head = from > 0 ? '…' : '';
  const tail = to < line.length ? '…' : '';
  const left = head + visible(line.slice(from, column));
  const marked = visible(line.slice(column, Math.min(column + length, to)));
  return {
    text: left + marked + visible(line.slice(Math.min(column + length, to), to)) + tail,
    from,
    indent: columnsOf(left),
    carets: Math.max(1, columnsOf(marked)),
  };
}

/** Cuts the preceding line like the reported one. */
function cut(line: string, from: number): string {
  const text = visible(line.slice(from, from + REPORT_DEFAULTS.windowColumns));
  return (from > 0 ? '…' : '') + text + (line.length > from + REPORT_DEFAULTS.windowColumns ? '…' : '');
}

function clean(text: string): string {
  return visible(clipped(text, REPORT_DEFAULTS.messageLength));
}

/**
 * Replaces tabs by two spaces, and control and direction characters by symbols, so that no file can write to the
 * terminal.
 */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    if (character === '\t') return '  ';
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    // The zero-width joiner joins the parts of an emoji and is harmless alone.
    return code === 0x200d ? character : '\ufffd';
  });
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** The width in screen columns: a grapheme cluster counts once, East Asian wide characters twice. */
function columnsOf(text: string): number {
  if (/^[\p{ASCII}…]*$/u.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    columns += WIDE.test(segment) ? 2 : 1;
  }
  return columns;
}
