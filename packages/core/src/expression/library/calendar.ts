/**
 * Date functions without a clock: ISO text and milliseconds since the epoch, calendar arithmetic in a time zone. Only
 * `Date.UTC` and UTC getters are used, so the zone of the machine has no effect.
 */
import { didYouMean } from '../../problem.ts';
import { quoted, valueError } from '../expression-error.ts';

const DAY_MS = 86_400_000;
/** The range of four-digit years in ISO 8601: 0001-01-01 to 9999-12-31. */
const MIN_MS = -62_135_596_800_000;
const MAX_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const MAX_DATE_LENGTH = 40;

const ISO_DATE =
  /^(\d{4})-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?)?$/;

type Unit = 'millisecond' | 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

const FIXED_MS: Readonly<Partial<Record<Unit, number>>> = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
};

const MONTHS: Readonly<Partial<Record<Unit, number>>> = { month: 1, quarter: 3, year: 12 };

const SHORT_UNITS: Readonly<Record<string, Unit>> = {
  ms: 'millisecond',
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  y: 'year',
};

const UNITS: readonly Unit[] = ['millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

export function parseUnit(name: string): Unit {
  const short = Object.hasOwn(SHORT_UNITS, name) ? SHORT_UNITS[name] : undefined;
  const unit = short ?? UNITS.find((known) => known === name || `${known}s` === name);
  if (unit !== undefined) return unit;
  const meant = didYouMean(name, UNITS);
  throw valueError(
    `there is no unit ${quoted(name)}`,
    meant === undefined ? UNITS.join(', ') : `did you mean ${meant}?`,
  );
}

/** Returns milliseconds since the epoch. Text without an offset is UTC. */
export function parseDate(value: string | number): number {
  if (typeof value === 'number') return within(Math.round(value));
  const match = value.length > MAX_DATE_LENGTH ? null : ISO_DATE.exec(value.trim());
  if (match === null) throw notADate(value);
  const [, year, month, day = '01', hour = '00', minute = '00', second = '00', fraction = '', offset] = match;
  const fields = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const utc = utcMs(fields[0], fields[1] - 1, fields[2], fields[3], fields[4], fields[5], ms);
  const back = new Date(utc);
  // A date that rolled over, such as 30 February or 25:00, is invalid.
  if (back.getUTCDate() !== fields[2] || back.getUTCMonth() !== fields[1] - 1 || back.getUTCHours() !== fields[3]) {
    throw notADate(value);
  }
  if (fields[4] > 59 || fields[5] > 59) throw notADate(value);
  return within(utc - fixedOffsetMs(offset ?? 'Z'));
}

export function isDate(value: string | number): boolean {
  if (typeof value === 'number') return value >= MIN_MS && value <= MAX_MS;
  try {
    parseDate(value);
    return true;
  } catch {
    return false;
  }
}

export function isoText(ms: number): string {
  return new Date(within(ms)).toISOString();
}

/** The calendar and clock fields of a moment in a time zone. */
export interface Fields {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** 1 is Monday, 7 is Sunday. */
  readonly weekday: number;
  readonly offsetMs: number;
}

export function fieldsOf(ms: number, zone: string): Fields {
  const offsetMs = offsetAt(ms, zone);
  const local = new Date(ms + offsetMs);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    millisecond: local.getUTCMilliseconds(),
    weekday: local.getUTCDay() || 7,
    offsetMs,
  };
}

/** Units up to hours are durations; days and longer are calendar steps in the zone. */
export function addUnits(ms: number, count: number, unit: Unit, zone: string): number {
  const fixed = FIXED_MS[unit];
  if (fixed !== undefined) return within(Math.round(ms + count * fixed));
  if (!Number.isInteger(count)) throw valueError(`only whole numbers of ${unit}s can be added`);
  const local = new Date(ms + offsetAt(ms, zone));
  const months = MONTHS[unit];
  if (months === undefined) {
    local.setUTCDate(local.getUTCDate() + count * (unit === 'week' ? 7 : 1));
  } else {
    // 31 January plus one month is the last day of February, not 3 March.
    const day = local.getUTCDate();
    local.setUTCDate(1);
    local.setUTCMonth(local.getUTCMonth() + count * months);
    local.setUTCDate(Math.min(day, daysInMonth(local.getUTCFullYear(), local.getUTCMonth())));
  }
  return within(fromLocal(local.getTime(), zone));
}

