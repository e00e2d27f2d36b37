/** Text with `{{ expressions }}` inside. */
import type { ExpressionLimits } from '../limits.ts';
import { Allowance } from './allowance.ts';
import type { Budget } from './budget.ts';
import { syntaxError } from './characters.ts';
import { type Expression, parseExpressionAt } from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { textOf } from './json-text.ts';
import type { Scope } from './scope.ts';

export type Template =
  | { readonly literal: string }
  | {
      /** Texts and expressions in order. A single expression is not a template and keeps its type. */
      readonly parts: readonly (string | Expression)[];
      evaluate(scope: Scope, budget: Budget): string;
    };

/** `\{{` stands for `{{`; any other `{{` starts an expression, whose end the parser finds. */
export function parseTemplate(source: string, limits: ExpressionLimits, allowance = new Allowance()): Template {
  const parts: (string | Expression)[] = [];
  let text = '';
  let position = 0;
  for (;;) {
    const open = source.indexOf('{{', position);
    if (open < 0) break;
    if (source[open - 1] === '\\' && open > position) {
      text += `${source.slice(position, open - 1)}{{`;
      position = open + 2;
      continue;
    }
    text += source.slice(position, open);
    const { expression, end } = expressionAt(source, open, limits, allowance);
    if (text !== '') parts.push(text);
    text = '';
    parts.push(expression);
    position = end;
  }
  text += source.slice(position);
  if (parts.length === 0) return { literal: text };
  if (text !== '') parts.push(text);
  return { parts, evaluate: (scope, budget) => render(parts, scope, budget) };
}

function expressionAt(
  source: string,
  open: number,
  limits: ExpressionLimits,
  allowance: Allowance,
): { expression: Expression; end: number } {
  const until = open + allowance.left;
  const parsed = parsedOrHint(source, open, until, limits, allowance);
  // The expression may have been cut off at this point.
  if (parsed.end >= until) allowance.refuse();
  allowance.take(parsed.end - open);
  if (source.startsWith('}}', parsed.end)) return { expression: parsed.expression, end: parsed.end + 2 };
  if (parsed.end >= source.length) throw neverCloses(source, open);
  const rest = source.slice(parsed.end, parsed.end + 20);
  throw syntaxError(`}} expected, but there is ${rest}`, parsed.end, 1, 'write \\{{ for a literal {{');
}

/** Reads no further than `until`. */
function parsedOrHint(
  source: string,
  open: number,
  until: number,
  limits: ExpressionLimits,
  allowance: Allowance,
): { expression: Expression; end: number } {
  try {
    return parseExpressionAt(until < source.length ? source.slice(0, until) : source, open + 2, limits);
  } catch (error) {
    if (until < source.length && !isClosedBefore(source, open, until)) allowance.refuse();
    const unclosed = error instanceof ExpressionError && !source.includes('}}', open);
    throw unclosed && error.code === 'EXPRESSION_SYNTAX' ? neverCloses(source, open) : error;
  }
}

function isClosedBefore(source: string, open: number, until: number): boolean {
  const close = source.indexOf('}}', open);
  return close >= 0 && close < until;
}

function neverCloses(source: string, open: number): ExpressionError {
  return syntaxError(
    '{{ is never closed',
    open,
    source.length - open,
    'end it with }}, or write \\{{ for a literal {{',
  );
}

function render(parts: readonly (string | Expression)[], scope: Scope, budget: Budget): string {
  let result = '';
  for (const part of parts) {
    const text = typeof part === 'string' ? part : textOf(budget, part.evaluate(scope, budget));
    budget.allowText(result.length + text.length);
    result += text;
  }
  return budget.text(result);
}
