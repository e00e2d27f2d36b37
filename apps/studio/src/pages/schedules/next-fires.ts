/** The next times of a schedule that is being written, as the server will find them. */
import { cronProblem, isTimezone, nextCronTime, parseDuration } from '@nebula/core';

export interface ScheduleTimes {
  readonly cron?: string;
  readonly every?: string;
  readonly timezone: string;
}

export type NextFires =
  | { readonly ok: true; readonly fires: readonly number[] }
  | { readonly ok: false; readonly field: 'cron' | 'every' | 'timezone'; readonly message: string };

export function nextFires({ cron, every, timezone }: ScheduleTimes, now: number, count: number): NextFires {
  if (!isTimezone(timezone)) return { ok: false, field: 'timezone', message: timezone };
  if (every !== undefined) {
    const ms = parseDuration(every);
    if (typeof ms !== 'number') return { ok: false, field: 'every', message: ms.message };
    return { ok: true, fires: Array.from({ length: count }, (_, index) => now + ms * (index + 1)) };
  }
  const problem = cronProblem(cron ?? '');
  if (problem !== undefined) return { ok: false, field: 'cron', message: problem };
  const fires: number[] = [];
  for (let after = now; fires.length < count; ) {
    const next = nextCronTime(cron ?? '', timezone, after);
    if (next === null) break;
    fires.push(next);
    after = next;
  }
  return { ok: true, fires };
}
