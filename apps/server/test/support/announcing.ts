/** Announced actions on records in memory, without a server. */
import type { Action } from '@nebula/core';
import { memoryRecords } from '@nebula/drivers/memory';
import { realClock } from '@nebula/drivers/real';
import type { EngineParts } from '../../src/index.ts';
import { Announced } from '../../src/workers/announced.ts';

export function announcing() {
  const announced: (readonly Action[])[] = [];
  const records = memoryRecords({ clock: realClock });
  const announce = (actions: readonly Action[]): boolean => announced.push(actions) > 0;
  const parts = { records, clock: realClock, engine: { announce, catalog: { owns: () => false } } };
  const open = () => new Announced(parts as unknown as EngineParts, () => undefined);
  return { announced, records, open };
}
