/** Fast scans of JSON text by character code. They assume valid JSON and do not check it again. */

import type { DocumentPath } from '../../problem.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

export interface JsonOutline {
  /** Offset of the first bracket beyond the depth limit, or -1. */
  readonly tooDeepAt: number;
  /** Total number of object members, including duplicates. */
  readonly memberCount: number;
}

/** One linear pass without recursion, so that 100,000 open brackets are harmless. */
export function outlineJson(text: string, maxDepth: number): JsonOutline {
  let depth = 0;
  let memberCount = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = stringEnd(text, at) - 1;
        break;
      case COLON:
        memberCount++;
        break;
      case 0x5b:
      case 0x7b:
        depth++;
        if (depth > maxDepth) return { tooDeepAt: at, memberCount };
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return { tooDeepAt: -1, memberCount };
}

/** The offset after the string that begins at `at`, or the end of the text when the string is not closed. */
export function stringEnd(text: string, at: number): number {
  let cursor = at + 1;
  while (cursor < text.length) {
    const code = text.charCodeAt(cursor);
    if (code === QUOTE) return cursor + 1;
    cursor += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

export function skipJsonSpace(text: string, at: number): number {
  let cursor = at;
  for (;;) {
    const code = text.charCodeAt(cursor);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return cursor;
    cursor++;
  }
}

/** The offset after the value that begins at `at`. */
export function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return stringEnd(text, at);
  let cursor = at;
  let depth = 0;
  if (first !== 0x5b && first !== 0x7b) {
    while (cursor < text.length && !/[\s,\]}]/.test(text.charAt(cursor))) cursor++;
    return cursor;
  }
  while (cursor < text.length) {
    const code = text.charCodeAt(cursor);
    if (code === QUOTE) {
      cursor = stringEnd(text, cursor);
      continue;
    }
    if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    cursor++;
    if (depth === 0) break;
  }
  return cursor;
}

/** Finds duplicate keys, which `JSON.parse` accepts silently. */
interface DuplicateKey {
  readonly path: DocumentPath;
  readonly offset: number;
  readonly length: number;
  readonly firstOffset: number;
}

interface OpenContainer {
  /** Key → offset of its first occurrence; undefined in a list. */
  readonly keys: Map<string, number> | undefined;
  step: string | number;
}

/** One linear pass over valid JSON text. */
export function findDuplicateKeys(text: string, max: number): DuplicateKey[] {
  const found: DuplicateKey[] = [];
  const open: OpenContainer[] = [];
  let wantsKey = false;
  for (let at = 0; at < text.length && found.length < max; at++) {
    const top = open.at(-1);
    switch (text.charAt(at)) {
      case '{':
        open.push({ keys: new Map(), step: '' });
        wantsKey = true;
        break;
      case '[':
        open.push({ keys: undefined, step: 0 });
        wantsKey = false;
        break;
      case '}':
      case ']':
        open.pop();
        wantsKey = false;
        break;
      case ',':
        wantsKey = top?.keys !== undefined;
        if (top && typeof top.step === 'number') top.step++;
        break;
      case '"': {
        const end = stringEnd(text, at);
        if (wantsKey && top?.keys) {
          const key: string = JSON.parse(text.slice(at, end));
          const firstOffset = top.keys.get(key);
          top.step = key;
          if (firstOffset === undefined) top.keys.set(key, at);
          else found.push({ path: open.map((container) => container.step), offset: at, length: end - at, firstOffset });
          wantsKey = false;
        }
        at = end - 1;
        break;
      }
      default:
        break;
    }
  }
  return found;
}
