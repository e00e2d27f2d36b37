/** Parses durations and sizes as people write them: `250ms`, `1h30m`, `PT5M`, `64KiB`. Plans contain numbers only. */

const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

type Unit = keyof typeof MS;

export const DURATION_LIMITS = {
  /** Ten years. A longer wait is a typing error, and timers must stay within safe integers. */
  maxDurationMs: 10 * 365.25 * MS.d,
  /** 1 TiB. */
  maxSizeBytes: 1024 ** 4,
  /** Longer text is rejected without parsing. */
  maxTextLength: 64,
} as const;

/** The reason why a text was rejected, and the likely correction. */
export interface TextProblem {
  readonly message: string;
  readonly hint: string;
}

const DURATION_EXAMPLES = 'write it as 250ms, 10s, 5m, 2h, 1d, 1h30m or ISO 8601 (PT5M)';
const SIZE_EXAMPLES = 'write it as 512B, 64KiB, 10MB or 1GiB';

/** Returns milliseconds, or the problem with the text. */
export function parseDuration(text: string): number | TextProblem {
  if (text.length > DURATION_LIMITS.maxTextLength) return { message: 'is not a duration', hint: DURATION_EXAMPLES };
  const ms = /^[+-]?P/i.test(text) ? isoDuration(text) : shortDuration(text);
  if (typeof ms !== 'number') return ms;
  if (ms > DURATION_LIMITS.maxDurationMs) {
    return { message: `'${text}' is longer than 10 years`, hint: 'the longest duration is 3652d' };
  }
  const whole = Math.round(ms);
  // In floating point, 1.1s is 1100.0000000000002 ms; only a real fraction of a millisecond is rejected.
  if (Math.abs(ms - whole) > 1e-6) {
    return { message: `'${text}' is finer than a millisecond`, hint: `the nearest is ${formatExact(whole)}` };
  }
  return whole;
}

const SHORT_PATTERN =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;

/** `1h30m`: numbers with units, the larger unit first, each unit at most once. */
function shortDuration(text: string): number | TextProblem {
  const parts = SHORT_PATTERN.exec(text);
  if (text === '' || !parts) return { message: `'${text}' is not a duration`, hint: suggestDuration(text) };
  const [, d, h, m, s, ms] = parts;
  return (
    Number(d ?? 0) * MS.d + Number(h ?? 0) * MS.h + Number(m ?? 0) * MS.m + Number(s ?? 0) * MS.s + Number(ms ?? 0)
  );
}

const ISO_NUMBER = '(\\d+(?:[.,]\\d+)?)';
const ISO_PATTERN = new RegExp(
  `^P(?:${ISO_NUMBER}W|(?:${ISO_NUMBER}D)?(T(?:${ISO_NUMBER}H)?(?:${ISO_NUMBER}M)?(?:${ISO_NUMBER}S)?)?)$`,
);

/** The grammar of `parseDuration`, for the published JSON Schema. The bounds are checked by the parser only. */
export const DURATION_PATTERN = `(?:^(?=.)${SHORT_PATTERN.source.slice(1)})|(?:${ISO_PATTERN.source})`;

/** ISO 8601 without months and years, whose length depends on the calendar. */
function isoDuration(text: string): number | TextProblem {
  const parts = ISO_PATTERN.exec(text);
  if (!parts || text === 'P' || text.endsWith('T')) {
    if (/^P[^T]*\d[YM]/i.test(text)) {
      return { message: `'${text}' has years or months, whose length varies`, hint: 'write it in days, e.g. P30D' };
    }
    const upper = text.toUpperCase();
    const hint =
      upper !== text && typeof isoDuration(upper) === 'number' ? `did you mean '${upper}'?` : DURATION_EXAMPLES;
    return { message: `'${text}' is not an ISO 8601 duration`, hint };
  }
  const count = (part: string | undefined): number => Number((part ?? '0').replace(',', '.'));
  const [, weeks, days, , hours, minutes, seconds] = parts;
  return (
    count(weeks) * 7 * MS.d + count(days) * MS.d + count(hours) * MS.h + count(minutes) * MS.m + count(seconds) * MS.s
  );
}

