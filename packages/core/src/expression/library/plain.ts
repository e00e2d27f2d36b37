/** Functions without a receiver. */
import type { Json } from '../../value.ts';
import { valueError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import { isoText, parseDate } from './calendar.ts';
import type { FunctionDefinition } from './definition.ts';
import { largest, smallest } from './grouping.ts';
import { objectFromEntries } from './object.ts';

export const plainFunctions: readonly FunctionDefinition[] = [
  {
    signature: 'range(start: number, end?: number, step?: number)',
    on: [],
    doc: 'Numbers from start (inclusive) to end (exclusive); with one argument, from 0 to it.',
    example: 'range(2, 5)',
    result: [2, 3, 4],
    run: (frame: Frame, _self: Json, start: number, end?: number, step = 1) =>
      end === undefined ? range(frame, 0, start, 1) : range(frame, start, end, step),
  },
  {
    signature: 'min(...values: any)',
    on: [],
    doc: 'The smallest of some numbers or strings.',
    example: 'min(3, 1, 2)',
    result: 1,
    run: (frame: Frame, _self: Json, values: readonly Json[]) => smallest(frame, values),
  },
  {
    signature: 'max(...values: any)',
    on: [],
    doc: 'The largest of some numbers or strings.',
    example: 'max(3, 1, 2)',
    result: 3,
    run: (frame: Frame, _self: Json, values: readonly Json[]) => largest(frame, values),
  },
  {
    signature: 'object(entries: list)',
    on: [],
    doc: 'Builds an object from `{key, value}` objects or `[key, value]` pairs.',
    example: `object([['a', 1], { key: 'b', value: 2 }])`,
    result: { a: 1, b: 2 },
    run: (frame: Frame, _self: Json, entries: readonly Json[]) => objectFromEntries(frame, entries),
  },
  {
    signature: 'date(value: date)',
    on: [],
    doc: 'A date as ISO text in UTC.',
    example: `date('2024-05-01T10:00+02:00')`,
    result: '2024-05-01T08:00:00.000Z',
    run: (_frame: Frame, _self: Json, value: string | number) => isoText(parseDate(value)),
  },
];

function range(frame: Frame, start: number, end: number, step: number): Json {
  if (step === 0) throw valueError('the step of a range must not be 0');
  const count = Math.max(0, Math.ceil((end - start) / step));
  frame.budget.allowList(count);
  return Array.from({ length: count }, (_, index) => start + index * step);
}
