/** Keywords that apply other schemas: to members, to items, or to the value itself. */
import type { Steps } from '../steps.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../value.ts';
import type { Keyword, KeywordCompiler } from './pattern.ts';
import { type Check, fits, inside, pass, type Trail } from './trail.ts';

/** Items that are gone through in the time of a step, besides their checks. */
const ITEMS_PER_STEP = 4;

const INPLACE: Readonly<Record<string, Keyword>> = {
  allOf: (argument, compiler) => {
    const checks = compiler.list(argument).filter((check) => check !== pass);
    return (value, trail) => {
      for (const check of checks) check(value, trail);
    };
  },
  anyOf: (argument, compiler) => {
    const checks = compiler.guess(() => compiler.list(argument));
    const misfit = 'must match a schema in anyOf';
    return (value, trail) => {
      if (!compiler.tracks && trail.divides(value)) {
        return trail.later(function* () {
          // Problems that others found before this task began stay.
          const { count, problemCount } = trail;
          for (const check of checks)
            if (yield* fitsInPieces(check, value, trail)) return trail.rewind(count, problemCount);
          trail.report(trail.path, misfit);
        });
      }
      const { count, problemCount } = trail;
      trail.held++;
      let isFitting = false;
      for (const check of checks) {
        const before = trail.count;
        check(value, trail);
        isFitting ||= trail.count === before;
        // Further schemas may evaluate more of the value.
        if (isFitting && !compiler.tracks) break;
      }
      trail.held--;
      if (isFitting) trail.rewind(count, problemCount);
      else trail.report(trail.path, misfit);
    };
  },
  oneOf: (argument, compiler) => {
    const checks = compiler.guess(() => compiler.list(argument));
    const report = (fitting: number, count: number, problemCount: number, trail: Trail): void => {
      if (fitting > 0) trail.rewind(count, problemCount);
      if (fitting !== 1) trail.report(trail.path, 'must match exactly one schema in oneOf');
    };
    return (value, trail) => {
      if (!compiler.tracks && trail.divides(value)) {
        return trail.later(function* () {
          const { count, problemCount } = trail;
          let fitting = 0;
          for (const check of checks) if (yield* fitsInPieces(check, value, trail)) fitting++;
          report(fitting, count, problemCount, trail);
        });
      }
      const { count, problemCount } = trail;
      let fitting = 0;
      trail.held++;
      for (const check of checks) {
        const before = trail.count;
        check(value, trail);
        if (trail.count === before) fitting++;
      }
      trail.held--;
      report(fitting, count, problemCount, trail);
    };
  },
  not: (argument, compiler) => {
    const check = compiler.guess(() => compiler.node(argument));
    return (value, trail) => {
      if (trail.divides(value)) {
        return trail.later(function* () {
          const { count, problemCount } = trail;
          const isFitting = yield* fitsInPieces(check, value, trail);
          trail.rewind(count, problemCount);
          if (isFitting) trail.report(trail.path, 'must NOT be valid');
        });
      }
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
    return (value, trail) => {
      if (compiler.tracks || !trail.divides(value)) {
        return (fits(condition, value, trail) ? then : otherwise)(value, trail);
      }
      trail.later(function* () {
        const { count, problemCount } = trail;
        const isFitting = yield* fitsInPieces(condition, value, trail);
        trail.rewind(count, problemCount);
        yield* trail.whole(isFitting ? then : otherwise, value);
      });
    };
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
    if (!isJsonObject(argument)) throw compiler.invalidSchema('is not an object');
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
    const from = (first: number, value: JsonObject, trail: Trail): void => {
      for (let index = first; index < members.length; index++) {
        const [name, check] = members[index] as (typeof members)[number];
        if (!Object.hasOwn(value, name)) continue;
        if (endsPiece(trail)) return trail.later(() => from(index, value, trail));
        inside(check, value[name] ?? null, name, trail);
        trail.seen?.members.add(name);
      }
    };
    return (value, trail) => {
      if (isJsonObject(value)) from(0, value, trail);
    };
  },
  patternProperties: (argument, compiler) => {
    const members = compiler.members(argument).map(([source, check]) => [compiler.pattern(source), check] as const);
    return ofMembers((name, value, trail) => {
      for (const [pattern, check] of members) {
        if (!pattern.test(name, trail)) continue;
        inside(check, value[name] ?? null, name, trail);
        trail.seen?.members.add(name);
      }
    });
  },
  additionalProperties: (argument, compiler, schema) => {
    const known = new Set(isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : []);
    const others = schema['patternProperties'] ?? null;
    const patterns = isJsonObject(others) ? Object.keys(others).map((source) => compiler.pattern(source)) : [];
    const check = compiler.node(argument);
    if (check === pass && !compiler.tracks) return pass;
    const unknown = `is not known${known.size === 0 ? '' : ` (known: ${[...known].slice(0, 50).join(', ')})`}`;
    return ofMembers((name, value, trail) => {
      if (known.has(name) || patterns.some((pattern) => pattern.test(name, trail))) return;
      if (argument === false) trail.reportUnknown(name, unknown);
      else inside(check, value[name] ?? null, name, trail);
      trail.seen?.members.add(name);
    });
  },
  propertyNames: (argument, compiler) => {
    const check = compiler.node(argument);
    return ofMembers((name, _, trail) => inside(check, name, name, trail));
  },
  unevaluatedProperties: (argument, compiler) => {
    const check = compiler.node(argument);
    return (value, trail) => {
      if (!isJsonObject(value)) return;
      const names = Object.keys(value);
      trail.spend(names.length);
      for (const name of names) {
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
      countSeen(trail, count);
    };
  },
  items: (argument, compiler, schema) => {
    const check = compiler.node(argument);
    const first = isJsonList(schema['prefixItems']) ? schema['prefixItems'].length : 0;
    if (check === pass && !compiler.tracks) return pass;
    const from = (next: number, value: readonly Json[], trail: Trail): void => {
      for (let index = next; index < value.length; index++) {
        if (trail.isDue) return trail.later(() => from(index, value, trail));
        inside(check, value[index] ?? null, index, trail);
      }
    };
    return (value, trail) => {
      if (!isJsonList(value)) return;
      countSeen(trail, value.length);
      if (check !== pass) from(first, value, trail);
    };
  },
  contains: (argument, compiler, schema) => {
    const check = compiler.guess(() => compiler.node(argument));
    const least = countIn(compiler, schema, 'minContains') ?? 1;
    const most = countIn(compiler, schema, 'maxContains') ?? Number.POSITIVE_INFINITY;
    const report = (found: number, trail: Trail): void => {
      if (found < least) trail.report(trail.path, `must contain at least ${least} valid item(s)`);
      if (found > most) trail.report(trail.path, `must contain at most ${most} valid item(s)`);
    };
    return (value, trail) => {
      if (!isJsonList(value)) return;
      let found = 0;
      if (!compiler.tracks && trail.divides(value)) {
        return trail.later(function* () {
          for (const item of value) {
            if (fits(check, item, trail)) found++;
            trail.spend(1 / ITEMS_PER_STEP);
            if (trail.isDue) yield* trail.pause();
          }
          report(found, trail);
        });
      }
      const { seen } = trail;
      trail.seen = undefined;
      trail.spend(value.length / ITEMS_PER_STEP);
      for (let index = 0; index < value.length; index++) {
        if (!fits(check, value[index] ?? null, trail)) continue;
        found++;
        seen?.items.add(index);
      }
      trail.seen = seen;
      report(found, trail);
    };
  },
  unevaluatedItems: (argument, compiler) => {
    const check = compiler.node(argument);
    return (value, trail) => {
      if (!isJsonList(value)) return;
      trail.spend(value.length / ITEMS_PER_STEP);
      for (let index = trail.seen?.firstItems ?? 0; index < value.length; index++) {
        if (!trail.seen?.items.has(index)) inside(check, value[index] ?? null, index, trail);
      }
      countSeen(trail, value.length);
    };
  },
};

export const STRUCTURE_KEYWORDS = { ...INPLACE, ...MEMBERS, ...ITEMS };

/** Whether a loop over members leaves its rest for later. Not where other schemas depend on the evaluated members. */
function endsPiece(trail: Trail): boolean {
  return trail.isDue && trail.seen === undefined;
}

/** Checks every member of an object. */
function ofMembers(one: (name: string, value: JsonObject, trail: Trail) => void): Check {
  const from = (first: number, names: readonly string[], value: JsonObject, trail: Trail): void => {
    for (let index = first; index < names.length; index++) {
      if (endsPiece(trail)) return trail.later(() => from(index, names, value, trail));
      one(names[index] as string, value, trail);
    }
  };
  return (value, trail) => {
    if (!isJsonObject(value)) return;
    const names = Object.keys(value);
    trail.spend(names.length / ITEMS_PER_STEP);
    from(0, names, value, trail);
  };
}

/** Whether the value is valid, inside a task. The problems found stay. */
function* fitsInPieces(check: Check, value: Json, trail: Trail): Steps<boolean> {
  const { count } = trail;
  yield* trail.whole(check, value);
  return trail.count === count;
}

function countSeen({ seen }: Trail, count: number): void {
  if (seen !== undefined) seen.firstItems = Math.max(seen.firstItems, count);
}

function branch(compiler: KeywordCompiler, schema: JsonObject, name: 'then' | 'else'): Check {
  return schema[name] === undefined ? pass : compiler.at(name, () => compiler.node(schema[name] ?? null));
}

function countIn(compiler: KeywordCompiler, schema: JsonObject, name: string): number | undefined {
  const count = schema[name];
  if (count === undefined || (typeof count === 'number' && Number.isInteger(count) && count >= 0)) return count;
  throw compiler.invalidSchema(`has a ${name} that is not a count`);
}
