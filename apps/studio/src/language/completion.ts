/** Completion: keys and values of the language, actions, their parameters, and expressions. */
import { type DocumentPath, isJsonObject, type Json, type JsonSchema, readSource, type ValueType } from '@nebula/core';
import { type ActionInfo, newestActions, referenceOf } from './catalog.ts';
import type { CompletionItem } from './completion-item.ts';
import { type CursorPlace, placeOfCursor } from './cursor.ts';
import { idsIn } from './edits/graph-places.ts';
import { completeExpression } from './expression-completion.ts';
import { type Expected, expectedAt, recordsOf, typeWords } from './language-types.ts';
import type { RunValues } from './run-values.ts';
import { placeIn } from './scope-types.ts';
import { typeText } from './value-types.ts';

export interface Completion {
  readonly from: number;
  readonly to: number;
  readonly items: readonly CompletionItem[];
}

export interface LanguageFacts {
  /** The data of the last text that could be read. */
  readonly data: Json;
  readonly actions: readonly ActionInfo[];
  readonly workflowIds: readonly string[];
  readonly run?: RunValues | undefined;
}

export function completeAt(text: string, offset: number, given: LanguageFacts): Completion | undefined {
  const data = readSource(text).value ?? given.data;
  const facts = { ...given, data: isJsonObject(data) ? data : given.data };
  const place = placeOfCursor(text, offset);
  const inside = expressionAt(place, facts);
  if (inside !== undefined) {
    const items = completeExpression(inside.before, { ...facts, place: placeIn([...place.path, place.key ?? '']) });
    return items === undefined ? undefined : { from: offset - items.typed.length, to: offset, items: items.items };
  }
  const items = place.key === undefined ? keyItems(place, facts) : valueItems(place, facts);
  return items.length === 0 ? undefined : { from: place.from, to: offset, items };
}

