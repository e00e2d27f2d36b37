/**
 * Functions of strings. Positions and lengths count UTF-16 units, as in JavaScript. No function leaves half of a
 * surrogate pair behind: a position inside a character means the place before it.
 */
import type { Json } from '../../value.ts';
import type { Frame } from '../frame.ts';
import type { FunctionDefinition } from './definition.ts';

type Run = FunctionDefinition['run'];

function ofText(signature: string, doc: string, example: string, result: Json, run: Run): FunctionDefinition {
  return { signature, on: ['string'], doc, example, result, run };
}

export const textFunctions: readonly FunctionDefinition[] = [
  ofText(
    'trim()',
    'Without white space at both ends.',
    `' a '.trim()`,
    'a',
    walked((text) => text.trim()),
  ),
  ofText(
    'trimStart()',
    'Without white space at the start.',
    `' a '.trimStart()`,
    'a ',
    walked((text) => text.trimStart()),
  ),
  ofText(
    'trimEnd()',
    'Without white space at the end.',
    `' a '.trimEnd()`,
    ' a',
    walked((text) => text.trimEnd()),
  ),
  ofText(
    'upper()',
    'In upper case.',
    `'abc'.upper()`,
    'ABC',
    walked((text) => text.toUpperCase()),
  ),
  ofText(
    'lower()',
    'In lower case.',
    `'ABC'.lower()`,
    'abc',
    walked((text) => text.toLowerCase()),
  ),
  ofText(
    'capitalize()',
    'With its first character in upper case.',
    `'order placed'.capitalize()`,
    'Order placed',
    walked(capitalized),
  ),
  ofText(
    'camelCase()',
    'Words joined as in a variable name.',
    `'Order total (EUR)'.camelCase()`,
    'orderTotalEur',
    walked((text) =>
      wordsOf(text)
        .map((word, index) => (index === 0 ? word : capitalized(word)))
        .join(''),
    ),
  ),
  ofText(
    'snakeCase()',
    'Words in lower case, joined by underscores.',
    `'orderTotal'.snakeCase()`,
    'order_total',
    walked((text) => wordsOf(text).join('_')),
  ),
  ofText(
    'kebabCase()',
    'Words in lower case, joined by hyphens.',
    `'orderTotal'.kebabCase()`,
    'order-total',
    walked((text) => wordsOf(text).join('-')),
  ),
  ofText(
    'slug()',
    'Lower case ASCII letters, digits and hyphens, for addresses and file names.',
    `'Crème brûlée!'.slug()`,
    'creme-brulee',
    walked((text) =>
      text
        .normalize('NFKD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, ''),
    ),
  ),
  ofText(
    'split(separator: string, limit?: integer)',
    'The parts between separators, at most `limit` of them; an empty separator gives the characters.',
    `'a,b,c'.split(',')`,
    ['a', 'b', 'c'],
    (frame: Frame, text: string, separator: string, limit?: number) => {
      frame.budget.spendForCharacters(text.length);
      // One more than may be: enough to notice that there are too many, without making a million of them.
      const most = frame.budget.limits.maxArrayLength + 1;
      const count = limit === undefined ? most : Math.min(Math.max(0, limit), most);
      return separator === '' ? characters(text, count) : text.split(separator, count);
    },
  ),
  ofText('lines()', 'The lines of the text.', `'a\\nb'.lines()`, ['a', 'b'], (frame: Frame, text: string) => {
    frame.budget.spendForCharacters(text.length);
    return text.split(/\r?\n/, frame.budget.limits.maxArrayLength + 1);
  }),
  ofText(
    'replace(find: string, by: string)',
    'With every occurrence of a text replaced by another.',
    `'a-b-c'.replace('-', '+')`,
    'a+b+c',
    replaceText,
  ),
  ofText(
    'startsWith(start: string)',
    'Whether it starts so.',
    `'invoice.pdf'.startsWith('inv')`,
    true,
    (_frame: Frame, text: string, start: string) => text.startsWith(start),
  ),
  ofText(
    'endsWith(end: string)',
    'Whether it ends so.',
    `'invoice.pdf'.endsWith('.pdf')`,
    true,
    (_frame: Frame, text: string, end: string) => text.endsWith(end),
  ),
  ofText('contains(part: string)', 'Whether the part occurs in it.', `'workflow'.contains('flow')`, true, containsText),
  ofText('includes(part: string)', 'The same as contains.', `'workflow'.includes('flow')`, true, containsText),
  ofText(
    'indexOf(part: string)',
    'Where the part first occurs, or -1.',
    `'workflow'.indexOf('flow')`,
    4,
    (frame: Frame, text: string, part: string) => {
      frame.budget.spendForCharacters(text.length);
      return text.indexOf(part);
    },
  ),
  ofText(
    'slice(start: integer, end?: integer)',
    'The part from start up to end; negative positions count from the end.',
    `'workflow'.slice(0, 4)`,
    'work',
    (_frame: Frame, text: string, start: number, end?: number) => wholeSlice(text, start, end),
  ),
  ofText(
    'at(index: integer)',
    'One character, or null; a negative index counts from the end.',
    `'abc'.at(-1)`,
    'c',
    (_frame: Frame, text: string, index: number) => characterAt(text, index),
  ),
  ofText(
    'before(separator: string)',
    'What comes before the first separator; all of it when there is none.',
    `'ada@example.com'.before('@')`,
    'ada',
    (frame: Frame, text: string, separator: string) => {
      frame.budget.spendForCharacters(text.length);
      const index = text.indexOf(separator);
      return index < 0 ? text : text.slice(0, index);
    },
  ),
  ofText(
    'after(separator: string)',
    'What comes after the first separator; empty when there is none.',
    `'ada@example.com'.after('@')`,
    'example.com',
    (frame: Frame, text: string, separator: string) => {
      frame.budget.spendForCharacters(text.length);
      const index = text.indexOf(separator);
      return index < 0 ? '' : text.slice(index + separator.length);
    },
  ),
  ofText(
    'removePrefix(prefix: string)',
    'Without the prefix, if it has it.',
    `'v1.2'.removePrefix('v')`,
    '1.2',
    (_frame: Frame, text: string, prefix: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : text),
  ),
  ofText(
    'removeSuffix(suffix: string)',
    'Without the suffix, if it has it.',
    `'a.json'.removeSuffix('.json')`,
    'a',
    (_frame: Frame, text: string, suffix: string) =>
      text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  ofText(
    'padStart(length: integer, fill?: string)',
    'Filled up at the start, with spaces by default.',
    `'7'.padStart(3, '0')`,
    '007',
    (frame: Frame, text: string, length: number, fill?: string) => {
      frame.budget.allowText(length);
      return filling(text, length, fill) + text;
    },
  ),
  ofText(
    'padEnd(length: integer, fill?: string)',
    'Filled up at the end, with spaces by default.',
    `'7'.padEnd(3, '.')`,
    '7..',
    (frame: Frame, text: string, length: number, fill?: string) => {
      frame.budget.allowText(length);
      return text + filling(text, length, fill);
    },
  ),
  ofText(
    'repeat(count: integer)',
    'So many times in a row.',
    `'ab'.repeat(3)`,
    'ababab',
    (frame: Frame, text: string, count: number) => {
      const times = Math.max(0, count);
      frame.budget.allowText(text.length * times);
      return text.repeat(times);
    },
  ),
  ofText(
    'truncate(length: integer, ending?: string)',
    'At most so long, its cut end replaced by `…` or another ending.',
    `'A long title'.truncate(7)`,
    'A long…',
    (_frame: Frame, text: string, length: number, ending = '…') =>
      text.length <= length ? text : wholeSlice(text, 0, Math.max(0, length - ending.length)) + ending,
  ),
];

function capitalized(text: string): string {
  const first = characterAt(text, 0) ?? '';
  return first.toUpperCase() + text.slice(first.length);
}

/** Whether the position lies between the two halves of a surrogate pair. */
function isInside(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) as number) > 0xffff;
}

