/**
 * Reads text or bytes to a checked definition, or returns all its problems. `check.ts` has the stages after `parse`.
 *
 *   bytes ─decode─▶ text ─parse─▶ data ─shape─▶ normalise ─graph─▶ definition
 *
 * A failed stage ends the reading only when the next stage would have no input.
 */
import { DEFINITION_LIMITS } from '../limits.ts';
import type { Json, JsonObject } from '../value.ts';
import { check, emptyReading, type Reading, type ReadResult, resultOf } from './check.ts';
import { checkData, tooDeepMessage } from './data.ts';
import { decodeSource } from './decode.ts';
import { locateJson } from './json/positions.ts';
import { findDuplicateKeys, outlineJson, skipJsonSpace } from './json/scan.ts';
import { findJsonError } from './json/syntax.ts';
import { ProblemList, REPORT_LIMITS } from './problem-list.ts';
import { checkDocument, type ShapeOptions } from './shape.ts';
import { type SourceMap, TextSourceMap } from './source-map.ts';
import type { RecordType } from './value-type.ts';
import { duplicateKey } from './yaml/convert.ts';
import { readYaml } from './yaml/library.ts';
import { locatePlainYaml, readPlainYaml } from './yaml/plain.ts';

export interface ReadOptions {
  /** Used in messages; the extension also selects the format. */
  readonly file?: string;
  readonly format?: 'yaml' | 'json';
}

export function readDefinition(input: string | Uint8Array, options: ReadOptions = {}): ReadResult {
  const { text, failure } = decodeSource(input);
  if (failure) {
    const { offset, ...finding } = failure;
    const reading = emptyReading(text, options.file);
    reading.problems.error({ ...finding, range: reading.source.rangeAt(offset, 1) });
    return resultOf(reading);
  }
  return check(parse(text, options));
}

/** The data of a text and the positions of its parts, without the checks of a definition. */
export function readSource(
  text: string,
  options: ReadOptions = {},
): { readonly value?: Json; readonly source: SourceMap } {
  const { value, source } = parse(text, options);
  return value === undefined ? { source } : { value, source };
}

/** Reads a YAML document of another format; `value` is present exactly when it has no problems. */
export function readDocument(text: string, record: RecordType, rules: ShapeOptions['rules']) {
  const { value, source, problems } = readYaml(text, undefined);
  if (value !== undefined && !problems.hasErrors) {
    checkData(value, problems);
    checkDocument(record, value, problems, { rules, isData: true });
  }
  return { source, problems: problems.sorted(), ...(!problems.hasErrors && { value: value as JsonObject }) };
}

function parse(text: string, options: ReadOptions): Reading {
  const format = options.format ?? formatOfFile(options.file);
  const asJson = format === 'json' || looksLikeJson(text) ? readJson(text, options.file) : undefined;
  // Text that is not JSON may still be YAML that begins with a brace.
  if (asJson && (format === 'json' || asJson.value !== undefined)) return asJson;
  const reading = readAnyYaml(text, options.file);
  if (reading.value !== undefined) checkData(reading.value, reading.problems);
  return reading;
}

function formatOfFile(file: string | undefined): ReadOptions['format'] {
  if (file === undefined) return undefined;
  if (/\.json$/i.test(file)) return 'json';
  return /\.ya?ml$/i.test(file) ? 'yaml' : undefined;
}

/** JSON is valid YAML, but `JSON.parse` is about ninety times faster than the YAML library. */
function looksLikeJson(text: string): boolean {
  return text[skipJsonSpace(text, 0)] === '{';
}

function readJson(text: string, file: string | undefined): Reading {
  const source = new TextSourceMap(text, file, () => locateJson(text));
  const problems = new ProblemList(source);
  const outline = outlineJson(text, DEFINITION_LIMITS.maxNestingDepth);
  if (outline.tooDeepAt >= 0) {
    const hint = 'is a bracket not closed?';
    problems.error({ code: 'TOO_DEEP', message: tooDeepMessage(), hint, range: source.rangeAt(outline.tooDeepAt, 1) });
    return { source, problems };
  }
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    reportJsonError(text, String(error), source, problems);
    return { source, problems };
  }
  const members = checkData(value, problems);
  // JSON.parse keeps the last of two equal keys; then the text has more members than the data.
  if (members !== outline.memberCount) reportDuplicates(text, source, problems);
  return { value, source, problems };
}

function reportJsonError(text: string, fallback: string, source: TextSourceMap, problems: ProblemList): void {
  if (text.trim() === '') return reportEmpty(source, problems);
  const found = findJsonError(text);
  const { message, hint, offset, length } = found ?? { message: fallback, hint: undefined, offset: 0, length: 1 };
  problems.error({ code: 'JSON_SYNTAX', message, hint, range: source.rangeAt(offset, length) });
}

function reportEmpty(source: TextSourceMap, problems: ProblemList): void {
  const hint = 'a definition starts with an id, e.g. id: hello';
  problems.error({ code: 'EMPTY_FILE', message: 'the file is empty', hint, range: source.rangeAt(0, 0) });
}

function reportDuplicates(text: string, source: TextSourceMap, problems: ProblemList): void {
  for (const { path, offset, length, firstOffset } of findDuplicateKeys(text, REPORT_LIMITS.maxProblems)) {
    const range = source.rangeAt(offset, length);
    problems.error({ ...duplicateKey(String(path.at(-1)), source, firstOffset), path, range });
  }
}

function readAnyYaml(text: string, file: string | undefined): Reading {
  const plain = readPlainYaml(text);
  if (plain) {
    const source = new TextSourceMap(text, file, () => locatePlainYaml(text));
    return { value: plain.value, source, problems: new ProblemList(source) };
  }
  if (isBlank(text)) {
    const empty = emptyReading(text, file);
    reportEmpty(empty.source, empty.problems);
    return empty;
  }
  const reading = readYaml(text, file);
  if (reading.value === null && isEmptyYaml(text)) {
    reportEmpty(reading.source, reading.problems);
    return { source: reading.source, problems: reading.problems };
  }
  return reading;
}

/** True for text of blank lines and comments only; the YAML library would create an object for each line. */
function isBlank(text: string): boolean {
  return !/^[ \t\r]*[^ \t\r\n#]/m.test(text);
}

function isEmptyYaml(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(?:#.*|---(?:\s.*)?|\.\.\.\s*|%.*)?$/.test(line));
}
