/** Web formats of text: JSON, base64, URLs, query strings, HTML. */
import { type Json, type JsonObject, memberOf, setMember } from '../../value.ts';
import { typeError, valueError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import { describe } from '../kind.ts';
import { keepCallbacks } from './callback-urls.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

/** Characters per call of `String.fromCharCode`: more arguments would overflow the stack. */
const CHUNK = 8_192;

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const ofText = functionsOn<string>(['string']);

export const encodingFunctions: readonly FunctionDefinition[] = [
  ofText('parseJson()', 'Parses JSON text.', [`'{"a":[1,2]}'.parseJson()`, { a: [1, 2] }], (frame, text) => {
    frame.budget.spendForCharacters(text.length, 8);
    let value: Json;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw valueError(`the text is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    // Rejects values that JSON text can express but JSON values cannot be: 1e999, and unlimited nesting.
    frame.budget.inspect(value);
    return value;
  }),
  ofText(
    'toBase64()',
    'The UTF-8 bytes of the text as base64.',
    [`'user:päss'.toBase64()`, 'dXNlcjpww6Rzcw=='],
    (frame, text) => {
      keepCallbacks(text);
      frame.budget.allowText(Math.ceil(text.length / 3) * 4);
      frame.budget.spendForCharacters(text.length, 8);
      const bytes = new TextEncoder().encode(text);
      let binary = '';
      for (let start = 0; start < bytes.length; start += CHUNK) {
        binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
      }
      return btoa(binary);
    },
  ),
  ofText(
    'fromBase64()',
    'Decodes base64 or base64url to UTF-8 text.',
    [`'dXNlcjpww6Rzcw=='.fromBase64()`, 'user:päss'],
    (frame, text) => {
      frame.budget.spendForCharacters(text.length, 8);
      try {
        const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
        const bytes = new Uint8Array(binary.length);
        for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        throw valueError('the text is not base64 of UTF-8 text');
      }
    },
  ),
  ofText(
    'urlEncode()',
    'Percent-encodes the text for use in a URL.',
    [`'a b&c'.urlEncode()`, 'a%20b%26c'],
    (frame, text) => {
      frame.budget.allowText(text.length);
      frame.budget.spendForCharacters(text.length, 2);
      return encodeURIComponent(text.toWellFormed());
    },
  ),
  ofText('urlDecode()', 'Decodes percent-encoded text.', [`'a%20b%26c'.urlDecode()`, 'a b&c'], (frame, text) => {
    frame.budget.spendForCharacters(text.length, 5);
    try {
      return decodeURIComponent(text);
    } catch {
      throw valueError('the text contains a % that is not an encoded character');
    }
  }),
  ofText('escapeHtml()', 'Escapes the text for HTML.', [`'<b>'.escapeHtml()`, '&lt;b&gt;'], (frame, text) => {
    frame.budget.allowText(text.length);
    frame.budget.spendForCharacters(text.length, 5);
    return text.replace(/[&<>"']/g, (char) => HTML[char] ?? char);
  }),
  functionsOn<JsonObject>(['object'])(
    'toQuery()',
    'Formats the object as a URL query; a list repeats its name, null members are omitted.',
    [`{ q: 'a b', tag: ['x', 'y'], none: null }.toQuery()`, 'q=a%20b&tag=x&tag=y'],
    toQuery,
  ),
  ofText(
    'parseQuery()',
    'Parses a URL query; a repeated name becomes a list.',
    [`'q=a%20b&tag=x&tag=y'.parseQuery()`, { q: 'a b', tag: ['x', 'y'] }],
    (frame, text) => {
      frame.budget.spendForCharacters(text.length, 30);
      const members: Record<string, Json> = {};
      for (const [name, value] of new URLSearchParams(text.replace(/^\?/, ''))) {
        const before = memberOf(members, name);
        if (before === undefined) setMember(members, name, value);
        else if (Array.isArray(before)) (before as Json[]).push(value);
        else setMember(members, name, [before, value]);
      }
      return members;
    },
  ),
];

function toQuery(frame: Frame, object: JsonObject): string {
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(object)) {
    const items: readonly Json[] = Array.isArray(value) ? value : [value];
    frame.budget.spendForMembers(1);
    frame.budget.spendForValues(items.length);
    for (const item of items) {
      if (item === null) continue;
      if (typeof item === 'object')
        throw typeError(`${describe(item)} cannot be part of a URL query`, 'convert it with toJson()');
      const text = String(item);
      length += name.length + text.length + 2;
      if (length > frame.budget.limits.maxStringBytes) frame.budget.allowText(length);
      frame.budget.spendForCharacters(name.length + text.length, 5);
      parts.push(`${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(text.toWellFormed())}`);
    }
  }
  return parts.join('&');
}
