/** Checks whether a `match` pattern can match any value of a schema. Reports a misfit only where it is certain. */
import { isOperators } from '../expression/index.ts';
import { typesOf } from '../plan/value-schema.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { followPath } from '../schema/index.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonEquals,
  jsonTypeOf,
  TYPE_WORDS,
} from '../value.ts';

/** Types and values in messages. */
export function list(values: readonly Json[]): string {
  return values
    .slice(0, 8)
    .map((one) => JSON.stringify(one))
    .join(' or ');
}

export function words(types: readonly string[]): string {
  return types.map((type) => TYPE_WORDS[type] ?? type).join(' or ');
}

/** The reason why a pattern never matches, and its position in the pattern. */
export interface Misfit {
  readonly path: DocumentPath;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function canFit(pattern: Json, schema: JsonSchema | undefined): boolean {
  return misfitOf(pattern, schema) === undefined;
}

/** Returns undefined when the pattern can match. `mayBeMissing`: the value is an optional member. */
export function misfitOf(
  pattern: Json,
  schema: JsonSchema | undefined,
  path: DocumentPath = [],
  mayBeMissing = false,
): Misfit | undefined {
  if (!isJsonObject(pattern)) {
    return canEqual(pattern, schema) ? undefined : misfit(path, schema, `never ${JSON.stringify(pattern)}`);
  }
  if (!isOperators(pattern)) return memberMisfit(pattern, schema, path);
  for (const [operator, operand] of Object.entries(pattern)) {
    if (canHold(operator, operand, schema, mayBeMissing)) continue;
    return misfit([...path, operator], schema, `so { ${operator}: ${JSON.stringify(operand)} } is never true`);
  }
  return hasRoom(pattern) ? undefined : { path, message: `no number matches ${JSON.stringify(pattern)}` };
}

function misfit(path: DocumentPath, schema: JsonSchema | undefined, never: string): Misfit {
  const operators = ['gt', 'gte', 'lt', 'lte', 'in', 'type', 'exists', 'regex'];
  const names = path.filter((key) => !operators.includes(String(key)));
  const subject = names.length === 0 ? 'it' : `'${names.join('.')}'`;
  const choices = choicesOf(schema);
  const { minimum, maximum } = isJsonObject(schema) ? schema : {};
  const bounds = [
    ...(typeof minimum === 'number' ? [`at least ${minimum}`] : []),
    ...(typeof maximum === 'number' ? [`at most ${maximum}`] : []),
  ];
  const known = choices === undefined ? [words(typesOf(schema) ?? ['value']), ...bounds].join(', ') : list(choices);
  return { path, message: `${subject} is ${known}, ${never}` };
}

/** Members that the schema does not declare, but whose name is close to a declared one. */
export function* undeclaredIn(
  pattern: Json,
  schema: JsonSchema | undefined,
  path: DocumentPath = [],
): Generator<Misfit> {
  if (!isJsonObject(pattern) || isOperators(pattern) || schema === undefined) return;
  for (const [name, part] of Object.entries(pattern)) {
    const found = followPath(schema, [name]);
    if (found.verdict === 'fits') yield* undeclaredIn(part, found.schema, [...path, name]);
    const near = found.verdict === 'undeclared' ? didYouMean(name, found.known) : undefined;
    if (near !== undefined) {
      yield { path: [...path, name], message: `declares no '${name}'`, hint: `did you mean '${near}'?` };
    }
  }
}

function canEqual(value: Json, schema: JsonSchema | undefined): boolean {
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.some((choice) => jsonEquals(choice, value));
  return hasType(schema, jsonTypeOf(value));
}

/** The values that a schema allows, if it enumerates them. */
export function choicesOf(schema: JsonSchema | undefined): readonly Json[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function memberMisfit(pattern: JsonObject, schema: JsonSchema | undefined, path: DocumentPath): Misfit | undefined {
  if (!hasType(schema, 'object')) return misfit(path, schema, 'never an object');
  if (schema === undefined) return undefined;
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  for (const [name, part] of Object.entries(pattern)) {
    const found = followPath(schema, [name]);
    const at = [...path, name];
    if (found.verdict === 'absent') {
      if (isJsonObject(part) && isOperators(part) && part.exists === false) continue;
      const near = didYouMean(name, found.known);
      const hint = near === undefined ? `it has ${found.known.slice(0, 12).join(', ')}` : `did you mean '${near}'?`;
      return { path: at, message: `it has no '${at.join('.')}'`, hint };
    }
    const inside = found.verdict === 'fits' && found.schema !== true ? found.schema : undefined;
    const misfit = misfitOf(part, inside, at, !required.includes(name));
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

function canHold(operator: string, operand: Json, schema: JsonSchema | undefined, mayBeMissing: boolean): boolean {
  switch (operator) {
    case 'exists':
      return operand === true || mayBeMissing || schema === undefined;
    case 'type':
      return (Array.isArray(operand) ? operand : [operand]).some((type) => hasType(schema, String(type)));
    case 'in':
      return isJsonList(operand) && operand.some((option) => canEqual(option, schema));
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

/** Whether some number satisfies both bounds. */
function hasRoom({ gt, gte, lt, lte }: JsonObject): boolean {
  const above = Math.max(...[gt, gte].filter((one) => typeof one === 'number'));
  const below = Math.min(...[lt, lte].filter((one) => typeof one === 'number'));
  if (above === below) return above !== gt && below !== lt;
  return above < below;
}

function hasType(schema: JsonSchema | undefined, type: string): boolean {
  const types = choicesOf(schema)?.map(jsonTypeOf) ?? typesOf(schema);
  return types === undefined || types.some((one) => sharesValues(one, type));
}

/** Whether some value has both types. */
export function sharesValues(one: string, other: string): boolean {
  const isNumber = (type: string): boolean => type === 'number' || type === 'integer';
  return one === other || (isNumber(one) && isNumber(other));
}

/** An empty list of codes, kinds or messages matches no error. */
export function canFitError(pattern: Json): boolean {
  return !isJsonObject(pattern) || Object.values(pattern).every((one) => !Array.isArray(one) || one.length > 0);
}
