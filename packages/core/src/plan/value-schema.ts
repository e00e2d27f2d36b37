/**
 * Derives the schema of a value before it is evaluated: the types of its expressions, as far as schemas determine them.
 */

import type { Action } from '../action.ts';
import type { NodeDefinition, NodeKind, WaitDefinition } from '../definition/model.ts';
import { ExpressionError } from '../expression/index.ts';
import { parseAt } from '../expression/parser.ts';
import type { Root, Step, Syntax } from '../expression/syntax.ts';
import { EXPRESSION_LIMITS } from '../limits.ts';
import { followPath } from '../schema/index.ts';
import {
  canonicalJson,
  hasMoreValues,
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonTypeOf,
} from '../value.ts';
import { type GraphScope, itemAround, regionOf } from './scope.ts';

/** The position of a value. */
export interface SchemaContext {
  readonly scope: GraphScope;
  readonly input: JsonSchema | undefined;
  /** The schema of `$self.output`, as far as known. */
  readonly self?: JsonSchema | undefined;
  /** The value is evaluated between the iterations of the node's own loop. */
  readonly betweenIterations?: boolean;
}

/** Maximum number of inspected values; larger values have no schema. */
const MAX_VALUES = 5_000;

/** Undefined: unknown. Null is never excluded, because skipped nodes have it as output. */
export function schemaOfValue(raw: Json | undefined, context: SchemaContext): JsonSchema | undefined {
  return raw === undefined || hasMoreValues(raw, MAX_VALUES) ? undefined : schemaAt(raw, context);
}

function schemaAt(raw: Json, context: SchemaContext): JsonSchema | undefined {
  if (typeof raw === 'string' && raw.includes('{{')) {
    const syntax = wholeExpression(raw);
    if (syntax !== undefined) return schemaOf(syntax, context);
    return raw.includes('\\{{') ? undefined : { type: 'string' };
  }
  if (Array.isArray(raw)) return listOf(raw.map((one: Json) => schemaAt(one, context)));
  if (isJsonObject(raw)) {
    return closed(Object.entries(raw).map(([name, value]) => [name, schemaAt(value, context)]));
  }
  return { type: jsonTypeOf(raw), const: raw };
}

/** The schema of a key that takes a bare expression. */
export function schemaOfCondition(raw: Json | undefined, context: SchemaContext): JsonSchema | undefined {
  if (typeof raw !== 'string') return schemaOfValue(raw, context);
  const syntax = conditionSyntax(raw);
  return syntax && schemaOf(syntax, context);
}

/** Undefined for text that is not an expression, which is reported elsewhere. */
export function conditionSyntax(raw: string): Syntax | undefined {
  return raw.includes('{{') ? wholeExpression(raw.trim()) : parsed(raw, 0, raw.length);
}

function wholeExpression(raw: string): Syntax | undefined {
  return raw.startsWith('{{') ? parsed(raw, 2, raw.length - 2) : undefined;
}

function parsed(source: string, offset: number, expectedEnd: number): Syntax | undefined {
  try {
    const { syntax, end } = parseAt(source, offset, EXPRESSION_LIMITS.maxAstDepth);
    return end === expectedEnd ? syntax : undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function schemaOf(syntax: Syntax, context: SchemaContext): JsonSchema | undefined {
  switch (syntax.kind) {
    case 'literal':
      return { type: jsonTypeOf(syntax.value), const: syntax.value };
    case 'list':
      if (syntax.items.some(({ spread }) => spread)) return { type: 'array' };
      return listOf(syntax.items.map(({ value }) => schemaOf(value, context)));
    case 'object':
      return objectOf(syntax, context);
    case 'root':
      return rootSchema(syntax.root, context);
    case 'chain':
      return follow(schemaOf(syntax.root, context), syntax.steps);
    case 'query':
      return syntax.query.singular && pathInto(context.input, syntax.query.singular);
    case 'comparison':
      return { type: 'boolean' };
    case 'unary':
      return { type: syntax.operator === '!' ? 'boolean' : 'number' };
    case 'arithmetic':
      return arithmetic(syntax, context);
    case 'conditional':
      return common([...syntax.branches.map(({ then }) => then), syntax.otherwise], context);
    case 'coalesce':
      return common(syntax.operands, context);
    case 'call':
    case 'local':
    case 'logic':
      return undefined;
  }
}

function objectOf({ members }: Syntax & { kind: 'object' }, context: SchemaContext): JsonSchema {
  const known: [string, JsonSchema | undefined][] = [];
  for (const { key, value } of members) {
    if (typeof key !== 'string') return { type: 'object' };
    known.push([key, schemaOf(value, context)]);
  }
  return closed(known);
}

/** `+` also joins texts. */
function arithmetic({ first, rest }: Syntax & { kind: 'arithmetic' }, context: SchemaContext): JsonSchema | undefined {
  if (rest.some(({ operator }) => operator !== '+')) return { type: 'number' };
  const type = typesOf(schemaOf(first, context));
  return type?.length === 1 && (type[0] === 'string' || type[0] === 'number') ? { type: type[0] } : undefined;
}

/** The schema of one of several operands: known when all of them share a type. */
function common(operands: readonly Syntax[], context: SchemaContext): JsonSchema | undefined {
  const schemas = operands.map((one) => schemaOf(one, context));
  const [first] = schemas;
  if (first !== undefined && schemas.every((one) => one !== undefined && canonicalJson(one) === canonicalJson(first))) {
    return first;
  }
  const all = schemas.map(typesOf);
  if (!all.every((types) => types !== undefined)) return undefined;
  return { type: [...new Set(all.flat())] };
}

export function typesOf(schema: JsonSchema | undefined): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type } = schema;
  if (typeof type === 'string') return [type];
  return isJsonList(type) && type.every((one) => typeof one === 'string') ? type : undefined;
}

