/** JSONPath over any value. */
import type { Json } from '../../value.ts';
import { ExpressionError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import type { QueryRun } from '../jsonpath/query-argument.ts';
import type { FunctionDefinition } from './definition.ts';

export const queryFunctions: readonly FunctionDefinition[] = [
  {
    signature: 'query(path: query)',
    on: ['object', 'array', 'string', 'number', 'boolean'],
    doc: 'What a JSONPath query (RFC 9535) finds in it: a value where the query can find only one, which must be there, else a list.',
    example: `{a: [{b: 1}, {b: 2}]}.query('$..b')`,
    result: [1, 2],
    reads: true,
    run: (frame: Frame, self: Json, query: QueryRun) => {
      const found = query.select(self, frame.budget);
      if (query.singular === undefined) return found;
      const [only] = found;
      if (only !== undefined) return only;
      throw new ExpressionError('EXPRESSION_REFERENCE', `there is nothing at ${query.source}`, {
        hint: 'write ?.query(…), or ?? and what to take instead, if it may be missing',
        isMissing: true,
      });
    },
  },
];
