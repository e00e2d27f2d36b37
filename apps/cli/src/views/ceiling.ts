/** A ceiling in one line. */
import { CAPABILITY_LISTS, type Ceiling, entriesOf } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';

export function ceilingText(ceiling: Ceiling): string {
  if (ceiling === 'all') return 'whatever they ask for';
  const lists = CAPABILITY_LISTS.map((list) => [list, entriesOf(ceiling, list)] as const);
  const told = lists
    .filter(([, entries]) => entries.length > 0)
    .map(([list, entries]) => `${list} ${entries.join(', ')}`);
  return told.length === 0 ? 'nothing' : printableLine(told.join(' · '));
}
