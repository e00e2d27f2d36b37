/**
 * Parses the source of a scalar again and records the origin of every character of its value, so that a problem at an
 * offset inside a string can be shown in the file. Follows the rules of YAML 1.2; JSON strings are double-quoted
 * scalars.
 */

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded';

/** `starts[i]` and `ends[i]` are the offsets in the scalar's source of character `i` of the value. */
export interface ScalarReplay {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** `parentIndent` is the column, from 0, of the key before a block scalar; an explicit indentation counts from it. */
export function replayScalar(source: string, style: ScalarStyle, parentIndent?: number): ScalarReplay {
  const tape = new Tape();
  switch (style) {
    case 'plain':
      replayFolded(source, 0, source.length, tape, plainCharacter);
      break;
    case 'single':
      replayFolded(source, 1, source.length - 1, tape, singleQuotedCharacter);
      break;
    case 'double':
      replayFolded(source, 1, source.length - 1, tape, doubleQuotedCharacter);
      break;
    case 'literal':
    case 'folded':
      replayBlock(source, style, tape, parentIndent);
      break;
  }
  return tape;
}

class Tape implements ScalarReplay {
  text = '';
  readonly starts: number[] = [];
  readonly ends: number[] = [];

  /** Adds a piece of the value (a code point has up to two units) that was read from `start` to `end`. */
  push(piece: string, start: number, end: number): void {
    this.text += piece;
    for (let unit = 0; unit < piece.length; unit++) {
      this.starts.push(start);
      this.ends.push(end);
    }
  }

