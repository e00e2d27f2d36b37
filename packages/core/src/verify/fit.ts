/** Whether a pattern of `match` can fit any value of a schema. Says no only where that is certain. */
import { isOperators } from '../expression/index.ts';
import { typesOf } from '../plan/value-schema.ts';
import { followPath } from '../schema/index.ts';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, jsonEquals } from '../value.ts';

/** `mayBeMissing`: the value is a member that need not be there. */
export function canFit(pattern: Json, schema: JsonSchema | undefined, mayBeMissing = false): boolean {
  if (isJsonObject(pattern)) {
    return isOperators(pattern)
      ? Object.entries(pattern).every(([operator, operand]) => canHold(operator, operand, schema, mayBeMissing)) &&
          hasRoom(pattern)
      : canHaveMembers(pattern, schema);
  }
  return canEqual(pattern, schema);
}

function canEqual(value: Json, schema: JsonSchema | undefined): boolean {
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.some((choice) => jsonEquals(choice, value));
  return hasType(schema, typeOf(value));
}

/** The values that a schema allows, where it lists them. */
export function choicesOf(schema: JsonSchema | undefined): readonly Json[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function canHaveMembers(pattern: JsonObject, schema: JsonSchema | undefined): boolean {
  if (!hasType(schema, 'object')) return false;
  if (schema === undefined) return true;
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(pattern).every(([name, part]) => {
    const found = followPath(schema, [name]);
    if (found.verdict === 'absent') return isJsonObject(part) && isOperators(part) && part.exists === false;
    const inside = found.verdict === 'fits' && found.schema !== true ? found.schema : undefined;
    return canFit(part, inside, !required.includes(name));
  });
}

function canHold(operator: string, operand: Json, schema: JsonSchema | undefined, mayBeMissing: boolean): boolean {
  switch (operator) {
    case 'exists':
      return operand === true || mayBeMissing || schema === undefined;
    case 'type':
      return (Array.isArray(operand) ? operand : [operand]).some((type) => hasType(schema, String(type)));
    case 'in':
      return (operand as readonly Json[]).some((option) => canEqual(option, schema));
    case 'regex':
      return hasType(schema, 'string');
    default:
      return hasType(schema, typeof operand) && (typeof operand !== 'number' || isInRange(operator, operand, schema));
  }
}

function isInRange(operator: string, operand: number, schema: JsonSchema | undefined): boolean {
  if (!isJsonObject(schema)) return true;
  const { minimum, maximum } = schema;
  if (operator.startsWith('g') && typeof maximum === 'number') {
    return operator === 'gt' ? maximum > operand : maximum >= operand;
  }
  if (operator.startsWith('l') && typeof minimum === 'number') {
    return operator === 'lt' ? minimum < operand : minimum <= operand;
  }
  return true;
}

/** A number can be above the one bound and below the other. */
function hasRoom({ gt, gte, lt, lte }: JsonObject): boolean {
  const above = Math.max(...[gt, gte].filter((one) => typeof one === 'number'));
  const below = Math.min(...[lt, lte].filter((one) => typeof one === 'number'));
  if (above === below) return above !== gt && below !== lt;
  return above < below;
}

function hasType(schema: JsonSchema | undefined, type: string): boolean {
  const choices = choicesOf(schema);
  const types = choices?.map(typeOf) ?? typesOf(schema);
  return types === undefined || types.some((one) => sharesValues(one, type));
}

/** Whether some value is of both types. */
export function sharesValues(one: string, other: string): boolean {
  const isNumber = (type: string): boolean => type === 'number' || type === 'integer';
  return one === other || (isNumber(one) && isNumber(other));
}

export function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** An empty list of codes, kinds or messages fits no error. */
export function canFitError(pattern: Json): boolean {
  return !isJsonObject(pattern) || Object.values(pattern).every((one) => !Array.isArray(one) || one.length > 0);
}
