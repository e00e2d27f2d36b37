/** JSONPath queries passed to functions as text. */
import { EXPRESSION_LIMITS } from '../../limits.ts';
import type { Json } from '../../value.ts';
import type { Budget } from '../budget.ts';
import { Nesting } from '../characters.ts';
import { ExpressionError, limitError } from '../expression-error.ts';
import { parseQuery } from './parse.ts';
import { compileQuery } from './select.ts';

/** Longer queries are rejected: parsing is charged by the character. */
const MAX_QUERY_LENGTH = 1_000;
const CHARACTERS_PER_OPERATION = 10;

export interface QueryRun {
  readonly source: string;
  /** Names and indexes of a query that selects at most one value. */
  readonly singular: readonly (string | number)[] | undefined;
  readonly select: (root: Json, budget: Budget) => readonly Json[];
}

/** Throws a coded error without a position when the text is not a query. */
export function compileQueryText(source: string): QueryRun {
  if (source.length > MAX_QUERY_LENGTH) throw limitError(`a query is longer than ${MAX_QUERY_LENGTH} characters`);
  try {
    const query = parseQuery(source, new Nesting(EXPRESSION_LIMITS.maxAstDepth));
    return { source, singular: query.singular, select: compileQuery(query) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { code, message, hint = `write a query such as $.a[0].b or $..price, where $ is the value`, offset } = error;
    throw new ExpressionError(code, `the query ${JSON.stringify(source)}: ${message} (at ${offset + 1})`, { hint });
  }
}

/** Compiles a query that is known only at evaluation. */
export function queryAtRun(budget: Budget, source: string): QueryRun {
  budget.spend(Math.ceil(source.length / CHARACTERS_PER_OPERATION));
  return compileQueryText(source);
}
