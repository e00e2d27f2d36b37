/** Conversions between kinds of values, and functions that work on any value. */
import type { Json } from '../../value.ts';
import { ExpressionError, quoted, typeError, valueError } from '../expression-error.ts';
import { jsonText, textOf } from '../json-text.ts';
import type { QueryRun } from '../jsonpath/query-argument.ts';
import { describe, type Kind, kindOf } from '../kind.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

const ANY: readonly Kind[] = ['null', 'boolean', 'number', 'string', 'array', 'object'];
const onAny = functionsOn<Json>(ANY);
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** More digits than the longest double has, with its exponent and some zeros. */
const MAX_NUMBER_LENGTH = 400;
const MAX_WORD_LENGTH = 20;
const TRUE_WORDS = ['true', 'yes', 'on', '1'];
const FALSE_WORDS = ['false', 'no', 'off', '0'];

export const conversionFunctions: readonly FunctionDefinition[] = [
  onAny(
    'toString()',
    'The value as a string: null becomes an empty string, lists and objects become JSON.',
    ['12.5.toString()', '12.5'],
    (frame, value) => textOf(frame.budget, value),
  ),
  onAny(
    'toNumber(otherwise?: any)',
    'Converts a string, a boolean or a number to a number; any other value returns `otherwise`, or is an error without it.',
    [`' 12.50 '.toNumber()`, 12.5],
    (_, value, otherwise?: Json) => {
      const number = numberFrom(value);
      if (number !== undefined) return number;
      if (otherwise !== undefined) return otherwise;
      throw typeof value === 'string'
        ? valueError(`${quoted(value)} is not a number`, 'toNumber(0) returns 0 instead')
        : typeError(`${describe(value)} cannot be converted to a number`, 'toNumber(0) returns 0 instead');
    },
  ),
  onAny(
    'toBoolean()',
    'Converts to a boolean, from `true/yes/on/1`, `false/no/off/0` in any case, a number (0 is false) or null (false).',
    [`'Yes'.toBoolean()`, true],
    (_, value) => {
      if (typeof value === 'boolean') return value;
      if (value === null || typeof value === 'number') return value !== null && value !== 0;
      if (typeof value !== 'string') throw typeError(`${describe(value)} cannot be converted to a boolean`);
      const word = value.length > MAX_WORD_LENGTH ? '' : value.trim().toLowerCase();
      if (TRUE_WORDS.includes(word)) return true;
      if (FALSE_WORDS.includes(word)) return false;
      throw valueError(`${quoted(value)} is neither true nor false`);
    },
  ),
  onAny(
    'toJson(pretty?: boolean)',
    'The value as JSON text; `pretty` adds line breaks and indentation.',
    [`{ a: [1, 2] }.toJson()`, '{"a":[1,2]}'],
    (frame, value, pretty = false) => jsonText(frame.budget, value, pretty),
  ),
  onAny(
    'type()',
    'The kind of the value: null, boolean, number, string, array or object.',
    ['[1].type()', 'array'],
    (_, value) => kindOf(value),
  ),
  functionsOn<Json>(['null', 'string', 'array', 'object'])(
    'isEmpty()',
    'Whether the value is null, an empty string, an empty list or an empty object.',
    [`''.isEmpty()`, true],
    (frame, value) => {
      if (value === null || value === '') return true;
      if (typeof value !== 'object') return false;
      if (Array.isArray(value)) return value.length === 0;
      // An engine may collect all names before it returns the first: 30 ms for 100,000.
      const { length } = Object.keys(value);
      frame.budget.spendForElements(length);
      return length === 0;
    },
  ),
  // The parser turns this into `??`, so that a missing member on the left is not an error.
  functionsOn<Json>(ANY, { picks: true })(
    'default(value: any)',
    'The argument when the value is null or missing; the same as `?? value`.',
    [`{ a: 1 }.b.default(2)`, 2],
    (_, value, otherwise: Json) => value ?? otherwise,
  ),
  functionsOn<Json>(['object', 'array', 'string', 'number', 'boolean'], { reads: true })(
    'query(path: query)',
    'Runs a JSONPath query (RFC 9535) on the value. A query that can select only one value returns it, and it must exist; other queries return a list.',
    [`{a: [{b: 1}, {b: 2}]}.query('$..b')`, [1, 2]],
    (frame, self, query: QueryRun) => {
      const found = query.select(self, frame.budget);
      if (query.singular === undefined) return found;
      const [only] = found;
      if (only !== undefined) return only;
      throw new ExpressionError('EXPRESSION_REFERENCE', `there is nothing at ${query.source}`, {
        hint: 'if it may be missing, write ?.query(…), or add ?? and a default',
        isMissing: true,
      });
    },
  ),
];

function numberFrom(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || value.length > MAX_NUMBER_LENGTH) return undefined;
  const text = value.trim();
  if (!NUMBER.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
