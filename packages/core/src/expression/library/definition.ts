/**
 * How a function of the library is written down. The signature is the one source for the parser's checks, the
 * run-time checks and the reference documentation; the example is executed by the tests.
 */
import type { Json } from '../../value.ts';
import type { Frame, Lambda } from '../frame.ts';
import type { QueryRun } from '../jsonpath/query-argument.ts';
import type { Kind } from '../kind.ts';
import type { Pattern } from '../regex.ts';

export interface FunctionDefinition {
  /** `split(separator: string, limit?: integer)`; types are those of `ParameterType`, or `(item, index)` for a lambda. */
  readonly signature: string;
  /** Kinds of receivers; empty for a plain function. */
  readonly on: readonly Kind[];
  readonly doc: string;
  readonly example: string;
  readonly result: Json;
  /** Gives a part of what it was given as it is, so that the limits on what is built do not concern it. */
  readonly picks?: true;
  /** Draws from the scope: no two calls give the same value. */
  readonly draws?: true;
  /** Reads members: what is missing is forgiven by `?.` and `??`, as in any other access. */
  readonly reads?: true;
  /** Arguments are checked against the signature before; a rest parameter comes as one list. */
  readonly run: (frame: Frame, self: never, ...args: never[]) => Json;
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
  /** How many values a lambda is given. */
  readonly lambdaArity: number;
}

/** What a function gets for a parameter of type `key`. */
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

/** All functions of one name: at most one for each kind of receiver. */
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
