/** Renders references and values to the text of the language, relative to their position. */
import type { Json, JsonObject } from '@nebula/core';
import { isJsonObject, NebulaError } from '@nebula/core/authoring';
import {
  type NodeAddress,
  type PathSource,
  type Root,
  type Source,
  type Step,
  sourceOf,
  type TextSource,
} from './expression.ts';

/** The position of a value. */
export interface RenderScope {
  /** The workflow to which `$input`, `$vars` and similar names refer. */
  readonly workflow: object;
  /** The enclosing loops, innermost first. */
  readonly loops: readonly object[];
  /** The object that `$self` refers to, where available. */
  readonly self?: object | undefined;
  /** Records that a node is read; throws when it is not visible from here. */
  read(node: NodeAddress): void;
}

/** Renders `with`, `input`, `set` and `output`: whole expressions keep their type. */
export function renderValue(value: unknown, scope: RenderScope, where: string): Json {
  const source = sourceOf(value);
  if (source !== undefined) return source.kind === 'text' ? template(source, scope) : `{{ ${code(source, scope)} }}`;
  if (typeof value === 'string') return value.replaceAll('{{', '\\{{');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => renderValue(item, scope, `${where}[${index}]`));
  if (isPlain(value)) return renderFields(value, scope, where);
  throw noValue(value, where);
}

export function renderFields(value: object, scope: RenderScope, where: string): JsonObject {
  if (sourceOf(value) !== undefined) {
    throw invalid(`${where} is a single reference`, 'write its members: { to: user.output.email }');
  }
  const fields: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) fields[key] = renderValue(member, scope, where === '' ? key : `${where}.${key}`);
  }
  return fields;
}

/** Renders `when`, `on`, `in`, `condition` and `until` as bare expressions. */
export function renderCondition(value: unknown, scope: RenderScope, where: string): Json {
  const source = sourceOf(value);
  if (source?.kind === 'path') return code(source, scope);
  if (source === undefined && typeof value === 'boolean') return value;
  throw invalid(`${where} is not an expression`, 'pass a reference, or write expr`…`');
}

/** True for plain objects, but not for nodes, dates or functions. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function noValue(value: unknown, where: string): NebulaError {
  const isNode = isJsonObject(value) && sourceOf(value.output) !== undefined;
  const what = isNode ? 'a node' : value === undefined ? 'undefined' : typeof value;
  const hint = isNode ? `write ${String(value.id)}.output` : 'pass a JSON value or a reference';
  return invalid(`${where} is ${what}, which is not a value`, hint);
}

function code({ root, steps }: PathSource, scope: RenderScope, isPart = false): string {
  const start = rootCode(root, scope);
  const isAtom = root.kind !== 'code' || (steps.length === 0 && !isPart);
  return (isAtom ? start : `(${start})`) + steps.map((step) => stepCode(step, scope)).join('');
}

function rootCode(root: Root, scope: RenderScope): string {
  switch (root.kind) {
    case 'node':
      scope.read(root.node);
      return `$nodes${stepCode({ key: root.node.id, isOptional: false }, scope)}.${root.member}`;
    case 'loop':
      return loopCode(root.loop, root.member, scope);
    case 'self':
      if (root.of === scope.self) return '$self.output';
      throw invalid(
        'the node’s own output is read where it is not available',
        'use it only in the function that receives it',
      );
    case 'run':
      if (root.of === scope.workflow) return `$${root.name}`;
      throw invalid(`$${root.name} of another workflow is read`, 'use the w of this workflow');
    case 'code':
      return root.parts
        .map((part, index) => (index === 0 ? '' : holeCode(root.holes[index - 1], scope)) + part)
        .join('');
  }
}

function loopCode(loop: object, member: string, scope: RenderScope): string {
  const level = scope.loops.indexOf(loop);
  if (level < 0) throw invalid(`$${member} of a loop is read outside of it`, 'use the output of the loop');
  if (level > 0 && member === 'previous')
    throw invalid('$previous of an outer loop is read', 'keep it in a variable: set it in the outer loop');
  return level === 0 ? `$${member}` : `$${'parent.'.repeat(level)}${member}`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function stepCode({ key, isOptional }: Step, scope: RenderScope): string {
  if (typeof key === 'string' && NAME.test(key)) return `${isOptional ? '?.' : '.'}${key}`;
  return `${isOptional ? '?.' : ''}[${holeCode(key, scope, "'")}]`;
}

function holeCode(hole: unknown, scope: RenderScope, quote = '"'): string {
  const source = sourceOf(hole);
  if (source !== undefined) return code(pathIn(source), scope, true);
  if (typeof hole === 'number' && hole < 0) return `(${hole})`;
  if (typeof hole === 'string') return literalText(hole, quote);
  if (Array.isArray(hole)) return `[${hole.map((item) => holeCode(item, scope)).join(', ')}]`;
  if (isPlain(hole)) {
    const members = Object.entries(hole).filter(([, member]) => member !== undefined);
    return `{ ${members.map(([key, member]) => `${literalText(key)}: ${holeCode(member, scope)}`).join(', ')} }`;
  }
  if (hole === null || typeof hole === 'boolean' || (typeof hole === 'number' && Number.isFinite(hole)))
    return `${hole}`;
  throw noValue(hole, 'a hole of expr');
}

function pathIn(source: Source): PathSource {
  if (source.kind === 'path') return source;
  throw invalid('text`…` is part of an expression', 'put expr`…` into text`…`, not the other way round');
}

/** Escapes braces, so that no text looks like the start of a template. */
function literalText(value: string, quote = '"'): string {
  const json = JSON.stringify(value).slice(1, -1).replaceAll('{', '\\u007b');
  return quote === '"' ? `"${json}"` : `'${json.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function template({ parts, holes }: TextSource, scope: RenderScope): string {
  let written = '';
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1;
    // A brace or a backslash directly before an expression would become part of its braces.
    const [, plain = '', edge = ''] = isLast ? ['', part, ''] : (/^(.*?)([\\{]*)$/s.exec(part) ?? []);
    written += plain.replaceAll('{{', '\\{{');
    if (edge !== '') written += `{{ ${literalText(edge)} }}`;
    if (!isLast) written += `{{ ${textHole(holes[index], scope)} }}`;
  });
  // A single expression would keep its type; an empty text next to it makes it text.
  return parts.length === 2 && parts.every((part) => part === '') ? `${written}{{ "" }}` : written;
}

function textHole(hole: unknown, scope: RenderScope): string {
  const source = sourceOf(hole);
  return source === undefined ? holeCode(hole, scope) : code(pathIn(source), scope);
}

export function invalid(message: string, hint: string): NebulaError {
  return new NebulaError('WORKFLOW_INVALID', message, { hint });
}
