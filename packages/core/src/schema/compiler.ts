/**
 * Compiles a JSON Schema (2020-12) to one function. No code is generated, nothing is fetched, nothing waits: compiling
 * costs in proportion to the schema, and checking is metered (`trail.ts`).
 *
 *  1. An unknown keyword is an annotation.
 *  2. Each reference is compiled once, after everything else, so that schemas may be recursive.
 *  3. Defaults are filled where a member must be valid, but not where a schema is only tried (`guess`).
 */
import { NebulaError } from '../error.ts';
import { withSmallPatterns } from '../expression/regex.ts';
import { SCHEMA_LIMITS } from '../limits.ts';
import { isJsonObject, type Json, type JsonObject, nestsDeeper } from '../value.ts';
import { compileSchemaPattern, type Keyword, type KeywordCompiler, type SchemaPattern } from './pattern.ts';
import { References, type Target } from './references.ts';
import { STRUCTURE_KEYWORDS } from './structure.ts';
import { type Check, countValues, pass, type Seen, type Trail } from './trail.ts';
import { VALUE_KEYWORDS } from './values.ts';

const KEYWORDS: Readonly<Record<string, Keyword>> = { ...VALUE_KEYWORDS, ...STRUCTURE_KEYWORDS };
/** Run last, because they depend on what the other keywords have evaluated. */
const LAST = new Set(['unevaluatedProperties', 'unevaluatedItems']);

/** Names in `properties` and other keywords that are looked for in the time of a step. */
const NAMES_PER_STEP = 4;

export interface CompiledChecks {
  readonly check: Check;
  /** Whether the check fills in defaults. */
  readonly fills: boolean;
}

/** Throws `SCHEMA_INVALID`. The depth is limited in any case, because compiling is recursive. */
export function compileChecks(schema: JsonObject, fillDefaults: boolean, isBounded: boolean): CompiledChecks {
  const { maxDepth, maxValues } = SCHEMA_LIMITS;
  if (!isJsonObject(schema)) throw invalid('it is neither an object nor true or false', 'Leave it out, or write {}.');
  if (nestsDeeper(schema, maxDepth)) throw tooLarge(`It nests deeper than ${maxDepth} levels.`);
  if (isBounded && countValues(schema) > maxValues) throw tooLarge(`It has more than ${maxValues} values.`);
  const compiler = new Compiler(schema, fillDefaults, isBounded);
  return { check: compiler.whole(), fills: compiler.hasDefaults };
}

class Compiler implements KeywordCompiler {
  readonly #root: JsonObject;
  readonly #references: References;
  readonly #checks = new Map<string, Map<Json, { check: Check }>>();
  readonly #waiting: (() => void)[] = [];
  readonly #path: (string | number)[] = [];
  readonly #isBounded: boolean;
  #fills: boolean;
  #instructions = 0;
  hasDefaults = false;

  constructor(root: JsonObject, fills: boolean, isBounded: boolean) {
    this.#root = root;
    this.#isBounded = isBounded;
    this.#fills = fills;
    this.#references = new References(root);
    if (this.#references.isAsync) {
      throw invalid('$async is not supported', 'Remove `$async`.');
    }
  }

  get tracks(): boolean {
    return this.#references.tracks;
  }

  whole(): Check {
    const check = this.node(this.#root);
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) next();
    return check;
  }

