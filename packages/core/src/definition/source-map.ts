/**
 * The positions of all keys and values of a definition in its text.
 *
 * Positions are needed only to report a problem, so nothing is computed before the first request: the root comes from a
 * function, and a container locates its members on first access.
 */
import type { DocumentPath, SourceRange } from '../problem.ts';
import { replayScalar, type ScalarStyle } from './scalar-replay.ts';

/** A value in the text, with its key if any. Offsets are UTF-16 units from 0; `end` is exclusive. */
export interface Located {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
  /** How the source is converted to a string; undefined for containers. */
  readonly style: ScalarStyle | undefined;
  /** The value has an anchor or a tag, or it is an alias, whose range is that of the anchored value. */
  readonly isShared: boolean;
  members(): ReadonlyMap<string | number, Located>;
}

export interface SourceMap {
  readonly file: string | undefined;
  /** The text that offsets refer to; empty when the definition came as an object. */
  readonly text: string;
  /** The range of a value or its key; if the path does not exist, the range of the nearest ancestor. */
  rangeOf(path: DocumentPath, part?: 'key' | 'value'): SourceRange | undefined;
  /** The value at a path of the source, with its members in source order; undefined if there is none. */
  locate(path: DocumentPath): Located | undefined;
  /** The range of a part of a string; `offset` and `length` refer to the string's value. */
  rangeInside(path: DocumentPath, offset: number, length: number): SourceRange | undefined;
  /**
   * Converts a path into the normalised definition to the path in the source (one short-form edge may become several).
   */
  documentPath(path: DocumentPath): DocumentPath;
  /** The inverse of `documentPath`: a chain of edges has several normalised paths. */
  normalisedPaths(path: DocumentPath): readonly DocumentPath[];
}

/** The number of keys that lead to the innermost body on the path: `nodes.<id>.do` or `.group`, any number of times. */
export function bodyDepthOf(path: DocumentPath): number {
  let depth = 0;
  while (path[depth] === 'nodes' && (path[depth + 2] === 'do' || path[depth + 2] === 'group')) depth += 3;
  return depth;
}

/** The key of the graph at a path; the workflow's own graph has the empty key. */
export function bodyKey(path: DocumentPath): string {
  return path.length === 0 ? '' : JSON.stringify(path);
}

/** The origin of a normalised edge; in a short form, `from` and `to` are parts of one text. */
export interface EdgeOrigin {
  readonly index: number;
  readonly from?: TextPart;
  readonly to?: TextPart;
}

export interface TextPart {
  readonly offset: number;
  readonly length: number;
}

/** With an empty text and no root (a definition that came as an object), no path has a range. */
export class TextSourceMap implements SourceMap {
  readonly file: string | undefined;
  readonly text: string;
  readonly #findRoot: () => Located | undefined;
  #root: Located | undefined | null = null;
  #lineStarts: number[] | undefined;
  #edges: ReadonlyMap<string, readonly EdgeOrigin[]> = new Map();
  #origin: ((path: DocumentPath) => DocumentPath) | undefined;

  constructor(text: string, file: string | undefined, findRoot: () => Located | undefined) {
    this.text = text;
    this.file = file;
    this.#findRoot = findRoot;
  }

  /** Sets the table that maps normalised edges back to the source. Unchanged edges need no table. */
  translateEdges(edges: ReadonlyMap<string, readonly EdgeOrigin[]>): void {
    this.#edges = edges;
  }

  /** Sets the mapping of paths for a source in another language, from which the definition was translated. */
  translateFrom(origin: (path: DocumentPath) => DocumentPath): void {
    this.#origin = origin;
  }