export function startOfUnit(ms: number, unit: Unit, zone: string): number {
  const { year, month, day, weekday, offsetMs } = fieldsOf(ms, zone);
  switch (unit) {
    case 'millisecond':
      return ms;
    case 'second':
    case 'minute':
    case 'hour': {
      // Uses the offset of this very moment: an hour that occurs twice has two beginnings.
      const size = FIXED_MS[unit] ?? 0;
      return within(Math.floor((ms + offsetMs) / size) * size - offsetMs);
    }
    case 'day':
      return within(fromLocal(utcMs(year, month - 1, day), zone));
    case 'week':
      return within(fromLocal(utcMs(year, month - 1, day - weekday + 1), zone));
    case 'month':
      return within(fromLocal(utcMs(year, month - 1, 1), zone));
    case 'quarter':
      return within(fromLocal(utcMs(year, Math.floor((month - 1) / 3) * 3, 1), zone));
    case 'year':
      return within(fromLocal(utcMs(year, 0, 1), zone));
  }
}

/** How much later `a` is than `b`: fractional for durations, days and weeks; whole months, quarters and years. */
export function difference(a: number, b: number, unit: Unit, zone: string): number {
  const fixed = FIXED_MS[unit];
  if (fixed !== undefined) return (a - b) / fixed;
  const localA = a + offsetAt(a, zone);
  const localB = b + offsetAt(b, zone);
  const months = MONTHS[unit];
  if (months === undefined) return (localA - localB) / (unit === 'week' ? 7 * DAY_MS : DAY_MS);
  const sign = a < b ? -1 : 1;
  const [early, late] = a < b ? [a, b] : [b, a];
  const from = fieldsOf(early, zone);
  const to = fieldsOf(late, zone);
  let whole = (to.year - from.year) * 12 + to.month - from.month;
  if (addUnits(early, whole, 'month', zone) > late) whole--;
  return sign * Math.trunc(whole / months);
}

/** ISO 8601 week of the year. */
export function weekOf(fields: Fields): number {
  const thursday = utcMs(fields.year, fields.month - 1, fields.day - fields.weekday + 4);
  const firstDay = utcMs(new Date(thursday).getUTCFullYear(), 0, 1);
  return Math.floor((thursday - firstDay) / (7 * DAY_MS)) + 1;
}

export function dayOfYear(fields: Fields): number {
  return Math.round((utcMs(fields.year, fields.month - 1, fields.day) - utcMs(fields.year, 0, 1)) / DAY_MS) + 1;
}

/** Unlike `Date.UTC`, does not map the years 0 to 99 to 1900 to 1999. */
function utcMs(year: number, month: number, day: number, hour = 0, minute = 0, second = 0, ms = 0): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, second, ms);
  return date.getTime();
}

function daysInMonth(year: number, month: number): number {
  return new Date(utcMs(year, month + 1, 0)).getUTCDate();
}

/** The moment at which clocks of the zone show this local time; where clocks were put forward, the later one. */
function fromLocal(localMs: number, zone: string): number {
  const guess = localMs - offsetAt(localMs, zone);
  return localMs - offsetAt(guess, zone);
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** The offset of the zone from UTC at that moment. */
function offsetAt(ms: number, zone: string): number {
  if (zone === 'UTC') return 0;
  if (/^(?:Z|[+-]\d{2}:?\d{2})$/.test(zone)) return fixedOffsetMs(zone);
  const shown: Record<string, number> = {};
  for (const part of formatterOf(zone).formatToParts(ms)) shown[part.type] = Number(part.value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return utcMs(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1_000) * 1_000;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  let formatter: Intl.DateTimeFormat;
  try {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    throw valueError(`there is no time zone ${quoted(zone)}`, 'use a name such as Europe/Berlin, UTC or +02:00');
  }
  formatters.set(zone, formatter);
  return formatter;
}

function fixedOffsetMs(offset: string): number {
  if (offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || 0);
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function within(ms: number): number {
  if (ms >= MIN_MS && ms <= MAX_MS) return ms;
  throw valueError('the date is outside the years 1 to 9999');
}

function notADate(value: string): Error {
  return valueError(`${quoted(value)} is not a date`, 'dates are ISO 8601: 2024-05-01T10:00:00Z');
}
