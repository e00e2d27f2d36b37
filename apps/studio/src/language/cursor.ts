/**
 * Where the cursor is in a text that is being written: the path of the mapping around it, and the key or value that is
 * typed. It is found by indentation, because such text can rarely be parsed.
 */
import type { DocumentPath } from '@nebula/core';

export interface CursorPlace {
  /** The container of the typed key; lists are passed by the item 0. */
  readonly path: DocumentPath;
  /** Undefined: a key is typed. Otherwise the value of this key, or of an item of the list at `path`. */
  readonly key: string | number | undefined;
  /** The typed text before the cursor, and its start. */
  readonly typed: string;
  readonly from: number;
  /** Keys that the mapping has already. */
  readonly siblings: readonly string[];
  readonly inFlow: boolean;
  /** The column of the key. */
  readonly column: number;
}

/** One line: the columns of its dashes and of its key. */
interface Line {
  readonly dashes: readonly number[];
  readonly column: number;
  readonly key: string | undefined;
  /** The offset of the text after `key:`, relative to the line. */
  readonly value: number;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s:#{}[\],"'][^:#{}[\],"']*?))\s*:(?=\s|$)/;

function readLine(line: string): Line | undefined {
  let at = line.length - line.trimStart().length;
  if (at === line.length || line[at] === '#') return undefined;
  const dashes: number[] = [];
  while (line[at] === '-' && (line[at + 1] === ' ' || at + 1 === line.length)) {
    dashes.push(at);
    at++;
    while (line[at] === ' ') at++;
  }
  const match = KEY.exec(line.slice(at));
  const key = match?.[1] ?? match?.[2] ?? match?.[3];
  return { dashes, column: at, key, value: match === null ? at : at + match[0].length };
}

export function placeOfCursor(text: string, offset: number): CursorPlace {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  const lines = text.slice(0, start).split('\n').slice(0, -1);
  const line = readLine(before) ?? { dashes: [], column: before.length, key: undefined, value: before.length };
  const outer = pathAbove(lines, line);
  const rest = before.slice(line.value);
  const typedValue = rest.trimStart();
  const valueAt = start + line.value + (rest.length - typedValue.length);
  const siblings = siblingsOf(text, lines, line);
  const base = { column: line.column, inFlow: false };
  const isFlow = typedValue.startsWith('{') || typedValue.startsWith('[');
  if (isFlow && !typedValue.startsWith('{{')) {
    const path = line.key === undefined ? outer : [...outer, line.key];
    return flowPlace(typedValue, valueAt, path, line.column);
  }
  if (line.key !== undefined)
    return { ...base, path: outer, key: line.key, typed: typedValue, from: valueAt, siblings };
  const from = start + Math.min(line.column, before.length);
  const typed = text.slice(from, offset);
  // Behind a dash stands an item, or the first key of one.
  if (line.dashes.length > 0) return { ...base, path: outer, key: undefined, typed, from, siblings };
  return { ...base, path: outer, key: undefined, typed, from, siblings };
}

/** The keys and list items around a line. */
function pathAbove(lines: readonly string[], line: Line): (string | number)[] {
  const path: (string | number)[] = [];
  let limit = line.column;
  let isItem = false;
  const enter = (columns: readonly number[]): void => {
    for (const column of columns.toReversed()) {
      if (column >= limit) continue;
      path.unshift(0);
      limit = column;
      isItem = true;
    }
  };
  enter(line.dashes);
  for (const text of lines.toReversed()) {
    const above = readLine(text);
    if (above === undefined) continue;
    const isParent = above.column < limit || (isItem && above.dashes.length === 0 && above.column === limit);
    if (isParent && above.key !== undefined) {
      path.unshift(above.key);
      limit = above.column;
      isItem = false;
    }
    if (above.column <= limit || above.dashes.some((column) => column < limit)) enter(above.dashes);
    if (limit === 0 && !isItem) break;
  }
  return path;
}

function siblingsOf(text: string, above: readonly string[], { column }: Line): string[] {
  const keys: string[] = [];
  const collect = (lines: Iterable<string>, isUp: boolean): void => {
    for (const one of lines) {
      const line = readLine(one);
      if (line === undefined) continue;
      if (line.column < column) return;
      if (line.column !== column) continue;
      if (!isUp && line.dashes.length > 0) return;
      if (line.key !== undefined) keys.push(line.key);
      if (line.dashes.length > 0) return;
    }
  };
  collect(above.toReversed(), true);
  collect(text.split('\n').slice(above.length + 1), false);
  return keys;
}

interface Level {
  readonly bracket: '{' | '[';
  key: string | undefined;
  index: number;
  from: number;
  readonly keys: string[];
}

/** Between brackets that begin on the line of the cursor. */
function flowPlace(value: string, offset: number, path: readonly (string | number)[], column: number): CursorPlace {
  const levels: Level[] = [];
  const top = (): Level | undefined => levels.at(-1);
  for (let at = 0; at < value.length; at++) {
    const character = value[at];
    const level = top();
    if (character === '"' || character === "'") {
      const close = value.indexOf(character, at + 1);
      if (close === -1) break;
      at = close;
    } else if (character === '{' || character === '[') {
      levels.push({ bracket: character, key: undefined, index: 0, from: at + 1, keys: [] });
    } else if (character === '}' || character === ']') {
      levels.pop();
    } else if (character === ',' && level !== undefined) {
      level.index++;
      level.key = undefined;
      level.from = at + 1;
    } else if (character === ':' && level?.bracket === '{' && level.key === undefined) {
      level.key = value
        .slice(level.from, at)
        .trim()
        .replace(/^["']|["']$/g, '');
      level.keys.push(level.key);
      level.from = at + 1;
    }
  }
  const inner: (string | number)[] = [...path];
  for (const level of levels.slice(0, -1)) inner.push(level.bracket === '{' ? (level.key ?? '') : level.index);
  const last = top();
  const from = last?.from ?? 0;
  const typed = value.slice(from).trimStart();
  return {
    path: inner,
    key: last === undefined ? '' : last.bracket === '[' ? last.index : last.key,
    typed,
    from: offset + value.length - typed.length,
    siblings: last?.keys ?? [],
    inFlow: true,
    column,
  };
}
