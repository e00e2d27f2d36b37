/** Finds duplicate keys, which `JSON.parse` accepts silently. */
import type { DocumentPath } from '../../problem.ts';
import { stringEnd } from './scan.ts';

export interface DuplicateKey {
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
