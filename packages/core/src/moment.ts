/** Moments from outside: text and numbers that a date can hold. */

export const MOMENT_LIMITS = {
  minMs: 0,
  /** The end of the year 9999: later years do not fit into four digits. */
  maxMs: Date.UTC(10_000, 0) - 1,
} as const;

/** Milliseconds since the epoch, from 1970 to 9999. */
export function isMoment(ms: unknown): ms is number {
  return typeof ms === 'number' && ms >= MOMENT_LIMITS.minMs && ms <= MOMENT_LIMITS.maxMs;
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** Milliseconds of a text as RFC 3339 has it; undefined where a date cannot hold it, as with leap seconds. */
export function momentIn(text: string): number | undefined {
  if (!DATE_TIME.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const ms = Date.parse(text);
  return isMoment(ms) ? ms : undefined;
}

/** `Date.parse` takes February 30 for March 2. */
function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
