/** Validates timestamps from outside the process: text and numbers that a `Date` can represent. */

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

/** Parses an RFC 3339 timestamp to milliseconds; `undefined` when a `Date` cannot represent it, e.g. a leap second. */
export function momentIn(text: string): number | undefined {
  if (!DATE_TIME.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const ms = Date.parse(text);
  return isMoment(ms) ? ms : undefined;
}

/** Needed because `Date.parse` accepts February 30 as March 2. */
function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
