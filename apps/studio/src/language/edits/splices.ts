/**
 * The splices that insert, replace and remove one member of a mapping or a list, in block and in flow style. Each is
 * made for one tree; a caller that makes several reads the text again in between (`definition-draft.ts`).
 */
import { type DocumentPath, isJsonObject, type Json, type Located } from '@nebula/core';
import { refuse } from './refusal.ts';
import { afterDash, afterKey, blockLines, flowText, jsonText } from './rendering.ts';
import { keyText, literalText, scalarText } from './scalars.ts';
import {
  afterColon,
  columnOf,
  contentEnd,
  dashBefore,
  extentEnd,
  headStart,
  indentOf,
  isContainer,
  isEmpty,
  isFirstOnLine,
  isFlow,
  lineEnd,
  lineStart,
  locate,
  mustBeOwn,
  nextLine,
  SHARED,
  type SourceTree,
  valueAt,
} from './source-tree.ts';
import type { TextEdit } from './text-edit.ts';

/** After which member a new one is written: `last` by default. */
export type Place = 'first' | 'last' | { readonly after: string | number };

export function partAt(tree: SourceTree, path: DocumentPath): Located {
  return locate(tree, path) ?? refuse(`The text has no ${path.join('.')}.`);
}

/** Whether the part at a path stands between brackets. */
function isInFlow(tree: SourceTree, path: DocumentPath): boolean {
  let at = tree.root;
  for (const key of path) {
    if (isFlow(tree.text, at)) return true;
    const next = at.members().get(key);
    if (next === undefined) return false;
    at = next;
  }
  return false;
}

/** Adds a member to a mapping, or an item to a list. */
export function insertEdits(
  tree: SourceTree,
  path: DocumentPath,
  key: string | undefined,
  value: Json,
  place: Place = 'last',
): TextEdit[] {
  const container = partAt(tree, path);
  if (container.isShared) refuse(SHARED);
  if (!isContainer(container) || container.members().size === 0) {
    return replaceEdits(tree, path, key === undefined ? [value] : { [key]: value });
  }
  if (isFlow(tree.text, container)) return insertFlow(tree, container, key, value, place);
  return insertBlock(tree, container, key, value, place);
}

function anchorOf(container: Located, place: Place): Located {
  const members = container.members();
  const found = typeof place === 'object' ? members.get(place.after) : undefined;
  return found ?? ([...members.values()].at(place === 'first' ? 0 : -1) as Located);
}

function insertFlow(
  { text, isJson, lineBreak }: SourceTree,
  container: Located,
  key: string | undefined,
  value: Json,
  place: Place,
): TextEdit[] {
  const anchor = anchorOf(container, place);
  const start = key === undefined ? anchor.start : anchor.keyStart;
  const isOnLines = isFirstOnLine(text, start);
  const column = columnOf(text, start);
  const written = isJson && isOnLines ? jsonText(value, column, lineBreak) : flowText(value, isJson);
  const member = key === undefined ? written : `${keyText(key, isJson)}: ${written}`;
  const gap = isOnLines ? lineBreak + text.slice(lineStart(text, start), start) : ' ';
  if (place === 'first') return [{ from: start, to: start, insert: `${member},${gap}` }];
  const end = flowEnd(anchor);
  return [{ from: end, to: end, insert: `,${gap}${member}` }];
}

/** The end of a member between brackets; `{ a }` has a key only. */
function flowEnd(member: Located): number {
  if (member.isShared) refuse(SHARED);
  return Math.max(member.end, member.keyEnd);
}

function insertBlock(
  { text, lineBreak }: SourceTree,
  container: Located,
  key: string | undefined,
  value: Json,
  place: Place,
): TextEdit[] {
  const anchor = anchorOf(container, place);
  const start = key === undefined ? dashBefore(text, anchor) : anchor.keyStart;
  const column = columnOf(text, start);
  const pad = ' '.repeat(column);
  const member =
    key === undefined
      ? `-${afterDash(value, column, lineBreak)}`
      : `${keyText(key, false)}:${afterKey(value, column, lineBreak, key)}`;
  if (place === 'first') return [{ from: start, to: start, insert: member + lineBreak + pad }];
  const at = endFor(text, container, anchor, column);
  const gap = isSpaced(text, container) && typeof value === 'object' ? lineBreak : '';
  return [{ from: at, to: at, insert: lineBreak + gap + pad + member }];
}

/** Where a new member follows: comments at the end of a block stay above a new last member. */
function endFor(text: string, container: Located, anchor: Located, column: number): number {
  const isLast = [...container.members().values()].at(-1) === anchor;
  return extentEnd(text, anchor, isLast ? column - 1 : column);
}