const UNIT_WORDS: ReadonlyMap<string, Unit> = new Map([
  ...['ms', 'msec', 'msecs', 'milli', 'millis', 'millisecond', 'milliseconds'].map((w) => [w, 'ms'] as const),
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((w) => [w, 's'] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((w) => [w, 'm'] as const),
  ...['h', 'hr', 'hrs', 'hour', 'hours'].map((w) => [w, 'h'] as const),
  ...['d', 'day', 'days'].map((w) => [w, 'd'] as const),
]);

/** Parses leniently, to suggest a spelling that the strict parser accepts. */
function suggestDuration(text: string): string {
  const bare = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(text);
  if (bare) return `add a unit: did you mean '${bare[1]}s' or '${bare[1]}ms'?`;
  if (/^\s*-/.test(text)) return 'a duration cannot be negative';
  const weeks = /^\s*(\d+)\s*w(?:eeks?)?\s*$/i.exec(text);
  if (weeks) return `did you mean '${Number(weeks[1]) * 7}d'?`;
  let totalMs = 0;
  const rest = text
    .toLowerCase()
    .replace(/(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*(?:and\s+)?/g, (part, n: string, word: string) => {
      const unit = UNIT_WORDS.get(word);
      if (unit === undefined) return part;
      totalMs += Number(n) * MS[unit];
      return '';
    });
  if (rest.trim() !== '' || totalMs > DURATION_LIMITS.maxDurationMs) return DURATION_EXAMPLES;
  return totalMs > 0 ? `did you mean '${formatExact(Math.round(totalMs))}'?` : DURATION_EXAMPLES;
}

/** The shortest text that `parseDuration` reads back as exactly `ms`. */
function formatExact(ms: number): string {
  return splitUnits(ms)
    .map(([count, unit]) => `${count}${unit}`)
    .join('');
}

/** Formats for display with the two largest units, e.g. `1d 2h`, `2m 5s`, `1.5s`, `250ms`. */
export function formatDuration(ms: number): string {
  if (!(ms >= 0)) return ms < 0 ? `-${formatDuration(-ms)}` : 'unknown';
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  // Rounded first, so that 59.97s becomes 1m and never 60s.
  if (ms < 59_950) return `${Number((ms / 1_000).toFixed(1))}s`;
  const step = ms < MS.h ? MS.s : ms < MS.d ? MS.m : MS.h;
  return splitUnits(Math.round(ms / step) * step)
    .map(([count, unit]) => `${count}${unit}`)
    .join(' ');
}

function splitUnits(ms: number): [number, Unit][] {
  const parts: [number, Unit][] = [];
  let rest = ms;
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const count = Math.floor(rest / MS[unit]);
    rest -= count * MS[unit];
    if (count > 0) parts.push([count, unit]);
  }
  return parts.length > 0 ? parts : [[0, 'ms']];
}

const BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  TB: 1_000_000_000_000,
  KiB: 1_024,
  MiB: 1_024 ** 2,
  GiB: 1_024 ** 3,
  TiB: 1_024 ** 4,
};

/** Returns bytes, or the problem with the text. */
export function parseSize(text: string): number | TextProblem {
  if (text.length > DURATION_LIMITS.maxTextLength) return { message: 'is not a size', hint: SIZE_EXAMPLES };
  const parts = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text);
  if (!parts) return { message: `'${text}' is not a size`, hint: suggestSize(text) };
  const [, count, unit = ''] = parts;
  const size = Object.hasOwn(BYTES, unit) ? BYTES[unit] : undefined;
  if (size === undefined) return { message: `'${text}' is not a size`, hint: suggestSize(text) };
  const bytes = Number(count) * size;
  if (bytes > DURATION_LIMITS.maxSizeBytes) {
    return { message: `'${text}' is more than 1TiB`, hint: 'the largest size is 1TiB' };
  }
  const whole = Math.round(bytes);
  if (Math.abs(bytes - whole) > 1e-6)
    return { message: `'${text}' is not a whole number of bytes`, hint: SIZE_EXAMPLES };
  return whole;
}

function suggestSize(text: string): string {
  if (/^\s*-/.test(text)) return 'a size cannot be negative';
  const loose = /^\s*(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)\s*$/i.exec(text);
  if (!loose) return SIZE_EXAMPLES;
  const [, count, word = ''] = loose;
  if (word === '') return `add a unit: did you mean '${count}B', '${count}KiB' or '${count}MiB'?`;
  const letters = word.toLowerCase().replace(/bytes?$/, 'b');
  const wanted = letters.endsWith('b') ? letters : `${letters}b`;
  const unit = Object.keys(BYTES).find((name) => name.toLowerCase() === wanted);
  return unit === undefined ? SIZE_EXAMPLES : `did you mean '${count}${unit}'?`;
}

/** Formats for display in powers of 1024: `512 B`, `64 KiB`, `1.5 MiB`. */
export function formatSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${Number(value.toFixed(1))} ${units[unit]}`;
}

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
