/** Computes the times that a cron expression names. Pure: the reference time is a parameter. */
import { Cron } from 'croner';

/** Returns the error in a cron expression, or `undefined` when it is valid. */
export function cronProblem(expression: string): string | undefined {
  try {
    // Without a callback, Cron computes times and starts no timer.
    const isComing = new Cron(expression, { mode: '5-or-6-parts', timezone: 'UTC' }).nextRun(new Date(0)) !== null;
    return isComing ? undefined : 'no date matches it';
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
  }
}

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * The first match after `after`, or null when there is none. A local time that daylight saving skips fires at the
 * moment the clock jumps; one that occurs twice fires once.
 */
export function nextCronTime(expression: string, timezone: string, after: number): number | null {
  return new Cron(expression, { mode: '5-or-6-parts', timezone }).nextRun(new Date(after))?.getTime() ?? null;
}
