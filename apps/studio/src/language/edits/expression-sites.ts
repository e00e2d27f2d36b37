/** The strings of a definition that hold expressions, by the key tables of the language. */
import {
  compileCondition,
  compileValue,
  type DocumentPath,
  isJsonObject,
  type Json,
  type RecordType,
  type ValueType,
  WORKFLOW,
} from '@nebula/core';

export interface ExpressionSite {
  readonly path: DocumentPath;
  readonly text: string;
  /** `bare`: the whole string is one expression; `template`: expressions stand between braces. */
  readonly kind: 'bare' | 'template';
}

const BODY_KEYS = new Set(['do', 'group']);
const NODE = recordAt(WORKFLOW, 'nodes');
const BODY = recordOfType(NODE.keys.do?.type);

function recordOfType(type: ValueType | undefined): RecordType {
  if (type?.is !== 'record') throw new Error('The key has no record.');
  return type.record;
}

function recordAt({ keys }: RecordType, key: string): RecordType {
  const type = keys[key]?.type;
  return recordOfType(type?.is === 'map' ? type.of : type);
}

/** The sites of a graph without those in the bodies of its nodes. `place` is empty for the workflow. */
export function sitesOfGraph(graph: Json, place: DocumentPath): ExpressionSite[] {
  if (!isJsonObject(graph)) return [];
  const found: ExpressionSite[] = [];
  const record = place.length === 0 ? WORKFLOW : BODY;
  for (const [key, { type }] of Object.entries(record.keys)) {
    const value = graph[key];
    if (value === undefined) continue;
    if (key !== 'nodes') visit(type, value, [...place, key], found);
    else if (isJsonObject(value)) {
      for (const [id, node] of Object.entries(value)) visitNode(node, [...place, 'nodes', id], found);
    }
  }
  return found;
}

function visitNode(node: Json, path: DocumentPath, found: ExpressionSite[]): void {
  if (!isJsonObject(node)) return;
  for (const [key, value] of Object.entries(node)) {
    const type = BODY_KEYS.has(key) ? undefined : NODE.keys[key]?.type;
    if (type !== undefined) visit(type, value, [...path, key], found);
  }
}

/** Finds the sites of a value of this type. */
function visit(type: ValueType, value: Json, path: DocumentPath, found: ExpressionSite[]): void {
  switch (type.is) {
    case 'expression':
    case 'moment':
      if (typeof value === 'string') found.push({ path, text: value, kind: 'bare' });
      return;
    case 'text':
    case 'integer':
    case 'number':
    case 'duration':
    case 'percent':
    case 'value':
    case 'object':
      return visitTemplates(value, path, found);
    case 'list':
      if (Array.isArray(value))
        for (const [index, item] of value.entries()) visit(type.of, item, [...path, index], found);
      else if (type.orOne === true) visit(type.of, value, path, found);
      return;
    case 'map':
      if (isJsonObject(value))
        for (const [key, one] of Object.entries(value)) visit(type.of, one, [...path, key], found);
      return;
    case 'record':
      if (!isJsonObject(value)) return;
      for (const [key, one] of Object.entries(value)) {
        const inner = type.record.keys[key]?.type;
        if (inner !== undefined) visit(inner, one, [...path, key], found);
      }
      return;
    case 'either': {
      const chosen = type.of.find((one) => isOfType(one, value));
      if (chosen !== undefined) visit(chosen, value, path, found);
      return;
    }
    default:
      return;
  }
}

function isOfType({ is }: ValueType, value: Json): boolean {
  if (Array.isArray(value)) return is === 'list';
  if (isJsonObject(value)) return is === 'record' || is === 'map' || is === 'object';
  return is !== 'list' && is !== 'record' && is !== 'map' && is !== 'object';
}

function visitTemplates(value: Json, path: DocumentPath, found: ExpressionSite[]): void {
  if (typeof value === 'string') {
    if (value.includes('{{')) found.push({ path, text: value, kind: 'template' });
  } else if (value !== null && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) {
      visitTemplates(one as Json, [...path, Array.isArray(value) ? Number(key) : key], found);
    }
  }
}

/** A reference to a node in the text of a site. */
export interface NodeReference {
  readonly id: string;
  /** The part of the text that names the node: `$fetch`, `$nodes.fetch`, `$nodes['my-id']`. */
  readonly offset: number;
  readonly length: number;
  readonly isShort: boolean;
}

const LONG_NAME = /^\$nodes\s*(?:\?\.|\.)?\s*(?:\[\s*(?:'[^']*'|"[^"]*")\s*\]|[A-Za-z_]\w*)/;

/** The references of a site to nodes; none if it has an error. */
export function nodeReferences({ text, kind }: ExpressionSite): NodeReference[] {
  const compile = kind === 'bare' ? compileCondition : compileValue;
  const { references } = compile(text, { report: () => undefined });
  const found = new Map<number, NodeReference>();
  for (const reference of references) {
    if (reference.kind !== 'node') continue;
    const rest = text.slice(reference.offset);
    const long = LONG_NAME.exec(rest)?.[0];
    const length = long?.length ?? 1 + reference.id.length;
    found.set(reference.offset, { id: reference.id, offset: reference.offset, length, isShort: long === undefined });
  }
  return [...found.values()].sort((a, b) => a.offset - b.offset);
}

const RESERVED = new Set([
  ...[
    'input',
    'trigger',
    'nodes',
    'vars',
    'item',
    'index',
    'items',
    'parent',
    'execution',
    'workflow',
    'self',
    'previous',
  ],
]);

/** How an expression names the output of a node, or the node. */
export function referenceText(id: string, isShort: boolean): string {
  const isName = /^[A-Za-z_]\w*$/.test(id);
  if (isShort && isName && !RESERVED.has(id)) return `$${id}`;
  return `$nodes${isName ? `.${id}` : `['${id}']`}${isShort ? '.output' : ''}`;
}
