/** A keyword of JSON Schema: compiles its argument to a check. */
import type { NebulaError } from '../error.ts';
import type { Json, JsonObject } from '../value.ts';
import type { SchemaPattern } from './pattern.ts';
import type { Check } from './trail.ts';

/** Returns undefined when there is nothing to check. */
export type Keyword = (argument: Json, compiler: KeywordCompiler, schema: JsonObject) => Check | undefined;

export interface KeywordCompiler {
  /** Some schema depends on what other schemas have evaluated. */
  readonly tracks: boolean;
  node(schema: Json): Check;
  /** A list of schemas. */
  list(argument: Json): Check[];
  /** Schemas by name. */
  members(argument: Json): (readonly [string, Check])[];
  names(argument: Json): readonly string[];
  pattern(source: string): SchemaPattern;
  keyword(name: string, argument: Json): Check | undefined;
  /** Compiles a schema that is only tried and therefore fills no defaults. */
  guess<T>(compile: () => T): T;
  at<T>(key: string | number, compile: () => T): T;
  wrong(what: string): NebulaError;
}
