/**
 * Validates data against JSON Schemas. Each schema is compiled once.
 *
 *  1. A schema that accepts everything costs nothing.
 *  2. A check returns problems; it never throws, waits or runs for long, for any schema and data.
 */
import type { DocumentPath } from '../problem.ts';
import type { Json, JsonObject, JsonSchema } from '../value.ts';
import { compileChecks } from './compiler.ts';
import { type Check, pass, type SchemaProblem, TooCostly, Trail } from './trail.ts';

export interface SchemaCheck {
  /** True when the schema accepts everything. */
  readonly takesAll: boolean;
  /** Returns undefined when the value is valid. With `fillDefaults`, missing members are filled in place first. */
  problems(value: Json): readonly SchemaProblem[] | undefined;
}

/** Cached per schema object, and collected with it. */
const cached = { plain: new WeakMap<JsonObject, SchemaCheck>(), filling: new WeakMap<JsonObject, SchemaCheck>() };

/** Throws `SCHEMA_INVALID` when the schema is invalid or exceeds the limits. */
export function compileSchema(schema: JsonSchema, { fillDefaults = false } = {}): SchemaCheck {
  if (typeof schema === 'boolean') return checkOf(schema ? pass : (_, trail) => trail.report([], 'is not allowed'));
  const cache = fillDefaults ? cached.filling : cached.plain;
  let check = cache.get(schema);
  if (check === undefined) {
    check = checkOf(compileChecks(schema, fillDefaults));
    cache.set(schema, check);
  }
  return check;
}

function checkOf(check: Check): SchemaCheck {
  return {
    takesAll: check === pass,
    problems: (value) => {
      const trail = new Trail(value);
      try {
        check(value, trail);
      } catch (error) {
        // A `RangeError` means that the stack is exhausted.
        if (!(error instanceof TooCostly || error instanceof RangeError)) throw error;
        const message = error instanceof TooCostly ? error.message : 'nests too deep to be checked';
        return [{ path: [], message }];
      }
      return trail.count === 0 ? undefined : trail.problems;
    },
  };
}

/** Formats a path as `orders[3].total`; `whole` names the value itself. */
export function describePath(path: DocumentPath, whole: string): string {
  if (path.length === 0) return whole;
  return path.reduce<string>(
    (text, at) => (typeof at === 'number' ? `${text}[${at}]` : text === '' ? at : `${text}.${at}`),
    '',
  );
}
