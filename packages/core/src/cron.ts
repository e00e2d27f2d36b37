/** Times that cron expressions name. Pure: the moment to look from comes in. */
import { Cron } from 'croner';

/** What is wrong with an expression, in plain words. */
export function cronProblem(expression: string): string | undefined {
  try {
    // Without a function it only computes.
    const isComing = new Cron(expression, { mode: '5-or-6-parts', timezone: 'UTC' }).nextRun(new Date(0)) !== null;
    return isComing ? undefined : 'there is no such day';
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
 * The first moment after `after`; null: there is none. A time that a clock skips in spring is taken when the clock
 * goes on; one that comes twice in autumn is taken once.
 */
export function nextCronTime(expression: string, timezone: string, after: number): number | null {
  return new Cron(expression, { mode: '5-or-6-parts', timezone }).nextRun(new Date(after))?.getTime() ?? null;
}