/** The members are separated by blank lines. */
function isSpaced(text: string, container: Located): boolean {
  const members = [...container.members().values()];
  const [last, before] = [members.at(-1), members.at(-2)];
  if (last === undefined || before === undefined || last.keyStart === last.keyEnd) return false;
  const column = columnOf(text, last.keyStart);
  return /^\r?\n[ \t]*\r?\n/.test(text.slice(extentEnd(text, before, column), last.keyStart));
}

/** Replaces a value by another one, without regard to what they have in common. */
export function replaceEdits(tree: SourceTree, path: DocumentPath, value: Json): TextEdit[] {
  const part = partAt(tree, path);
  mustBeOwn(part);
  if (path.length === 0) refuse('The whole text cannot be replaced by an edit.');
  if (isInFlow(tree, path)) return replaceInFlow(tree, part, value);
  return part.keyEnd > part.keyStart ? replaceInMap(tree, part, value) : replaceInList(tree, part, value);
}

function replaceInFlow({ text, isJson, lineBreak }: SourceTree, part: Located, value: Json): TextEdit[] {
  const isScalar = value === null || typeof value !== 'object';
  const onLines = isJson && text.includes('\n');
  const written = isScalar
    ? isJson
      ? JSON.stringify(value)
      : scalarText(value, true, part.style)
    : onLines
      ? jsonText(value, indentOf(text, part.start), lineBreak)
      : flowText(value, isJson);
  if (!isEmpty(part)) return [{ from: part.start, to: part.end, insert: written }];
  const colon = /^\s*:/.exec(text.slice(part.keyEnd));
  const at = part.keyEnd + (colon?.[0].length ?? 0);
  return [{ from: at, to: at, insert: colon === null ? `: ${written}` : ` ${written}` }];
}

function replaceInMap({ text, lineBreak }: SourceTree, part: Located, value: Json): TextEdit[] {
  const colon = afterColon(text, part);
  const column = columnOf(text, part.keyStart);
  const key = text.slice(part.keyStart, part.keyEnd);
  const end = isEmpty(part) ? colon : contentEnd(text, part);
  const isBlock = isContainer(part) && !isFlow(text, part) && !isEmpty(part);
  const hasTrail = !isBlock && /\S/.test(text.slice(end, lineEnd(text, end)));
  const written = afterValue(value, part, hasTrail, column, lineBreak, key);
  const isBelow = written.startsWith(lineBreak);
  if (isBlock) {
    const below = { from: lineEnd(text, colon), to: end };
    if (isBelow) return [{ ...below, insert: written }];
    return [
      { from: colon, to: colon, insert: written },
      { ...below, insert: '' },
    ];
  }
  if (!isBelow || !hasTrail) return [{ from: colon, to: end, insert: written }];
  const line = lineEnd(text, end);
  return [
    { from: colon, to: end, insert: '' },
    { from: line, to: line, insert: written },
  ];
}

/** The text after the colon or the dash, in the style of the value before. */
function afterValue(
  value: Json,
  before: Located,
  hasTrail: boolean,
  column: number,
  lineBreak: string,
  key?: string,
): string {
  if (typeof value !== 'string') return afterKey(value, column, lineBreak, key);
  const { style } = before;
  const isBlockStyle = style === 'literal' || style === 'folded';
  const mayBeLiteral = !hasTrail && style !== 'double' && style !== 'single';
  const literal = mayBeLiteral ? literalText(value, column + 2, lineBreak) : undefined;
  return ` ${literal ?? scalarText(value, false, isBlockStyle ? undefined : style)}`;
}

function replaceInList({ text, lineBreak }: SourceTree, part: Located, value: Json): TextEdit[] {
  const dash = dashBefore(text, part);
  const column = columnOf(text, dash);
  const end = isEmpty(part) ? dash + 1 : contentEnd(text, part);
  const hasTrail = /\S/.test(text.slice(end, lineEnd(text, end)));
  const isText = typeof value === 'string';
  const written = isText
    ? afterValue(value, part, hasTrail, column, lineBreak)
    : hasTrail && value !== null && typeof value === 'object'
      ? ` ${flowText(value, false)}`
      : afterDash(value, column, lineBreak);
  return [{ from: dash + 1, to: end, insert: written }];
}

