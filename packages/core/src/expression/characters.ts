/** Character classes and quoted text, which the expression language and JSONPath share. */
import { ExpressionError } from './expression-error.ts';

/** The first character of a name: a letter, `_`, or any character outside ASCII (as in RFC 9535). */
export function isNameStart(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || // a-z
    (code >= 0x41 && code <= 0x5a) || // A-Z
    code === 0x5f ||
    code >= 0x80
  );
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isNamePart(code: number): boolean {
  return isNameStart(code) || isDigit(code);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

export function skipBlanks(source: string, offset: number): number {
  let end = offset;
  while (isBlank(source.charCodeAt(end))) end++;
  return end;
}

/** The end of the name that starts at `offset`. */
export function nameEnd(source: string, offset: number): number {
  let end = offset;
  while (end < source.length && isNamePart(source.charCodeAt(end))) end++;
  const half = loneSurrogate(source.slice(offset, end));
  if (half >= 0) throw syntaxError('a name contains half of a surrogate pair', offset + half, 1);
  return end;
}

/** Index of the first unpaired surrogate, or -1. */
function loneSurrogate(text: string): number {
  if (text.isWellFormed()) return -1;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(index + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return index;
    index++;
  }
  return -1;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '/': '/', '\\': '\\' };

interface Quoted {
  readonly value: string;
  readonly end: number;
}

/**
 * Reads quoted text at `offset`. `strict` follows RFC 9535: control characters must be escaped, and only the
 * surrounding quote may be.
 */
export function readQuoted(source: string, offset: number, strict: boolean): Quoted {
  const quote = source.charAt(offset);
  let value = '';
  let plainFrom = offset + 1;
  for (let index = plainFrom; index < source.length; index++) {
    const char = source.charAt(index);
    if (char === quote) {
      value += source.slice(plainFrom, index);
      const half = loneSurrogate(value);
      if (half >= 0) throw syntaxError('the string contains half of a surrogate pair', offset, index + 1 - offset);
      return { value, end: index + 1 };
    }
    if (strict && char < ' ') throw syntaxError('a control character must be written as an escape', index, 1);
    if (char !== '\\') continue;
    value += source.slice(plainFrom, index);
    const escaped = readEscape(source, index, quote, strict);
    value += escaped.value;
    plainFrom = escaped.end;
    index = plainFrom - 1;
  }
  throw syntaxError('the string is not closed', offset, source.length - offset, `end it with ${quote}`);
}

function readEscape(source: string, offset: number, quote: string, strict: boolean): Quoted {
  const char = source[offset + 1] ?? '';
  const simple = Object.hasOwn(ESCAPES, char) ? ESCAPES[char] : undefined;
  if (simple !== undefined) return { value: simple, end: offset + 2 };
  if (char === quote || (!strict && (char === '"' || char === "'"))) return { value: char, end: offset + 2 };
  if (char === 'u') {
    const unit = hexUnit(source, offset + 2);
    if (unit < 0xd800 || unit > 0xdfff) return { value: String.fromCharCode(unit), end: offset + 6 };
    // Only a pair of surrogates is a character; an unpaired half is not valid text everywhere.
    const low = source.startsWith('\\u', offset + 6) ? hexUnit(source, offset + 8) : 0;
    if (unit <= 0xdbff && low >= 0xdc00 && low <= 0xdfff) {
      return { value: String.fromCharCode(unit, low), end: offset + 12 };
    }
    throw syntaxError('the escape is half of a surrogate pair', offset, 6);
  }
  throw syntaxError(
    `\\${char} is not a valid escape`,
    offset,
    2,
    'write \\\\ for a backslash; valid escapes are \\\\ \\\' \\" \\/ \\b \\f \\n \\r \\t \\uXXXX',
  );
}

function hexUnit(source: string, offset: number): number {
  const digits = source.slice(offset, offset + 4);
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw syntaxError('\\u needs four hexadecimal digits', offset - 2, 6);
  return Number.parseInt(digits, 16);
}

export function syntaxError(message: string, offset: number, length: number, hint?: string): ExpressionError {
  return new ExpressionError('EXPRESSION_SYNTAX', message, {
    at: { offset, length },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Counts the nesting depth of the parsers, so that hostile text ends in an error instead of a stack overflow. */
export class Nesting {
  private readonly limit: number;
  private level = 0;
  deepest = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  enter(offset: number): void {
    this.level++;
    if (this.level > this.deepest) this.deepest = this.level;
    if (this.level <= this.limit) return;
    throw new ExpressionError('EXPRESSION_LIMIT', `the expression nests deeper than ${this.limit} levels`, {
      at: { offset, length: 1 },
      hint: 'split it over several nodes or variables',
    });
  }

  leave(): void {
    this.level--;
  }
}
