/** All functions by name. */
import { didYouMean } from '../../problem.ts';
import { conversionFunctions } from './conversion.ts';
import { dateFunctions } from './date.ts';
import { type Callee, type FunctionDefinition, nameOf, readOverload } from './definition.ts';
import { encodingFunctions } from './encoding.ts';
import { groupingFunctions } from './grouping.ts';
import { listFunctions as listMethods } from './list.ts';
import { numberFunctions } from './number.ts';
import { objectFunctions } from './object.ts';
import { patternFunctions } from './pattern.ts';
import { plainFunctions } from './plain.ts';
import { sequenceFunctions } from './sequence.ts';
import { textFunctions } from './text.ts';

const METHODS: readonly FunctionDefinition[] = [
  ...textFunctions,
  ...patternFunctions,
  ...encodingFunctions,
  ...numberFunctions,
  ...listMethods,
  ...sequenceFunctions,
  ...groupingFunctions,
  ...objectFunctions,
  ...dateFunctions,
  ...conversionFunctions,
];

const methodNames = byName(METHODS);
const plainNames = byName(plainFunctions);
const methods = new Map<string, Callee>();
const plain = new Map<string, Callee>();

export function findMethod(name: string): Callee | undefined {
  return resolve(name, methodNames, methods);
}

export function findPlainFunction(name: string): Callee | undefined {
  return resolve(name, plainNames, plain);
}

/** Names of the same functions in other languages, used for hints only. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  toUpperCase: 'upper()',
  toLowerCase: 'lower()',
  uppercase: 'upper()',
  lowercase: 'lower()',
  replaceAll: 'replace(find, by)',
  substring: 'slice(start, end)',
  substr: 'slice(start, end)',
  charAt: 'at(index)',
  push: 'concat(list)',
  size: 'length (without parentheses)',
  length: 'length (without parentheses)',
  stringify: 'toJson()',
  toISOString: 'toDate()',
  getTime: 'toMillis()',
  toInt: 'toNumber()',
  toFloat: 'toNumber()',
  parseInt: 'toNumber()',
  hasOwnProperty: 'has(name)',
  distinct: 'unique()',
  any: 'some(test)',
  all: 'every(test)',
  match: 'matches(pattern) or extract(pattern)',
  mean: 'avg()',
  average: 'avg()',
  trimLeft: 'trimStart()',
  trimRight: 'trimEnd()',
  limit: 'take(count)',
  plusDays: "plus(count, 'days')",
};

/** The function that a wrong name probably means. */
export function suggestFunction(name: string): string | undefined {
  const [plain] = plainNames.get(name) ?? [];
  if (plain !== undefined) return `write ${name}(${plain.signature.includes('()') ? '' : 'x'}), not as a method`;
  const foreign = Object.hasOwn(FOREIGN_NAMES, name) ? FOREIGN_NAMES[name] : undefined;
  if (foreign !== undefined) return `write ${foreign}`;
  const meant = didYouMean(name, methodNames.keys());
  if (meant !== undefined) return `did you mean .${meant}()?`;
  const plainName = didYouMean(name, plainNames.keys());
  return plainName === undefined ? undefined : `did you mean ${plainName}()?`;
}

export function hasMethod(name: string): boolean {
  return methodNames.has(name);
}

export interface FunctionListing extends Omit<FunctionDefinition, 'run' | 'picks' | 'draws' | 'reads'> {
  readonly name: string;
}

/** All functions, for the reference and `nebula eval`; tests verify each example. */
export function listFunctions(): readonly FunctionListing[] {
  return [...METHODS, ...plainFunctions].map((definition) => {
    const { signature, on, doc, example, result } = definition;
    return { name: nameOf(definition), signature, on, doc, example, result };
  });
}

function byName(definitions: readonly FunctionDefinition[]): Map<string, FunctionDefinition[]> {
  const names = new Map<string, FunctionDefinition[]>();
  for (const definition of definitions) {
    const name = nameOf(definition);
    const same = names.get(name);
    if (same === undefined) names.set(name, [definition]);
    else same.push(definition);
  }
  return names;
}

/** Signatures are parsed when a function is first used, which keeps loading cheap. */
function resolve(
  name: string,
  names: ReadonlyMap<string, readonly FunctionDefinition[]>,
  resolved: Map<string, Callee>,
): Callee | undefined {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const definitions = names.get(name);
  if (definitions === undefined) return undefined;
  const callee: Callee = { name, overloads: definitions.map(readOverload) };
  resolved.set(name, callee);
  return callee;
}
