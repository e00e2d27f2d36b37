/** What the triggers of active versions look like in records. */
import type { Json } from '@nebula/core';

/** Which trigger of which version: its input mapping is compiled there. */
export interface TriggerSource {
  readonly project: string;
  readonly workflowId: string;
  readonly version: number;
  readonly index: number;
}

/** By `METHOD /path`. */
export interface WebhookRecord extends TriggerSource {
  readonly respond: 'immediate' | 'result';
  readonly signature: {
    readonly secret: string;
    readonly header: string;
    readonly scheme: 'hmac' | 'token';
    readonly algorithm: 'sha256' | 'sha1' | 'sha512';
    readonly encoding: 'hex' | 'base64';
    readonly prefix: string;
  } | null;
}

/** By the name of the event, the workflow and the number of the trigger. */
export type EventRecord = TriggerSource;

/** By workflow and number. */
export interface FileRecord extends TriggerSource {
  readonly path: string;
}

export interface ScheduleRecord {
  readonly project: string;
  /** Null: made with the API. */
  readonly trigger: TriggerSource | null;
  readonly workflowId: string | null;
  readonly plan: string | null;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly timezone: string;
  readonly catchUp: 'none' | 'last' | 'all';
  readonly input: Json;
  readonly active: boolean;
  /** Times up to this one have been dealt with; an interval counts from `anchor`. */
  readonly cursor: number;
  readonly anchor: number;
  readonly lastFiredAt: number | null;
}

export const eventPrefix = (name: string): string => `${JSON.stringify(name)} `;

/** Schedules of triggers and of the API share their ids; those made with the API may not look like these. */
export const isTriggerId = (id: string): boolean => /--\d+$/.test(id);

export const triggerId = ({ workflowId, index }: Pick<TriggerSource, 'workflowId' | 'index'>): string =>
  `${workflowId}--${index}`;
