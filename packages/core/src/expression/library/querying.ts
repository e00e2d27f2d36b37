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
    doc: 'Runs a JSONPath query (RFC 9535) on the value. A query that can select only one value returns it, and it must exist; other queries return a list.',
    example: `{a: [{b: 1}, {b: 2}]}.query('$..b')`,
    result: [1, 2],
    reads: true,
    run: (frame: Frame, self: Json, query: QueryRun) => {
      const found = query.select(self, frame.budget);
      if (query.singular === undefined) return found;
      const [only] = found;
      if (only !== undefined) return only;
      throw new ExpressionError('EXPRESSION_REFERENCE', `there is nothing at ${query.source}`, {
        hint: 'if it may be missing, write ?.query(…), or add ?? and a default',
        isMissing: true,
      });
    },
  },
];