  dropSpacesSince(length: number): void {
    let keep = this.text.length;
    while (keep > length && isBlank(this.text[keep - 1])) keep--;
    this.text = this.text.slice(0, keep);
    this.starts.length = keep;
    this.ends.length = keep;
  }
}

/** Pushes the character at `at` and returns the offset after it. */
type CharacterReader = (source: string, at: number, tape: Tape) => number;

function plainCharacter(source: string, at: number, tape: Tape): number {
  tape.push(source.charAt(at), at, at + 1);
  return at + 1;
}

function singleQuotedCharacter(source: string, at: number, tape: Tape): number {
  const width = source[at] === "'" && source[at + 1] === "'" ? 2 : 1;
  tape.push(source.charAt(at), at, at + width);
  return at + width;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
};

const CODE_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function doubleQuotedCharacter(source: string, at: number, tape: Tape): number {
  if (source[at] !== '\\') return plainCharacter(source, at, tape);
  const letter = source[at + 1] ?? '';
  const digits = Object.hasOwn(CODE_LENGTHS, letter) ? (CODE_LENGTHS[letter] ?? 0) : 0;
  const end = Math.min(at + 2 + digits, source.length);
  if (digits > 0) {
    const code = Number.parseInt(source.slice(at + 2, end), 16);
    tape.push(code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD', at, end);
  } else {
    tape.push(Object.hasOwn(SHORT_ESCAPES, letter) ? (SHORT_ESCAPES[letter] as string) : letter, at, end);
  }
  return end;
}

/** Flow scalars: one line break is a space, n+1 are n line breaks, surrounding blanks are dropped. */
function replayFolded(source: string, from: number, to: number, tape: Tape, read: CharacterReader): void {
  let at = from;
  let lineLength = 0;
  while (at < to) {
    const lineBreak = lineBreakAt(source, at);
    const escaped = read === doubleQuotedCharacter && source[at] === '\\' ? lineBreakAt(source, at + 1) : 0;
    if (escaped > 0) {
      at = skipBlanks(source, at + 1 + escaped, to);
      lineLength = tape.text.length;
    } else if (lineBreak > 0) {
      tape.dropSpacesSince(lineLength);
      at = replayBreaks(source, at, to, tape);
      lineLength = tape.text.length;
    } else {
      const wasEscaped = read === doubleQuotedCharacter && source[at] === '\\';
      at = read(source, at, tape);
      // An escaped blank is content and survives at the end of a line.
      if (wasEscaped) lineLength = tape.text.length;
    }
  }
}

/** Line breaks and the blanks between them, from the first break at `at`; returns the offset of the next content. */
function replayBreaks(source: string, at: number, to: number, tape: Tape): number {
  const breaks: number[] = [];
  let cursor = at;
  for (;;) {
    const width = cursor < to ? lineBreakAt(source, cursor) : 0;
    if (width === 0) break;
    breaks.push(cursor);
    cursor = skipBlanks(source, cursor + width, to);
  }
  if (breaks.length === 1) tape.push(' ', at, at + lineBreakAt(source, at));
  for (const extra of breaks.slice(1)) tape.push('\n', extra, extra + lineBreakAt(source, extra));
  return cursor;
}

interface BlockLine {
  readonly start: number;
  readonly indent: number;
  readonly content: string;
}

/** `|` and `>` scalars. The source begins at the indicator. */
function replayBlock(source: string, style: 'literal' | 'folded', tape: Tape, parentIndent?: number): void {
  const headerEnd = source.indexOf('\n');
  if (headerEnd === -1) return;
  const header = source.slice(0, headerEnd);
  const lines = blockLines(source, headerEnd + 1);
  const first = lines.findIndex((line) => line.content !== '');
  if (first === -1) return;
  // With an explicit indentation the first line may be indented further.
  const stated = Number(/^[|>][+-]?([1-9])/.exec(header)?.[1] ?? 0);
  const counted = parentIndent === undefined ? leastIndent(lines) : parentIndent + stated;
  const trim = stated > 0 ? counted : (lines[first] as BlockLine).indent;
  const last = lines.findLastIndex((line) => line.content !== '' || line.indent > trim);
  if (style === 'literal') replayLiteral(lines.slice(0, last + 1), trim, tape);
  else replayFoldedBlock(lines.slice(0, last + 1), trim, tape);
  const end = source.length;
  if (!/^[|>][1-9]?-/.test(header)) tape.push('\n', Math.min(endOf(lines[last] as BlockLine), end), end);
}

function blockLines(source: string, from: number): BlockLine[] {
  const lines: BlockLine[] = [];
  let start = from;
  while (start < source.length) {
    const end = source.indexOf('\n', start);
    const text = source.slice(start, end === -1 ? source.length : end).replace(/\r$/, '');
    let indent = 0;
    while (text[indent] === ' ') indent++;
    lines.push({ start, indent, content: text.slice(indent) });
    if (end === -1) break;
    start = end + 1;
  }
  return lines;
}

function leastIndent(lines: readonly BlockLine[]): number {
  const filled = lines.filter((line) => line.content !== '');
  return filled.reduce((least, line) => Math.min(least, line.indent), Number.POSITIVE_INFINITY);
}

function endOf(line: BlockLine): number {
  return line.start + line.indent + line.content.length;
}

function pushLine(line: BlockLine, trim: number, tape: Tape): void {
  const extra = ' '.repeat(Math.max(0, line.indent - trim));
  const text = extra + line.content;
  const from = line.start + Math.min(trim, line.indent);
  for (let unit = 0; unit < text.length; unit++) tape.push(text.charAt(unit), from + unit, from + unit + 1);
}

function replayLiteral(lines: readonly BlockLine[], trim: number, tape: Tape): void {
  lines.forEach((line, index) => {
    const before = lines[index - 1];
    if (before) tape.push('\n', endOf(before), line.start);
    pushLine(line, trim, tape);
  });
}

/** Like `replayLiteral`, but a single break between two ordinary lines is a space. */
function replayFoldedBlock(lines: readonly BlockLine[], trim: number, tape: Tape): void {
  const first = lines.findIndex((line) => line.content !== '');
  for (const line of lines.slice(0, first)) {
    pushLine(line, trim, tape);
    tape.push('\n', endOf(line), endOf(line) + 1);
  }
  let separator = '';
  let moreIndented = false;
  let separatorAt = 0;
  for (const line of lines.slice(first)) {
    if (line.indent > trim || line.content.startsWith('\t')) {
      if (separator === ' ') separator = '\n';
      else if (!moreIndented && separator === '\n') separator = '\n\n';
      tape.push(separator, separatorAt, line.start);
      pushLine(line, trim, tape);
      separator = '\n';
      moreIndented = true;
    } else if (line.content === '') {
      if (separator === '\n') tape.push('\n', separatorAt, line.start);
      else separator = '\n';
    } else {
      tape.push(separator, separatorAt, line.start);
      pushLine(line, trim, tape);
      separator = ' ';
      moreIndented = false;
    }
    separatorAt = endOf(line);
  }
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** The width of the line break at `at`, or 0. */
function lineBreakAt(source: string, at: number): number {
  if (source[at] === '\n') return 1;
  return source[at] === '\r' && source[at + 1] === '\n' ? 2 : 0;
}

function skipBlanks(source: string, from: number, to: number): number {
  let at = from;
  while (at < to && isBlank(source[at])) at++;
  return at;
}
