/** Formats of strings and numbers. A library provides their tests; the first schema that names a format loads it. */
import { SCHEMA_LIMITS } from '../limits.ts';
import { loadModule } from '../on-demand.ts';
import type { Json } from '../value.ts';
import type { Trail } from './trail.ts';

type Definition = true | RegExp | ((text: string) => boolean) | { type?: 'string' | 'number'; validate: unknown };

/** Undefined when the format is unknown or accepts everything; it is then an annotation. */
export function formatTest(name: string): ((value: Json, trail: Trail) => boolean) | undefined {
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
