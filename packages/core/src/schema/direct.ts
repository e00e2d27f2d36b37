/**
 * The common part of JSON Schema, checked without ajv: loading ajv and compiling with it takes about 60 ms of a process's
 * start, and nearly all schemas say no more than this. A schema with any other keyword is left to ajv.
 * A test compares the two on thousands of generated schemas and values.
 */
import type { DocumentPath } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, jsonEquals } from '../value.ts';
import { compilePatternTest } from './pattern.ts';

/** Where the check stands in the value, and what it has found. One per check: nothing is built for data that fits. */
export interface Trail {
  readonly path: (string | number)[];
  report(path: DocumentPath, message: string): void;
}

export type Check = (value: Json, trail: Trail) => void;

const ANNOTATIONS = new Set([
  '$comment',
  '$schema',
  'default',
  'deprecated',
  'description',
  'examples',
  'readOnly',
  'title',
  'writeOnly',
]);

/** Undefined when the schema says more than is understood here. `fillDefaults` makes the check put defaults into objects. */
export function compileDirectly(schema: JsonSchema, fillDefaults: boolean): Check | undefined {
  if (schema === true) return pass;
  if (schema === false) return (_, trail) => trail.report(trail.path, 'is not allowed');
  const checks: Check[] = [];
  for (const [keyword, argument] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword)) continue;
    if (!Object.hasOwn(KEYWORDS, keyword)) return undefined;
    const check = KEYWORDS[keyword as keyof typeof KEYWORDS](argument, schema, fillDefaults);
    if (check === undefined) return undefined;
    checks.push(check);
  }
  if (fillDefaults) checks.unshift(...defaultsOf(schema));
  if (checks.length === 0) return pass;
  return (value, trail) => {
    for (const check of checks) check(value, trail);
  };
}

/** The check of a schema that takes everything. */
export const pass: Check = () => {};

type Keyword = (argument: Json, schema: JsonObject, fillDefaults: boolean) => Check | undefined;

