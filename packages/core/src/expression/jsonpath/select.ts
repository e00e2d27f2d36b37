/** Compiles queries to closures. Every visited node is charged. */
import { isJsonList, isJsonObject, type Json, memberOf, partsOf } from '../../value.ts';
import type { Budget } from '../budget.ts';
import { compileFilter, type Test } from './filter.ts';
import type { Query, QueryContext, Segment, Selection, Selector } from './query.ts';

/** Appends to `into` the values that one step selects below `value`. */
type Step = (context: QueryContext, value: Json, into: Json[]) => void;

/** Selects values in the order of RFC 9535. */
export function compileQuery(query: Query): (root: Json, budget: Budget) => readonly Json[] {
  const select = compileSegments(query.segments);
  return (root, budget) => select({ root, budget }, root);
}

function compileSegments(segments: readonly Segment[]): Selection {
  const steps = segments.map(compileSegment);
  return (context, from) => {
    let values: Json[] = [from];
    for (const step of steps) {
      const selected: Json[] = [];
      for (const value of values) step(context, value, selected);
      context.budget.allowList(selected.length);
      values = selected;
    }
    return values;
  };
}

function compileSegment(segment: Segment): Step {
  const selectors = segment.selectors.map(compileSelector);
  const [only, ...more] = selectors;
  const step: Step =
    only !== undefined && more.length === 0
      ? only
      : (context, value, into) => {
          for (const selector of selectors) selector(context, value, into);
        };
  return segment.descendant ? descendants(step) : step;
}

/** The node itself, then its descendants, parents before children. Uses an explicit stack, so any depth is safe. */
function descendants(step: Step): Step {
  return (context, value, into) => {
    const waiting: Json[] = [value];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (typeof next !== 'object' || next === null) continue;
      step(context, next, into);
      // Checked here as well: a wide step below a deep value grows the list long before the segment ends.
      if (into.length > context.budget.limits.maxArrayLength) context.budget.allowList(into.length);
      const children = childrenOf(context, next);
      for (let index = children.length - 1; index >= 0; index--) waiting.push(children[index] ?? null);
    }
  };
}

function childrenOf(context: QueryContext, value: Json): readonly Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const children = partsOf(value);
  context.budget.spendForElements(children.length + 1);
  return children;
}

function compileSelector(selector: Selector): Step {
  switch (selector.kind) {
    case 'name': {
      const { name } = selector;
      return (_context, value, into) => {
        const member = isJsonObject(value) ? memberOf(value, name) : undefined;
        if (member !== undefined) into.push(member);
      };
    }
    case 'index': {
      const { index } = selector;
      return (_context, value, into) => {
        const element = isJsonList(value) ? value.at(index) : undefined;
        if (element !== undefined) into.push(element);
      };
    }
    case 'wildcard':
      return (context, value, into) => {
        for (const child of childrenOf(context, value)) into.push(child);
      };
    case 'slice':
      return sliceStep(selector.start, selector.end, selector.step);
    case 'filter':
      return filterStep(compileFilter(selector.test, compileSegments));
  }
}

function filterStep(test: Test): Step {
  return (context, value, into) => {
    for (const child of childrenOf(context, value)) if (test(context, child)) into.push(child);
  };
}

/** RFC 9535, 2.3.4.2.2: bounds are normalised, then clipped to the list. */
function sliceStep(start: number | undefined, end: number | undefined, step: number): Step {
  return (context, value, into) => {
    if (!Array.isArray(value) || step === 0) return;
    const { length } = value;
    const fromEnd = (index: number) => (index >= 0 ? index : length + index);
    const clip = (index: number, low: number, high: number) => Math.min(Math.max(index, low), high);
    if (step > 0) {
      const lower = clip(fromEnd(start ?? 0), 0, length);
      const upper = clip(fromEnd(end ?? length), 0, length);
      context.budget.spendForElements(Math.max(0, upper - lower) / step);
      for (let index = lower; index < upper; index += step) into.push(value[index]);
    } else {
      const upper = clip(fromEnd(start ?? length - 1), -1, length - 1);
      const lower = clip(end === undefined ? -1 : fromEnd(end), -1, length - 1);
      context.budget.spendForElements(Math.max(0, upper - lower) / -step);
      for (let index = upper; index > lower; index += step) into.push(value[index]);
    }
  };
}
