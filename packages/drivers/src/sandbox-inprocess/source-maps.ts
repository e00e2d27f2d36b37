/**
 * Positions in built files, as positions in their sources. A map is read when an error is reported, and never before: a
 * program that reports none pays nothing, unlike with `--enable-source-maps`.
 */
import { readFileSync, statSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A larger file or map is not read. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_CACHED = 64;
const BUILT = /\.[cm]?js$/;
const COMMENT = /^\/\/[#@] sourceMappingURL=(\S+)\s*$/gm;
const INLINE = /^data:application\/json(?:;charset=[^;,]+)?(;base64)?,/;

export interface SourcePlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

interface FoundMap {
  readonly map: SourceMap;
  /** The URL to which the names of sources are relative. */
  readonly base: string;
}

interface Cached {
  readonly mtimeMs: number;
  readonly found: FoundMap | undefined;
}

const cache = new Map<string, Cached>();

/** Undefined if the file has no map, or the map has no such position. */
export function sourcePlace(file: string, line: number, column: number): SourcePlace | undefined {
  if (!BUILT.test(file)) return undefined;
  const found = mapOf(file);
  const entry = found?.map.findEntry(line - 1, column - 1);
  if (found === undefined || entry === undefined || !('originalSource' in entry)) return undefined;
  const source = URL.parse(entry.originalSource, found.base);
  if (source?.protocol !== 'file:') return undefined;
  return { file: fileURLToPath(source), line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

function mapOf(file: string): FoundMap | undefined {
  const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: MAX_BYTES + 1 };
  const known = cache.get(file);
  if (known?.mtimeMs === mtimeMs) return known.found;
  const [oldest] = cache.keys();
  if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest);
  const found = size > MAX_BYTES ? undefined : readMap(file);
  cache.set(file, { mtimeMs, found });
  return found;
}

/** Undefined for a file without a map, or with one that cannot be read. */
function readMap(file: string): FoundMap | undefined {
  try {
    const [, url = ''] = [...readFileSync(file, 'utf8').matchAll(COMMENT)].at(-1) ?? [];
    if (url === '') return undefined;
    const inline = INLINE.exec(url);
    const mapUrl = inline === null ? new URL(url, pathToFileURL(file)) : pathToFileURL(file);
    const text = inline === null ? readSmall(mapUrl) : decoded(url.slice(inline[0].length), inline[1] !== undefined);
    const payload = JSON.parse(text) as SourceMapPayload;
    const root = payload.sourceRoot ?? '';
    const base = root === '' ? mapUrl.href : new URL(root.endsWith('/') ? root : `${root}/`, mapUrl).href;
    return { map: new SourceMap(payload), base };
  } catch {
    return undefined;
  }
}

function readSmall(url: URL): string {
  if (statSync(url).size > MAX_BYTES) throw new Error('the map is too large');
  return readFileSync(url, 'utf8');
}

function decoded(data: string, isBase64: boolean): string {
  return isBase64 ? Buffer.from(data, 'base64').toString('utf8') : decodeURIComponent(data);
}
