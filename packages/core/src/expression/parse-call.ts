/** Parses calls: functions by name, arguments by signature, lambdas only where the signature allows them. */

import { clipped } from '../problem.ts';
import { syntaxError } from './characters.ts';
import { ExpressionError, located } from './expression-error.ts';
import { compileQueryText } from './jsonpath/query-argument.ts';
import { isWord } from './lexer.ts';
import type { Callee, Overload } from './library/definition.ts';
import { findMethod, findPlainFunction, suggestFunction } from './library/registry.ts';
import { compilePattern } from './regex.ts';
import type { SourceReader } from './source-reader.ts';
import type { Argument, LambdaSyntax, Syntax } from './syntax.ts';

export class CallParser {
  private readonly reader: SourceReader;
  private readonly expression: () => Syntax;

  constructor(reader: SourceReader, expression: () => Syntax) {
    this.reader = reader;
    this.expression = expression;
  }

  /** Parses `name(…)` after the name. */
  plain(name: string, start: number): Syntax {
    const callee = findPlainFunction(name);
    if (callee === undefined) {
      const method = findMethod(name) !== undefined;
      throw new ExpressionError('EXPRESSION_REFERENCE', `there is no function ${clipped(name)}`, {
        at: { offset: start, length: name.length },
        ...hintOf(method ? `${name} is a method: write $x.${name}(…)` : suggestFunction(name)),
      });
    }
    const args = this.callArguments(callee, start);
    const span = this.reader.span(start);
    // Marks a value that differs from run to run.
    if (callee.overloads.some(({ definition }) => definition.draws)) {
      this.reader.references.push({ kind: 'draw', path: [], optional: false, ...span });
    }
    return { kind: 'call', callee, args, ...span };
  }

  /** Parses `.name(…)` after the name. */
  method(name: string, start: number): { readonly callee: Callee; readonly args: readonly Argument[] } {
    const callee = findMethod(name);
    if (callee === undefined) {
      throw new ExpressionError('EXPRESSION_REFERENCE', `there is no function ${clipped(name)}`, {
        at: { offset: start, length: name.length },
        ...hintOf(suggestFunction(name)),
      });
    }
    return { callee, args: this.callArguments(callee, start) };
  }

  private callArguments(callee: Callee, start: number): readonly Argument[] {
    const { reader } = this;
    reader.expectSign('(');
    const args: Argument[] = [];
    while (!reader.isSign(')')) {
      args.push(this.lambda() ?? this.expression());
      if (!reader.takeSign(',')) break;
    }
    const end = reader.expectSign(')');
    checkArguments(callee, args, start, end);
    return args;
  }

  /** Parses a lambda, if one comes next. */
  private lambda(): LambdaSyntax | undefined {
    const names = this.lambdaNames();
    if (names === undefined) return undefined;
    const { reader } = this;
    const { start } = reader.lexer;
    const reserved = names.find(isWord);
    if (reserved !== undefined) throw syntaxError(`${reserved} is a reserved word, not a parameter`, start, 1);
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) throw syntaxError(`the parameter ${clipped(repeated)} is declared twice`, start, 1);
    this.skipToArrow();
    return reader.withLocals(names, (firstSlot) => {
      const body = this.expression();
      return { kind: 'lambda', firstSlot, arity: names.length, body, ...reader.span(start) };
    });
  }

  /** Looks ahead in the text, to distinguish parameters from a parenthesised expression. */
  private lambdaNames(): readonly string[] | undefined {
    const { source, lexer } = this.reader;
    const head = lambdaHead(source, lexer.start);
    if (head === undefined) return undefined;
    const list = head[1] ?? head[2] ?? '';
    return list.trim() === '' ? [] : list.split(',').map((name) => name.trim());
  }

  private skipToArrow(): void {
    const { reader } = this;
    while (!reader.takeSign('=>')) reader.lexer.advance();
  }
}

/** `i =>` or `(a, b) =>`. Names are those of the lexer: letters, digits, `_` and everything outside ASCII. */
const LAMBDA_HEAD =
  /(?:([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|\(([ \t\r\n]*|[ \t\r\n]*[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*[ \t\r\n]*(?:,[ \t\r\n]*[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*[ \t\r\n]*)*)\))[ \t\r\n]*=>/y;

/** The parameters of the lambda at `offset`, if any. */
export function lambdaHead(source: string, offset: number): RegExpExecArray | undefined {
  LAMBDA_HEAD.lastIndex = offset;
  return LAMBDA_HEAD.exec(source) ?? undefined;
}

function checkArguments(callee: Callee, args: readonly Argument[], start: number, end: number): void {
  const misfits = callee.overloads.map((overload) => misfit(overload, args));
  if (misfits.includes(undefined)) return;
  const signatures = [...new Set(callee.overloads.map((overload) => overload.definition.signature))];
  throw new ExpressionError('EXPRESSION_TYPE', `${callee.name} ${misfits[0]}`, {
    at: { offset: start, length: end - start },
    hint: `the signature is ${signatures.join(' or ')}`,
  });
}

/** The reason why the arguments do not match the signature, or undefined. */
function misfit(overload: Overload, args: readonly Argument[]): string | undefined {
  const { parameters, minArguments, maxArguments } = overload;
  if (args.length < minArguments || args.length > maxArguments) {
    return `takes ${countText(minArguments, maxArguments)}, not ${args.length}`;
  }
  for (const [index, arg] of args.entries()) {
    const parameter = parameters[Math.min(index, parameters.length - 1)];
    if (parameter === undefined) continue;
    const takesLambda = parameter.type === 'lambda' || parameter.type === 'key';
    if (arg.kind === 'lambda' && !takesLambda) return `takes no lambda for ${parameter.name}`;
    if (arg.kind !== 'lambda' && parameter.type === 'lambda') return `takes a lambda for ${parameter.name}`;
    if (arg.kind === 'lambda' && arg.arity > parameter.lambdaArity) {
      return `passes ${parameter.lambdaArity} values to its lambda, not ${arg.arity}`;
    }
    if (arg.kind !== 'literal' || typeof arg.value !== 'string') continue;
    if (parameter.type === 'pattern') checkPattern(arg.value, arg);
    else if (parameter.type === 'query') checkQuery(arg.value, arg);
  }
  return undefined;
}

function checkQuery(source: string, at: Syntax): void {
  try {
    compileQueryText(source);
  } catch (error) {
    throw located(error, at);
  }
}

function checkPattern(source: string, arg: Syntax): void {
  try {
    compilePattern(source);
  } catch (error) {
    throw located(error, arg);
  }
}

function countText(min: number, max: number): string {
  const plural = (count: number) => `${count} argument${count === 1 ? '' : 's'}`;
  if (min === max) return plural(min);
  return max === Number.POSITIVE_INFINITY ? `at least ${plural(min)}` : `${min} to ${plural(max)}`;
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint };
}