/** The position before the character that `at` lies in. */
function before(text: string, at: number): number {
  const position = Math.min(text.length, at < 0 ? Math.max(0, text.length + at) : at);
  return isInside(text, position) ? position - 1 : position;
}

function wholeSlice(text: string, start: number, end = text.length): string {
  return text.slice(before(text, start), before(text, end));
}

/** The whole character that has a unit at `index`, or null. */
function characterAt(text: string, index: number): string | null {
  const at = index < 0 ? text.length + index : index;
  if (at < 0 || at >= text.length) return null;
  return String.fromCodePoint(text.codePointAt(before(text, at)) as number);
}

function characters(text: string, most: number): string[] {
  const found: string[] = [];
  for (const character of text) {
    if (found.length >= most) break;
    found.push(character);
  }
  return found;
}

/** At most as long as is missing: a character that would be cut is left out. */
function filling(text: string, length: number, fill = ' '): string {
  const missing = length - text.length;
  return missing <= 0 ? '' : wholeSlice(''.padEnd(missing + 1, fill), 0, missing);
}

/** For functions that look at every character once. */
function walked(run: (text: string) => string): (frame: Frame, text: string) => string {
  return (frame, text) => {
    frame.budget.spendForCharacters(text.length);
    return run(text);
  };
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
  // A function, because in a replacement text `$&` and its kin have a meaning.
  return text.replaceAll(find, () => by);
}

/** Words in lower case: runs of letters and digits, also divided where lower case turns into upper case. */
function wordsOf(text: string): string[] {
  const words = text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lt}\p{Lm}\p{Lo}\p{M}]+|\p{N}+/gu) ?? [];
  return words.map((word) => word.toLowerCase());
}
