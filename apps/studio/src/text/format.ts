/** Numbers, times and durations as people of a language read them. */
import type { Language } from './define-text.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface Format {
  /** `1,234` */
  number(value: number): string;
  /** `42 %` */
  percent(fraction: number): string;
  /** `14:02:11`, with the date if it is not today. */
  moment(at: number, now: number): string;
  /** With milliseconds: `14:02:11.340`. */
  exact(at: number): string;
  /** `18 Nov 2026, 14:02:11` */
  full(at: number): string;
  /** `3 minutes ago`, `in 2 hours`. */
  relative(at: number, now: number): string;
  /** `340 ms`, `2.4 s`, `3 m 12 s`. */
  duration(ms: number): string;
  /** `1.2 MB` */
  bytes(count: number): string;
}

const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

export function formatOf(language: Language, timeZone?: string): Format {
  const locale = LOCALES[language];
  const zone = timeZone === undefined ? {} : { timeZone };
  const numbers = new Intl.NumberFormat(locale);
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', ...zone });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...zone });
  const both = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', ...zone });
  const short = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...zone,
  });
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const oneDigit = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  return {
    number: (value) => numbers.format(value),
    percent: (fraction) => percents.format(fraction),
    moment: (at, now) => (day.format(at) === day.format(now) ? clock.format(at) : short.format(at)),
    exact: (at) => `${clock.format(at)}.${String(Math.floor(at) % SECOND).padStart(3, '0')}`,
    full: (at) => both.format(at),
    relative: (at, now) => {
      const [value, unit] = relativeParts(at - now);
      return ago.format(value, unit);
    },
    duration: (ms) => durationText(ms, (value) => oneDigit.format(value)),
    bytes: (count) => bytesText(count, (value) => oneDigit.format(value)),
  };
}

function relativeParts(ms: number): [number, Intl.RelativeTimeFormatUnit] {
  const size = Math.abs(ms);
  if (size < MINUTE) return [Math.round(ms / SECOND), 'second'];
  if (size < HOUR) return [Math.round(ms / MINUTE), 'minute'];
  if (size < DAY) return [Math.round(ms / HOUR), 'hour'];
  return [Math.round(ms / DAY), 'day'];
}

function durationText(ms: number, oneDigit: (value: number) => string): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${oneDigit(ms / SECOND)} s`;
  if (ms < HOUR) return parts(ms, MINUTE, 'm', SECOND, 's');
  if (ms < DAY) return parts(ms, HOUR, 'h', MINUTE, 'm');
  return parts(ms, DAY, 'd', HOUR, 'h');
}

function parts(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${largeUnit}` : `${whole} ${largeUnit} ${rest} ${smallUnit}`;
}

function bytesText(count: number, oneDigit: (value: number) => string): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = count;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 ? value : oneDigit(value)} ${units[unit]}`;
}
