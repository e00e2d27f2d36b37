/** Functions on lists that call a lambda per element. The cost is that of the lambda's own nodes. */
import type { Json } from '../../value.ts';
import type { Frame, Lambda } from '../frame.ts';
import { isTrue } from '../kind.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

type List = readonly Json[];

const ofList = functionsOn<List>(['array']);

const pickFromList = functionsOn<List>(['array'], { picks: true });

export const listFunctions: readonly FunctionDefinition[] = [
  ofList(
    'map(each: (item, index))',
    'The result of the lambda for each element.',
    ['[1, 2].map(i => i * 2)', [2, 4]],
    (frame, list, each: Lambda) => {
      frame.budget.allowList(list.length);
      const mapped: Json[] = [];
      for (let index = 0; index < list.length; index++) mapped.push(each.call(frame, list[index] ?? null, index));
      return mapped;
    },
  ),
  ofList(
    'filter(test: (item, index))',
    'The elements for which the lambda is true.',
    ['[1, 2, 3].filter(i => i > 1)', [2, 3]],
    (frame, list, test: Lambda) => {
      const kept: Json[] = [];
      for (let index = 0; index < list.length; index++) {
        const item = list[index] ?? null;
        if (isTrue(test.call(frame, item, index))) kept.push(item);
      }
      return kept;
    },
  ),
  pickFromList(
    'find(test: (item, index))',
    'The first element for which the lambda is true, or null.',
    ['[1, 2, 3].find(i => i > 1)', 2],
    (frame, list, test: Lambda) => {
      const index = firstIndex(frame, list, test, true);
      return index < 0 ? null : (list[index] ?? null);
    },
  ),
  ofList(
    'findIndex(test: (item, index))',
    'The index of the first element for which the lambda is true, or -1.',
    ['[1, 2, 3].findIndex(i => i > 1)', 1],
    (frame, list, test: Lambda) => firstIndex(frame, list, test, true),
  ),
  ofList(
    'some(test: (item, index))',
    'Whether the lambda is true for at least one element.',
    ['[1, 2].some(i => i > 1)', true],
    (frame, list, test: Lambda) => firstIndex(frame, list, test, true) >= 0,
  ),
  ofList(
    'every(test: (item, index))',
    'Whether the lambda is true for all elements.',
    ['[1, 2].every(i => i > 1)', false],
    (frame, list, test: Lambda) => firstIndex(frame, list, test, false) < 0,
  ),
  pickFromList(
    'reduce(step: (total, item, index), start: any)',
    'Combines all elements to one value: the lambda returns the new total for each element.',
    ['[1, 2, 3].reduce((total, i) => total + i, 0)', 6],
    (frame, list, step: Lambda, start: Json) => {
      let total = start;
      for (let index = 0; index < list.length; index++) total = step.call(frame, total, list[index] ?? null, index);
      return total;
    },
  ),
  ofList(
    'flatMap(each: (item, index))',
    'Concatenates the lists that the lambda returns; any other value counts as one element.',
    ['[1, 2].flatMap(i => [i, i])', [1, 1, 2, 2]],
    (frame, list, each: Lambda) => {
      const joined: Json[] = [];
      for (let index = 0; index < list.length; index++) {
        const part = each.call(frame, list[index] ?? null, index);
        const items: List = Array.isArray(part) ? part : [part];
        frame.budget.allowList(joined.length + items.length);
        for (const item of items) joined.push(item);
      }
      return joined;
    },
  ),
  ofList(
    'partition(test: (item, index))',
    'Two lists: the elements for which the lambda is true, and the others.',
    ['[1, 2, 3].partition(i => i > 1)', [[2, 3], [1]]],
    (frame, list, test: Lambda) => {
      const yes: Json[] = [];
      const no: Json[] = [];
      for (let index = 0; index < list.length; index++) {
        const item = list[index] ?? null;
        (isTrue(test.call(frame, item, index)) ? yes : no).push(item);
      }
      return [yes, no];
    },
  ),
  ofList(
    'count(test?: (item, index))',
    'The number of elements, or of those for which the lambda is true.',
    ['[1, 2, 3].count(i => i > 1)', 2],
    (frame, list, test?: Lambda) => {
      if (test === undefined) return list.length;
      let count = 0;
      for (let index = 0; index < list.length; index++) {
        if (isTrue(test.call(frame, list[index] ?? null, index))) count++;
      }
      return count;
    },
  ),
];

/** Index of the first element for which the test returns `wanted`, or -1. */
function firstIndex(frame: Frame, list: List, test: Lambda, wanted: boolean): number {
  for (let index = 0; index < list.length; index++) {
    if (isTrue(test.call(frame, list[index] ?? null, index)) === wanted) return index;
  }
  return -1;
}
