/** The types of the language's keys along a path, from the core's tables. */
import {
  type DocumentPath,
  isJsonObject,
  type Json,
  type JsonSchema,
  type KeyType,
  type RecordType,
  type ValueType,
  WORKFLOW,
} from '@nebula/core';
import { type ActionInfo, findAction } from './catalog.ts';
import { valueAt } from './edits/source-tree.ts';

/** What may stand at a path: a type of the language, or a schema of an action's parameters. */
export type Expected =
  | { readonly from: 'language'; readonly type: ValueType; readonly key?: KeyType | undefined }
  | { readonly from: 'schema'; readonly schema: JsonSchema | undefined };

const ROOT: Expected = { from: 'language', type: { is: 'record', record: WORKFLOW } };

/** `data`: the last text that could be read, for the action of a node. */
export function expectedAt(path: DocumentPath, data: Json, actions: readonly ActionInfo[]): Expected | undefined {
  let at: Expected | undefined = ROOT;
  for (const [index, step] of path.entries()) {
    if (at === undefined) return undefined;
    if (at.from === 'language' && at.type.is === 'object') {
      const schema = parametersOf(valueAt(data, path.slice(0, index - 1)), actions);
      at =
        path[index - 1] === 'with' && schema !== undefined
          ? { from: 'schema', schema }
          : { from: 'schema', schema: undefined };
    }
    at = at.from === 'language' ? stepInto(at.type, step) : { from: 'schema', schema: schemaStep(at.schema, step) };
  }
  if (at?.from === 'language' && at.type.is === 'object' && path.at(-1) === 'with') {
    const schema = parametersOf(valueAt(data, path.slice(0, -1)), actions);
    if (schema !== undefined) return { from: 'schema', schema };
  }
  return at;
}

function parametersOf(node: Json | undefined, actions: readonly ActionInfo[]): JsonSchema | undefined {
  const reference = isJsonObject(node) ? node.action : undefined;
  if (typeof reference !== 'string') return undefined;
  const input = findAction(actions, reference)?.input;
  return isJsonObject(input) ? (input as JsonSchema) : undefined;
}

function schemaStep(schema: JsonSchema | undefined, step: string | number): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  const next =
    typeof step === 'number' ? schema.items : isJsonObject(schema.properties) ? schema.properties[step] : undefined;
  return isJsonObject(next) ? next : undefined;
}

function stepInto(type: ValueType, step: string | number): Expected | undefined {
  switch (type.is) {
    case 'record': {
      const key = Object.hasOwn(type.record.keys, step) ? type.record.keys[String(step)] : undefined;
      return key === undefined ? undefined : { from: 'language', type: key.type, key };
    }
    case 'map':
    case 'list':
      return { from: 'language', type: type.of };
    case 'either':
      for (const one of type.of) {
        const isFitting = typeof step === 'number' ? one.is === 'list' : one.is === 'record' || one.is === 'map';
        const found = isFitting ? stepInto(one, step) : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    case 'value':
    case 'object':
    case 'schema':
      return { from: 'language', type };
    default:
      return undefined;
  }
}

/** The record that a mapping of this type has, if it is one. */
export function recordsOf(type: ValueType): RecordType[] {
  if (type.is === 'record') return [type.record];
  if (type.is === 'either') return type.of.flatMap(recordsOf);
  return type.is === 'list' ? recordsOf(type.of) : [];
}

/** Short words for what a key takes. */
export function typeWords(type: ValueType): string {
  switch (type.is) {
    case 'choice':
      return type.of.join(' | ');
    case 'name':
      return type.known.join(' | ');
    case 'list':
      return `list of ${typeWords(type.of)}`;
    case 'either':
      return type.of.map(typeWords).join(' or ');
    case 'record':
    case 'map':
    case 'object':
      return 'mapping';
    case 'schema':
      return 'JSON Schema';
    case 'edgeText':
      return 'a -> b';
    case 'custom':
      return type.what;
    default:
      return type.is;
  }
}
