/** Keywords that apply other schemas: to members, to items, or to the value itself. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../value.ts';
import type { Keyword, KeywordCompiler } from './pattern.ts';
import { type Check, fits, inside, pass, type Trail } from './trail.ts';

const INPLACE: Readonly<Record<string, Keyword>> = {
  allOf: (argument, compiler) => {
    const checks = compiler.list(argument).filter((check) => check !== pass);
    return (value, trail) => {
      for (const check of checks) check(value, trail);
    };
  },
  anyOf: (argument, compiler) => {
    const checks = compiler.guess(() => compiler.list(argument));
    return (value, trail) => {
      const { count, told } = trail;
      let isFitting = false;
      for (const check of checks) {
        const before = trail.count;
        check(value, trail);
        isFitting ||= trail.count === before;
        // Further schemas may evaluate more of the value.
        if (isFitting && !compiler.tracks) break;
      }
      if (isFitting) trail.rewind(count, told);
      else trail.report(trail.path, 'must match a schema in anyOf');
    };
  },
  oneOf: (argument, compiler) => {
    const checks = compiler.guess(() => compiler.list(argument));
    return (value, trail) => {
      const { count, told } = trail;
      let fitting = 0;
      for (const check of checks) {
        const before = trail.count;
        check(value, trail);
        if (trail.count === before) fitting++;
      }
      if (fitting > 0) trail.rewind(count, told);
      if (fitting !== 1) trail.report(trail.path, 'must match exactly one schema in oneOf');
    };
  },
  not: (argument, compiler) => {
    const check = compiler.guess(() => compiler.node(argument));
    return (value, trail) => {
      const { seen } = trail;
      trail.seen = undefined;
      const isFitting = fits(check, value, trail);
      trail.seen = seen;
      if (isFitting) trail.report(trail.path, 'must NOT be valid');
    };
  },
  if: (argument, compiler, schema) => {
    const condition = compiler.guess(() => compiler.node(argument));
    const then = branch(compiler, schema, 'then');
    const otherwise = branch(compiler, schema, 'else');
    return (value, trail) => (fits(condition, value, trail) ? then : otherwise)(value, trail);
  },
  dependentSchemas: (argument, compiler) => {
    const members = compiler.members(argument);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const [name, check] of members) if (Object.hasOwn(value, name)) check(value, trail);
    };
  },
  /** The keyword of drafts before 2019. */
  dependencies: (argument, compiler) => {
    if (!isJsonObject(argument)) throw compiler.wrong('is not an object');
    const entries = Object.entries(argument);
    const isNames = ([, one]: [string, Json]): boolean => Array.isArray(one);
    const checks = [
      compiler.keyword('dependentRequired', Object.fromEntries(entries.filter(isNames))),
      compiler.keyword('dependentSchemas', Object.fromEntries(entries.filter((one) => !isNames(one)))),
    ];
    return (value, trail) => {
      for (const check of checks) check?.(value, trail);
    };
  },
};

