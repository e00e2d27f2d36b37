/** Describes a trigger in a few words. */
import type { TriggerDefinition } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { momentText } from './words.ts';

/** `POST /hooks/orders`, `0 6 * * *, next 06:00:00 (in 2h)`. `next`: the next fire of a schedule, if it is known. */
export function triggerText(trigger: TriggerDefinition, next: number | null, now: number): string {
  const { webhook, schedule, interval, event, file } = trigger;
  const when = next === null ? '' : `, next ${momentText(next, now)}`;
  if (webhook !== undefined) return printableLine(`${webhook.method ?? 'POST'} /hooks${webhook.path}`);
  if (schedule !== undefined) {
    const zone = schedule.timezone === undefined ? '' : ` ${schedule.timezone}`;
    return printableLine(`${schedule.cron}${zone}${when}`);
  }
  if (interval !== undefined) return printableLine(`every ${interval.every}${when}`);
  if (event !== undefined) return printableLine(`signal ${event.name}`);
  return file === undefined ? 'started by hand' : printableLine(`files in ${file.path}`);
}

/** The schedule of a trigger has an id of its own. */
export function triggerScheduleId(workflowId: string, index: number): string {
  return `${workflowId}--${index}`;
}
