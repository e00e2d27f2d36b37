/** Describes a trigger in a few words. */
import { type TriggerDefinition, triggerWords } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { momentText } from './words.ts';

/** `POST /hooks/orders`, `0 6 * * *, next 06:00:00 (in 2h)`. `next`: the next fire of a schedule, if it is known. */
export function triggerText(trigger: TriggerDefinition, next: number | null, now: number): string {
  const isTimed = trigger.schedule !== undefined || trigger.interval !== undefined;
  const when = next === null || !isTimed ? '' : `, next ${momentText(next, now)}`;
  return printableLine(`${triggerWords(trigger).text}${when}`);
}

/** The schedule of a trigger has an id of its own. */
export function triggerScheduleId(workflowId: string, index: number): string {
  return `${workflowId}--${index}`;
}
