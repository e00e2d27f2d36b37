/**
 * Reads any YAML 1.2 with the `yaml` library, under limits.
 *
 * The library composes documents recursively and keeps an object per token (about 200 bytes each). Depth and number of
 * tokens are therefore limited while the text is lexed, before anything is composed.
 */
import type { Composer, Document, ParsedNode, YAMLError } from 'yaml';
import { DEFINITION_LIMITS } from '../../limits.ts';
import type { Json } from '../../value.ts';
import { tooDeepMessage } from '../data.ts';
import { ProblemList } from '../problem-list.ts';
import { TextSourceMap } from '../source-map.ts';
import { YAML_LIMITS, YamlConverter, type YamlLimits } from './convert.ts';
import { yamlLibrary } from './on-demand.ts';
import { locateYaml } from './positions.ts';
import { explainYamlError } from './syntax.ts';

export interface YamlReading {
  readonly value?: Json;
  readonly source: TextSourceMap;
  readonly problems: ProblemList;
}

type YamlDocument = Document.Parsed<ParsedNode>;

export function readYaml(text: string, file: string | undefined, limits: YamlLimits = YAML_LIMITS): YamlReading {
  let document: YamlDocument | undefined;
  let converter: YamlConverter | undefined;
  const source = new TextSourceMap(text, file, () => document && locateYaml(document, converter?.anchored));
  const problems = new ProblemList(source);
  const documents = composeText(text, source, problems, limits.maxLexemes);
  document = documents?.[0];
  if (!documents || !document) return { source, problems };
  reportErrors(document, text, source, problems);
  const second = documents[1];
  if (second) {
    problems.error({
      code: 'SEVERAL_DOCUMENTS',
      message: 'the file has more than one YAML document',
      hint: "one file is one workflow; remove the '---' and what follows, or move it to a file of its own",
      range: source.rangeAt(Math.max(0, text.lastIndexOf('---', second.range[0])), 3),
    });
  }
  if (problems.hasErrors) return { source, problems };
  converter = new YamlConverter(source, problems);
  const value = converter.convert(document.contents);
  // A duplicate key still allows checking the rest; after any other error the meaning of the text is unknown.
  const isReadable = problems
    .sorted()
    .every(({ severity, code }) => severity === 'warning' || code === 'DUPLICATE_KEY');
  return isReadable ? { value, source, problems } : { source, problems };
}

/** Returns undefined when the text was rejected before it was composed. */
function composeText(
  text: string,
  source: TextSourceMap,
  problems: ProblemList,
  maxLexemes: number,
): YamlDocument[] | undefined {
  try {
    const tokens = tokenize(text, source, problems, maxLexemes);
    return tokens && compose(tokens, text.length);
  } catch (error) {
    // The library reports errors as data. If it throws anyway, the definition must not crash the engine.
    const message = `the YAML library cannot read this text: ${error instanceof Error ? error.message : String(error)}`;
    problems.error({ code: 'YAML_SYNTAX', message, hint: 'please report this as a bug', range: source.rangeAt(0, 0) });
    return undefined;
  }
}

type Token = Parameters<Composer['next']>[0];

function tokenize(text: string, source: TextSourceMap, problems: ProblemList, maxLexemes: number): Token[] | undefined {
  const { Lexer, Parser } = yamlLibrary();
  const parser = new Parser();
  const tokens: Token[] = [];
  let lexemes = 0;
  // The document itself and a top-level scalar add two levels to the nested collections.
  const maxStack = DEFINITION_LIMITS.maxNestingDepth + 2;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > maxStack) {
      const hint = 'is a bracket or a quote not closed?';
      problems.error({ code: 'TOO_DEEP', message: tooDeepMessage(), hint, range: source.rangeAt(parser.offset, 1) });
      return undefined;
    }
    if (++lexemes > maxLexemes) {
      problems.error({
        code: 'TOO_LARGE',
        message: 'the file is too large for a YAML file with anchors, tags, multi-line strings or multi-line brackets',
        hint: 'write it as JSON, or without them',
        range: source.rangeAt(0, 0),
      });
      return undefined;
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function compose(tokens: readonly Token[], length: number): YamlDocument[] {
  const library = yamlLibrary();
  const composer = new library.Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // The library's check compares every pair of keys; the converter checks in linear time.
    uniqueKeys: false,
    prettyErrors: false,
  });
  const documents: YamlDocument[] = [];
  // The library creates an Error object per mistake; without stack traces, a file full of mistakes takes a third of the
  // time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    for (const token of tokens) {
      for (const document of composer.next(token)) documents.push(document);
      if (documents.length > 1) return documents;
    }
    for (const document of composer.end(true, length)) documents.push(document);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return documents;
}

/** Reports syntax errors, one per line, and unknown tags, for which the library only warns. */
function reportErrors(document: YamlDocument, text: string, source: TextSourceMap, problems: ProblemList): void {
  let lastLine = 0;
  let shown = 0;
  const errors = [...document.errors].sort((a, b) => a.pos[0] - b.pos[0]);
  for (const error of errors) {
    if (error.code === 'TAG_RESOLVE_FAILED') continue;
    const range = source.rangeAt(...spanOf(error, document, text));
    if (range.line === lastLine) continue;
    lastLine = range.line;
    const line = text.slice(range.offset - range.column + 1, lineEnd(text, range.offset));
    problems.error({ code: 'YAML_SYNTAX', ...explainYamlError(error, line), range });
    // The indentation after a tab is unknown, so the errors that follow are consequences.
    if (error.code === 'TAB_AS_INDENT') return;
    if (++shown >= YAML_LIMITS.maxSyntaxErrors) return;
  }
  for (const tag of [...document.errors, ...document.warnings]) {
    if (tag.code === 'TAG_RESOLVE_FAILED' || tag.code === 'BAD_COLLECTION_TYPE') reportTag(tag, text, source, problems);
  }
}

function reportTag(error: YAMLError, text: string, source: TextSourceMap, problems: ProblemList): void {
  const [from, to] = error.pos;
  problems.error({
    code: 'UNKNOWN_TAG',
    message: `the tag ${text.slice(from, Math.min(to, from + 60))} is not allowed or does not fit its value`,
    hint: 'workflow data is JSON; leave the tag out, and put a string that begins with ! in quotes',
    range: source.rangeAt(from, to - from),
  });
}

/** The library reports an unclosed quote at its end, often the end of the file; authors need its beginning. */
function spanOf(error: YAMLError, document: YamlDocument, text: string): [offset: number, length: number] {
  const to = error.pos[1];
  const from = error.code === 'BAD_INDENT' ? skipSpaces(text, error.pos[0]) : error.pos[0];
  if (error.message.startsWith('Missing closing')) {
    const start = startOfScalar(document.contents, from);
    if (start !== undefined) return [start, Math.max(1, lineEnd(text, start) - start)];
  }
  // There is nothing to underline past the last character; use the last line with text.
  if (from >= text.length) {
    const last = text.trimEnd().length;
    return [Math.max(0, last - 1), 1];
  }
  return [from, Math.max(1, Math.min(to, lineEnd(text, from)) - from)];
}

function startOfScalar(node: ParsedNode | null, end: number): number | undefined {
  if (!node || !('items' in node)) return node && node.range[1] === end ? node.range[0] : undefined;
  for (const item of node.items) {
    const parts = 'key' in item ? [item.key, item.value] : [item];
    for (const part of parts) {
      const start = startOfScalar(part as ParsedNode | null, end);
      if (start !== undefined) return start;
    }
  }
  return undefined;
}

/** Skips the blanks before wrongly indented text. */
function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at++;
  return at;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
