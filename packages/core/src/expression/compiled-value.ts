/** The values of a definition: literals, templates and expressions at any depth, compiled once. */
import { DEFINITION_LIMITS, EXPRESSION_LIMITS, type ExpressionLimits } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import { isJsonObject, type Json, setMember } from '../value.ts';
import { Allowance } from './allowance.ts';
import type { Budget } from './budget.ts';
import { syntaxError } from './characters.ts';
import { type Expression, parseExpression } from './expression.ts';
import { ExpressionError, limitError, type ValueOrigin } from './expression-error.ts';
import type { Reference } from './reference.ts';
import { chargingPatterns } from './regex.ts';
import type { Scope } from './scope.ts';
import { parseTemplate, type Template } from './template.ts';

/** A reference, with the path inside the value to the string that contains it. */
export type ValueReference = Reference & { readonly valuePath: DocumentPath };

export interface CompiledValue {
  /**
   * True when there is no expression inside: every evaluation returns the same value, which is the raw one unless
   * braces were escaped.
   */
  readonly constant: boolean;
  readonly references: readonly ValueReference[];
  /** Where the value is in a workflow. */
  readonly origin?: ValueOrigin | undefined;
  evaluate(scope: Scope, budget: Budget): Json;
}

export interface CompileOptions {
  readonly limits?: ExpressionLimits;
  /** Receives errors instead of throwing the first one; a part with an error evaluates to null. */
  readonly report?: (error: ExpressionError) => void;
  /** Shared by all values of one part of a definition. */
  readonly allowance?: Allowance;
  /** Told by the errors of evaluations. */
  readonly origin?: ValueOrigin;
}

type Evaluate = (scope: Scope, budget: Budget) => Json;

/** A part of a value: a literal, or a function that computes it. */
type Part = { readonly literal: Json } | { readonly evaluate: Evaluate };

export function compileValue(raw: Json, options: CompileOptions = {}): CompiledValue {
  const compiler = new ValueCompiler(options);
  return compiler.finish(compiler.part(raw, []));
}

/** Compiles a key that takes a bare expression: `when`, `on`, `in`, `condition`, `until`. */
export function compileCondition(raw: Json, options: CompileOptions = {}): CompiledValue {
  const compiler = new ValueCompiler(options);
  return compiler.finish(typeof raw === 'string' ? compiler.condition(raw) : compiler.part(raw, []));
}

class ValueCompiler {
  private readonly limits: ExpressionLimits;
  private readonly report: ((error: ExpressionError) => void) | undefined;
  private readonly references: ValueReference[] = [];
  private readonly allowance: Allowance;
  private readonly origin: ValueOrigin | undefined;

  constructor({ limits = EXPRESSION_LIMITS, report, allowance = new Allowance(), origin }: CompileOptions) {
    this.origin = origin;
    this.limits = limits;
    this.report = report;
    this.allowance = allowance;
  }

  finish(part: Part): CompiledValue {
    const { references, origin } = this;
    if ('literal' in part) return { constant: true, references, origin, evaluate: () => part.literal };
    return { constant: false, references, origin, evaluate: part.evaluate };
  }

  part(raw: Json, path: DocumentPath): Part {
    if (typeof raw === 'string') return this.text(raw, path);
    if (typeof raw !== 'object' || raw === null) return { literal: raw };
    if (path.length >= DEFINITION_LIMITS.maxNestingDepth) {
      const error = limitError(`the value nests deeper than ${DEFINITION_LIMITS.maxNestingDepth} levels`);
      return this.failed(error, path);
    }
    return Array.isArray(raw) ? this.list(raw, path) : this.object(raw, path);
  }

  condition(raw: string): Part {
    return this.attempt([], () => {
      if (!raw.includes('{{')) {
        this.allowance.take(raw.length);
        return this.expression(parseExpression(raw, this.limits), []);
      }
      const template = parseTemplate(raw, this.limits, this.allowance);
      const only =
        'parts' in template ? template.parts.filter((part) => typeof part !== 'string' || part.trim() !== '') : [];
      if (only.length === 1 && typeof only[0] === 'object') return this.expression(only[0], []);
      throw syntaxError(
        'a condition must be a single expression',
        0,
        raw.length,
        'remove the braces, or put everything between {{ and }}',
      );
    });
  }