const KEYWORDS = {
  type: (argument) => {
    const types = typeof argument === 'string' ? [argument] : argument;
    if (!Array.isArray(types) || !types.every((type) => typeof type === 'string' && Object.hasOwn(TYPES, type))) {
      return undefined;
    }
    const tests = types.map((type: keyof typeof TYPES) => TYPES[type]);
    const message = `must be ${types.map(withArticle).join(' or ')}`;
    return (value, trail) => {
      if (!tests.some((test) => test(value))) trail.report(trail.path, message);
    };
  },
  enum: (argument) => {
    if (!Array.isArray(argument)) return undefined;
    const message = `must be one of ${argument.map((choice) => JSON.stringify(choice)).join(', ')}`;
    return (value, trail) => {
      if (!argument.some((choice) => jsonEquals(choice, value))) trail.report(trail.path, message);
    };
  },
  const: (argument) => (value, trail) => {
    if (!jsonEquals(argument, value)) trail.report(trail.path, `must be ${JSON.stringify(argument)}`);
  },
  minimum: (argument) => bound(argument, isNumber, (value, limit) => value >= limit, 'must be at least #'),
  maximum: (argument) => bound(argument, isNumber, (value, limit) => value <= limit, 'must be at most #'),
  exclusiveMinimum: (argument) => bound(argument, isNumber, (value, limit) => value > limit, 'must be above #'),
  exclusiveMaximum: (argument) => bound(argument, isNumber, (value, limit) => value < limit, 'must be below #'),
  minLength: (argument) =>
    bound(argument, isString, (value, limit) => codePoints(value) >= limit, 'must have # characters or more'),
  maxLength: (argument) =>
    bound(argument, isString, (value, limit) => codePoints(value) <= limit, 'must have at most # characters'),
  minItems: (argument) => bound(argument, isList, (value, limit) => value.length >= limit, 'must have # items or more'),
  maxItems: (argument) => bound(argument, isList, (value, limit) => value.length <= limit, 'must have at most # items'),
  minProperties: (argument) =>
    bound(argument, isJsonObject, (value, limit) => Object.keys(value).length >= limit, 'must have # members or more'),
  pattern: (argument) => {
    if (typeof argument !== 'string') return undefined;
    const matches = testOf(argument);
    if (matches === undefined) return undefined;
    return (value, trail) => {
      if (typeof value === 'string' && !matches(value)) trail.report(trail.path, `must match the pattern ${argument}`);
    };
  },
  items: (argument, _, fillDefaults) => {
    const check = isSchema(argument) ? compileDirectly(argument, fillDefaults) : undefined;
    if (check === undefined || check === pass) return check;
    return (value, trail) => {
      if (!Array.isArray(value)) return;
      for (let index = 0; index < value.length; index++) inside(check, value[index] as Json, index, trail);
    };
  },
  required: (argument) => {
    if (!Array.isArray(argument)) return undefined;
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const name of argument as readonly string[]) {
        if (!Object.hasOwn(value, name)) trail.report([...trail.path, name], 'is missing');
      }
    };
  },
  properties: (argument, _, fillDefaults) => {
    if (!isJsonObject(argument)) return undefined;
    const members: [string, Check][] = [];
    for (const [name, schema] of Object.entries(argument)) {
      const check = isSchema(schema) ? compileDirectly(schema, fillDefaults) : undefined;
      if (check === undefined) return undefined;
      if (check !== pass) members.push([name, check]);
    }
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const [name, check] of members) {
        if (Object.hasOwn(value, name)) inside(check, value[name] as Json, name, trail);
      }
    };
  },
  additionalProperties: (argument, schema, fillDefaults) => {
    const properties = schema.properties ?? null;
    const known = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
    const check = isSchema(argument) ? compileDirectly(argument, fillDefaults) : undefined;
    if (check === undefined || check === pass) return check;
    const unknown = `is not known${known.size === 0 ? '' : ` (known: ${[...known].join(', ')})`}`;
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const name of Object.keys(value)) {
        if (known.has(name)) continue;
        if (argument === false) trail.report([...trail.path, name], unknown);
        else inside(check, value[name] as Json, name, trail);
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
  array: isList,
  object: isJsonObject,
} as const;

function withArticle(type: string): string {
  if (type === 'null') return 'null';
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function inside(check: Check, value: Json, key: string | number, trail: Trail): void {
  trail.path.push(key);
  check(value, trail);
  trail.path.pop();
}

function bound<T extends Json>(
  argument: Json,
  applies: (value: Json) => value is T,
  holds: (value: T, limit: number) => boolean,
  message: string,
): Check | undefined {
  if (typeof argument !== 'number') return undefined;
  const told = message.replace('#', String(argument));
  return (value, trail) => {
    if (applies(value) && !holds(value, argument)) trail.report(trail.path, told);
  };
}

/** Members that are missing get the default of their schema, before anything else looks at them. */
function defaultsOf(schema: JsonObject): readonly Check[] {
  const properties = schema.properties;
  if (properties === undefined || !isJsonObject(properties)) return [];
  const defaults: [string, Json][] = [];
  for (const [name, member] of Object.entries(properties)) {
    if (isJsonObject(member) && member.default !== undefined) defaults.push([name, member.default]);
  }
  if (defaults.length === 0) return [];
  const fill: Check = (value) => {
    if (!isJsonObject(value)) return;
    for (const [name, fallback] of defaults) {
      if (!Object.hasOwn(value, name)) (value as Record<string, Json>)[name] = structuredClone(fallback);
    }
  };
  return [fill];
}

function testOf(pattern: string): ((text: string) => boolean) | undefined {
  try {
    return compilePatternTest(pattern);
  } catch {
    return undefined;
  }
}

function isSchema(value: Json): value is JsonSchema {
  return typeof value === 'boolean' || isJsonObject(value);
}

function isString(value: Json): value is string {
  return typeof value === 'string';
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** JSON Schema counts characters, not UTF-16 units. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
