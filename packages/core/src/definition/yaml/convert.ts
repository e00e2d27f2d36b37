/** Converts YAML nodes to JSON data. Constructs that JSON does not have are resolved or rejected. */
import type { Alias, ParsedNode, YAMLMap } from 'yaml';
import { DEFINITION_LIMITS } from '../../limits.ts';
import { didYouMean } from '../../problem.ts';
import { type Json, partsOf, setMember } from '../../value.ts';
import { tooDeepMessage } from '../data.ts';
import type { ProblemList } from '../problem-list.ts';
import type { TextSourceMap } from '../source-map.ts';
import { isAlias, isMap, isScalar, isSeq } from './on-demand.ts';
import { TEMPLATE_HINT } from './syntax.ts';

export const YAML_LIMITS = {
  /**
   * 1.3 million lexemes took 2.7 s and 290 MB, with linear growth: 8 s and 0.9 GB at this limit. Larger files must be
   * plain YAML or JSON.
   */
  maxLexemes: 4_000_000,
  /** Values that aliases may add to a document. */
  maxAliasedValues: 100_000,
  /** One mistake often causes many follow-up errors. */
  maxSyntaxErrors: 10,
} as const;

export type YamlLimits = { readonly [K in keyof typeof YAML_LIMITS]: number };

interface Anchor {
  readonly node: ParsedNode;
  /** Undefined while the anchored value is being read. */
  value?: Json;
}

interface Measure {
  readonly size: number;
  readonly height: number;
}

export class YamlConverter {
  /** Alias → its anchored node, for positions. */
  readonly anchored = new Map<Alias, ParsedNode>();
  readonly #source: TextSourceMap;
  readonly #problems: ProblemList;
  readonly #anchors = new Map<string, Anchor>();
  readonly #measures = new WeakMap<object, Measure>();
  readonly #path: (string | number)[] = [];
  #aliases = 0;
  #aliasedValues = 0;

  constructor(source: TextSourceMap, problems: ProblemList) {
    this.#source = source;
    this.#problems = problems;
  }

  convert(node: ParsedNode | null): Json {
    if (!node) return null;
    if (isAlias(node)) return this.#resolve(node);
    const anchor: Anchor | undefined = node.anchor === undefined ? undefined : { node };
    if (anchor) this.#anchors.set(node.anchor as string, anchor);
    const value = this.#convertContent(node);
    if (anchor) anchor.value = value;
    return value;
  }

  #convertContent(node: ParsedNode): Json {
    if (isScalar(node)) return node.value as Json;
    if (this.#path.length >= DEFINITION_LIMITS.maxNestingDepth) return this.#refuseDepth(node);
    if (isMap(node)) return this.#convertMap(node);
    const list: Json[] = [];
    if (!isSeq(node)) return list;
    node.items.forEach((item, index) => {
      this.#path.push(index);
      list.push(this.convert(item));
      this.#path.pop();
    });
    return list;
  }