const MEMBERS: Readonly<Record<string, Keyword>> = {
  properties: (argument, compiler) => {
    const all = compiler.members(argument);
    const members = compiler.tracks ? all : all.filter(([, check]) => check !== pass);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const [name, check] of members) {
        if (!Object.hasOwn(value, name)) continue;
        inside(check, value[name] ?? null, name, trail);
        trail.seen?.members.add(name);
      }
    };
  },
  patternProperties: (argument, compiler) => {
    const members = compiler.members(argument).map(([source, check]) => [compiler.pattern(source), check] as const);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const name of Object.keys(value)) {
        for (const [pattern, check] of members) {
          if (!pattern.test(name, trail)) continue;
          inside(check, value[name] ?? null, name, trail);
          trail.seen?.members.add(name);
        }
      }
    };
  },
  additionalProperties: (argument, compiler, schema) => {
    const known = new Set(isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : []);
    const others = schema['patternProperties'] ?? null;
    const patterns = isJsonObject(others) ? Object.keys(others).map((source) => compiler.pattern(source)) : [];
    const check = compiler.node(argument);
    if (check === pass && !compiler.tracks) return pass;
    const unknown = `is not known${known.size === 0 ? '' : ` (known: ${[...known].slice(0, 50).join(', ')})`}`;
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const name of Object.keys(value)) {
        if (known.has(name) || patterns.some((pattern) => pattern.test(name, trail))) continue;
        if (argument === false) trail.reportUnknown(name, unknown);
        else inside(check, value[name] ?? null, name, trail);
        trail.seen?.members.add(name);
      }
    };
  },
  propertyNames: (argument, compiler) => {
    const check = compiler.node(argument);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const name of Object.keys(value)) inside(check, name, name, trail);
    };
  },
  unevaluatedProperties: (argument, compiler) => {
    const check = compiler.node(argument);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      for (const name of Object.keys(value)) {
        if (trail.seen?.members.has(name)) continue;
        if (argument === false) trail.reportUnknown(name);
        else inside(check, value[name] ?? null, name, trail);
        trail.seen?.members.add(name);
      }
    };
  },
};

const ITEMS: Readonly<Record<string, Keyword>> = {
  prefixItems: (argument, compiler) => {
    const checks = compiler.list(argument);
    return (value, trail) => {
      if (!isJsonList(value)) return;
      const count = Math.min(checks.length, value.length);
      for (const [index, check] of checks.entries()) {
        if (index < count) inside(check, value[index] ?? null, index, trail);
      }
      looked(trail, count);
    };
  },
  items: (argument, compiler, schema) => {
    const check = compiler.node(argument);
    const first = isJsonList(schema['prefixItems']) ? schema['prefixItems'].length : 0;
    if (check === pass && !compiler.tracks) return pass;
    return (value, trail) => {
      if (!isJsonList(value)) return;
      for (let index = first; index < value.length; index++) inside(check, value[index] ?? null, index, trail);
      looked(trail, value.length);
    };
  },
  contains: (argument, compiler, schema) => {
    const check = compiler.guess(() => compiler.node(argument));
    const least = countIn(compiler, schema, 'minContains') ?? 1;
    const most = countIn(compiler, schema, 'maxContains') ?? Number.POSITIVE_INFINITY;
    return (value, trail) => {
      if (!isJsonList(value)) return;
      const { seen } = trail;
      trail.seen = undefined;
      let found = 0;
      for (let index = 0; index < value.length; index++) {
        if (!fits(check, value[index] ?? null, trail)) continue;
        found++;
        seen?.items.add(index);
      }
      trail.seen = seen;
      if (found < least) trail.report(trail.path, `must contain at least ${least} valid item(s)`);
      if (found > most) trail.report(trail.path, `must contain at most ${most} valid item(s)`);
    };
  },
  unevaluatedItems: (argument, compiler) => {
    const check = compiler.node(argument);
    return (value, trail) => {
      if (!isJsonList(value)) return;
      for (let index = trail.seen?.firstItems ?? 0; index < value.length; index++) {
        if (!trail.seen?.items.has(index)) inside(check, value[index] ?? null, index, trail);
      }
      looked(trail, value.length);
    };
  },
};

export const STRUCTURE_KEYWORDS = { ...INPLACE, ...MEMBERS, ...ITEMS };

function looked({ seen }: Trail, count: number): void {
  if (seen !== undefined) seen.firstItems = Math.max(seen.firstItems, count);
}

function branch(compiler: KeywordCompiler, schema: JsonObject, name: 'then' | 'else'): Check {
  return schema[name] === undefined ? pass : compiler.at(name, () => compiler.node(schema[name] ?? null));
}

function countIn(compiler: KeywordCompiler, schema: JsonObject, name: string): number | undefined {
  const count = schema[name];
  if (count === undefined || (typeof count === 'number' && Number.isInteger(count) && count >= 0)) return count;
  throw compiler.wrong(`has a ${name} that is not a count`);
}
