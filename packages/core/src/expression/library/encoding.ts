/** Web formats of text: JSON, base64, URLs, query strings, HTML. */
import { type Json, type JsonObject, memberOf } from '../../value.ts';
import { typeError, valueError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import { describe, setMember } from '../kind.ts';
import type { FunctionDefinition } from './definition.ts';

/** Characters per call of `String.fromCharCode`: more arguments would overflow the stack. */
const CHUNK = 8_192;

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const encodingFunctions: readonly FunctionDefinition[] = [
  {
    signature: 'parseJson()',
    on: ['string'],
    doc: 'Parses JSON text.',
    example: `'{"a":[1,2]}'.parseJson()`,
    result: { a: [1, 2] },
    run: (frame: Frame, text: string) => {
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
    },
  },
  {
    signature: 'toBase64()',
    on: ['string'],
    doc: 'The UTF-8 bytes of the text as base64.',
    example: `'user:päss'.toBase64()`,
    result: 'dXNlcjpww6Rzcw==',
    run: (frame: Frame, text: string) => {
      frame.budget.allowText(Math.ceil(text.length / 3) * 4);
      frame.budget.spendForCharacters(text.length, 8);
      const bytes = new TextEncoder().encode(text);
      let binary = '';
      for (let start = 0; start < bytes.length; start += CHUNK) {
        binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
      }
      return btoa(binary);
    },
  },
  {
    signature: 'fromBase64()',
    on: ['string'],
    doc: 'Decodes base64 or base64url to UTF-8 text.',
    example: `'dXNlcjpww6Rzcw=='.fromBase64()`,
    result: 'user:päss',
    run: (frame: Frame, text: string) => {
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
  },
  {
    signature: 'urlEncode()',
    on: ['string'],
    doc: 'Percent-encodes the text for use in a URL.',
    example: `'a b&c'.urlEncode()`,
    result: 'a%20b%26c',
    run: (frame: Frame, text: string) => {
      frame.budget.allowText(text.length);
      frame.budget.spendForCharacters(text.length, 2);
      return encodeURIComponent(text.toWellFormed());
    },
  },
  {
    signature: 'urlDecode()',
    on: ['string'],
    doc: 'Decodes percent-encoded text.',
    example: `'a%20b%26c'.urlDecode()`,
    result: 'a b&c',
    run: (frame: Frame, text: string) => {
      frame.budget.spendForCharacters(text.length, 5);
      try {
        return decodeURIComponent(text);
      } catch {
        throw valueError('the text contains a % that is not an encoded character');
      }
    },
  },
  {
    signature: 'escapeHtml()',
    on: ['string'],
    doc: 'Escapes the text for HTML.',
    example: `'<b>'.escapeHtml()`,
    result: '&lt;b&gt;',
    run: (frame: Frame, text: string) => {
      frame.budget.allowText(text.length);
      frame.budget.spendForCharacters(text.length, 5);
      return text.replace(/[&<>"']/g, (char) => HTML[char] ?? char);
    },
  },
  {
    signature: 'toQuery()',
    on: ['object'],
    doc: 'Formats the object as a URL query; a list repeats its name, null members are omitted.',
    example: `{ q: 'a b', tag: ['x', 'y'], none: null }.toQuery()`,
    result: 'q=a%20b&tag=x&tag=y',
    run: toQuery,
  },
  {
    signature: 'parseQuery()',
    on: ['string'],
    doc: 'Parses a URL query; a repeated name becomes a list.',
    example: `'q=a%20b&tag=x&tag=y'.parseQuery()`,
    result: { q: 'a b', tag: ['x', 'y'] },
    run: (frame: Frame, text: string) => {
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
  },
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
