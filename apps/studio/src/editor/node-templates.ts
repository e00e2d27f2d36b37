/** What can be added to a workflow: every action, and the kinds of nodes that need no action. */
import { isJsonObject, type Json, type JsonObject } from '@nebula/core';
import { type ActionInfo, newestActions, referenceOf } from '../language/catalog.ts';

export interface NodeTemplate {
  readonly key: string;
  /** The section of the palette. */
  readonly group: 'flow' | 'loops' | 'waits' | 'actions';
  readonly title: string;
  readonly doc: string;
  /** The id of a new node, made free in its graph. */
  readonly id: string;
  readonly node: JsonObject;
  /** Further words that find it. */
  readonly words: string;
}

export type KindKey =
  | 'branch'
  | 'forEach'
  | 'while'
  | 'retryUntil'
  | 'group'
  | 'wait'
  | 'approval'
  | 'signal'
  | 'set'
  | 'workflow'
  | 'terminate';

const STEP: JsonObject = { nodes: { step: { action: 'core.log@1', with: { message: '{{ $item }}' } } } };
const INNER: JsonObject = { nodes: { step: { action: 'core.log@1', with: { message: 'Hello' } } } };

const KINDS: readonly { readonly key: KindKey; readonly group: NodeTemplate['group']; readonly node: JsonObject }[] = [
  { key: 'branch', group: 'flow', node: { branch: { cases: [{ when: 'true', to: [] }] } } },
  { key: 'set', group: 'flow', node: { set: { name: 'value' } } },
  { key: 'workflow', group: 'flow', node: { workflow: { id: 'other' } } },
  { key: 'terminate', group: 'flow', node: { terminate: 'completed' } },
  { key: 'forEach', group: 'loops', node: { forEach: { in: '$input.items' }, do: STEP } },
  { key: 'while', group: 'loops', node: { while: { condition: '$vars.more' }, do: INNER } },
  { key: 'retryUntil', group: 'loops', node: { retryUntil: { until: '$self.output.done', attempts: 10 }, do: INNER } },
  { key: 'group', group: 'loops', node: { group: INNER } },
  { key: 'wait', group: 'waits', node: { wait: { for: '10s' } } },
  { key: 'approval', group: 'waits', node: { wait: { approval: { title: 'Continue?' } } } },
  { key: 'signal', group: 'waits', node: { wait: { signal: 'ready' } } },
];

/** Titles and descriptions of the kinds, in the language of the page. */
export type KindWords = Readonly<Record<KindKey, { readonly title: string; readonly doc: string }>>;

export function templatesOf(actions: readonly ActionInfo[], words: KindWords): NodeTemplate[] {
  const kinds = KINDS.map(
    ({ key, group, node }): NodeTemplate => ({ key, group, ...words[key], id: key, node, words: key }),
  );
  const named = newestActions(actions).map((action): NodeTemplate => {
    const reference = referenceOf(action);
    return {
      key: reference,
      group: 'actions',
      title: action.title ?? action.id,
      doc: action.description ?? '',
      id: action.id.split('.').at(-1) ?? action.id,
      node: nodeOf(reference, action.input),
      words: reference,
    };
  });
  return [...kinds, ...named];
}

/** A node that calls the action, with its required parameters. */
function nodeOf(reference: string, input: unknown): JsonObject {
  const schema = isJsonObject(input) ? input : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const given = required.map((name): [string, Json] => [
    String(name),
    initialOf((properties[String(name)] ?? null) as Json),
  ]);
  return given.length === 0 ? { action: reference } : { action: reference, with: Object.fromEntries(given) };
}

function initialOf(schema: Json): Json {
  if (!isJsonObject(schema)) return '';
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? '';
  switch (schema.type) {
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '';
  }
}

/** Templates that contain all words, those whose title begins with the first one before the others. */
export function findTemplates(templates: readonly NodeTemplate[], search: string): NodeTemplate[] {
  const wanted = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (wanted.length === 0) return [...templates];
  const first = wanted[0] ?? '';
  return templates
    .filter(({ title, doc, words }) => {
      const text = `${title} ${words} ${doc}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    })
    .sort((a, b) => rankOf(a, first) - rankOf(b, first));
}

function rankOf({ title, words }: NodeTemplate, word: string): number {
  if (title.toLowerCase().startsWith(word)) return 0;
  return words.toLowerCase().includes(word) || title.toLowerCase().includes(word) ? 1 : 2;
}
