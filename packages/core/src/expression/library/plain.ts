/** Functions without a receiver. Randomness comes from the scope, so the same scope returns the same values. */

import { type Algorithm, digest, hexOf, hmac, utf8 } from '../../sha.ts';
import { canonicalJson, type Json } from '../../value.ts';
import { valueError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import { isoText, parseDate } from './calendar.ts';
import { keepCallbacks } from './callback-urls.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';
import { largest, smallest } from './grouping.ts';
import { objectFromEntries } from './object.ts';

const plain = functionsOn<Json>([]);
const draw = functionsOn<Json>([], { draws: true });

export const plainFunctions: readonly FunctionDefinition[] = [
  plain(
    'range(start: number, end?: number, step?: number)',
    'Numbers from start (inclusive) to end (exclusive); with one argument, from 0 to it.',
    ['range(2, 5)', [2, 3, 4]],
    (frame, _, start: number, end?: number, step = 1) =>
      end === undefined ? range(frame, 0, start, 1) : range(frame, start, end, step),
  ),
  plain(
    'min(...values: any)',
    'The smallest of some numbers or strings.',
    ['min(3, 1, 2)', 1],
    (frame, _, values: readonly Json[]) => smallest(frame, values),
  ),
  plain(
    'max(...values: any)',
    'The largest of some numbers or strings.',
    ['max(3, 1, 2)', 3],
    (frame, _, values: readonly Json[]) => largest(frame, values),
  ),
  plain(
    'object(entries: list)',
    'Builds an object from `{key, value}` objects or `[key, value]` pairs.',
    [`object([['a', 1], { key: 'b', value: 2 }])`, { a: 1, b: 2 }],
    (frame, _, entries: readonly Json[]) => objectFromEntries(frame, entries),
  ),
  plain(
    'date(value: date)',
    'A date as ISO text in UTC.',
    [`date('2024-05-01T10:00+02:00')`, '2024-05-01T08:00:00.000Z'],
    (_, __, value: string | number) => isoText(parseDate(value)),
  ),
  plain(
    'hash(value: any, algorithm?: string, encoding?: string)',
    'The digest of a string (as UTF-8) or of any other value (as JSON with sorted members): `sha256` or `sha1`, in `hex` or `base64`.',
    [`hash('abc')`, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    (frame, _, value: Json, algorithm = 'sha256', encoding = 'hex') =>
      encoded(digest(algorithmOf(algorithm), bytesOf(frame, value)), encoding),
  ),
  plain(
    'hmac(value: any, key: string, algorithm?: string, encoding?: string)',
    'The keyed digest (HMAC) of a value, converted to bytes as for `hash`.',
    [`hmac('abc', 'key', 'sha256', 'base64')`, 'nBluMtwBdfhvSxy4konWYZ3mvuaZ5MN45oMJ7Zehpqs='],
    (frame, _, value: Json, key: string, algorithm = 'sha256', encoding = 'hex') =>
      encoded(hmac(algorithmOf(algorithm), bytesOf(frame, key), bytesOf(frame, value)), encoding),
  ),
  draw(
    'uuid()',
    'A random UUID. The value is stable: a retry, a crash or a repeated evaluation returns the same one.',
    ['uuid().length', 36],
    (frame) => uuidOf(drawn(frame)),
  ),
  draw(
    'random()',
    'A random number from 0 (inclusive) to 1 (exclusive); stable like `uuid`.',
    ['random() < 1', true],
    (frame) => {
      const view = new DataView(drawn(frame).buffer);
      return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53;
    },
  ),
];

function range(frame: Frame, start: number, end: number, step: number): Json {
  if (step === 0) throw valueError('the step of a range must not be 0');
  const count = Math.max(0, Math.ceil((end - start) / step));
  frame.budget.allowList(count);
  return Array.from({ length: count }, (_, index) => start + index * step);
}

/** A digest takes about as long as ten passes over the text. */
const WALKS_PER_DIGEST = 10;

function drawn({ scope }: Frame): Uint8Array {
  if (scope.draw !== undefined) return scope.draw();
  throw valueError(
    'uuid() and random() are not available here',
    'call them in a node of the workflow and read its output',
  );
}

function bytesOf({ budget }: Frame, value: Json): Uint8Array {
  if (typeof value !== 'string') budget.inspect(value);
  const text = typeof value === 'string' ? value : canonicalJson(value);
  budget.spendForCharacters(WALKS_PER_DIGEST * text.length);
  keepCallbacks(text);
  return utf8(text);
}

function algorithmOf(name: string): Algorithm {
  if (name === 'sha256' || name === 'sha1') return name;
  throw valueError(`unknown algorithm ${JSON.stringify(name)}`, 'use sha256 or sha1');
}

function encoded(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'hex') return hexOf(bytes);
  if (encoding === 'base64') return btoa(String.fromCharCode(...bytes));
  throw valueError(`unknown encoding ${JSON.stringify(encoding)}`, 'use hex or base64');
}

/** Formats a version 4 UUID (RFC 9562). */
function uuidOf(bytes: Uint8Array): string {
  const own = bytes.slice(0, 16);
  own[6] = ((own[6] ?? 0) & 0x0f) | 0x40;
  own[8] = ((own[8] ?? 0) & 0x3f) | 0x80;
  const hex = hexOf(own);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