  documentPath(path: DocumentPath): DocumentPath {
    if (this.#origin !== undefined) return this.#origin(path);
    const origin = this.#originOf(path);
    if (!origin) return path;
    const depth = bodyDepthOf(path);
    const end = origin.from === undefined ? path.slice(depth + 2) : [];
    return [...path.slice(0, depth), 'edges', origin.index, ...end];
  }

  normalisedPaths(path: DocumentPath): readonly DocumentPath[] {
    const depth = bodyDepthOf(path);
    const origins = path[depth] === 'edges' ? this.#originsOf(path.slice(0, depth)) : undefined;
    if (!origins) return [path];
    const found: DocumentPath[] = [];
    for (const [index, origin] of origins.entries()) {
      if (origin.index === path[depth + 1]) found.push([...path.slice(0, depth + 1), index, ...path.slice(depth + 2)]);
    }
    return found;
  }

  rangeOf(path: DocumentPath, part: 'key' | 'value' = 'value'): SourceRange | undefined {
    const side = this.#origin === undefined ? this.#sideOfShortEdge(path) : undefined;
    if (side) return side;
    const found = this.#find(this.documentPath(path));
    if (!found) return undefined;
    const { node, whole } = found;
    const hasKey = node.keyEnd > node.keyStart;
    const empty = node.end === node.start;
    const wantsKey = part === 'key' || empty || (!whole && node.style === undefined);
    return wantsKey && hasKey
      ? this.rangeAt(node.keyStart, node.keyEnd - node.keyStart)
      : this.rangeAt(node.start, node.end - node.start);
  }

  locate(path: DocumentPath): Located | undefined {
    const found = this.#find(path);
    return found?.whole ? found.node : undefined;
  }

  /** The keys of the mapping at a path, in source order. */
  keysAt(path: DocumentPath): string[] | undefined {
    const found = this.#find(path);
    return found?.whole ? [...found.node.members().keys()].map(String) : undefined;
  }

  rangeInside(path: DocumentPath, offset: number, length: number): SourceRange | undefined {
    if (this.#origin !== undefined) return this.rangeOf(path);
    const found = this.#find(this.documentPath(path));
    if (!found?.whole || found.node.style === undefined) return this.rangeOf(path);
    const { start, end, style, keyStart, keyEnd } = found.node;
    const parentIndent = keyEnd > keyStart ? this.rangeAt(keyStart, 0).column - 1 : undefined;
    const { starts, ends } = replayScalar(this.text.slice(start, end), style, parentIndent);
    const last = starts.length - 1;
    if (last < 0) return this.rangeOf(path);
    const from = Math.min(Math.max(offset, 0), last);
    const sourceFrom = offset > last ? (ends[last] ?? 0) : (starts[from] ?? 0);
    const to = Math.min(from + length - 1, last);
    const sourceTo = to < from ? sourceFrom : (ends[to] ?? 0);
    return this.rangeAt(start + sourceFrom, Math.max(0, sourceTo - sourceFrom));
  }

  rangeAt(offset: number, length: number): SourceRange {
    this.#lineStarts ??= findLineStarts(this.text);
    const starts = this.#lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { offset, length, line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }

  #originsOf(body: DocumentPath): readonly EdgeOrigin[] | undefined {
    return this.#edges.size === 0 ? undefined : this.#edges.get(bodyKey(body));
  }

  #originOf(path: DocumentPath): EdgeOrigin | undefined {
    if (this.#edges.size === 0) return undefined;
    const depth = bodyDepthOf(path);
    const index = path[depth + 1];
    if (path[depth] !== 'edges' || typeof index !== 'number') return undefined;
    return this.#originsOf(path.slice(0, depth))?.[index];
  }

  #sideOfShortEdge(path: DocumentPath): SourceRange | undefined {
    const origin = this.#originOf(path);
    const side = path.at(-1);
    if (!origin || path.length !== bodyDepthOf(path) + 3 || (side !== 'from' && side !== 'to')) return undefined;
    const text = origin[side];
    return text && this.rangeInside(path.slice(0, -1), text.offset, text.length);
  }

  #find(path: DocumentPath): { node: Located; whole: boolean } | undefined {
    if (this.#root === null) this.#root = this.#findRoot();
    let node = this.#root;
    if (!node) return undefined;
    for (const step of path) {
      const next: Located | undefined = node.members().get(step);
      if (!next) return { node, whole: false };
      node = next;
    }
    return { node, whole: true };
  }
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
