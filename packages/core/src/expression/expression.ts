/** An expression: parsed once, evaluated any number of times. */
import { EXPRESSION_LIMITS, type ExpressionLimits } from '../limits.ts';
import type { Json } from '../value.ts';
import type { Budget } from './budget.ts';
import { syntaxError } from './characters.ts';
import { Compiler } from './compile.ts';
import { ExpressionError, limitError, type Span, valueError } from './expression-error.ts';
import { Frame, type Run } from './frame.ts';
import { type Parsed, parseAt } from './parser.ts';
import type { Reference } from './reference.ts';
import type { Scope } from './scope.ts';

export interface Expression {
  readonly source: string;
  readonly references: readonly Reference[];
  /** Nesting depth of the expression. */
  readonly depth: number;
  evaluate(scope: Scope, budget: Budget): Json;
}

/** Parses a text that consists of one expression. */
export function parseExpression(source: string, limits: ExpressionLimits = EXPRESSION_LIMITS): Expression {
  const parsed = parseAt(source, 0, limits.maxAstDepth);
  if (parsed.end < source.length) {
    const rest = source.slice(parsed.end, parsed.end + 20);
    throw syntaxError(`unexpected ${rest} after the end of the expression`, parsed.end, source.length - parsed.end);
  }
  return new CompiledExpression(source, parsed);
}

/** Parses the expression at `offset` of a longer text; `end` is its end. */
export function parseExpressionAt(
  source: string,
  offset: number,
  limits: ExpressionLimits,
): { expression: Expression; end: number } {
  const parsed = parseAt(source, offset, limits.maxAstDepth);
  return { expression: new CompiledExpression(source, parsed), end: parsed.end };
}

const NO_LOCALS: Json[] = [];

class CompiledExpression implements Expression {
  readonly source: string;
  readonly references: readonly Reference[];
  readonly depth: number;
  private readonly run: Run;
  private readonly slots: number;
  private readonly builds: boolean;
  private readonly span: Span;

  constructor(source: string, parsed: Parsed) {
    const compiler = new Compiler(source);
    this.source = source;
    this.references = parsed.references;
    this.depth = parsed.depth;
    this.slots = parsed.slots;
    this.run = compiler.compile(parsed.syntax);
    this.builds = compiler.builds;
    this.span = { offset: parsed.syntax.offset, length: parsed.syntax.length };
  }

  evaluate(scope: Scope, budget: Budget): Json {
    const locals = this.slots === 0 ? NO_LOCALS : new Array<Json>(this.slots).fill(null);
    try {
      const result = this.run(new Frame(scope, budget, locals));
      if (this.builds) budget.weigh(result);
      else if (result === undefined || typeof result === 'function') throw notJson(result);
      return result;
    } catch (error) {
      throw this.explain(error);
    }
  }

  private explain(error: unknown): unknown {
    if (error instanceof ExpressionError) return error.locate(this.span);
    // Stack or string length exhausted. The limits should prevent this, but user text must not look like a bug of the
    // engine.
    if (error instanceof RangeError)
      return limitError(`the expression is too large: ${error.message}`).locate(this.span);
    return error;
  }
}

function notJson(value: unknown): ExpressionError {
  return valueError(`the result is ${typeof value === 'function' ? 'a function' : 'undefined'}, which is not JSON`);
}