  private text(raw: string, path: DocumentPath): Part {
    // Most strings of most definitions end here.
    if (!raw.includes('{{')) return { literal: raw };
    return this.attempt(path, () => {
      const template = parseTemplate(raw, this.limits, this.allowance);
      if ('literal' in template) return template;
      const [only] = template.parts;
      if (template.parts.length === 1 && typeof only === 'object') return this.expression(only, path);
      return this.template(template, path);
    });
  }

  private expression(expression: Expression, path: DocumentPath): Part {
    this.refer(expression, path);
    const { origin } = this;
    return {
      evaluate: (scope, budget) => {
        try {
          return expression.evaluate(scope, budget);
        } catch (error) {
          throw at(path, error, origin);
        }
      },
    };
  }

  private template(template: Extract<Template, { readonly parts: unknown }>, path: DocumentPath): Part {
    for (const part of template.parts) if (typeof part !== 'string') this.refer(part, path);
    const { origin } = this;
    return {
      evaluate: (scope, budget) => {
        try {
          return template.evaluate(scope, budget);
        } catch (error) {
          throw at(path, error, origin);
        }
      },
    };
  }

  private list(raw: readonly Json[], path: DocumentPath): Part {
    const parts = raw.map((item, index) => this.part(item, [...path, index]));
    if (parts.every((part, index) => 'literal' in part && part.literal === raw[index])) return { literal: raw };
    const known = literals(parts);
    if (known !== undefined) return { literal: known };
    return {
      evaluate: (scope, budget) =>
        parts.map((part) => ('literal' in part ? part.literal : part.evaluate(scope, budget))),
    };
  }

  private object(raw: Json, path: DocumentPath): Part {
    if (!isJsonObject(raw)) return { literal: raw };
    const keys = Object.keys(raw);
    const parts = keys.map((key) => this.part(raw[key] ?? null, [...path, key]));
    if (parts.every((part, index) => 'literal' in part && part.literal === raw[keys[index] as string])) {
      return { literal: raw };
    }
    const known = literals(parts);
    if (known !== undefined) return { literal: objectOf(keys, known) };
    return {
      evaluate: (scope, budget) =>
        objectOf(
          keys,
          parts.map((part) => ('literal' in part ? part.literal : part.evaluate(scope, budget))),
        ),
    };
  }

  private refer(expression: Expression, valuePath: DocumentPath): void {
    for (const reference of expression.references) this.references.push({ ...reference, valuePath });
  }

  private attempt(path: DocumentPath, compile: () => Part): Part {
    if (this.allowance.isOver) return { literal: null };
    try {
      return chargingPatterns(this.allowance, compile);
    } catch (error) {
      return this.failed(error, path);
    }
  }

  private failed(error: unknown, path: DocumentPath): Part {
    this.allowance.takeMistake();
    const located = at(path, error);
    if (this.report === undefined || !(located instanceof ExpressionError)) throw located;
    this.report(located);
    return { literal: null };
  }
}

function at(path: DocumentPath, error: unknown, origin?: ValueOrigin): unknown {
  return error instanceof ExpressionError ? error.locateIn(path, origin) : error;
}

/** Returns the values when none has to be evaluated; they differ from the raw ones where braces were escaped. */
function literals(parts: readonly Part[]): readonly Json[] | undefined {
  const values: Json[] = [];
  for (const part of parts) {
    if (!('literal' in part)) return undefined;
    values.push(part.literal);
  }
  return values;
}

function objectOf(keys: readonly string[], values: readonly Json[]): Json {
  const object: Record<string, Json> = {};
  for (const [index, key] of keys.entries()) setMember(object, key, values[index] ?? null);
  return object;
}
