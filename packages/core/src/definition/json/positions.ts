/** Positions in valid JSON text. The members of a container are located when they are first requested. */

import type { ScalarStyle } from '../scalar-replay.ts';
import type { Located } from '../source-map.ts';
import { skipJsonSpace, stringEnd, valueEnd } from './scan.ts';

export function locateJson(text: string): Located {
  const start = skipJsonSpace(text, 0);
  return new JsonLocated(text, 0, 0, start, valueEnd(text, start));
}

class JsonLocated implements Located {
  readonly #text: string;
  #members: ReadonlyMap<string | number, Located> | undefined;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
  readonly isShared = false;

  constructor(text: string, keyStart: number, keyEnd: number, start: number, end: number) {
    this.#text = text;
    this.keyStart = keyStart;
    this.keyEnd = keyEnd;
    this.start = start;
    this.end = end;
  }

  get style(): ScalarStyle | undefined {
    const first = this.#text[this.start];
    if (first === '{' || first === '[') return undefined;
    return first === '"' ? 'double' : 'plain';
  }

  members(): ReadonlyMap<string | number, Located> {
    this.#members ??= this.#scan();
    return this.#members;
  }

  #scan(): Map<string | number, Located> {
    const members = new Map<string | number, Located>();
    const open = this.#text[this.start];
    if (open !== '{' && open !== '[') return members;
    let at = skipJsonSpace(this.#text, this.start + 1);
    for (let index = 0; at < this.end - 1; index++) {
      const keyStart = at;
      const keyEnd = open === '{' ? stringEnd(this.#text, at) : at;
      const start = open === '{' ? skipJsonSpace(this.#text, skipJsonSpace(this.#text, keyEnd) + 1) : at;
      const end = valueEnd(this.#text, start);
      const key: string | number = open === '{' ? JSON.parse(this.#text.slice(keyStart, keyEnd)) : index;
      members.set(key, new JsonLocated(this.#text, keyStart, keyEnd, start, end));
      // Moves past the comma; at the closing bracket, `at` is already `this.end`.
      at = skipJsonSpace(this.#text, skipJsonSpace(this.#text, end) + 1);
    }
    return members;
  }
}
