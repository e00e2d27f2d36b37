/** Compiles calls to closures. Arguments are checked against the signature, results against the limits. */
import type { Json } from '../value.ts';
import { sourceText } from './access.ts';
import { type ExpressionError, located, type Span, typeError, valueError } from './expression-error.ts';
import { type Frame, Lambda, type Run } from './frame.ts';
import { compileQueryText, queryAtRun } from './jsonpath/query-argument.ts';
import { describe, type Kind, kindOf, spokenKind } from './kind.ts';
import type { Callee, FunctionArgument, Implementation, Overload, Parameter } from './library/definition.ts';
import { compilePattern, patternAtRun } from './regex.ts';
import type { Argument, ChainSyntax, Step, Syntax } from './syntax.ts';

/** The state that the parts of the compiler share. */
export interface Compilation {
  readonly source: string;
  /** Whether the result may contain a value that is not part of the scope. */
  builds: boolean;
  compile(syntax: Syntax): Run;
  /** A lambda costs at least one operation per call, even when its body is a literal. */
  compileLambdaBody(syntax: Syntax): Run;
}

type ReadArgument = (frame: Frame) => FunctionArgument;
type Invoke = (frame: Frame, self: Json) => Json;

/** `self.name(…)` */
export function compileMethod(
  compilation: Compilation,
  chain: ChainSyntax,
  step: Extract<Step, { kind: 'call' }>,
): (frame: Frame, self: Json) => Json {
  compilation.builds = true;
  const byKind = new Map<Kind, Invoke>();
  for (const overload of step.callee.overloads) {
    if (!fits(overload, step.args)) continue;
    const invoke = compileOverload(compilation, step.callee, overload, step.args);
    for (const kind of overload.definition.on) byKind.set(kind, invoke);
  }
  return (frame, self) => {
    frame.budget.spend(1);
    const invoke = byKind.get(kindOf(self));
    if (invoke === undefined) {
      const subject = compilation.source.slice(chain.offset, step.offset).trim();
      throw invalidReceiver(step.callee, self, subject).locate(step);
    }
    return called(frame, self, invoke, step);
  };
}

/** `name(…)` */
export function compilePlainCall(compilation: Compilation, callee: Callee, args: readonly Argument[], at: Span): Run {
  compilation.builds = true;
  const overload = callee.overloads[0] as Overload;
  const invoke = compileOverload(compilation, callee, overload, args);
  return (frame) => {
    frame.budget.spend(1);
    return called(frame, null, invoke, at);
  };
}

function called(frame: Frame, self: Json, invoke: Invoke, at: Span): Json {
  try {
    return invoke(frame, self);
  } catch (error) {
    throw located(error, at);
  }
}

function withinLimits(frame: Frame, result: Json): Json {
  if (typeof result === 'number') return finite(result);
  if (typeof result === 'string') return frame.budget.text(result);
  if (Array.isArray(result)) return frame.budget.list(result);
  return result;
}

/** Rejects numbers that JSON cannot represent, and turns minus zero into zero. */
function finite(value: number): number {
  if (Number.isFinite(value)) return value + 0;
  throw valueError('the result is not a finite number, which JSON does not support');
}

function fits(overload: Overload, args: readonly Argument[]): boolean {
  const { parameters, minArguments, maxArguments } = overload;
  if (args.length < minArguments || args.length > maxArguments) return false;
  return args.every((arg, index) => {
    const type = parameters[Math.min(index, parameters.length - 1)]?.type;
    return arg.kind === 'lambda' ? type === 'lambda' || type === 'key' : type !== 'lambda';
  });
}

function compileOverload(
  compilation: Compilation,
  callee: Callee,
  overload: Overload,
  args: readonly Argument[],
): Invoke {
  const { definition, parameters, run } = overload;
  const readers: ReadArgument[] = [];
  for (const [index, parameter] of parameters.entries()) {
    if (parameter.rest) {
      const rest = args.slice(index).map((arg) => compileArgument(compilation, callee, parameter, arg));
      readers.push((frame) => rest.map((read) => read(frame) as Json));
    } else if (args[index] !== undefined) {
      readers.push(compileArgument(compilation, callee, parameter, args[index]));
    }
  }
  const invoke = withArguments(run, readers);
  if (definition.picks === true) return invoke;
  return (frame, self) => withinLimits(frame, invoke(frame, self));
}