  node(schema: Json): Check {
    if (schema === true) return pass;
    if (schema === false) return (_, trail) => trail.report(trail.path, 'is not allowed');
    if (!isJsonObject(schema)) throw this.invalidSchema('is not a schema');
    const checks: Check[] = this.#fills ? this.#defaults(schema) : [];
    const last: Check[] = [];
    let names = 0;
    for (const [name, argument] of Object.entries(schema)) {
      const check = this.at(name, () => this.#keywordOf(name, argument, schema));
      if (check === undefined || check === pass) continue;
      (LAST.has(name) ? last : checks).push(check);
      if (isJsonObject(argument)) names += Object.keys(argument).length;
    }
    checks.push(...last);
    if (checks.length === 0) return pass;
    const costs = checks.length + Math.floor(names / NAMES_PER_STEP);
    return this.tracks ? tracking(checks, costs) : plain(checks, costs);
  }

  #keywordOf(name: string, argument: Json, schema: JsonObject): Check | undefined {
    if (name === '$ref' || name === '$recursiveRef') return this.#reference(argument, schema, false);
    if (name === '$dynamicRef') return this.#reference(argument, schema, true);
    if (name === '$id' && typeof argument !== 'string') throw this.invalidSchema('is not a string');
    if (name === '$defs' || name === 'definitions') return void this.members(argument);
    return Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name]?.(argument, this, schema) : undefined;
  }

  keyword(name: string, argument: Json): Check | undefined {
    return KEYWORDS[name]?.(argument, this, {});
  }

  list(argument: Json): Check[] {
    if (!Array.isArray(argument) || argument.length === 0) throw this.invalidSchema('is not a list of schemas');
    return argument.map((schema: Json, index) => this.at(index, () => this.node(schema)));
  }

  members(argument: Json): (readonly [string, Check])[] {
    if (!isJsonObject(argument)) throw this.invalidSchema('is not an object of schemas');
    return Object.entries(argument).map(([name, schema]) => [name, this.at(name, () => this.node(schema))] as const);
  }

  names(argument: Json): readonly string[] {
    if (Array.isArray(argument) && argument.every((name) => typeof name === 'string')) return argument;
    throw this.invalidSchema('is not a list of names');
  }

  pattern(source: string): SchemaPattern {
    let pattern: SchemaPattern;
    try {
      pattern = this.#isBounded ? withSmallPatterns(() => compileSchemaPattern(source)) : compileSchemaPattern(source);
    } catch (error) {
      throw this.invalidSchema(`is not a pattern: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#instructions += pattern.size;
    if (this.#isBounded && this.#instructions > SCHEMA_LIMITS.maxPatternInstructions) {
      throw tooLarge('Its patterns exceed the limit in total.');
    }
    return pattern;
  }

  guess<T>(compile: () => T): T {
    const fills = this.#fills;
    this.#fills = false;
    try {
      return compile();
    } finally {
      this.#fills = fills;
    }
  }

  at<T>(key: string | number, compile: () => T): T {
    this.#path.push(key);
    const made = compile();
    this.#path.pop();
    return made;
  }

  invalidSchema(what: string): NebulaError {
    const pointer = this.#path.join('/').slice(0, 200);
    return invalid(`${pointer === '' ? 'it' : `'${pointer}'`} ${what}`, 'See json-schema.org, draft 2020-12.');
  }

  #defaults(schema: JsonObject): Check[] {
    const { properties } = schema;
    if (properties === undefined || !isJsonObject(properties)) return [];
    const defaults: [string, Json][] = [];
    for (const [name, member] of Object.entries(properties)) {
      if (isJsonObject(member) && member['default'] !== undefined) defaults.push([name, member['default']]);
    }
    if (defaults.length === 0) return [];
    this.hasDefaults = true;
    return [filling(defaults)];
  }

  #reference(argument: Json, schema: JsonObject, isDynamic: boolean): Check {
    if (typeof argument !== 'string') throw this.invalidSchema('is not a string');
    const target = this.#references.find(argument, schema);
    if (target === undefined) {
      throw this.invalidSchema(
        `cannot be resolved: there is no '${argument.slice(0, 200)}' in this schema, and other schemas are not fetched`,
      );
    }
    const own = entering(target.resource, this.#lazy(target));
    const meant = isDynamic
      ? this.#references.dynamic(argument.slice(argument.indexOf('#') + 1))
      : new Map<string, Json>();
    if (meant.get(target.resource) !== target.schema) return own;
    const checks = new Map(
      [...meant].map(([resource, one]) => [resource, entering(resource, this.#lazy({ schema: one }))]),
    );
    // The resource that was entered first determines the schema.
    return (value, trail) => {
      const first = trail.resources.find((resource) => checks.has(resource));
      const check = first === undefined ? undefined : checks.get(first);
      (check ?? own)(value, trail);
    };
  }

  /** One check for all references to a schema, created after everything else, or when first needed. */
  #lazy({ schema }: Pick<Target, 'schema'>): { check: Check } {
    const kind = this.#fills ? 'filling' : 'plain';
    const known = this.#checks.get(kind) ?? new Map<Json, { check: Check }>();
    this.#checks.set(kind, known);
    const before = known.get(schema);
    if (before !== undefined) return before;
    const fills = this.#fills;
    const holder = { check: pass };
    known.set(schema, holder);
    this.#waiting.push(() => {
      this.#fills = fills;
      holder.check = this.at('$ref', () => this.node(schema));
    });
    return holder;
  }
}

function plain(checks: readonly Check[], costs: number): Check {
  return (value, trail) => {
    trail.spend(costs);
    for (const check of checks) check(value, trail);
  };
}

/** Members and items evaluated by a matching schema count for the enclosing schema. */
function tracking(checks: readonly Check[], costs: number): Check {
  return (value, trail) => {
    trail.spend(costs);
    const { seen: outer, count } = trail;
    const own: Seen = { members: new Set(), items: new Set(), firstItems: 0 };
    trail.seen = own;
    for (const check of checks) check(value, trail);
    trail.seen = outer;
    if (outer === undefined || trail.count !== count) return;
    trail.spend(own.members.size + own.items.size);
    for (const name of own.members) outer.members.add(name);
    for (const index of own.items) outer.items.add(index);
    outer.firstItems = Math.max(outer.firstItems, own.firstItems);
  };
}

function entering(resource: string, holder: { readonly check: Check }): Check {
  return (value: Json, trail: Trail) => {
    trail.enter();
    trail.resources.push(resource);
    holder.check(value, trail);
    trail.resources.pop();
    trail.leave();
  };
}

/** Fills missing members with the default of their schema, before any other check. */
function filling(defaults: readonly (readonly [string, Json])[]): Check {
  return (value) => {
    if (!isJsonObject(value)) return;
    for (const [name, fallback] of defaults) {
      if (!Object.hasOwn(value, name)) (value as Record<string, Json>)[name] = structuredClone(fallback);
    }
  };
}

function invalid(message: string, hint: string): NebulaError {
  return new NebulaError('SCHEMA_INVALID', `Invalid JSON Schema: ${message}.`, { hint });
}

function tooLarge(message: string): NebulaError {
  return new NebulaError('SCHEMA_INVALID', `The JSON Schema exceeds the limits. ${message}`, {
    hint: 'Remove the parts that validation does not need.',
  });
}
