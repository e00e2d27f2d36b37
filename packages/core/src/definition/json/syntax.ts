/**
 * Locates and explains JSON syntax errors. Runs only after `JSON.parse` has rejected the text, because its messages
 * often lack a position and are not written for authors.
 */
import { didYouMean } from '../../problem.ts';
import { skipJsonSpace } from './scan.ts';

export interface JsonSyntaxError {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
  readonly hint: string;
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

class FoundError extends Error {
  readonly error: JsonSyntaxError;
  constructor(error: JsonSyntaxError) {
    super(error.message);
    this.error = error;
  }
}

function fail(offset: number, length: number, message: string, hint: string): never {
  throw new FoundError({ offset, length, message, hint });
}

export function findJsonError(text: string): JsonSyntaxError | undefined {
  try {
    scanDocument(text);
    return undefined;
  } catch (error) {
    if (error instanceof FoundError) return error.error;
    throw error;
  }
}

/** A state machine with an explicit stack of open brackets. */
function scanDocument(text: string): void {
  const open: number[] = [];
  let expected: Expected = 'value';
  for (let at = skipJsonSpace(text, 0); ; at = skipJsonSpace(text, at)) {
    const top = open.at(-1);
    if (at >= text.length) {
      if (expected === 'end') return;
      failAtEnd(text, top, expected);
    }
    const character = text.charAt(at);
    if (expected === 'end') fail(at, text.length - at, 'there is text after the end of the JSON value', 'remove it');
    checkCommon(text, at);
    if (expected === 'comma') {
      expected = afterValue(text, at, top as number, open);
      at++;
    } else if (expected === 'colon') {
      if (character !== ':') fail(at, 1, `expected ':' after the key, found ${show(text, at)}`, 'write "key": value');
      expected = 'value';
      at++;
    } else if (expected === 'key' || expected === 'key or }') {
      if (character === '}') {
        if (expected === 'key') failTrailingComma(text, at);
        open.pop();
        expected = open.length === 0 ? 'end' : 'comma';
        at++;
      } else {
        if (character !== '"') failKey(text, at);
        at = scanString(text, at);
        expected = 'colon';
      }
    } else if (character === '{' || character === '[') {
      open.push(at);
      expected = character === '{' ? 'key or }' : 'value or ]';
      at++;
    } else if (character === ']' && expected === 'value or ]') {
      open.pop();
      expected = open.length === 0 ? 'end' : 'comma';
      at++;
    } else {
      at = scanScalar(text, at);
      expected = open.length === 0 ? 'end' : 'comma';
    }
  }
}

/** After a value inside a container, `,` or the closing bracket must follow. */
function afterValue(text: string, at: number, top: number, open: number[]): Expected {
  const character = text.charAt(at);
  const object = text[top] === '{';
  if (character === ',') return object ? 'key' : 'value';
  const close = object ? '}' : ']';
  if (character !== close) {
    fail(at, 1, `expected ',' or '${close}', found ${show(text, at)}`, 'is a comma missing before it?');
  }
  open.pop();
  return open.length === 0 ? 'end' : 'comma';
}

function failAtEnd(text: string, top: number | undefined, expected: Expected): never {
  const at = text.length;
  if (top === undefined)
    fail(at, 0, 'the file ends where a value is expected', 'a definition is an object: { "id": … }');
  const what = text[top] === '{' ? 'object' : 'list';
  const line = text.slice(0, top).split('\n').length;
  const close = text[top] === '{' ? '}' : ']';
  const missing = expected === 'colon' || expected === 'value' ? 'a value and ' : '';
  fail(at, 0, `the file ends inside the ${what} that begins in line ${line}`, `${missing}'${close}' is missing`);
}

/** Errors that are detected at any position. */
function checkCommon(text: string, at: number): void {
  const two = text.slice(at, at + 2);
  if (two === '//' || two === '/*' || text[at] === '#') {
    fail(at, two[0] === '#' ? 1 : 2, 'JSON has no comments', "remove it; only YAML has comments, after '#'");
  }
  if (text[at] === "'") fail(at, 1, 'strings are written in double quotes', `replace ' by "`);
  const code = text.codePointAt(at) ?? 0;
  if (/[\s\p{Cc}\p{Cf}\p{Zs}]/u.test(String.fromCodePoint(code))) {
    fail(at, 1, `${show(text, at)} is not white space in JSON`, 'remove it, or use an ordinary space');
  }
}

function failTrailingComma(text: string, at: number): never {
  const comma = text.lastIndexOf(',', at);
  fail(comma, 1, `trailing comma before '${text[at]}'`, 'remove the comma');
}

function failKey(text: string, at: number): never {
  const word = /^[\p{L}\p{N}_$.-]+/u.exec(text.slice(at, at + 100))?.[0];
  if (word) fail(at, word.length, `the key ${word} must be in double quotes`, `write "${word}"`);
  if (text[at] === ',') fail(at, 1, "there is one ',' too many", 'remove it');
  fail(at, 1, `expected a key in double quotes, found ${show(text, at)}`, 'write "key": value');
}

const LITERALS = ['true', 'false', 'null'];

function scanScalar(text: string, at: number): number {
  const character = text.charAt(at);
  if (character === '"') return scanString(text, at);
  if (/[-+.\d]/.test(character)) return scanNumber(text, at);
  if (character === ']' || character === '}') {
    if (/,\s*$/.test(text.slice(Math.max(0, at - 200), at))) failTrailingComma(text, at);
    fail(at, 1, `expected a value, found '${character}'`, 'is a value missing before it?');
  }
  const word = /^[\p{L}\p{N}_$]+/u.exec(text.slice(at, at + 100))?.[0];
  if (word === undefined) fail(at, 1, `expected a value, found ${show(text, at)}`, 'is a value missing before it?');
  if (LITERALS.includes(word)) return at + word.length;
  const known = didYouMean(word, LITERALS) ?? (word === 'None' || word === 'undefined' ? 'null' : undefined);
  const number = /^(NaN|Infinity)$/i.test(word) ? 'JSON has no NaN and no Infinity' : undefined;
  fail(
    at,
    word.length,
    `${word} is not a JSON value`,
    number ?? (known ? `did you mean ${known}?` : `for a string, write "${word}"`),
  );
}

function scanNumber(text: string, at: number): number {
  const run = /^[-+.\w]+/.exec(text.slice(at, at + 400))?.[0] ?? '';
  // Numbers of any length are valid; the window above only bounds the error message.
  const strict = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
  strict.lastIndex = at;
  const end = strict.test(text) ? strict.lastIndex : at;
  if (end > at && !/[-+.\w]/.test(text[end] ?? ' ')) return end;
  fail(at, run.length, `${run} is not a JSON number`, numberHint(run));
}

function numberHint(run: string): string {
  if (run.startsWith('+')) return 'leave out the +';
  if (/^-?0\d/.test(run)) return 'leave out the leading zeros';
  if (/^-?\./.test(run)) return 'write a 0 before the point';
  if (/\.(?!\d)/.test(run)) return 'write a digit after the point';
  if (/[eE][-+]?$/.test(run)) return 'write a digit after the exponent';
  if (/infinity|nan/i.test(run)) return 'JSON has no NaN and no Infinity';
  return `for a string, write "${run.slice(0, 40)}"`;
}

function scanString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return at + 1;
    if (character === '\\') at = scanEscape(text, at);
    else if (character === '\n' || character === '\r') {
      fail(from, at - from, 'the string is not closed on its line', 'add the closing ", or write a line break as \\n');
    } else if (character < ' ') {
      const written = character === '\t' ? '\\t' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
      fail(at, 1, `${show(text, at)} must be escaped in a string`, `write ${written}`);
    }
  }
  fail(from, 1, 'the string is not closed', 'add the closing "');
}

/** Returns the offset of the last character of the escape. */
function scanEscape(text: string, at: number): number {
  const letter = text[at + 1] ?? '';
  if (letter === 'u') {
    if (/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) return at + 5;
    fail(at, 2, '\\u needs four hexadecimal digits', 'e.g. \\u00e9');
  }
  if (letter !== '' && '"\\/bfnrt'.includes(letter)) return at + 1;
  fail(at, 2, `\\${letter} is not an escape in JSON`, 'for a backslash, write \\\\');
}

function show(text: string, at: number): string {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (/[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}]/u.test(character)) {
    return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  }
  return `'${character}'`;
}
