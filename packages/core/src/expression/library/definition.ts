/**
 * The definition of a library function. The signature is the single source for the parser's checks, the run-time checks
 * and the reference; the tests execute the example.
 */
import type { Json } from '../../value.ts';
import type { Frame, Lambda } from '../frame.ts';
import type { QueryRun } from '../jsonpath/query-argument.ts';
import type { Kind } from '../kind.ts';
import type { Pattern } from '../regex.ts';

export interface FunctionDefinition {
  /**
   * E.g. `split(separator: string, limit?: integer)`. Types are those of `ParameterType`, or `(item, index)` for a
   * lambda.
   */
  readonly signature: string;
  /** Kinds of receivers; empty for a plain function. */
  readonly on: readonly Kind[];
  readonly doc: string;
  readonly example: string;
  readonly result: Json;
  /** Returns a part of its input unchanged, so the limits on built values do not apply. */
  readonly picks?: true;
  /** Uses randomness from the scope: every call returns another value. */
  readonly draws?: true;
  /** Reads members: `?.` and `??` allow a missing one, as in any other access. */
  readonly reads?: true;
  /** Arguments are already checked against the signature; a rest parameter is passed as one list. */
  readonly run: (frame: Frame, self: never, ...args: never[]) => Json;
}

/** Returns a function that defines functions on these kinds of receivers. */
export function functionsOn<Self>(
  on: readonly Kind[],
  traits: Pick<FunctionDefinition, 'picks' | 'draws' | 'reads'> = {},
): (
  signature: string,
  doc: string,
  example: readonly [source: string, result: Json],
  run: (frame: Frame, self: Self, ...args: never[]) => Json,
) => FunctionDefinition {
  return (signature, doc, [example, result], run) => ({ signature, on, doc, example, result, run, ...traits });
}

/**
 *  - key: a lambda `(item) => …`, or the name of a member
 *  - pattern: a regular expression as text; arrives compiled
 *  - query: a JSONPath query as text; arrives compiled
 *  - date: ISO 8601 text or milliseconds since the epoch
 */
type ParameterType =
  | 'any'
  | 'string'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'list'
  | 'object'
  | 'date'
  | 'pattern'
  | 'query'
  | 'key'
  | 'lambda';

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly optional: boolean;
  readonly rest: boolean;
  /** Number of arguments passed to a lambda. */
  readonly lambdaArity: number;
}

export type Key = Lambda | string;

export type FunctionArgument = Json | Lambda | Pattern | QueryRun | undefined;

export type Implementation = (
  frame: Frame,
  self: Json,
  first?: FunctionArgument,
  second?: FunctionArgument,
  third?: FunctionArgument,
  fourth?: FunctionArgument,
) => Json;

export interface Overload {
  readonly definition: FunctionDefinition;
  readonly parameters: readonly Parameter[];
  readonly minArguments: number;
  readonly maxArguments: number;
  readonly run: Implementation;
}

/** All functions with one name: at most one per kind of receiver. */
export interface Callee {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

const PARAMETER = /(\.\.\.)?(\w+)(\?)?: (\([\w, ]*\)|\w+)/g;

export function readOverload(definition: FunctionDefinition): Overload {
  const list = definition.signature.slice(definition.signature.indexOf('('));
  const parameters = [...list.matchAll(PARAMETER)].map(([, rest, name, optional, type]): Parameter => {
    const lambda = type?.startsWith('(') === true;
    return {
      name: name as string,
      type: lambda ? 'lambda' : (type as ParameterType),
      optional: optional !== undefined || rest !== undefined,
      rest: rest !== undefined,
      lambdaArity: lambda ? (type as string).split(',').length : type === 'key' ? 1 : 0,
    };
  });
  return {
    definition,
    parameters,
    minArguments: parameters.filter((parameter) => !parameter.optional).length,
    maxArguments: parameters.at(-1)?.rest === true ? Number.POSITIVE_INFINITY : parameters.length,
    run: definition.run as Implementation,
  };
}

export function nameOf(definition: FunctionDefinition): string {
  return definition.signature.slice(0, definition.signature.indexOf('('));
}
