/** Checks whether a value of one schema can be valid under another. Reports a clash only where it is certain. */
import { typesOf } from '../plan/value-schema.ts';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, jsonTypeOf } from '../value.ts';
import { choicesOf, list, sharesValues, words } from './fit.ts';

export interface Clash {
  /** Members that lead to the difference. */
  readonly path: readonly string[];
  readonly message: string;
  /** False when an empty list would be valid. */
  readonly isCertain: boolean;
}

const SAYS_MORE = ['$ref', '$dynamicRef', 'anyOf', 'oneOf', 'allOf', 'if', 'patternProperties', 'not'];

export function clashOf(given: JsonSchema | undefined, wanted: JsonSchema | undefined): Clash | undefined {
  if (!isPlainSchema(given) || !isPlainSchema(wanted)) return undefined;
  const [some, all] = [kindsOf(given), kindsOf(wanted)];
  // Null is always possible on the given side, so a wanted schema that accepts null never clashes.
  if (some === undefined || all === undefined || all.includes('null')) return undefined;
  const isShared = some.some((one) => all.some((other) => sharesValues(one, other)));
  if (!isShared) return clash(`is ${words(some)}, but must be ${words(all)}`);
  if (isOnly(some, 'object') && isOnly(all, 'object')) return ofMembers(given, wanted);
  if (isOnly(some, 'array') && isOnly(all, 'array')) return ofItems(given, wanted);
  return ofChoices(given, wanted);
}

function isPlainSchema(schema: JsonSchema | undefined): schema is JsonObject {
  return isJsonObject(schema) && !SAYS_MORE.some((keyword) => Object.hasOwn(schema, keyword));
}

function kindsOf(schema: JsonObject): readonly string[] | undefined {
  const choices = choicesOf(schema);
  return choices === undefined ? typesOf(schema) : [...new Set(choices.map(jsonTypeOf))];
}

function isOnly(types: readonly string[], type: string): boolean {
  return types.length === 1 && types[0] === type;
}

function ofChoices(given: JsonObject, wanted: JsonObject): Clash | undefined {
  const [some, all] = [choicesOf(given), choicesOf(wanted)];
  if (some === undefined || all === undefined) return undefined;
  const known = new Set(all.map((one) => JSON.stringify(one)));
  if (some.some((one) => known.has(JSON.stringify(one)))) return undefined;
  return clash(`is ${list(some)}, but must be ${list(all)}`);
}

function ofMembers(given: JsonObject, wanted: JsonObject): Clash | undefined {
  const has = membersOf(given);
  const wants = membersOf(wanted);
  const sure = namesIn(given.required);
  const needed = namesIn(wanted.required);
  for (const name of needed) {
    if (!Object.hasOwn(has, name) && given.additionalProperties === false) return clash(`has no '${name}'`);
  }
  for (const name of Object.keys(has)) {
    if (wanted.additionalProperties === false && sure.includes(name) && !Object.hasOwn(wants, name)) {
      return clash(`has '${name}', which is not allowed`);
    }
    if (!sure.includes(name) && !needed.includes(name)) continue;
    const inside = clashOf(has[name] as JsonSchema, wants[name] as JsonSchema | undefined);
    if (inside !== undefined) return { ...inside, path: [name, ...inside.path] };
  }
  return undefined;
}

function ofItems(given: JsonObject, wanted: JsonObject): Clash | undefined {
  if (given.maxItems === 0) return undefined;
  const inside = clashOf(given.items as JsonSchema | undefined, wanted.items as JsonSchema | undefined);
  if (inside === undefined) return undefined;
  const isCertain = inside.isCertain && typeof given.minItems === 'number' && given.minItems > 0;
  return { path: [], message: `has items of which each ${clashText(inside)}`, isCertain };
}

/** The clash as a part of a sentence about the value. */
export function clashText({ path, message }: Clash): string {
  return path.length === 0 ? message : `has a '${path.join('.')}' that ${message}`;
}

function clash(message: string): Clash {
  return { path: [], message, isCertain: true };
}

function membersOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function namesIn(required: Json | undefined): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
