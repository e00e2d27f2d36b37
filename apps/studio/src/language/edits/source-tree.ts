/**
 * The text of a definition with its data and the places of all parts. Positions come from the core's source map; this
 * file adds the lines that belong to a member of a block, comments included.
 */
import { type DocumentPath, isJsonObject, type Json, type Located, readSource, type SourceMap } from '@nebula/core';
import { refuse } from './refusal.ts';

export interface SourceTree {
  readonly text: string;
  readonly value: Json;
  readonly root: Located;
  readonly source: SourceMap;
  /** The text is JSON, not just YAML that begins with a brace. */
  readonly isJson: boolean;
  readonly lineBreak: '\n' | '\r\n';
}

/** Refuses text that cannot be read. */
export function readTree(text: string): SourceTree {
  const { value, source } = readSource(text);
  const root = source.locate([]);
  if (value === undefined || root === undefined) refuse('The text has errors. Correct them first.');
  if (!isJsonObject(value)) refuse('The text is not a workflow.');
  return { text, value, root, source, isJson: isJson(text), lineBreak: /\r\n/.test(text) ? '\r\n' : '\n' };
}

function isJson(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function valueAt(value: Json, path: DocumentPath): Json | undefined {
  let at: Json | undefined = value;
  for (const key of path) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isJsonObject(at) && Object.hasOwn(at, String(key))) at = at[String(key)];
    else return undefined;
  }
  return at;
}

/** The part at a path; refuses to pass through an anchor, an alias or a tag. */
export function locate(tree: SourceTree, path: DocumentPath): Located | undefined {
  let at: Located | undefined = tree.root;
  for (const key of path) {
    if (at.isShared) refuse(SHARED);
    const next: Located | undefined = at.members().get(key);
    if (next === undefined) return undefined;
    at = next;
  }
  return at;
}

export const SHARED = 'This part of the text uses an anchor, an alias or a tag. Edit it in the text.';

/** Refuses a part that is shared, or contains a shared part. */
export function mustBeOwn(part: Located): void {
  if (part.isShared) refuse(SHARED);
  for (const member of part.members().values()) mustBeOwn(member);
}

export function isContainer(part: Located): boolean {
  return part.style === undefined;
}

/** Written with brackets. */
export function isFlow(text: string, part: Located): boolean {
  if (part.style !== undefined) return false;
  const first = text[part.start];
  return first === '{' || first === '[';
}

export function isEmpty(part: Located): boolean {
  return part.start === part.end;
}

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Before the line break. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end === -1) return text.length;
  return end > at && text[end - 1] === '\r' ? end - 1 : end;
}

/** After the line break. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** The column from 0. */
export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The indentation of the line. */
export function indentOf(text: string, at: number): number {
  const start = lineStart(text, at);
  let end = start;
  while (text[end] === ' ') end++;
  return end - start;
}

/** Only blanks precede it on its line. */
export function isFirstOnLine(text: string, at: number): boolean {
  return /^[ \t]*$/.test(text.slice(lineStart(text, at), at));
}

/** The offset after the colon of a member of a mapping. */
export function afterColon(text: string, member: Located): number {
  const colon = text.indexOf(':', member.keyEnd);
  return colon === -1 ? member.keyEnd : colon + 1;
}

/** The offset of the dash of an item of a block list. */
export function dashBefore(text: string, item: Located): number {
  let at = item.start;
  while (at > 0 && text[at] !== '-') at--;
  // The item may itself begin with a dash: `- - a`, or a number such as `- -1`.
  if (at === item.start) {
    at--;
    while (at > 0 && text[at] !== '-') at--;
  }
  return at;
}

/** The offset after the last character of the value; the line breaks at the end of a block scalar do not count. */
export function contentEnd(text: string, part: Located): number {
  let { end } = part;
  if (part.style !== 'literal' && part.style !== 'folded') return deepEnd(text, part);
  const isKept = /^[|>][0-9]?\+/.test(text.slice(part.start, part.start + 3));
  if (isKept) return text[end - 1] === '\n' ? end - 1 : end;
  while (end > part.start && /[\s]/.test(text[end - 1] ?? '')) end--;
  return end;
}

/** A block ends with its last member. */
function deepEnd(text: string, part: Located): number {
  if (!isContainer(part) || isFlow(text, part)) return part.end;
  const last = [...part.members().values()].at(-1);
  if (last === undefined) return part.end;
  if (last.isShared && last.start < last.keyStart) return lineEnd(text, afterColon(text, last));
  if (last.isShared && last.keyEnd === last.keyStart) refuse(SHARED);
  if (isEmpty(last)) return last.keyEnd > last.keyStart ? Math.max(afterColon(text, last), last.end) : part.end;
  return contentEnd(text, last);
}

/**
 * The end of the last line of a member of a block: with the comment behind its value, and with comments below that are
 * indented further than the member.
 */
export function extentEnd(text: string, member: Located, column: number): number {
  const hasKey = member.keyEnd > member.keyStart;
  if (!hasKey && member.isShared) refuse(SHARED);
  // The range of an alias is that of its anchor, which comes before.
  const isAlias = member.isShared && member.start < member.keyStart;
  const value = (isEmpty(member) && hasKey) || isAlias ? afterColon(text, member) : contentEnd(text, member);
  let end = lineEnd(text, value);
  let at = nextLine(text, end);
  while (at < text.length) {
    const line = text.slice(at, lineEnd(text, at));
    const content = line.trimStart();
    if (content !== '') {
      if (!content.startsWith('#') || line.length - content.length <= column) break;
      end = at + line.length;
    }
    const next = nextLine(text, at);
    if (next === at) break;
    at = next;
  }
  return end;
}

/** The start of the comment lines that stand directly above a member, at its indentation. */
export function headStart(text: string, member: Located): number {
  let start = lineStart(text, member.keyStart);
  const column = member.keyStart - start;
  while (start > 0) {
    const before = lineStart(text, start - 1);
    const line = text.slice(before, lineEnd(text, before));
    if (!line.trimStart().startsWith('#') || line.length - line.trimStart().length !== column) break;
    start = before;
  }
  return start;
}