function withArguments(run: Implementation, readers: readonly ReadArgument[]): Invoke {
  const [first, second, third, fourth] = readers as [ReadArgument, ReadArgument, ReadArgument, ReadArgument];
  switch (readers.length) {
    case 0:
      return run;
    case 1:
      return (frame, self) => run(frame, self, first(frame));
    case 2:
      return (frame, self) => run(frame, self, first(frame), second(frame));
    case 3:
      return (frame, self) => run(frame, self, first(frame), second(frame), third(frame));
    default:
      return (frame, self) => run(frame, self, first(frame), second(frame), third(frame), fourth(frame));
  }
}

function compileArgument(compilation: Compilation, callee: Callee, parameter: Parameter, arg: Argument): ReadArgument {
  if (arg.kind === 'lambda') {
    const lambda = new Lambda(arg.firstSlot, arg.arity, compilation.compileLambdaBody(arg.body));
    return () => lambda;
  }
  if (parameter.type === 'pattern' && arg.kind === 'literal' && typeof arg.value === 'string') {
    const pattern = compilePattern(arg.value);
    return () => pattern;
  }
  if (parameter.type === 'query' && arg.kind === 'literal' && typeof arg.value === 'string') {
    const query = compileQueryText(arg.value);
    return () => query;
  }
  const value = compilation.compile(arg);
  const check = CHECKS[parameter.type];
  if (check === undefined) return value;
  const invalidArgument = (given: Json) =>
    typeError(
      `${callee.name} takes ${SPOKEN_TYPES[parameter.type]} for ${parameter.name}, not ${describe(given)}`,
      given === null && parameter.optional ? 'leave the argument out' : undefined,
    ).locate(arg);
  const atRun = parameter.type === 'pattern' ? patternAtRun : parameter.type === 'query' ? queryAtRun : undefined;
  if (atRun !== undefined) {
    return (frame) => {
      const given = value(frame);
      if (typeof given !== 'string') throw invalidArgument(given);
      return atRun(frame.budget, given);
    };
  }
  return (frame) => {
    const given = value(frame);
    if (!check(given)) throw invalidArgument(given);
    return given;
  };
}

/** A type without a check accepts any value. */
const CHECKS: Partial<Record<Parameter['type'], (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  list: (value) => Array.isArray(value),
  object: (value) => kindOf(value) === 'object',
  date: (value) => typeof value === 'string' || typeof value === 'number',
  pattern: (value) => typeof value === 'string',
  query: (value) => typeof value === 'string',
  key: (value) => typeof value === 'string',
};

const SPOKEN_TYPES: Readonly<Record<Parameter['type'], string>> = {
  any: 'a value',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'a boolean',
  list: 'a list',
  object: 'an object',
  date: 'a date',
  pattern: 'a pattern',
  query: 'a JSONPath query',
  key: 'a lambda or the name of a member',
  lambda: 'a lambda',
};

function invalidReceiver(callee: Callee, self: Json, subject: string): ExpressionError {
  const kinds = [...new Set(callee.overloads.flatMap((overload) => overload.definition.on))];
  const takes = kinds.map(spokenKind).join(' or ');
  if (kinds.includes(kindOf(self))) {
    const signatures = callee.overloads.map((overload) => overload.definition.signature);
    return typeError(
      `${callee.name} of ${describe(self)} does not accept these arguments`,
      `the signature is ${signatures.join(' or ')}`,
    );
  }
  const hint = self === null ? `write ?.${callee.name}(…) if it may be null` : undefined;
  return typeError(`${callee.name} works on ${takes}, but ${sourceText(subject)} is ${describe(self)}`, hint);
}
