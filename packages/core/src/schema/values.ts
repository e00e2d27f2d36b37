/** Keywords that check a value by itself: numbers, strings, lengths, equality. */
import { canonicalJson, isJsonList, isJsonObject, type Json, jsonEquals } from '../value.ts';
import { formatTest } from './format.ts';
import type { Keyword, KeywordCompiler } from './keyword.ts';
import { type Check, countValues } from './trail.ts';

/** Maximum length of schema values quoted in messages. */
const MAX_SAID_CHARS = 500;

export const VALUE_KEYWORDS = {
  type: (argument, compiler, schema) => {
    const types = typeof argument === 'string' ? [argument] : argument;
    if (!Array.isArray(types) || types.length === 0 || !types.every((type) => Object.hasOwn(TYPES, String(type)))) {
      throw compiler.wrong('is not a type, nor a list of types');
    }
    const tests = types.map((type: keyof typeof TYPES) => TYPES[type]);
    if (schema['nullable'] === true) tests.push(TYPES.null);
    const message = `must be ${types.map(withArticle).join(' or ')}`;
    return (value, trail) => {
      if (!tests.some((test) => test(value))) trail.report(trail.path, message);
    };
  },
  enum: (argument, compiler) => {
    if (!Array.isArray(argument)) throw compiler.wrong('is not a list');
    const message = `must be one of ${said(argument.map((choice) => JSON.stringify(choice)).join(', '))}`;
    const costs = countValues(argument);
    return (value, trail) => {
      trail.spend(costs);
      if (!argument.some((choice) => jsonEquals(choice, value))) trail.report(trail.path, message);
    };
  },
  const: (argument) => {
    const costs = countValues(argument);
    const message = `must be ${said(JSON.stringify(argument))}`;
    return (value, trail) => {
      trail.spend(costs);
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
    if (!isNumber(argument) || argument <= 0) throw compiler.wrong('is not a number above 0');
    return bound(compiler, argument, isNumber, (value, step) => Number.isInteger(value / step), 'be a multiple of #');
  },
  minLength: (argument, compiler) =>
    length(compiler, argument, isString, codePoints, (has, limit) => has >= limit, 'have # characters or more'),
  maxLength: (argument, compiler) =>
    length(compiler, argument, isString, codePoints, (has, limit) => has <= limit, 'have at most # characters'),
  minItems: (argument, compiler) =>
    length(compiler, argument, isJsonList, countItems, (has, limit) => has >= limit, 'have # items or more'),
  maxItems: (argument, compiler) =>
    length(compiler, argument, isJsonList, countItems, (has, limit) => has <= limit, 'have at most # items'),
  minProperties: (argument, compiler) =>
    length(compiler, argument, isJsonObject, countMembers, (has, limit) => has >= limit, 'have # members or more'),
  maxProperties: (argument, compiler) =>
    length(compiler, argument, isJsonObject, countMembers, (has, limit) => has <= limit, 'have at most # members'),
  pattern: (argument, compiler) => {
    if (typeof argument !== 'string') throw compiler.wrong('is not a string');
    const pattern = compiler.pattern(argument);
    const message = `must match the pattern ${said(argument)}`;
    return (value, trail) => {
      if (typeof value === 'string' && !pattern.test(value, trail)) trail.report(trail.path, message);
    };
  },
  format: (argument, compiler) => {
    if (typeof argument !== 'string') throw compiler.wrong('is not a string');
    const test = formatTest(argument);
    if (test === undefined) return undefined;
    const message = `must match format "${said(argument)}"`;
    return (value, trail) => {
      if (!test(value, trail)) trail.report(trail.path, message);
    };
  },
  uniqueItems: (argument, compiler) => {
    if (typeof argument !== 'boolean') throw compiler.wrong('is not true or false');
    if (!argument) return undefined;
    return (value, trail) => {
      if (!isJsonList(value)) return;
      trail.spend(countValues(value));
      const isUnique = new Set(value.map(canonicalJson)).size === value.length;
      if (!isUnique) trail.report(trail.path, 'must not have the same item twice');
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
    if (!isJsonObject(argument)) throw compiler.wrong('is not an object');
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

function said(text: string): string {
  return text.length > MAX_SAID_CHARS ? `${text.slice(0, MAX_SAID_CHARS)}…` : text;
}

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
  if (!isNumber(argument)) throw compiler.wrong('is not a number');
  const told = `must ${message.replace('#', String(argument))}`;
  return (value, trail) => {
    if (applies(value) && !holds(value, argument)) trail.report(trail.path, told);
  };
}

function length<T extends Json>(
  compiler: KeywordCompiler,
  argument: Json,
  applies: (value: Json) => value is T,
  measure: (value: T) => number,
  holds: (has: number, limit: number) => boolean,
  message: string,
): Check {
  if (!isNumber(argument) || argument < 0 || !Number.isInteger(argument)) throw compiler.wrong('is not a count');
  const told = `must ${message.replace('#', String(argument))}`;
  return (value, trail) => {
    if (!applies(value)) return;
    const has = measure(value);
    trail.spend(has / 100);
    if (!holds(has, argument)) trail.report(trail.path, told);
  };
}

function isString(value: Json): value is string {
  return typeof value === 'string';
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

const countItems = (list: readonly Json[]): number => list.length;
const countMembers = (object: object): number => Object.keys(object).length;

/** JSON Schema counts characters, not UTF-16 units. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
