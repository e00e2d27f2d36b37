/**
 * Reads text, bytes or an object to a checked definition, or returns all its problems.
 *
 *   bytes ─decode─▶ text ─parse─▶ data ─shape─▶ normalise ─graph─▶ definition
 *
 * A failed stage ends the process only when the next stage would have no input.
 */
import { jobsDefinition } from '../imports/jobs-definition.ts';
import { isJobsDocument, readJobsDocument } from '../imports/jobs-document.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import type { Problem } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../value.ts';
import { checkData, copyData, tooDeepMessage } from './data.ts';
import { decodeSource } from './decode.ts';
import { checkGraphs, type Graphs } from './graphs.ts';
import { findDuplicateKeys } from './json/duplicates.ts';
import { locateJson } from './json/positions.ts';
import { outlineJson, skipJsonSpace } from './json/scan.ts';
import { findJsonError } from './json/syntax.ts';
import { LANGUAGE_VERSION } from './keys.ts';
import type { WorkflowDefinition } from './model.ts';
import { normalise } from './normalise.ts';
import { ProblemList, REPORT_LIMITS } from './problem-list.ts';
import { checkShape } from './shape.ts';
import { type SourceMap, TextSourceMap } from './source-map.ts';
import { duplicateKey } from './yaml/convert.ts';
import { readYaml } from './yaml/library.ts';
import { locatePlainYaml, readPlainYaml } from './yaml/plain.ts';

export interface ReadOptions {
  /** Used in messages; the extension also selects the format. */
  readonly file?: string;
  readonly format?: 'yaml' | 'json';
}

export interface ReadResult {
  /** Present exactly when no problem is an error. */
  readonly definition?: WorkflowDefinition;
  /** The graphs of the definition and its bodies; acyclic. */
  readonly graphs?: Graphs;
  /** The result in spite of errors; parts of it may have any shape. */
  readonly draft?: { readonly definition: WorkflowDefinition; readonly graphs: Graphs };
  /** In source order. */
  readonly problems: readonly Problem[];
  readonly source: SourceMap;
}

interface Reading {
  readonly value?: Json | undefined;
  readonly source: TextSourceMap;
  readonly problems: ProblemList;
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

/** Reads data that is already parsed, from the TypeScript builder, a store or a canvas. The object is copied. */
export function readDefinitionObject(value: unknown, options: Pick<ReadOptions, 'file'> = {}): ReadResult {
  const { source, problems } = emptyReading('', options.file);
  const copy = copyData(value, problems);
  if (problems.hasErrors) return resultOf({ source, problems });
  if (copy !== undefined) checkData(copy, problems);
  return check({ value: copy, source, problems });
}

function emptyReading(text: string, file: string | undefined): Reading {
  const source = new TextSourceMap(text, file, () => undefined);
  return { source, problems: new ProblemList(source) };
}

function resultOf({ source, problems }: Reading): ReadResult {
  return { problems: problems.sorted(), source };
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
    value = JSON.parse(text) as Json;
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

/** The checks that do not depend on the format. */
function check(reading: Reading): ReadResult {
  const { value, source, problems } = reading;
  if (value === undefined) return resultOf(reading);
  if (!isJsonObject(value)) {
    const found = Array.isArray(value)
      ? 'a list'
      : value === null
        ? 'nothing'
        : `just a ${typeof value === 'string' ? 'text' : typeof value}`;
    const hint = 'a definition has an id and nodes, e.g. id: hello';
    problems.error({ code: 'NOT_A_MAPPING', message: `a definition must be a mapping, not ${found}`, hint });
    return resultOf(reading);
  }
  if (isJobsDocument(value)) return checkJobs(reading, value);
  if (isFutureVersion(value)) return { problems: [futureVersion(value, source)], source };
  checkShape(value, problems);
  const { definition, edgeOrigins } = normalise(value, (path) => source.keysAt(path));
  source.translateEdges(edgeOrigins);
  if (problems.full) return resultOf(reading);
  const graphs = checkGraphs(definition, problems);
  if (problems.hasErrors || !graphs) return { ...resultOf(reading), ...(graphs && { draft: { definition, graphs } }) };
  return { definition, graphs, problems: problems.sorted(), source };
}

/** Reads a jobs file of workflow-graph. The first part that cannot be translated ends the check. */
function checkJobs({ source, problems }: Reading, value: JsonObject): ReadResult {
  const { document, findings } = readJobsDocument(value);
  for (const finding of findings) problems.error(finding);
  if (document === undefined) return resultOf({ source, problems });
  const { definition, origin } = jobsDefinition(document);
  source.translateFrom(origin);
  const { draft: _, ...result } = check({ value: definition, source, problems });
  return result;
}

function isFutureVersion(value: JsonObject): boolean {
  const version = memberOf(value, 'nebula');
  return typeof version === 'number' && Number.isInteger(version) && version > LANGUAGE_VERSION;
}

function futureVersion(value: JsonObject, source: SourceMap): Problem {
  const range = source.rangeOf(['nebula']);
  return {
    severity: 'error',
    code: 'FUTURE_VERSION',
    message: `the definition uses version ${String(value.nebula)} of the language; this engine supports version ${LANGUAGE_VERSION}`,
    hint: 'upgrade Nebula to run it',
    path: ['nebula'],
    ...(range ? { range } : {}),
  };
}
