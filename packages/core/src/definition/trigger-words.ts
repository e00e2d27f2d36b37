/** A trigger in a few words, for lists and manifests. */
import type { TriggerDefinition } from './model.ts';

export interface TriggerWords {
  readonly kind: 'webhook' | 'schedule' | 'interval' | 'event' | 'file';
  /** `POST /hooks/orders`, `0 6 * * * Europe/Berlin`, `every 5m`. */
  readonly text: string;
}

export function triggerWords({ webhook, schedule, interval, event, file }: TriggerDefinition): TriggerWords {
  if (webhook !== undefined) return { kind: 'webhook', text: `${webhook.method ?? 'POST'} /hooks${webhook.path}` };
  if (schedule !== undefined) {
    const zone = schedule.timezone === undefined ? '' : ` ${schedule.timezone}`;
    return { kind: 'schedule', text: `${schedule.cron}${zone}` };
  }
  if (interval !== undefined) return { kind: 'interval', text: `every ${interval.every}` };
  if (event !== undefined) return { kind: 'event', text: `signal ${event.name}` };
  return { kind: 'file', text: `files in ${file?.path ?? ''}` };
}
