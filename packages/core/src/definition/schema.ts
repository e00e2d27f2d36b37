/** Generates the JSON Schema (draft 2020-12) of the language, for completion and validation in editors. */
import type { Action } from '../action.ts';
import { DURATION_PATTERN } from '../duration.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import { isJsonObject, type Json, type JsonObject } from '../value.ts';
import { RECORDS, WORKFLOW } from './keys.ts';
import { LOOP_KINDS } from './kind-rules.ts';
import { NODE } from './node-keys.ts';
import { ACTION_PATTERN, ID_PATTERN, PERCENT_PATTERN, type RecordType, type ValueType } from './value-type.ts';

const ID_BODY = ID_PATTERN.slice(1, -1);

/** An action whose name and parameters an editor can complete. */
export type SchemaAction = Pick<Action, 'id' | 'version' | 'title' | 'description' | 'input'>;

export function workflowJsonSchema(actions: readonly SchemaAction[] = []): JsonObject {
  const definitions: Record<string, Json> = {
    id: { type: 'string', pattern: ID_PATTERN, maxLength: DEFINITION_LIMITS.maxIdLength },
    duration: { type: 'string', pattern: DURATION_PATTERN, examples: ['250ms', '10s', '5m', '2h', '1d', 'PT5M'] },
    action: actionSchema(actions),
  };
  for (const record of RECORDS) {
    if (record === WORKFLOW) continue;
    const schema = recordSchema(record);
    const hasParameters = record === NODE && actions.length > 0;
    definitions[record.name] = hasParameters ? { ...schema, allOf: actions.map(parametersSchema) } : schema;
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Nebula workflow',
    ...recordSchema(WORKFLOW),
    $defs: definitions,
  };
}

function actionSchema(actions: readonly SchemaAction[]): JsonObject {
  const any = { type: 'string', pattern: ACTION_PATTERN, examples: ['http.request@1'] };
  if (actions.length === 0) return any;
  const known = actions.map((action) => ({
    const: nameOf(action),
    ...(action.description !== undefined && { description: action.description }),
  }));
  return { anyOf: [...known, any] };
}

/** `http.request@1`: the name by which nodes call the action. */
function nameOf({ id, version }: SchemaAction): string {
  return `${id}@${version.split('.')[0]}`;
}

/** The names of the parameters with their descriptions. Their types stay open: each may be an expression. */
function parametersSchema(action: SchemaAction): JsonObject {
  const known =
    isJsonObject(action.input) && isJsonObject(action.input['properties']) ? action.input['properties'] : {};
  const parameters = Object.entries(known).map(([name, schema]): [string, JsonObject] => {
    const texts = isJsonObject(schema) ? Object.entries(schema).filter(([key]) => TEXTS.has(key)) : [];
    return [name, Object.fromEntries(texts)];
  });
  return {
    if: { properties: { action: { const: nameOf(action) } }, required: ['action'] },
    then: { properties: { with: { properties: Object.fromEntries(parameters) } } },
  };
}

const TEXTS: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples']);

function recordSchema(record: RecordType): JsonObject {
  const built = Object.entries(record.keys).filter(([, key]) => !key.later);
  const required = built.filter(([, key]) => key.required).map(([name]) => name);
  const kinds =
    record.name === 'subWorkflow' ? ['id', 'plan'] : built.filter(([, key]) => key.kind).map(([name]) => name);
  return {
    type: 'object',
    description: record.doc,
    properties: Object.fromEntries(
      built.map(([name, { type, doc }]) => [name, { description: doc, ...typeSchema(type) }] as const),
    ),
    ...(required.length > 0 ? { required } : {}),
    ...(kinds.length > 0 ? { oneOf: kinds.map((kind) => ({ required: [kind] })) } : {}),
    ...(record === NODE ? { dependentRequired: Object.fromEntries(LOOP_KINDS.map((kind) => [kind, ['do']])) } : {}),
    additionalProperties: false,
  };
}

function durationSchema({ or, expression, moment }: ValueType & { is: 'duration' }): JsonObject {
  const duration = { $ref: '#/$defs/duration' };
  const others: JsonObject[] = [];
  if (or) others.push({ enum: or });
  if (expression) others.push({ type: 'string', pattern: '\\{\\{' });
  if (moment) others.push({ type: 'string', pattern: '^\\s*[+-]?\\d{4}' });
  return others.length === 0 ? duration : { anyOf: [duration, ...others] };
}

function orExpression(schema: JsonObject, expression = false): JsonObject {
  return expression ? { anyOf: [schema, { type: 'string', pattern: '^\\s*\\{\\{' }] } : schema;
}

function typeSchema(type: ValueType): JsonObject {
  switch (type.is) {
    case 'text':
      return { type: 'string', ...(type.plain && { not: { pattern: '\\{\\{' } }) };
    case 'id':
    case 'action':
      return { $ref: `#/$defs/${type.is}` };
    case 'integer':
    case 'number':
      return orExpression({ type: type.is, minimum: type.min, maximum: type.max }, type.expression);
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { enum: type.of };
    case 'name':
      return { anyOf: [{ enum: type.known }, { type: 'string', pattern: '\\S' }] };
    case 'duration':
      return durationSchema(type);
    case 'moment':
      return { type: 'string', pattern: '\\S' };
    case 'percent':
      return orExpression({ type: 'string', pattern: PERCENT_PATTERN }, type.expression);
    case 'expression':
      return { type: type.textOnly ? 'string' : ['string', 'boolean'], pattern: '\\S' };
    case 'edgeText':
      return { type: 'string', pattern: `^\\s*${ID_BODY}(\\s*->\\s*${ID_BODY})+\\s*$` };
    case 'value':
    case 'custom':
      return {};
    case 'object':
      return { type: 'object' };
    case 'schema':
      return { type: ['object', 'boolean'] };
    case 'list': {
      const list = { type: 'array', items: typeSchema(type.of) };
      return type.orOne ? { anyOf: [typeSchema(type.of), list] } : list;
    }
    case 'map':
      return {
        type: 'object',
        ...(type.anyKeys ? {} : { propertyNames: { $ref: '#/$defs/id' } }),
        additionalProperties: typeSchema(type.of),
      };
    case 'record':
      return { $ref: `#/$defs/${type.record.name}` };
    case 'either':
      return { anyOf: type.of.map(typeSchema) };
  }
}
