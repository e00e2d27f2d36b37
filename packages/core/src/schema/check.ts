/**
 * Checks data against JSON Schemas. Each schema is compiled once.
 *
 *  1 A schema that takes everything costs nothing.
 *  2 ajv is loaded only by the first schema that needs it: 60 ms that most processes never pay.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { NebulaError } from '../error.ts';
import { loadModule } from '../on-demand.ts';
import type { DocumentPath } from '../problem.ts';
import { canonicalJson, type Json, type JsonObject, type JsonSchema, jsonEquals } from '../value.ts';
import { type Check, compileDirectly, pass, type Trail } from './direct.ts';
import { compilePatternTest } from './pattern.ts';

export interface SchemaProblem {
  readonly path: DocumentPath;
  readonly message: string;
}

/** Problems that are told; a value that is altogether wrong has thousands. */
export const MAX_SCHEMA_PROBLEMS = 20;

export interface SchemaCheck {
  /** True when the schema takes everything. */
  readonly takesAll: boolean;
  /** Undefined when the value fits. With `fillDefaults`, missing members are filled in place first. */
  problems(value: Json): readonly SchemaProblem[] | undefined;
}

const cached = { plain: new WeakMap<JsonObject, SchemaCheck>(), filling: new WeakMap<JsonObject, SchemaCheck>() };

/** Throws `SCHEMA_INVALID` when the schema is none. */
export function compileSchema(schema: JsonSchema, { fillDefaults = false } = {}): SchemaCheck {
  if (typeof schema === 'boolean') return checkOf(compileDirectly(schema, false) as Check);
  const cache = fillDefaults ? cached.filling : cached.plain;
  let check = cache.get(schema);
  if (check === undefined) {
    check = checkOf(compileDirectly(schema, fillDefaults) ?? compileWithAjv(schema, fillDefaults));
    cache.set(schema, check);
  }
  return check;
}

function checkOf(check: Check): SchemaCheck {
  return {
    takesAll: check === pass,
    problems: (value) => {
      let problems: SchemaProblem[] | undefined;
      const trail: Trail = {
        path: [],
        report: (path, message) => {
          problems ??= [];
          if (problems.length < MAX_SCHEMA_PROBLEMS) problems.push({ path: [...path], message });
        },
      };
      check(value, trail);
      return problems;
    },
  };
}

/** `orders[3].total`; `whole` for the value itself. */
export function describePath(path: DocumentPath, whole: string): string {
  if (path.length === 0) return whole;
  return path.reduce<string>(
    (text, at) => (typeof at === 'number' ? `${text}[${at}]` : text === '' ? at : `${text}.${at}`),
    '',
  );
}

const ajvs: { plain?: Ajv2020; filling?: Ajv2020 } = {};

function compileWithAjv(schema: JsonObject, fillDefaults: boolean): Check {
  const kind = fillDefaults ? 'filling' : 'plain';
  ajvs[kind] ??= loadAjv(fillDefaults);
  try {
    const validate = ajvs[kind].compile(schema);
    return (value, trail) => {
      if (!validate(value)) for (const error of validate.errors ?? []) reportAjv(error, trail);
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new NebulaError('SCHEMA_INVALID', `This is no JSON Schema: ${message}.`, {
      hint: 'See json-schema.org, draft 2020-12.',
    });
  }
}

function loadAjv(useDefaults: boolean): Ajv2020 {
  const { Ajv2020 } = loadModule<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js');
  const formats = loadModule<typeof import('ajv-formats')>('ajv-formats');
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults,
    ownProperties: true,
    // Forms and other tools have keywords of their own.
    strict: false,
    logger: false,
    // Two schemas may use the same `$id`.
    addUsedSchema: false,
    code: { regExp: Object.assign(linearTimeRegExp, { code: 'linearTimeRegExp' }) },
  });
  formats.default(ajv);
  compareSafely(ajv);
  return ajv;
}

/** ajv compares by a library that calls `valueOf` and `toString` of the data, which are members like any other in JSON. */
function compareSafely(ajv: Ajv2020): void {
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword);
  const equals = (expected: Json) => (value: Json) => jsonEquals(expected, value);
  ajv.addKeyword({ keyword: 'const', compile: equals, error: { message: 'must be the constant of its schema' } });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: (choices: readonly Json[]) => (value: Json) => choices.some((choice) => jsonEquals(choice, value)),
    error: { message: 'must be one of the values of its schema' },
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isUnique: boolean) => (items: readonly Json[]) =>
      !isUnique || new Set(items.map(canonicalJson)).size === items.length,
    error: { message: 'must not have the same item twice' },
  });
}

/** ajv tells patterns apart by their text. */
function linearTimeRegExp(source: string): { test(text: string): boolean; toString(): string } {
  return { test: compilePatternTest(source), toString: () => source };
}

function reportAjv(error: ErrorObject, trail: Trail): void {
  const at = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment.replaceAll('~1', '/').replaceAll('~0', '~')));
  const { missingProperty, additionalProperty } = error.params as Readonly<Record<string, unknown>>;
  if (typeof missingProperty === 'string') return trail.report([...at, missingProperty], 'is missing');
  if (typeof additionalProperty === 'string') return trail.report([...at, additionalProperty], 'is not known');
  trail.report(at, error.message ?? 'does not fit');
}