  #convertMap(map: YAMLMap.Parsed): Json {
    const result: Record<string, Json> = {};
    for (const { key, value } of map.items) {
      const name = this.#keyOf(key, map);
      if (name === undefined) continue;
      this.#path.push(name);
      if (Object.hasOwn(result, name)) this.#reportDuplicate(map, name, key);
      setMember(result, name, this.convert(value));
      this.#path.pop();
    }
    return result;
  }

  /** Returns the text of the key, or undefined when the key was rejected. */
  #keyOf(node: ParsedNode | null, map: YAMLMap.Parsed): string | undefined {
    const value = node && this.convert(node);
    const written = isScalar(node) ? (node.source as string) : String(value);
    if (typeof value === 'string') {
      if (value === '<<' && isScalar(node) && node.type === 'PLAIN') return this.#refuseMergeKey(node);
      return value;
    }
    const range = this.#rangeOf(node ?? map);
    if (typeof value === 'number' || typeof value === 'boolean') {
      if (this.#isCase() && JSON.stringify(value) === written) return written;
      this.#problems.warning({
        code: 'NON_STRING_KEY',
        message: `the key ${written} is read as the text "${written}"`,
        hint: `put it in quotes: "${written}":`,
        path: [...this.#path, written],
        range,
      });
      return written;
    }
    const template = isMap(node) && node.flow === true && map.flow === true;
    this.#problems.error({
      code: 'NON_STRING_KEY',
      message: value === null ? 'a key is missing here' : `a ${isMap(node) ? 'mapping' : 'list'} cannot be a key`,
      hint: template ? TEMPLATE_HINT : 'keys are strings',
      path: [...this.#path],
      range: template ? this.#rangeOf(map) : range,
    });
    return undefined;
  }

  /** The cases of a branch are keyed by values, which are compared as text. */
  #isCase(): boolean {
    return this.#path.at(-1) === 'cases' && this.#path.at(-2) === 'branch';
  }

  #refuseMergeKey(node: ParsedNode): undefined {
    this.#problems.error({
      code: 'MERGE_KEY',
      message: 'merge keys (<<) are not part of the language',
      hint: 'repeat the keys, or set defaults for all nodes in config, e.g. config.retry',
      path: [...this.#path],
      range: this.#rangeOf(node),
    });
    return undefined;
  }

  #reportDuplicate(map: YAMLMap.Parsed, name: string, key: ParsedNode): void {
    if (this.#problems.full) return;
    const first = map.items.find((item) => this.#textOf(item.key) === name);
    const offset = first?.key.range[0] ?? 0;
    const range = this.#rangeOf(key);
    this.#problems.error({ ...duplicateKey(name, this.#source, offset), path: [...this.#path], range });
  }

  #textOf(key: ParsedNode | null): string | undefined {
    if (!key) return undefined;
    if (isScalar(key)) return typeof key.value === 'string' ? key.value : key.source;
    return isAlias(key) ? String(this.#anchors.get(key.source)?.value) : undefined;
  }

  #resolve(alias: Alias.Parsed): Json {
    const { source: name } = alias;
    const anchor = this.#anchors.get(name);
    if (anchor?.value === undefined) return this.#refuseAlias(alias, anchor !== undefined);
    this.anchored.set(alias, anchor.node);
    const { size, height } = this.#measure(anchor.value);
    if (this.#path.length + height > DEFINITION_LIMITS.maxNestingDepth) return this.#refuseDepth(alias);
    this.#aliases++;
    this.#aliasedValues += size;
    const tooMany = this.#aliases > DEFINITION_LIMITS.maxYamlAliases;
    if (!tooMany && this.#aliasedValues <= YAML_LIMITS.maxAliasedValues) return anchor.value;
    if (!this.#problems.hasErrors) {
      this.#problems.error({
        code: 'TOO_MANY_ALIASES',
        message: tooMany
          ? `the file has more than ${DEFINITION_LIMITS.maxYamlAliases} aliases`
          : `aliases would add more than ${YAML_LIMITS.maxAliasedValues} values`,
        hint: 'repeat the values, or put them into variables',
        path: [...this.#path],
        range: this.#rangeOf(alias),
      });
    }
    return null;
  }

  #refuseAlias(alias: Alias.Parsed, insideItself: boolean): Json {
    const near = didYouMean(alias.source, this.#anchors.keys());
    const message = insideItself
      ? `the alias *${alias.source} is part of its own value`
      : `there is no anchor &${alias.source} before this alias`;
    this.#problems.error({
      code: 'UNKNOWN_ALIAS',
      message,
      hint:
        near && !insideItself ? `did you mean *${near}?` : `if it is a string, put it in quotes: "*${alias.source}"`,
      path: [...this.#path],
      range: this.#rangeOf(alias),
    });
    return null;
  }

  #refuseDepth(node: ParsedNode): Json {
    const range = this.#rangeOf(node);
    this.#problems.error({
      code: 'TOO_DEEP',
      message: tooDeepMessage(),
      hint: 'flatten the data',
      path: [...this.#path],
      range,
    });
    return null;
  }

  /** Size and height with aliases expanded; shared parts are measured once. */
  #measure(value: Json): Measure {
    if (value === null || typeof value !== 'object') return { size: 1, height: 0 };
    const known = this.#measures.get(value);
    if (known) return known;
    let size = 1;
    let height = 0;
    for (const member of partsOf(value)) {
      const inner = this.#measure(member);
      size += inner.size;
      height = Math.max(height, inner.height);
    }
    const measure = { size, height: height + 1 };
    this.#measures.set(value, measure);
    return measure;
  }

  #rangeOf(node: ParsedNode): ReturnType<TextSourceMap['rangeAt']> {
    return this.#source.rangeAt(node.range[0], Math.max(1, node.range[1] - node.range[0]));
  }
}

export function duplicateKey(
  name: string,
  source: TextSourceMap,
  firstOffset: number,
): { code: string; message: string; hint: string } {
  const { line, column } = source.rangeAt(firstOffset, 0);
  return {
    code: 'DUPLICATE_KEY',
    message: `the key '${name.slice(0, 100)}' is given twice; first in line ${line}, column ${column}`,
    hint: 'remove or rename one of them',
  };
}
