/** Positions in YAML text that the library has read. */
import type { Alias, Document, ParsedNode } from 'yaml';
import type { ScalarStyle } from '../scalar-replay.ts';
import type { Located } from '../source-map.ts';
import { isAlias, isMap, isScalar, isSeq } from './on-demand.ts';

const STYLES: Readonly<Record<string, ScalarStyle>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

type Anchored = ReadonlyMap<Alias, ParsedNode> | undefined;

export function locateYaml(document: Document.Parsed<ParsedNode>, anchored: Anchored): Located | undefined {
  return document.contents ? new YamlLocated(null, document.contents, anchored) : undefined;
}

class YamlLocated implements Located {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
  readonly isShared: boolean;
  readonly #node: ParsedNode | null;
  readonly #anchored: Anchored;
  #members: Map<string | number, Located> | undefined;

  constructor(key: ParsedNode | null, value: ParsedNode | null, anchored: Anchored) {
    const node = isAlias(value) ? (anchored?.get(value) ?? value) : value;
    this.#node = node;
    this.isShared = isAlias(value) || (node !== null && !isAlias(node) && hasProperties(node));
    this.#anchored = anchored;
    this.keyStart = key?.range[0] ?? 0;
    this.keyEnd = key?.range[1] ?? 0;
    this.start = node?.range[0] ?? this.keyEnd;
    this.end = node?.range[1] ?? this.keyEnd;
  }

  get style(): ScalarStyle | undefined {
    return isScalar(this.#node) ? STYLES[this.#node.type ?? 'PLAIN'] : undefined;
  }

  members(): ReadonlyMap<string | number, Located> {
    this.#members ??= this.#find();
    return this.#members;
  }

  #find(): Map<string | number, Located> {
    const members = new Map<string | number, Located>();
    const node = this.#node;
    if (isSeq(node)) {
      node.items.forEach((item, index) => {
        members.set(index, new YamlLocated(null, item, this.#anchored));
      });
    } else if (isMap(node)) {
      for (const { key, value } of node.items) {
        const text = this.#keyText(key);
        if (text !== undefined) members.set(text, new YamlLocated(key, value, this.#anchored));
      }
    }
    return members;
  }

  #keyText(key: ParsedNode | null): string | undefined {
    const node = isAlias(key) ? this.#anchored?.get(key) : key;
    if (!isScalar(node)) return undefined;
    return typeof node.value === 'string' ? node.value : node.source;
  }
}

function hasProperties(node: { anchor?: string | undefined; tag?: string | undefined; srcToken?: unknown }): boolean {
  return node.anchor !== undefined || node.tag !== undefined;
}
