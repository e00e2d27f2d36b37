/**
 * Validates data against JSON Schemas. Each schema is compiled once.
 *
 *  1. A schema that accepts everything costs nothing.
 *  2. A check returns problems; it never throws, waits or runs for long, for any schema and data: that of a large value
 *     is divided into pieces (`begin`).
 */

import { RUN_DEFAULTS } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { isJsonList, type Json, type JsonObject, type JsonSchema, nestsDeeper, pathToNonFinite } from '../value.ts';
import { type CompiledChecks, compileChecks } from './compiler.ts';
import { PIECES, type Pieces, pass, type SchemaProblem, TooCostly, Trail } from './trail.ts';

export interface SchemaCheck {
  /** True when the schema accepts everything. */
  readonly takesAll: boolean;
  /** True when checking fills in defaults, in place. */
  readonly fills: boolean;
  /** Returns undefined when the value is valid. With `fillDefaults`, missing members are filled in place first. */
  problems(value: Json): SchemaProblems;
  /** Like `problems`, in pieces: where a large value is left unfinished after the first one, the rest is in the steps. */
  begin(value: Json, pieces?: Pieces): SchemaProblems | Steps<SchemaProblems>;
}

type SchemaProblems = readonly SchemaProblem[] | undefined;

/** Whether a check that was begun has a rest. */
export function isUnfinished(begun: SchemaProblems | Steps<SchemaProblems>): begun is Steps<SchemaProblems> {
  return begun !== undefined && 'next' in begun;
}

/** Cached per schema object, and collected with it. A schema that is too large is cached only without limits. */
const cached = { plain: new WeakMap<JsonObject, SchemaCheck>(), filling: new WeakMap<JsonObject, SchemaCheck>() };

/** Throws `SCHEMA_INVALID` when the schema is invalid or, with `isBounded`, exceeds the limits. */
export function compileSchema(schema: JsonSchema, { fillDefaults = false, isBounded = true } = {}): SchemaCheck {
  if (typeof schema === 'boolean') {
    return checkOf({ check: schema ? pass : (_, trail) => trail.report([], 'is not allowed'), fills: false });
  }
  const cache = fillDefaults ? cached.filling : cached.plain;
  let check = cache.get(schema);
  if (check === undefined) {
    check = checkOf(compileChecks(schema, fillDefaults, isBounded));
    cache.set(schema, check);
  }
  return check;
}

function checkOf({ check, fills }: CompiledChecks): SchemaCheck {
  return {
    takesAll: check === pass,
    fills,
    problems: (value) => {
      const trail = new Trail(value);
      try {
        check(value, trail);
      } catch (error) {
        return [failure(error)];
      }
      return found(trail);
    },
    begin: (value, pieces = PIECES) => {
      const trail = new Trail(value, pieces);
      try {
        check(value, trail);
      } catch (error) {
        return [failure(error)];
      }
      return trail.isOver ? found(trail) : rest(trail);
    },
  };
}

function* rest(trail: Trail): Steps<SchemaProblems> {
  try {
    yield* trail.rest();
  } catch (error) {
    return [failure(error)];
  }
  return found(trail);
}

function found({ count, problems }: Trail): SchemaProblems {
  return count === 0 ? undefined : problems;
}

/** The problem of a check that was aborted. */
function failure(error: unknown): SchemaProblem {
  // A `RangeError` means that the stack is exhausted.
  if (!(error instanceof TooCostly || error instanceof RangeError)) throw error;
  return { path: [], message: error instanceof TooCostly ? error.message : 'nests too deep to be checked' };
}

/** Formats a path as `orders[3].total`; `whole` names the value itself. */
export function describePath(path: DocumentPath, whole: string): string {
  if (path.length === 0) return whole;
  return path.reduce<string>(
    (text, at) => (typeof at === 'number' ? `${text}[${at}]` : text === '' ? at : `${text}.${at}`),
    '',
  );
}

/** `orders[3].total is too small; it lacks 'id'`. `whole` names the value itself. */
export function describeProblems(problems: readonly SchemaProblem[], whole: string): string {
  return problems.map(({ path, message }) => `${describePath(path, whole)} ${message}`).join('; ');
}

/** Why no run takes the value, whatever its schema is; undefined: none. `what` names it: `the input`. */
export function givenProblem(value: Json, what: string): string | undefined {
  if (isPlain(value, RUN_DEFAULTS.maxInputDepth)) return undefined;
  if (nestsDeeper(value, RUN_DEFAULTS.maxInputDepth)) {
    return `${what} nests deeper than ${RUN_DEFAULTS.maxInputDepth} levels`;
  }
  const odd = pathToNonFinite(value);
  return odd && `${describePath(odd, what)} is a number that is too large`;
}

/** True when the value nests no deeper and all its numbers are finite, in one pass: 100,000 members take 5 ms. */
function isPlain(value: Json, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (isJsonList(value)) {
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index] ?? null, depth - 1)) return false;
    return true;
  }
  for (const key of Object.keys(value)) if (!isPlain(value[key] ?? null, depth - 1)) return false;
  return true;
}
