/**
 * Fires due schedules, in the leader.
 *
 *  C1 The execution id of a fire is derived from schedule and time, so repeated tries start one run.
 *  C2 The cursor moves after the start is durable. After a crash in between, the same id is started again.
 *  C3 Times that passed without a leader are handled according to `catchUp`.
 *  C4 A schedule never fires early; after a restart the cursor, not the clock, says which times were handled.
 */
import { NebulaError, nextCronTime } from '@nebula/core';
import { type Campaign, type Clock, type Leader, pause, type Timer } from '@nebula/ports';
import type { Launcher } from '../launcher.ts';
import type { SchedulerHealth } from '../observability/health.ts';
import type { Parts } from '../parts.ts';
import { parsed, type Read } from '../records.ts';
import { isoTime } from '../routes/times.ts';
import { fireSchedule } from './fire.ts';
import type { ScheduleRecord } from './records.ts';

/** The longest time between reads of the records, which other processes may change. */
const CHECK_MS = 5_000;
const TROUBLE_MS = 1_000;
/** The most missed times that are caught up: the newest ones. */
const MAX_CATCH_UP = 1_000;
/** A look back of this length finds fewer times than the limit, even with one per second. */
const FIRST_LOOK_BACK_MS = 600_000;
/** A fire within this time is not late. */
const LATE_MS = 60_000;

export interface SchedulerParts {
  readonly parts: Parts;
  readonly launcher: Launcher;
  readonly leader: Leader;
  onTrouble(error: unknown): void;
  onFire?(schedule: string, lateMs: number): void;
}

export class Scheduler {
  private readonly options: SchedulerParts;
  private leadership: Campaign | undefined;
  private timer: Timer | undefined;
  private inProgress: Promise<void> | undefined;
  private isOpen = false;
  private checkedAt: number | null = null;
  private trouble: unknown = null;

  constructor(options: SchedulerParts) {
    this.options = options;
  }

  open(): void {
    this.isOpen = true;
    this.leadership = this.options.leader.campaign('scheduler', () => this.checkIn(0));
    this.checkIn(0);
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.timer?.cancel();
    await this.inProgress;
    await this.leadership?.resign();
  }

  get isLeader(): boolean {
    return this.leadership?.isLeader ?? false;
  }

  health(): SchedulerHealth {
    const { checkedAt, trouble } = this;
    return { role: !this.isOpen ? 'off' : this.isLeader ? 'leads' : 'follows', checkedAt, trouble };
  }

  /** Called when schedules change. */
  changed(): void {
    this.checkIn(0);
  }

  private checkIn(delayMs: number): void {
    if (!this.isOpen) return;
    this.timer?.cancel();
    this.timer = this.options.parts.clock.timer(delayMs, () => this.check(), { background: true });
  }

  private check(): void {
    if (this.inProgress !== undefined || !this.leadership?.isLeader) {
      this.checkIn(this.inProgress === undefined ? CHECK_MS : 20);
      return;
    }
    this.inProgress = this.fireDue()
      .then(
        (nextAt) => {
          this.checkedAt = this.options.parts.clock.now();
          this.trouble = null;
          this.checkIn(Math.max(0, Math.min(CHECK_MS, nextAt - this.checkedAt)));
        },
        (error: unknown) => {
          this.trouble = error;
          this.options.onTrouble(error);
          this.checkIn(TROUBLE_MS);
        },
      )
      .finally(() => {
        this.inProgress = undefined;
      });
  }

  /** The time of the next fire. */
  private async fireDue(): Promise<number> {
    const { records, clock } = this.options.parts;
    let nextAt = Number.POSITIVE_INFINITY;
    for (let after: string | undefined; ; ) {
      const page = await records.list('schedule', { limit: 500, ...(after !== undefined && { after }) });
      for (const row of page) {
        const schedule = parsed<ScheduleRecord>(row);
        if (!schedule.body.active) continue;
        const next = nextTime(schedule.body, schedule.body.cursor);
        if (next === null) continue;
        if (next <= clock.now()) await this.catchUp(schedule);
        nextAt = Math.min(nextAt, next <= clock.now() ? clock.now() : next);
      }
      after = page.at(-1)?.id;
      if (page.length < 500) return nextAt;
    }
  }

