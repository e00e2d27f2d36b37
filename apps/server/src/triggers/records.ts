/** The records of triggers of active versions. */
import type { Json } from '@nebula/core';
import { PROJECT_LIMITS } from '../limits.ts';

/** The trigger and its version, whose plan has the compiled input. */
export interface TriggerSource {
  readonly project: string;
  readonly workflowId: string;
  readonly version: number;
  readonly index: number;
}

/** Keyed by `METHOD /path`. */
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

/** Keyed by the name of the event, the workflow and the index of the trigger. */
export type EventRecord = TriggerSource;

/** Keyed by workflow and index. */
export interface FileRecord extends TriggerSource {
  readonly path: string;
}

export interface ScheduleRecord {
  readonly project: string;
  /** Null: created with the API. */
  readonly trigger: TriggerSource | null;
  readonly workflowId: string | null;
  readonly plan: string | null;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly timezone: string;
  readonly catchUp: 'none' | 'last' | 'all';
  readonly input: Json;
  readonly active: boolean;
  /** Times up to this one have been handled; an interval counts from `anchor`. */
  readonly cursor: number;
  readonly anchor: number;
  readonly lastFiredAt: number | null;
}

/** How schedules are counted, those of triggers included. */
export const SCHEDULES = { kind: 'schedule', limit: PROJECT_LIMITS.maxSchedules, what: 'schedules' };

export const eventPrefix = (name: string): string => `${JSON.stringify(name)} `;

/** Schedules of triggers and of the API share one id space; ids of the API may not have this form. */
export const isTriggerId = (id: string): boolean => /--\d+$/.test(id);

export const triggerId = ({ workflowId, index }: Pick<TriggerSource, 'workflowId' | 'index'>): string =>
  `${workflowId}--${index}`;
