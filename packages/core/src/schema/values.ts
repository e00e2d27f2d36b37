/** Keywords that check a value by itself: numbers, strings, lengths, equality. */

import { SCHEMA_LIMITS } from '../limits.ts';
import { loadModule } from '../on-demand.ts';
import { clipped } from '../problem.ts';
import { canonicalJson, isJsonList, isJsonObject, type Json, jsonEquals } from '../value.ts';
import type { Keyword, KeywordCompiler } from './pattern.ts';
import { type Check, countValues, type Trail } from './trail.ts';

/** Names of members that are listed in the time of a step. */
const NAMES_PER_STEP = 4;

/** Characters of a text that are looked at in the time of a step. */
const CHARS_PER_STEP = 50;

/** A value in an item that is compared with all others takes as long as so many steps. */
const STEPS_PER_VALUE = 4;
/** Items with more values are compared one by one: their canonical text would be made in one piece. */
const MAX_CANONICAL_VALUES = 20_000;

/** Maximum length of schema values quoted in messages. */
const MAX_SAID_CHARS = 500;

export const VALUE_KEYWORDS = {
  type: (argument, compiler, schema) => {
    const types = typeof argument === 'string' ? [argument] : argument;
    if (!Array.isArray(types) || types.length === 0 || !types.every((type) => Object.hasOwn(TYPES, String(type)))) {
      throw compiler.invalidSchema('is not a type, nor a list of types');
    }
    const tests = types.map((type: keyof typeof TYPES) => TYPES[type]);
    if (schema['nullable'] === true) tests.push(TYPES.null);
    const message = `must be ${types.map(withArticle).join(' or ')}`;
    return (value, trail) => {
      if (!tests.some((test) => test(value))) trail.report(trail.path, message);
    };
  },
  enum: (argument, compiler) => {
    if (!Array.isArray(argument)) throw compiler.invalidSchema('is not a list');
    const message = `must be one of ${clipped(argument.map((choice) => JSON.stringify(choice)).join(', '), MAX_SAID_CHARS)}`;
    const costs = comparing(argument);
    return (value, trail) => {
      trail.spend(costs(value));
      if (!argument.some((choice) => jsonEquals(choice, value))) trail.report(trail.path, message);
    };
  },
  const: (argument) => {
    const costs = comparing([argument]);
    const message = `must be ${clipped(JSON.stringify(argument), MAX_SAID_CHARS)}`;
    return (value, trail) => {
      trail.spend(costs(value));
      if (!jsonEquals(argument, value)) trail.report(trail.path, message);
    };
  },
  minimum: (argument, compiler) =>
    bound(compiler, argument, isNumber, (value, limit) => value >= limit, 'be at least #'),
  maximum: (argument, compiler) =>
    bound(compiler, argument, isNumber, (value, limit) => value <= limit, 'be at most #'),
  exclusiveMinimum: (argument, compiler) =>
    bound(compiler, argument, isNumber, (value, limit) => value > limit, 'be above #'),
  exclusiveMaximum: (argument, compiler) =>
    bound(compiler, argument, isNumber, (value, limit) => value < limit, 'be below #'),
  multipleOf: (argument, compiler) => {
    if (!isNumber(argument) || argument <= 0) throw compiler.invalidSchema('is not a number above 0');
    return bound(compiler, argument, isNumber, (value, step) => Number.isInteger(value / step), 'be a multiple of #');
  },
  minLength: (argument, compiler) =>
    length(compiler, argument, isString, textLength, isEnough, 'have # characters or more'),
  maxLength: (argument, compiler) =>
    length(compiler, argument, isString, textLength, isNotTooMuch, 'have at most # characters'),
  minItems: (argument, compiler) =>
    length(compiler, argument, isJsonList, countItems, isEnough, 'have # items or more'),
  maxItems: (argument, compiler) =>
    length(compiler, argument, isJsonList, countItems, isNotTooMuch, 'have at most # items'),
  minProperties: (argument, compiler) =>
    length(compiler, argument, isJsonObject, countMembers, isEnough, 'have # members or more'),
  maxProperties: (argument, compiler) =>
    length(compiler, argument, isJsonObject, countMembers, isNotTooMuch, 'have at most # members'),
  pattern: (argument, compiler) => {
    if (typeof argument !== 'string') throw compiler.invalidSchema('is not a string');
    const pattern = compiler.pattern(argument);
    const message = `must match the pattern ${clipped(argument, MAX_SAID_CHARS)}`;
    return (value, trail) => {
      if (typeof value === 'string' && !pattern.test(value, trail)) trail.report(trail.path, message);
    };
  },
  format: (argument, compiler) => {
    if (typeof argument !== 'string') throw compiler.invalidSchema('is not a string');
    const test = formatTest(argument);
    if (test === undefined) return undefined;
    const message = `must match format "${clipped(argument, MAX_SAID_CHARS)}"`;
    return (value, trail) => {
      if (!test(value, trail)) trail.report(trail.path, message);
    };
  },
  uniqueItems: (argument, compiler) => {
    if (typeof argument !== 'boolean') throw compiler.invalidSchema('is not true or false');
    if (!argument) return undefined;
    return (value, trail) => {
      if (!isJsonList(value)) return;
      const items = new Items();
      const report = (): void => {
        if (items.hasTwice) trail.report(trail.path, 'must not have the same item twice');
      };
      if (!compiler.tracks && trail.divides(value)) {
        return trail.later(function* () {
          for (const item of value) {
            items.add(item, trail);
            if (trail.isDue) yield* trail.pause();
          }
          report();
        });
      }
      for (const item of value) items.add(item, trail);
      report();
    };
  },
  required: (argument, compiler) => {
    const names = compiler.names(argument);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      trail.spend(names.length);
      for (const name of names) if (!Object.hasOwn(value, name)) trail.report([...trail.path, name], 'is missing');
    };
  },
  dependentRequired: (argument, compiler) => {
    if (!isJsonObject(argument)) throw compiler.invalidSchema('is not an object');
    const needs = Object.entries(argument).map(([name, names]) => [name, compiler.names(names)] as const);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const [name, names] of needs) {
        if (!Object.hasOwn(value, name)) continue;
        trail.spend(names.length);
        for (const one of names) if (!Object.hasOwn(value, one)) trail.report([...trail.path, one], 'is missing');
      }
    };
  },
} satisfies Readonly<Record<string, Keyword>>;