  private async catchUp(schedule: Read<ScheduleRecord>): Promise<void> {
    const { clock, records } = this.options.parts;
    const due = dueTimes(schedule.body, clock.now());
    for (const at of due.fire) await this.fireAt(schedule.id, schedule.body, at);
    const lastFiredAt = due.fire.at(-1) ?? schedule.body.lastFiredAt;
    const body: ScheduleRecord = { ...schedule.body, cursor: due.cursor, lastFiredAt };
    // After a conflict the schedule is read again; a repeated fire has the same id.
    await records.commit([
      { kind: 'schedule', id: schedule.id, body: JSON.stringify(body), expected: schedule.revision },
    ]);
  }

  /** A failed start (e.g. invalid input) is reported and does not stop the others. */
  private async fireAt(id: string, schedule: ScheduleRecord, at: number): Promise<void> {
    const { parts, launcher } = this.options;
    const executionId = `exe_s${parts.digest(`${id} ${at}`).slice(0, 40)}`;
    try {
      const trigger = { type: 'schedule', id, at: isoTime(at) };
      const { isNew } = await fireSchedule(parts, launcher, schedule, trigger, executionId);
      if (isNew) this.options.onFire?.(id, parts.clock.now() - at);
    } catch (error) {
      if ((error as { retryable?: boolean }).retryable) throw error;
      // The launch plan skips the start: its limit of runs is reached.
      if (error instanceof NebulaError && error.code === 'SKIPPED') return;
      this.options.onTrouble(error);
    }
  }
}

/** The first time after `after`, or null. */
export function nextTime(
  { cron, everyMs, timezone, anchor }: Pick<ScheduleRecord, 'cron' | 'everyMs' | 'timezone' | 'anchor'>,
  after: number,
): number | null {
  if (cron !== null) return nextCronTime(cron, timezone, after);
  if (everyMs === null) return null;
  return anchor + everyMs * (Math.floor((after - anchor) / everyMs) + 1);
}

/** Fires that are searched for at once: one of February 29 takes up to 2 ms. */
const FIRES_UNPAUSED = 5;

/** The next times at which an active schedule fires, at most `count`. */
export async function firesOf(schedule: ScheduleRecord, clock: Clock, count: number): Promise<readonly number[]> {
  const fires: number[] = [];
  let after = Math.max(clock.now(), schedule.cursor);
  while (schedule.active && fires.length < count) {
    if (fires.length % FIRES_UNPAUSED === 0) await pause(clock, 'request');
    const next = nextTime(schedule, after);
    if (next === null) break;
    fires.push(next);
    after = next;
  }
  return fires;
}

/** The due times to fire, and the new cursor. */
export function dueTimes(
  schedule: ScheduleRecord,
  now: number,
): { readonly fire: readonly number[]; readonly cursor: number } {
  const { catchUp } = schedule;
  const missed = newestTimes(schedule, now, catchUp === 'all' ? MAX_CATCH_UP : 1);
  const last = missed.at(-1) ?? schedule.cursor;
  if (catchUp === 'all') return { fire: missed, cursor: last };
  const newest = missed.at(-1);
  const isInTime = newest !== undefined && now - newest <= LATE_MS;
  return { fire: newest !== undefined && (catchUp === 'last' || isInTime) ? [newest] : [], cursor: last };
}

/**
 * The newest times after the cursor and up to now, at most `wanted`. Years may have passed, and cron times
 * are found forwards only: a short look back gives the distance for the rest.
 */
function newestTimes(schedule: ScheduleRecord, now: number, wanted: number): number[] {
  for (let backMs = FIRST_LOOK_BACK_MS; ; ) {
    const from = Math.max(schedule.cursor, now - backMs);
    const times: number[] = [];
    for (let at = nextTime(schedule, from); at !== null && at <= now; at = nextTime(schedule, at)) times.push(at);
    if (from === schedule.cursor || times.length >= wanted) return times.slice(-wanted);
    backMs *= times.length === 0 ? 8 : 1 + Math.ceil(wanted / times.length);
  }
}
