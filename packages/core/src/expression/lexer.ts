/**
 * Splits the source into tokens, one at a time and never ahead of the parser: after a `$` the JSONPath parser takes
 * over, and in a template the text after `}}` is not an expression.
 */
import { isDigit, isNamePart, isNameStart, nameEnd, readQuoted, skipBlanks, syntaxError } from './characters.ts';

type TokenKind = 'number' | 'string' | 'name' | 'dollar' | 'sign' | 'end';

/** Longest first, so that `==` is not read as two `=`. */
const SIGNS = [
  ...['...', '=>', '==', '!=', '<=', '>=', '&&', '||', '??', '?.'],
  ...['+', '-', '*', '/', '%', '<', '>', '!', '?', ':', ',', '.', '(', ')', '[', ']', '{', '}'],
];

/** Operators of other languages, with a hint each. */
const FOREIGN_SIGNS: readonly (readonly [string, string])[] = [
  ['===', 'write == (it compares type and value)'],
  ['!==', 'write != (it compares type and value)'],
  ['<>', 'write !='],
  ['++', 'write + 1'],
  ['**', 'write .pow(n)'],
  ['->', 'write =>'],
  ['`', "write '…' + x.toString(), or use a template"],
  ['=', 'write =='],
  ['&', 'write &&'],
  ['|', 'write ||, or call a method: $x.upper()'],
  [';', 'an expression is one value'],
];

/** Reserved words, except as names of members. */
const WORDS = new Set(['and', 'or', 'not', 'contains', 'true', 'false', 'null']);

export function isWord(name: string): boolean {
  return WORDS.has(name);
}

export class Lexer {
  readonly source: string;
  kind: TokenKind = 'end';
  /** The sign, the name, or the name after `$`. */
  text = '';
  value: string | number = '';
  start = 0;
  end: number;
  previousEnd = 0;

  constructor(source: string, offset: number) {
    this.source = source;
    this.end = offset;
    this.advance();
  }

  /** Reads the token at or after `offset`. */
  advance(offset: number = this.end): void {
    const { source } = this;
    const start = skipBlanks(source, offset);
    this.previousEnd = offset;
    this.start = start;
    if (start >= source.length) return this.accept('end', '', start);
    const code = source.charCodeAt(start);
    if (isNameStart(code)) {
      const end = nameEnd(source, start);
      return this.accept('name', source.slice(start, end), end);
    }
    if (isDigit(code)) return this.readNumber();
    if (code === 0x24) {
      const end = isNameStart(source.charCodeAt(start + 1)) ? nameEnd(source, start + 1) : start + 1;
      return this.accept('dollar', source.slice(start + 1, end), end);
    }
    if (code === 0x22 || code === 0x27) {
      const quoted = readQuoted(source, start, false);
      this.value = quoted.value;
      return this.accept('string', '', quoted.end);
    }
    this.readSign();
  }

  private accept(kind: TokenKind, text: string, end: number): void {
    this.kind = kind;
    this.text = text;
    this.end = end;
  }

  private readNumber(): void {
    const { source, start } = this;
    let end = start;
    while (isDigit(source.charCodeAt(end))) end++;
    if (source[start] === '0' && end > start + 1)
      throw syntaxError('a number has no leading zeros', start, end - start);
    // A dot without a following digit is a method call: 5.round()
    if (source[end] === '.' && isDigit(source.charCodeAt(end + 1))) {
      end++;
      while (isDigit(source.charCodeAt(end))) end++;
    }
    if (source[end] === 'e' || source[end] === 'E') end = this.exponentEnd(end);
    if (isNamePart(source.charCodeAt(end)) && end < source.length) {
      throw syntaxError('a number is directly followed by a name', start, end + 1 - start);
    }
    this.value = Number(source.slice(start, end));
    if (!Number.isFinite(this.value)) throw syntaxError('the number is too large', start, end - start);
    this.accept('number', '', end);
  }

  private exponentEnd(offset: number): number {
    const { source } = this;
    let end = offset + 1;
    if (source[end] === '+' || source[end] === '-') end++;
    if (!isDigit(source.charCodeAt(end))) throw syntaxError('the exponent has no digits', this.start, end - this.start);
    while (isDigit(source.charCodeAt(end))) end++;
    return end;
  }

  private readSign(): void {
    const { source, start } = this;
    const sign = SIGNS.find((candidate) => source.startsWith(candidate, start));
    const foreign = FOREIGN_SIGNS.find(([candidate]) => source.startsWith(candidate, start));
    // `===` begins with a known sign, `=>` with a foreign one: the longer match wins.
    if (foreign !== undefined && foreign[0].length > (sign?.length ?? 0)) {
      throw syntaxError(`${foreign[0]} is not part of the language`, start, foreign[0].length, foreign[1]);
    }
    if (sign === undefined) {
      const char = String.fromCodePoint(source.codePointAt(start) ?? 0);
      throw syntaxError(`unexpected character ${JSON.stringify(char)}`, start, char.length);
    }
    this.accept('sign', sign, start + sign.length);
  }
}
