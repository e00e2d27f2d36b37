/** Functions on lists without a lambda: slices, order, joining, membership. */
import type { Json } from '../../value.ts';
import { MAX_VALUE_DEPTH } from '../budget.ts';
import { valueError } from '../expression-error.ts';
import type { Frame } from '../frame.ts';
import { textOf } from '../json-text.ts';
import { valuesEqual } from '../order.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';
import { DistinctValues } from './grouping.ts';

type List = readonly Json[];

const ofList = functionsOn<List>(['array']);

const pickFromList = functionsOn<List>(['array'], { picks: true });

export const sequenceFunctions: readonly FunctionDefinition[] = [
  pickFromList('first()', 'The first element, or null.', ['[1, 2].first()', 1], (_, list) => list[0] ?? null),
  pickFromList('last()', 'The last element, or null.', ['[1, 2].last()', 2], (_, list) => list.at(-1) ?? null),
  pickFromList(
    'at(index: integer)',
    'One element, or null; a negative index counts from the end.',
    ['[1, 2, 3].at(-2)', 2],
    (_, list, index: number) => list.at(index) ?? null,
  ),
  ofList('take(count: integer)', 'The first elements.', ['[1, 2, 3].take(2)', [1, 2]], (_, list, count: number) =>
    list.slice(0, Math.max(0, count)),
  ),
  ofList('skip(count: integer)', 'All but the first elements.', ['[1, 2, 3].skip(2)', [3]], (_, list, count: number) =>
    list.slice(Math.max(0, count)),
  ),
  ofList(
    'slice(start: integer, end?: integer)',
    'The elements from start up to end; negative positions count from the end.',
    ['[1, 2, 3].slice(1, -1)', [2]],
    (_, list, start: number, end?: number) => list.slice(start, end),
  ),
  ofList('reverse()', 'The elements in reverse order.', ['[1, 2, 3].reverse()', [3, 2, 1]], (_, list) =>
    list.toReversed(),
  ),
  ofList(
    'concat(...lists: list)',
    'Appends the elements of other lists.',
    ['[1].concat([2], [3, 4])', [1, 2, 3, 4]],
    (frame, list, lists: readonly List[]) => {
      frame.budget.allowList(lists.reduce((length, other) => length + other.length, list.length));
      return list.concat(...lists);
    },
  ),
  ofList('append(item: any)', 'Appends one element.', ['[1].append([2])', [1, [2]]], (frame, list, item: Json) => {
    frame.budget.allowList(list.length + 1);
    return [...list, item];
  }),
  ofList(
    'flat(depth?: integer)',
    'Replaces inner lists by their elements, one level deep or more.',
    ['[1, [2, [3]]].flat()', [1, 2, [3]]],
    (frame, list, depth = 1) => {
      const flattened: Json[] = [];
      flatten(frame, list, Math.min(depth, MAX_VALUE_DEPTH), flattened);
      return flattened;
    },
  ),
  ofList(
    'chunk(size: integer)',
    'Splits the list into lists of the given size; the last may be shorter.',
    ['[1, 2, 3].chunk(2)', [[1, 2], [3]]],
    (frame, list, size: number) => {
      if (size < 1) throw valueError('the size of a chunk must be at least 1');
      frame.budget.spendForElements(list.length);
      frame.budget.spendForValues(list.length / size);
      const chunks: Json[] = [];
      for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size));
      return chunks;
    },
  ),
  ofList(
    'zip(other: list)',
    'Pairs of elements at the same index, up to the length of the shorter list.',
    [
      `[1, 2].zip(['a', 'b'])`,
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    (frame, list, other: List) => {
      const pairs = list.slice(0, other.length);
      frame.budget.spendForValues(pairs.length);
      return pairs.map((item, index) => [item, other[index] ?? null]);
    },
  ),
  ofList(
    'join(separator?: string)',
    'Joins the elements to one string; null becomes an empty string, lists and objects become JSON.',
    [`['a', 'b'].join('-')`, 'a-b'],
    joinList,
  ),
  ofList(
    'contains(value: any)',
    'Whether the list contains an equal element.',
    ['[1, 2].contains(2)', true],
    containsValue,
  ),
  ofList('includes(value: any)', 'The same as contains.', ['[1, 2].includes(3)', false], containsValue),
  ofList('indexOf(value: any)', 'The index of the first equal element, or -1.', ['[1, 2].indexOf(2)', 1], indexOfValue),
  ofList('unique()', 'The list without repeated elements.', ['[1, 2, 1].unique()', [1, 2]], (frame, list) => {
    const seen = new DistinctValues(frame.budget);
    return list.filter((item) => seen.add(item));
  }),
  ofList('compact()', 'The list without nulls.', ['[1, null, 2].compact()', [1, 2]], (frame, list) => {
    frame.budget.spendForElements(list.length);
    return list.filter((item) => item !== null);
  }),
  ofList(
    'without(values: list)',
    'The elements that are not in the other list.',
    ['[1, 2, 3].without([2])', [1, 3]],
    (frame, list, values: List) => {
      const others = new DistinctValues(frame.budget, values);
      return list.filter((item) => !others.has(item));
    },
  ),
  ofList(
    'intersect(values: list)',
    'The elements that are in both lists.',
    ['[1, 2, 3].intersect([2, 3, 4])', [2, 3]],
    (frame, list, values: List) => {
      const others = new DistinctValues(frame.budget, values);
      return list.filter((item) => others.has(item));
    },
  ),
  ofList(
    'union(values: list)',
    'The elements of both lists, each once.',
    ['[1, 2].union([2, 3])', [1, 2, 3]],
    (frame, list, values: List) => {
      frame.budget.allowList(list.length + values.length);
      const seen = new DistinctValues(frame.budget);
      return [...list, ...values].filter((item) => seen.add(item));
    },
  ),
];

function flatten(frame: Frame, list: List, depth: number, into: Json[]): void {
  // The length limit bounds the result; this charge bounds the walk, e.g. over empty lists.
  frame.budget.spendForElements(list.length + 1);
  for (const item of list) {
    if (depth > 0 && Array.isArray(item)) flatten(frame, item, depth - 1, into);
    else into.push(item);
    if (into.length > frame.budget.limits.maxArrayLength) frame.budget.allowList(into.length);
  }
}

function joinList(frame: Frame, list: List, separator = ','): string {
  frame.budget.spendForValues(list.length);
  const texts: string[] = [];
  let length = separator.length * Math.max(0, list.length - 1);
  for (const item of list) {
    const text = textOf(frame.budget, item);
    length += text.length;
    if (length > frame.budget.limits.maxStringBytes) break;
    texts.push(text);
  }
  frame.budget.allowText(length);
  return frame.budget.text(texts.join(separator));
}

function containsValue(frame: Frame, list: List, value: Json): boolean {
  return indexOfValue(frame, list, value) >= 0;
}

export function indexOfValue(frame: Frame, list: List, value: Json): number {
  frame.budget.spendForElements(list.length);
  return list.findIndex((item) => valuesEqual(frame.budget, item, value));
}