function rootSchema(root: Root, { scope, input, self, betweenIterations }: SchemaContext): JsonSchema | undefined {
  switch (root.from) {
    case 'input':
      return input;
    case 'node':
      return memberSchema(root.member, () => outputOf(scope, root.id));
    case 'self':
      return memberSchema(root.member, () => self);
    case 'index':
      return { type: 'integer' };
    case 'item':
      return betweenIterations ? undefined : itemAround(scope, 0);
    case 'items':
      return betweenIterations ? undefined : listSchema(itemAround(scope, 0));
    case 'parent': {
      if (root.member === 'index') return { type: 'integer' };
      const item = itemAround(scope, betweenIterations ? root.level - 1 : root.level);
      return root.member === 'item' ? item : listSchema(item);
    }
    case 'execution':
    case 'previous':
    case 'trigger':
    case 'vars':
    case 'workflow':
      return undefined;
  }
}

function memberSchema(member: string, output: () => JsonSchema | undefined): JsonSchema | undefined {
  switch (member) {
    case 'output':
    case 'result':
      return output();
    case 'status':
    case 'callbackUrl':
      return { type: 'string' };
    case 'success':
      return { type: 'boolean' };
    case 'attempts':
      return { type: 'integer' };
    default:
      return undefined;
  }
}

function outputOf(scope: GraphScope, id: string): JsonSchema | undefined {
  const region = regionOf(scope, id);
  if (region !== undefined) return region.item;
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) {
    const index = at.graph.indexOf.get(id);
    if (index !== undefined) return at.outputs[index];
  }
  return undefined;
}

function follow(schema: JsonSchema | undefined, steps: readonly Step[]): JsonSchema | undefined {
  const path: (string | number)[] = [];
  for (const step of steps) {
    if (step.kind !== 'member') return undefined;
    path.push(step.key);
  }
  return pathInto(schema, path);
}

function pathInto(schema: JsonSchema | undefined, path: readonly (string | number)[]): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const found = followPath(schema, path);
  return found.verdict === 'fits' && found.schema !== true ? found.schema : undefined;
}

/** The schema of the items of a list, as far as known. */
export function itemSchema(list: JsonSchema | undefined): JsonSchema | undefined {
  return typesOf(list)?.join() === 'array' ? pathInto(list, [0]) : undefined;
}

export function listSchema(item: JsonSchema | undefined): JsonSchema {
  return item === undefined ? { type: 'array' } : { type: 'array', items: item };
}

function listOf(items: readonly (JsonSchema | undefined)[]): JsonSchema {
  const [first] = items.map(withoutConst);
  const isSame =
    first !== undefined &&
    items.every((one) => one !== undefined && canonicalJson(withoutConst(one) as Json) === canonicalJson(first));
  return { ...(listSchema(isSame ? first : undefined) as object), minItems: items.length, maxItems: items.length };
}

/** The items of a literal list differ in their values, but often not in their types. */
function withoutConst(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (!isJsonObject(schema)) return schema;
  const { const: _, ...rest } = schema;
  if (!isJsonObject(rest.properties)) return rest;
  const properties = Object.entries(rest.properties).map(([name, one]) => [name, withoutConst(one as JsonSchema)]);
  return { ...rest, properties: Object.fromEntries(properties) as Json };
}

type Members = readonly (readonly [string, JsonSchema | undefined])[];

/** An object with exactly these members. */
export function closed(members: Members): JsonSchema {
  return { ...withMembers(members), required: members.map(([name]) => name) };
}

/** An object with some of these members, and no others. */
export function withMembers(members: Members): JsonObject {
  const properties = Object.fromEntries(members.map(([name, schema]) => [name, schema ?? true]));
  return { type: 'object', properties, additionalProperties: false };
}

/**
 * The output schema of a node before it runs. For composite nodes it becomes more exact once their bodies are compiled.
 */
export function outputSchema(
  kind: NodeKind | undefined,
  action: Action | undefined,
  definition: NodeDefinition,
): JsonSchema | undefined {
  switch (kind) {
    case 'action':
      return action?.output;
    case 'branch':
      return closed([['taken', { type: 'array', items: { type: 'string' } }]]);
    case 'forEach':
    case 'split':
      return { type: 'array' };
    case 'merge':
      return closed([['aggregated', { type: 'array' }]]);
    case 'wait':
      return closed([
        ['event', { type: 'string' }],
        ['payload', isJsonObject(definition.wait) ? payloadSchema(definition.wait as WaitDefinition) : undefined],
        ['at', undefined],
      ]);
    case 'set':
      return isJsonObject(definition.set)
        ? closed(Object.keys(definition.set).map((name) => [name, undefined]))
        : undefined;
    case 'dynamic':
    case 'while':
    case 'retryUntil':
    case 'workflow':
    case 'group':
    case 'terminate':
    case undefined:
      return undefined;
  }
}

/** A payload that does not match the schema of its signal does not end the wait. */
function payloadSchema({ signal, schema }: WaitDefinition): JsonSchema | undefined {
  return signal === undefined ? undefined : schema;
}
