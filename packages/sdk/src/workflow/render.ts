/** References and values → the text of the language, seen from the place where it will stand. */
import type { Json, JsonObject } from '@nebula/core';
import { isJsonObject, NebulaError } from '@nebula/core/authoring';
import {
  type NodePlace,
  type PathSource,
  type Root,
  type Source,
  type Step,
  sourceOf,
  type TextSource,
} from './expression.ts';

/** Where a value stands. */
export interface Place {
  /** The run's own names belong to this workflow. */
  readonly workflow: object;
  /** The loops around, the innermost first. */
  readonly loops: readonly object[];
  /** What `$self` is, where it has a value. */
  readonly self?: object | undefined;
  /** Notes that a node is read; refuses one that cannot be seen from here. */
  read(node: NodePlace): void;
}

/** For `with`, `input`, `set`, `output`: whole expressions keep their type. */
export function renderValue(value: unknown, place: Place, where: string): Json {
  const source = sourceOf(value);
  if (source !== undefined) return source.kind === 'text' ? template(source, place) : `{{ ${code(source, place)} }}`;
  if (typeof value === 'string') return value.replaceAll('{{', '\\{{');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => renderValue(item, place, `${where}[${index}]`));
  if (isPlain(value)) return renderFields(value, place, where);
  throw noValue(value, where);
}

export function renderFields(value: object, place: Place, where: string): JsonObject {
  if (sourceOf(value) !== undefined) {
    throw invalid(`${where} is a single reference`, 'name its members: { to: user.output.email }');
  }
  const fields: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) fields[key] = renderValue(member, place, where === '' ? key : `${where}.${key}`);
  }
  return fields;
}

/** For `when`, `on`, `in`, `condition`, `until`: bare. */
export function renderCondition(value: unknown, place: Place, where: string): Json {
  const source = sourceOf(value);
  if (source?.kind === 'path') return code(source, place);
  if (source === undefined && typeof value === 'boolean') return value;
  throw invalid(`${where} is no expression`, 'give a reference, or write expr`…`');
}

/** Texts and objects that are values in the language; a node, a date or a function is none. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function noValue(value: unknown, where: string): NebulaError {
  const isNode = isJsonObject(value) && sourceOf(value.output) !== undefined;
  const what = isNode ? 'a node' : value === undefined ? 'undefined' : typeof value;
  const hint = isNode
    ? `write ${String(value.id)}.output`
    : 'workflows are data: give what JSON can hold, or a reference';
  return invalid(`${where} is ${what}, which is no value`, hint);
}

function code({ root, steps }: PathSource, place: Place, isPart = false): string {
  const start = rootCode(root, place);
  const isAtom = root.kind !== 'code' || (steps.length === 0 && !isPart);
  return (isAtom ? start : `(${start})`) + steps.map((step) => stepCode(step, place)).join('');
}

function rootCode(root: Root, place: Place): string {
  switch (root.kind) {
    case 'node':
      place.read(root.node);
      return `$nodes${stepCode({ key: root.node.id, isOptional: false }, place)}.${root.member}`;
    case 'loop':
      return loopCode(root.loop, root.member, place);
    case 'self':
      if (root.of === place.self) return '$self.output';
      throw invalid('a node’s own output is read where it has no value', 'use it in the function that it was given to');
    case 'run':
      if (root.of === place.workflow) return `$${root.name}`;
      throw invalid(`$${root.name} of another workflow is read`, 'use the w of this one');
    case 'code':
      return root.parts
        .map((part, index) => (index === 0 ? '' : holeCode(root.holes[index - 1], place)) + part)
        .join('');
  }
}

function loopCode(loop: object, member: string, place: Place): string {
  const level = place.loops.indexOf(loop);
  if (level < 0) throw invalid(`$${member} of a loop is read outside of it`, 'use the output of the loop');
  if (level > 0 && member === 'previous')
    throw invalid('$previous of an outer loop is read', 'keep it in a variable: set it in the outer loop');
  return level === 0 ? `$${member}` : `$${'parent.'.repeat(level)}${member}`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function stepCode({ key, isOptional }: Step, place: Place): string {
  if (typeof key === 'string' && NAME.test(key)) return `${isOptional ? '?.' : '.'}${key}`;
  return `${isOptional ? '?.' : ''}[${holeCode(key, place, "'")}]`;
}

function holeCode(hole: unknown, place: Place, quote = '"'): string {
  const source = sourceOf(hole);
  if (source !== undefined) return code(pathIn(source), place, true);
  if (typeof hole === 'number' && hole < 0) return `(${hole})`;
  if (typeof hole === 'string') return literalText(hole, quote);
  if (Array.isArray(hole)) return `[${hole.map((item) => holeCode(item, place)).join(', ')}]`;
  if (isPlain(hole)) {
    const members = Object.entries(hole).filter(([, member]) => member !== undefined);
    return `{ ${members.map(([key, member]) => `${literalText(key)}: ${holeCode(member, place)}`).join(', ')} }`;
  }
  if (hole === null || typeof hole === 'boolean' || (typeof hole === 'number' && Number.isFinite(hole)))
    return `${hole}`;
  throw noValue(hole, 'a hole of expr');
}

function pathIn(source: Source): PathSource {
  if (source.kind === 'path') return source;
  throw invalid('text`…` is part of an expression', 'put expr`…` into the text, not the other way round');
}

/** Without a brace, so that no text looks like the beginning of a template. */
function literalText(value: string, quote = '"'): string {
  const json = JSON.stringify(value).slice(1, -1).replaceAll('{', '\\u007b');
  return quote === '"' ? `"${json}"` : `'${json.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function template({ parts, holes }: TextSource, place: Place): string {
  let written = '';
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1;
    // Before an expression, a brace or a backslash at the end would become part of its braces.
    const [, plain = '', edge = ''] = isLast ? ['', part, ''] : (/^(.*?)([\\{]*)$/s.exec(part) ?? []);
    written += plain.replaceAll('{{', '\\{{');
    if (edge !== '') written += `{{ ${literalText(edge)} }}`;
    if (!isLast) written += `{{ ${textHole(holes[index], place)} }}`;
  });
  // A single expression would keep its type; empty text beside it makes it text.
  return parts.length === 2 && parts.every((part) => part === '') ? `${written}{{ "" }}` : written;
}

function textHole(hole: unknown, place: Place): string {
  const source = sourceOf(hole);
  return source === undefined ? holeCode(hole, place) : code(pathIn(source), place);
}

export function invalid(message: string, hint: string): NebulaError {
  return new NebulaError('WORKFLOW_INVALID', message, { hint });
}