/** Removes a member, `withComments` those directly above it, too; an empty container is written as `{}` or `[]`. */
export function removeEdits(tree: SourceTree, path: DocumentPath, withComments = false): TextEdit[] {
  const part = partAt(tree, path);
  mustBeOwn(part);
  const containerPath = path.slice(0, -1);
  const container = partAt(tree, containerPath);
  const members = [...container.members().values()];
  if (members.length === 1) {
    return replaceEdits(tree, containerPath, Array.isArray(valueAt(tree.value, containerPath)) ? [] : {});
  }
  const index = members.indexOf(part);
  if (isFlow(tree.text, container)) return removeFlow(members, index);
  return removeBlock(tree.text, members, index, withComments);
}

function removeFlow(members: readonly Located[], index: number): TextEdit[] {
  const startOf = (member: Located): number => (member.keyEnd > member.keyStart ? member.keyStart : member.start);
  const member = members[index] as Located;
  const next = members[index + 1];
  if (next?.isShared) refuse(SHARED);
  if (next !== undefined) return [{ from: startOf(member), to: startOf(next), insert: '' }];
  return [{ from: flowEnd(members[index - 1] as Located), to: flowEnd(member), insert: '' }];
}

function removeBlock(text: string, members: readonly Located[], index: number, withComments: boolean): TextEdit[] {
  const startOf = (member: Located): number =>
    member.keyEnd > member.keyStart ? member.keyStart : dashBefore(text, member);
  const member = members[index] as Located;
  const start = startOf(member);
  const end = extentEnd(text, member, columnOf(text, start));
  if (isFirstOnLine(text, start)) {
    return [removeLines(text, withComments ? headStart(text, member) : lineStart(text, start), end)];
  }
  const next = startOf(members[index + 1] as Located);
  // The member behind a dash: the next one takes its place, unless there is a comment in between.
  const hasComment = /\S/.test(text.slice(end, next));
  return [{ from: start, to: hasComment ? contentEnd(text, member) : next, insert: '' }];
}

/** Removes whole lines, and one of the blank lines around them if two would meet. */
function removeLines(text: string, from: number, end: number): TextEdit {
  const to = nextLine(text, end);
  const isBlankBefore = /\n[ \t]*\r?\n$/.test(text.slice(0, from)) || from === 0;
  const after = text.slice(to, lineEnd(text, to));
  if (to >= text.length) {
    // Without a line break at the end, the one before goes with the lines.
    const hasBreak = text.endsWith('\n');
    const kept = text
      .slice(0, from)
      .replace(hasBreak ? /(\r?\n)(?:[ \t]*\r?\n)+$/ : /(?:\r?\n[ \t]*)+$/, hasBreak ? '$1' : '');
    return { from: kept.length, to, insert: '' };
  }
  return { from, to: isBlankBefore && after.trim() === '' ? nextLine(text, to) : to, insert: '' };
}

/** New lines for the members of a mapping, written as given: their indentation is adjusted. */
export function insertLines(tree: SourceTree, path: DocumentPath, lines: readonly string[], place: Place): TextEdit[] {
  const { text, lineBreak } = tree;
  const container = partAt(tree, path);
  const isLines = isContainer(container) && !isFlow(text, container) && container.members().size > 0;
  if (isLines) {
    const anchor = anchorOf(container, place);
    const column = columnOf(text, anchor.keyStart);
    const at = endFor(text, container, anchor, column);
    const gap = isSpaced(text, container) ? lineBreak : '';
    return [
      { from: at, to: at, insert: lines.map((one) => lineBreak + gap + indented(one, column, lineBreak)).join('') },
    ];
  }
  if (isInFlow(tree, path) || container.members().size > 0 || container.keyEnd === container.keyStart) {
    refuse('The nodes are written between brackets. Edit them in the text.');
  }
  const colon = afterColon(text, container);
  const column = columnOf(text, container.keyStart) + 2;
  const end = isEmpty(container) ? colon : container.end;
  const line = lineEnd(text, end);
  const below = lines.map((one) => lineBreak + indented(one, column, lineBreak)).join('');
  return [
    { from: colon, to: end, insert: '' },
    { from: line, to: line, insert: below },
  ];
}

/** `lines` begin in column 0. */
export function indented(lines: string, column: number, lineBreak: string): string {
  const pad = ' '.repeat(column);
  return lines
    .split(/\r?\n/)
    .map((line) => (line === '' ? '' : pad + line))
    .join(lineBreak);
}

/** The first member of a mapping as lines of its own. */
export function memberLines(key: string, value: Json, lineBreak: string): string {
  return isJsonObject(value) && Object.keys(value).length > 0
    ? `${keyText(key, false)}:${lineBreak}${blockLines(value, 2, lineBreak)}`
    : `${keyText(key, false)}:${afterKey(value, 0, lineBreak, key)}`;
}