/** The text of the expression before the cursor, if it is in one. */
function expressionAt(
  { path, key, typed }: CursorPlace,
  facts: LanguageFacts,
): { readonly before: string } | undefined {
  const open = typed.lastIndexOf('{{');
  if (open !== -1 && !typed.slice(open).includes('}}')) return { before: typed.slice(open + 2) };
  if (key === undefined) return undefined;
  const expected = expectedAt([...path, key], facts.data, facts.actions);
  const isBare = expected?.from === 'language' && takesBare(expected.type);
  return isBare ? { before: typed.replace(/^["']/, '') } : undefined;
}

function takesBare(type: ValueType): boolean {
  return type.is === 'expression' || (type.is === 'either' && type.of.some(takesBare));
}

function keyItems(place: CursorPlace, facts: LanguageFacts): CompletionItem[] {
  const expected = expectedAt(place.path, facts.data, facts.actions);
  const isItem =
    expected?.from === 'language' && expected.type.is !== 'record' && typeof place.path.at(-1) === 'number';
  // Behind a dash may also stand a value.
  const values = isItem ? itemValues(expected, place, facts) : [];
  return [...values, ...keysOf(expected, place)];
}

function keysOf(expected: Expected | undefined, { siblings, inFlow, column }: CursorPlace): CompletionItem[] {
  if (expected === undefined) return [];
  if (expected.from === 'schema') return parameterKeys(expected.schema, siblings);
  if (expected.type.is === 'schema') return SCHEMA_KEYS.filter(({ label }) => !siblings.includes(label));
  const hasKind = recordsOf(expected.type).some(({ keys }) => siblings.some((name) => keys[name]?.kind === true));
  return recordsOf(expected.type).flatMap(({ keys }) =>
    Object.entries(keys).flatMap(([name, { type, doc, later, kind }]): CompletionItem[] => {
      if (later === true || siblings.includes(name) || (kind === true && hasKind)) return [];
      const isBlock = !inFlow && (type.is === 'record' || type.is === 'map' || type.is === 'object');
      const apply = isBlock ? `${name}:\n${' '.repeat(column + 2)}` : `${name}: `;
      return [{ label: name, kind: 'key', apply, detail: typeWords(type), doc }];
    }),
  );
}

function parameterKeys(schema: JsonSchema | undefined, siblings: readonly string[]): CompletionItem[] {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).flatMap(([name, member]): CompletionItem[] => {
    if (siblings.includes(name)) return [];
    const known = { schema: isJsonObject(member) ? member : undefined };
    const doc = isJsonObject(member) ? member.description : undefined;
    const detail = `${typeText(known)}${required.includes(name) ? ', required' : ''}`;
    return [{ label: name, kind: 'key', apply: `${name}: `, detail, ...(typeof doc === 'string' && { doc }) }];
  });
}

const SCHEMA_KEYS: readonly CompletionItem[] = (
  [
    ['type', 'object, array, string, number, integer, boolean or null'],
    ['properties', 'The members of an object.'],
    ['required', 'Members that must be given.'],
    ['items', 'The schema of the items of a list.'],
    ['description', 'Shown in forms.'],
    ['title', 'The label in forms.'],
    ['default', 'The value if none is given.'],
    ['enum', 'The allowed values.'],
    ['minimum', 'The smallest number.'],
    ['maximum', 'The largest number.'],
    ['minLength', 'The least number of characters.'],
    ['pattern', 'A regular expression.'],
    ['format', 'date-time, email, uri …'],
    ['additionalProperties', 'false: no other members.'],
  ] as const
).map(([label, doc]) => ({ label, kind: 'key', apply: `${label}: `, doc }));

function itemValues(expected: Expected, place: CursorPlace, facts: LanguageFacts): CompletionItem[] {
  return expected.from === 'language' ? valuesOf(expected.type, [...place.path], facts) : [];
}

function valueItems(place: CursorPlace, facts: LanguageFacts): CompletionItem[] {
  const path = [...place.path, place.key as string | number];
  const expected = expectedAt(path, facts.data, facts.actions);
  if (expected === undefined) return [];
  if (expected.from === 'schema') return schemaValues(expected.schema);
  return valuesOf(expected.type, path, facts);
}

function schemaValues(schema: JsonSchema | undefined): CompletionItem[] {
  if (!isJsonObject(schema)) return [];
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => ({ label: String(one), kind: 'value' as const }));
  if (schema.type === 'boolean') return BOOLEANS;
  const { default: initial } = schema;
  return initial === undefined ? [] : [{ label: JSON.stringify(initial), kind: 'value', detail: 'default' }];
}

const BOOLEANS: CompletionItem[] = [
  { label: 'true', kind: 'value' },
  { label: 'false', kind: 'value' },
];
const NODE_KEYS = new Set<string | number>(['needs', 'from', 'to', 'default', 'failureNode', 'order', 'cases']);

function valuesOf(type: ValueType, path: DocumentPath, facts: LanguageFacts): CompletionItem[] {
  switch (type.is) {
    case 'choice':
      return type.of.map((label) => ({ label, kind: 'value' }));
    case 'name':
      return type.known.map((label) => ({ label, kind: 'value' }));
    case 'boolean':
      return BOOLEANS;
    case 'duration':
      return ['10s', '1m', '5m', '1h', '1d', ...(type.or ?? [])].map((label) => ({ label, kind: 'value' }));
    case 'action':
      return actionItems(facts.actions);
    case 'id':
      return idItems(path, facts);
    case 'edgeText':
      return idItems([...path, 'needs'], facts).map((item) => ({ ...item, apply: `${item.label} -> ` }));
    case 'list':
      return valuesOf(type.of, path, facts);
    case 'either':
      return type.of.flatMap((one) => valuesOf(one, path, facts));
    default:
      return [];
  }
}

function actionItems(actions: readonly ActionInfo[]): CompletionItem[] {
  return newestActions(actions).map((action) => ({
    label: referenceOf(action),
    kind: 'action',
    detail: action.title ?? '',
    doc: [action.description ?? '', `Effect: ${action.effect}.`].filter((line) => line !== '').join('\n\n'),
  }));
}

function idItems(path: DocumentPath, { data, workflowIds }: LanguageFacts): CompletionItem[] {
  if (path.at(-1) === 'id' && path.at(-2) === 'workflow') return workflowIds.map((label) => ({ label, kind: 'value' }));
  if (!path.some((step) => NODE_KEYS.has(step))) return [];
  const { graph, node } = placeIn(path);
  return idsIn(data, graph)
    .filter((id) => id !== node)
    .map((label) => ({ label, kind: 'node' }));
}
