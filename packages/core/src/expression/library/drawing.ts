/** Digests and random values. Randomness comes from the scope, so the same scope returns the same values. */
import { type Algorithm, digest, hexOf, hmac, utf8 } from '../../sha.ts';
import { canonicalJson, type Json } from '../../value.ts';
import { valueError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import type { FunctionDefinition } from './definition.ts';

/** A digest takes about as long as ten passes over the text. */
const WALKS_PER_DIGEST = 10;

export const drawingFunctions: readonly FunctionDefinition[] = [
  {
    signature: 'hash(value: any, algorithm?: string, encoding?: string)',
    on: [],
    doc: 'The digest of a text (as UTF-8) or of any other value (as JSON with sorted members): `sha256` or `sha1`, in `hex` or `base64`.',
    example: `hash('abc')`,
    result: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    run: (frame: Frame, _self: Json, value: Json, algorithm = 'sha256', encoding = 'hex') =>
      encoded(digest(algorithmOf(algorithm), bytesOf(frame, value)), encoding),
  },
  {
    signature: 'hmac(value: any, key: string, algorithm?: string, encoding?: string)',
    on: [],
    doc: 'The keyed digest (HMAC) of a value, converted to bytes as for `hash`.',
    example: `hmac('abc', 'key', 'sha256', 'base64')`,
    result: 'nBluMtwBdfhvSxy4konWYZ3mvuaZ5MN45oMJ7Zehpqs=',
    run: (frame: Frame, _self: Json, value: Json, key: string, algorithm = 'sha256', encoding = 'hex') =>
      encoded(hmac(algorithmOf(algorithm), bytesOf(frame, key), bytesOf(frame, value)), encoding),
  },
  {
    signature: 'uuid()',
    on: [],
    doc: 'A random UUID. The value is stable: a retry, a crash or a repeated evaluation returns the same one.',
    example: 'uuid().length',
    result: 36,
    draws: true,
    run: (frame: Frame) => uuidOf(drawn(frame)),
  },
  {
    signature: 'random()',
    on: [],
    doc: 'A random number from 0 (inclusive) to 1 (exclusive); stable like `uuid`.',
    example: 'random() < 1',
    result: true,
    draws: true,
    run: (frame: Frame) => {
      const view = new DataView(drawn(frame).buffer);
      return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53;
    },
  },
];

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
