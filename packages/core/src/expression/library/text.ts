/**
 * Functions on strings. Positions and lengths count UTF-16 units, as in JavaScript. No function splits a surrogate
 * pair: a position inside a character means the position before it.
 */
import type { Frame } from '../frame.ts';
import { keepCallbackAt, keepCallbacks } from './callback-urls.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

const ofText = functionsOn<string>(['string']);

/** Defines a function that reads every character; `weight` as in `spendForCharacters`. */
function ofWholeText(
  signature: string,
  doc: string,
  example: readonly [source: string, result: string],
  weight: number,
  run: (text: string) => string,
): FunctionDefinition {
  return ofText(signature, doc, example, (frame, text) => {
    frame.budget.spendForCharacters(text.length, weight);
    return run(text);
  });
}

/** Defines a function that gives characters another form, anywhere in the text. */
const ofChangedText: typeof ofWholeText = (signature, doc, example, weight, run) =>
  ofWholeText(signature, doc, example, weight, (text) => {
    keepCallbacks(text);
    return run(text);
  });

export const textFunctions: readonly FunctionDefinition[] = [
  ofWholeText('trim()', 'Removes white space at both ends.', [`' a '.trim()`, 'a'], 1, (text) => text.trim()),
  ofWholeText('trimStart()', 'Removes white space at the start.', [`' a '.trimStart()`, 'a '], 1, (text) =>
    text.trimStart(),
  ),
  ofWholeText('trimEnd()', 'Removes white space at the end.', [`' a '.trimEnd()`, ' a'], 1, (text) => text.trimEnd()),
  ofChangedText('upper()', 'The text in upper case.', [`'abc'.upper()`, 'ABC'], 1, (text) => text.toUpperCase()),
  ofChangedText('lower()', 'The text in lower case.', [`'ABC'.lower()`, 'abc'], 1, (text) => text.toLowerCase()),
  ofWholeText(
    'capitalize()',
    'The text with its first character in upper case.',
    [`'order placed'.capitalize()`, 'Order placed'],
    1,
    capitalized,
  ),
  ofChangedText(
    'camelCase()',
    'The words joined in camel case.',
    [`'Order total (EUR)'.camelCase()`, 'orderTotalEur'],
    20,
    (text) =>
      wordsOf(text)
        .map((word, index) => (index === 0 ? word : capitalized(word)))
        .join(''),
  ),
  ofChangedText(
    'snakeCase()',
    'The words in lower case, joined by underscores.',
    [`'orderTotal'.snakeCase()`, 'order_total'],
    20,
    (text) => wordsOf(text).join('_'),
  ),
  ofChangedText(
    'kebabCase()',
    'The words in lower case, joined by hyphens.',
    [`'orderTotal'.kebabCase()`, 'order-total'],
    20,
    (text) => wordsOf(text).join('-'),
  ),
  ofChangedText(
    'slug()',
    'Lower-case ASCII letters, digits and hyphens, for URLs and file names.',
    [`'Crème brûlée!'.slug()`, 'creme-brulee'],
    5,
    (text) =>
      text
        .normalize('NFKD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, ''),
  ),
  ofText(
    'split(separator: string, limit?: integer)',
    'The parts between separators, at most `limit` of them; an empty separator splits into characters.',
    [`'a,b,c'.split(',')`, ['a', 'b', 'c']],
    (frame, text, separator: string, limit?: number) => {
      frame.budget.spendForCharacters(text.length);
      // One more than allowed: enough to detect the excess without creating a million parts.
      const most = frame.budget.limits.maxArrayLength + 1;
      const count = limit === undefined ? most : Math.min(Math.max(0, limit), most);
      return separator === '' ? characters(text, count) : text.split(separator, count);
    },
  ),
  ofText('lines()', 'The lines of the text.', [`'a\\nb'.lines()`, ['a', 'b']], (frame, text) => {
    frame.budget.spendForCharacters(text.length);
    return text.split(/\r?\n/, frame.budget.limits.maxArrayLength + 1);
  }),
  ofText(
    'replace(find: string, by: string)',
    'Replaces every occurrence of a string.',
    [`'a-b-c'.replace('-', '+')`, 'a+b+c'],
    replaceText,
  ),
  ofText(
    'startsWith(start: string)',
    'Whether the text starts with the argument.',
    [`'invoice.pdf'.startsWith('inv')`, true],
    (_, text, start: string) => text.startsWith(start),
  ),
  ofText(
    'endsWith(end: string)',
    'Whether the text ends with the argument.',
    [`'invoice.pdf'.endsWith('.pdf')`, true],
    (_, text, end: string) => text.endsWith(end),
  ),
  ofText(
    'contains(part: string)',
    'Whether the text contains the part.',
    [`'workflow'.contains('flow')`, true],
    containsText,
  ),
  ofText('includes(part: string)', 'The same as contains.', [`'workflow'.includes('flow')`, true], containsText),
  ofText(
    'indexOf(part: string)',
    'The index of the first occurrence of the part, or -1.',
    [`'workflow'.indexOf('flow')`, 4],
    (frame, text, part: string) => {
      frame.budget.spendForCharacters(text.length);
      return text.indexOf(part);
    },
  ),
  ofText(
    'slice(start: integer, end?: integer)',
    'The part from start up to end; negative positions count from the end.',
    [`'workflow'.slice(0, 4)`, 'work'],
    (_, text, start: number, end?: number) => wholeSlice(text, start, end),
  ),
  ofText(
    'at(index: integer)',
    'One character, or null; a negative index counts from the end.',
    [`'abc'.at(-1)`, 'c'],
    (_, text, index: number) => characterAt(text, index),
  ),
  ofText(
    'before(separator: string)',
    'The text before the first separator; the whole text when there is none.',
    [`'ada@example.com'.before('@')`, 'ada'],
    (frame, text, separator: string) => {
      frame.budget.spendForCharacters(text.length);
      const index = text.indexOf(separator);
      return index < 0 ? text : text.slice(0, index);
    },
  ),
  ofText(
    'after(separator: string)',
    'The text after the first separator; empty when there is none.',
    [`'ada@example.com'.after('@')`, 'example.com'],
    (frame, text, separator: string) => {
      frame.budget.spendForCharacters(text.length);
      const index = text.indexOf(separator);
      return index < 0 ? '' : text.slice(index + separator.length);
    },
  ),
  ofText(
    'removePrefix(prefix: string)',
    'Removes the prefix, if present.',
    [`'v1.2'.removePrefix('v')`, '1.2'],
    (_, text, prefix: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : text),
  ),
  ofText(
    'removeSuffix(suffix: string)',
    'Removes the suffix, if present.',
    [`'a.json'.removeSuffix('.json')`, 'a'],
    (_, text, suffix: string) => (text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text),
  ),
  ofText(
    'padStart(length: integer, fill?: string)',
    'Pads the start to the given length, with spaces by default.',
    [`'7'.padStart(3, '0')`, '007'],
    (frame, text, length: number, fill?: string) => {
      frame.budget.allowText(length);
      return filling(text, length, fill) + text;
    },
  ),
  ofText(
    'padEnd(length: integer, fill?: string)',
    'Pads the end to the given length, with spaces by default.',
    [`'7'.padEnd(3, '.')`, '7..'],
    (frame, text, length: number, fill?: string) => {
      frame.budget.allowText(length);
      return text + filling(text, length, fill);
    },
  ),
  ofText('repeat(count: integer)', 'Repeats the text.', [`'ab'.repeat(3)`, 'ababab'], (frame, text, count: number) => {
    const times = Math.max(0, count);
    frame.budget.allowText(text.length * times);
    return text.repeat(times);
  }),
  ofText(
    'truncate(length: integer, ending?: string)',
    'Shortens the text to the given length; the end is replaced by `…` or another ending.',
    [`'A long title'.truncate(7)`, 'A long…'],
    (_, text, length: number, ending = '…') =>
      text.length <= length ? text : wholeSlice(text, 0, Math.max(0, length - ending.length)) + ending,
  ),
];

function capitalized(text: string): string {
  const first = characterAt(text, 0) ?? '';
  return first.toUpperCase() + text.slice(first.length);
}

/** Whether the position is between the two halves of a surrogate pair. */
function isInside(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/** The position before the character that contains `at`. */
function before(text: string, at: number): number {
  const position = Math.min(text.length, at < 0 ? Math.max(0, text.length + at) : at);
  return isInside(text, position) ? position - 1 : position;
}

function wholeSlice(text: string, start: number, end = text.length): string {
  const [from, to] = [before(text, start), before(text, end)];
  keepCallbackAt(text, from);
  keepCallbackAt(text, to);
  return text.slice(from, to);
}

function characterAt(text: string, index: number): string | null {
  const at = index < 0 ? text.length + index : index;
  if (at < 0 || at >= text.length) return null;
  return String.fromCodePoint(text.codePointAt(before(text, at)) ?? 0);
}

function characters(text: string, most: number): string[] {
  const found: string[] = [];
  for (const character of text) {
    if (found.length >= most) break;
    found.push(character);
  }
  return found;
}

/** The padding, at most as long as needed: a character that would be cut is left out. */
function filling(text: string, length: number, fill = ' '): string {
  const missing = length - text.length;
  return missing <= 0 ? '' : wholeSlice(''.padEnd(missing + 1, fill), 0, missing);
}

function containsText(frame: Frame, text: string, part: string): boolean {
  frame.budget.spendForCharacters(text.length);
  return text.includes(part);
}

function replaceText(frame: Frame, text: string, find: string, by: string): string {
  frame.budget.spendForCharacters(text.length);
  if (find === '' || !text.includes(find)) return text;
  let count = 0;
  for (let at = text.indexOf(find); at >= 0; at = text.indexOf(find, at + find.length)) count++;
  frame.budget.spendForElements(count);
  frame.budget.allowText(text.length + count * (by.length - find.length));
  // A function, because `$&` and similar sequences are special in a replacement text.
  return text.replaceAll(find, () => by);
}

/** Words in lower case: runs of letters and digits, also split where lower case changes to upper case. */
function wordsOf(text: string): string[] {
  const words = text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lt}\p{Lm}\p{Lo}\p{M}]+|\p{N}+/gu) ?? [];
  return words.map((word) => word.toLowerCase());
}
