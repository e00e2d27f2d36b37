/** Compares two definitions, member by member. */
import type { AnswerOf } from '@nebula/client/contract';
import { isJsonObject, type Json, jsonEquals } from '@nebula/core';

type Change = AnswerOf<'diffWorkflow'>['changes'][number];

export function changesBetween(before: Json, after: Json, path = ''): Change[] {
  if (jsonEquals(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, change: 'changed', before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const place = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(after, name)) return [{ path: place, change: 'removed' as const, before: before[name] as Json }];
    if (!Object.hasOwn(before, name)) return [{ path: place, change: 'added' as const, after: after[name] as Json }];
    return changesBetween(before[name] as Json, after[name] as Json, place);
  });
}
