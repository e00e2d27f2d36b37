/** The values that the body and the conditions of a loop may read: item, index, all items, the last result. */
import type { Json, JsonSchema } from '@nebula/core';
import { itemSchema, type Ref, rootReference, sourceOf } from './expression.ts';
import type { NodeDraft } from './graph-draft.ts';
import { type RenderScope, renderCondition, renderValue } from './render.ts';

export function indexOf(loop: object): Ref<number> {
  return rootReference<number>({ kind: 'loop', loop, member: 'index' });
}

/** The result of the previous iteration, null in the first; declare its type with `typed`. */
export function previousOf(loop: object): Ref<unknown> {
  return rootReference<unknown>({ kind: 'loop', loop, member: 'previous' }, true, true);
}

/** The references of an iteration over items: item, index, all items. */
export type IterationRefs<T> = [item: Ref<T>, index: Ref<number>, items: Ref<readonly T[]>];

export function iterationRefs<T>(loop: object, items: unknown): IterationRefs<T> {
  const item = schemaOfItems(items);
  return [
    rootReference<T>({ kind: 'loop', loop, member: 'item' }, item),
    indexOf(loop),
    rootReference<readonly T[]>({ kind: 'loop', loop, member: 'items' }, { type: 'array', items: item }),
  ];
}

export function schemaOfItems(items: unknown): JsonSchema {
  const source = sourceOf(items);
  return source?.kind === 'path' ? itemSchema(source.schema) : true;
}

export function renderItems(items: unknown, scope: RenderScope, id: string): Json {
  return sourceOf(items) === undefined
    ? renderValue(items, scope, `${id}.in`)
    : renderCondition(items, scope, `${id}.in`);
}

export function selfReference<T>(of: object, schema: JsonSchema = true, isNullable = false): Ref<T> {
  return rootReference<T>({ kind: 'self', of }, schema, isNullable);
}

/** Between iterations, `$index` is that of the loop itself, and `$self` is the last result. */
export function askBetweenIterations(
  node: NodeDraft,
  loop: object,
  asked: unknown,
  isNullable: boolean,
  schema: JsonSchema = true,
): Json {
  const self = {};
  const scope = node.scope({ self, loops: [loop, ...node.graph.loops] });
  const condition: unknown =
    typeof asked === 'function' ? asked(selfReference(self, schema, isNullable), indexOf(loop)) : asked;
  return renderCondition(condition, scope, `the condition of ${node.id}`);
}