const TYPES = {
  string: isString,
  number: isNumber,
  integer: (value: Json) => Number.isInteger(value),
  boolean: (value: Json) => typeof value === 'boolean',
  null: (value: Json) => value === null,
  array: isJsonList,
  object: isJsonObject,
} as const;

function withArticle(type: string): string {
  if (type === 'null') return 'null';
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function bound(
  compiler: KeywordCompiler,
  argument: Json,
  applies: (value: Json) => value is number,
  holds: (value: number, limit: number) => boolean,
  message: string,
): Check {
  if (!isNumber(argument)) throw compiler.invalidSchema('is not a number');
  const problem = `must ${message.replace('#', String(argument))}`;
  return (value, trail) => {
    if (applies(value) && !holds(value, argument)) trail.report(trail.path, problem);
  };
}

function length<T extends Json>(
  compiler: KeywordCompiler,
  argument: Json,
  applies: (value: Json) => value is T,
  measure: (value: T, limit: number, trail: Trail) => number,
  holds: (has: number, limit: number) => boolean,
  message: string,
): Check {
  if (!isNumber(argument) || argument < 0 || !Number.isInteger(argument))
    throw compiler.invalidSchema('is not a count');
  const problem = `must ${message.replace('#', String(argument))}`;
  return (value, trail) => {
    if (applies(value) && !holds(measure(value, argument, trail), argument)) trail.report(trail.path, problem);
  };
}

/** The items of a list that must all be different. */
class Items {
  hasTwice = false;
  readonly #texts = new Set<string>();
  readonly #large: Json[] = [];

  add(item: Json, trail: Trail): void {
    const values = countValues(item);
    if (values <= MAX_CANONICAL_VALUES) {
      const text = canonicalJson(item);
      trail.spend(STEPS_PER_VALUE * values + text.length / CHARS_PER_STEP);
      this.hasTwice ||= this.#texts.has(text);
      this.#texts.add(text);
      return;
    }
    trail.spend((1 + this.#large.length) * values);
    this.hasTwice ||= this.#large.some((other) => jsonEquals(item, other));
    this.#large.push(item);
  }
}

function isString(value: Json): value is string {
  return typeof value === 'string';
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

const isEnough = (has: number, limit: number): boolean => has >= limit;
const isNotTooMuch = (has: number, limit: number): boolean => has <= limit;

const countItems = (list: readonly Json[]): number => list.length;

function countMembers(object: object, _: number, trail: Trail): number {
  const count = Object.keys(object).length;
  trail.spend(count / NAMES_PER_STEP);
  return count;
}

/**
 * JSON Schema counts characters, not UTF-16 units. A character has one or two units, so most texts need not be counted.
 */
function textLength(text: string, limit: number, trail: Trail): number {
  if (text.length < limit || text.length > 2 * limit) return text.length;
  trail.spend(text.length / CHARS_PER_STEP);
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The steps of comparing a value with the choices. The names of an object are listed for each choice that is one. */
function comparing(choices: readonly Json[]): (value: Json) => number {
  const long = choices.map((choice) => Math.floor(JSON.stringify(choice).length / 1_000));
  const costs = long.reduce((sum, one) => sum + one, countValues(choices));
  const objects = choices.filter(isJsonObject).length;
  return (value) => (objects > 0 && isJsonObject(value) ? costs + 2 * objects * Object.keys(value).length : costs);
}

/** Formats of strings and numbers. A library provides their tests; the first schema that names a format loads it. */
type Definition = true | RegExp | ((text: string) => boolean) | { type?: 'string' | 'number'; validate: unknown };

/** Undefined when the format is unknown or accepts everything; it is then an annotation. */
function formatTest(name: string): ((value: Json, trail: Trail) => boolean) | undefined {
  const { fullFormats } = loadModule<{ fullFormats: Readonly<Record<string, Definition>> }>(
    'ajv-formats/dist/formats.js',
  );
  const definition = Object.hasOwn(fullFormats, name) ? fullFormats[name] : undefined;
  if (definition === undefined || definition === true) return undefined;
  const isPlain = definition instanceof RegExp || typeof definition === 'function';
  const type = isPlain ? 'string' : (definition.type ?? 'string');
  const rule = isPlain ? definition : (definition.validate as RegExp | ((value: Json) => boolean));
  const test =
    rule instanceof RegExp ? (value: Json) => rule.test(value as string) : (rule as (value: Json) => boolean);
  return (value, trail) => {
    if (typeof value !== type) return true;
    if (typeof value === 'string' && value.length > SCHEMA_LIMITS.maxFormatChars) return false;
    // The library's patterns are quadratic in the worst case.
    trail.spend(typeof value === 'string' ? 1 + (value.length * value.length) / 1_000 : 1);
    return test(value);
  };
}
