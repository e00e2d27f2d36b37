/** Functions on dates: ISO 8601 text, or milliseconds since the epoch. */

import { didYouMean } from '../../problem.ts';
import { quoted, valueError } from '../expression-error.ts';
import {
  addUnits,
  dayOfYear,
  difference,
  type Fields,
  fieldsOf,
  isDate,
  isoText,
  parseDate,
  parseUnit,
  startOfUnit,
  weekOf,
} from './calendar.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

type Moment = string | number;

const ofDate = functionsOn<Moment>(['string', 'number']);

export const dateFunctions: readonly FunctionDefinition[] = [
  ofDate('toDate()', 'The date as ISO text in UTC.', ['0.toDate()', '1970-01-01T00:00:00.000Z'], (_, moment) =>
    isoText(parseDate(moment)),
  ),
  ofDate(
    'toMillis()',
    'The date as milliseconds since the epoch.',
    [`'1970-01-01T00:00:01Z'.toMillis()`, 1000],
    (_, moment) => parseDate(moment),
  ),
  ofDate('isDate()', 'Whether the value is a valid date.', [`'2024-02-30'.isDate()`, false], (_, moment) =>
    isDate(moment),
  ),
  ofDate(
    'plus(count: number, unit: string, zone?: string)',
    'Adds milliseconds, seconds, minutes, hours, days, weeks, months, quarters or years.',
    [`'2024-01-31'.plus(1, 'month')`, '2024-02-29T00:00:00.000Z'],
    (_, moment, count: number, unit: string, zone = 'UTC') =>
      isoText(addUnits(parseDate(moment), count, parseUnit(unit), zone)),
  ),
  ofDate(
    'minus(count: number, unit: string, zone?: string)',
    'Subtracts a number of units.',
    [`'2024-03-01'.minus(1, 'day')`, '2024-02-29T00:00:00.000Z'],
    (_, moment, count: number, unit: string, zone = 'UTC') =>
      isoText(addUnits(parseDate(moment), -count, parseUnit(unit), zone)),
  ),
  ofDate(
    'diff(other: date, unit?: string, zone?: string)',
    'The time since the other date, in days or another unit; months, quarters and years are whole numbers.',
    [`'2024-03-01'.diff('2024-02-01', 'days')`, 29],
    (_, moment, other: Moment, unit = 'day', zone = 'UTC') =>
      difference(parseDate(moment), parseDate(other), parseUnit(unit), zone),
  ),
  ofDate(
    'startOf(unit: string, zone?: string)',
    'The first millisecond of the day, week (Monday), month or another unit.',
    [`'2024-05-17T10:30Z'.startOf('month')`, '2024-05-01T00:00:00.000Z'],
    (_, moment, unit: string, zone = 'UTC') => isoText(startOfUnit(parseDate(moment), parseUnit(unit), zone)),
  ),
  ofDate(
    'endOf(unit: string, zone?: string)',
    'The last millisecond of the day, week, month or another unit.',
    [`'2024-02-17'.endOf('month')`, '2024-02-29T23:59:59.999Z'],
    (_, moment, name: string, zone = 'UTC') => {
      const unit = parseUnit(name);
      return isoText(addUnits(startOfUnit(parseDate(moment), unit, zone), 1, unit, zone) - 1);
    },
  ),
  ofDate(
    'isBefore(other: date)',
    'Whether the date is earlier than the other.',
    [`'2024-01-01'.isBefore('2024-01-02')`, true],
    (_, moment, other: Moment) => parseDate(moment) < parseDate(other),
  ),
  ofDate(
    'isAfter(other: date)',
    'Whether the date is later than the other.',
    [`'2024-01-01'.isAfter('2024-01-02')`, false],
    (_, moment, other: Moment) => parseDate(moment) > parseDate(other),
  ),
  ofDate(
    'datePart(part: string, zone?: string)',
    'One part of the date as a number: year, quarter, month, week, day, dayOfYear, weekday (1 is Monday), hour, minute, second, millisecond.',
    [`'2024-05-17T10:30Z'.datePart('weekday')`, 5],
    (_, moment, part: string, zone = 'UTC') => datePart(fieldsOf(parseDate(moment), zone), part),
  ),
  ofDate(
    'formatDate(pattern: string, zone?: string)',
    'Formats the date: yyyy MM dd HH mm ss SSS, MMM, MMMM, EEE, EEEE, hh, a, Z; text in [brackets] stays.',
    [`'2024-05-17T10:30Z'.formatDate('dd.MM.yyyy HH:mm', 'Europe/Berlin')`, '17.05.2024 12:30'],
    (frame, moment, pattern: string, zone = 'UTC') => {
      frame.budget.spendForCharacters(pattern.length);
      return formatted(fieldsOf(parseDate(moment), zone), pattern);
    },
  ),
];

const PARTS: Readonly<Record<string, (fields: Fields) => number>> = {
  year: (fields) => fields.year,
  quarter: (fields) => Math.ceil(fields.month / 3),
  month: (fields) => fields.month,
  week: weekOf,
  day: (fields) => fields.day,
  dayOfYear,
  weekday: (fields) => fields.weekday,
  hour: (fields) => fields.hour,
  minute: (fields) => fields.minute,
  second: (fields) => fields.second,
  millisecond: (fields) => fields.millisecond,
};

function datePart(fields: Fields, part: string): number {
  const read = Object.hasOwn(PARTS, part) ? PARTS[part] : undefined;
  if (read !== undefined) return read(fields);
  const meant = didYouMean(part, Object.keys(PARTS));
  throw valueError(
    `a date has no part ${quoted(part)}`,
    meant === undefined ? Object.keys(PARTS).join(', ') : `did you mean ${meant}?`,
  );
}

const MONTH_NAMES = 'January February March April May June July August September October November December'.split(' ');
const DAY_NAMES = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');
const two = (value: number): string => String(value).padStart(2, '0');
const monthName = ({ month }: Fields): string => MONTH_NAMES[month - 1] ?? '';
const dayName = ({ weekday }: Fields): string => DAY_NAMES[weekday - 1] ?? '';
const hourOfHalf = ({ hour }: Fields): number => hour % 12 || 12;
const half = ({ hour }: Fields): string => (hour < 12 ? 'am' : 'pm');

/** The letters of Luxon (yyyy, dd) and of Day.js (YYYY, DD). */
const TOKENS: Readonly<Record<string, (fields: Fields) => string>> = {
  yyyy: ({ year }) => String(year).padStart(4, '0'),
  yy: ({ year }) => two(year % 100),
  MMMM: monthName,
  MMM: (fields) => monthName(fields).slice(0, 3),
  MM: ({ month }) => two(month),
  M: ({ month }) => String(month),
  EEEE: dayName,
  dddd: dayName,
  EEE: (fields) => dayName(fields).slice(0, 3),
  ddd: (fields) => dayName(fields).slice(0, 3),
  dd: ({ day }) => two(day),
  d: ({ day }) => String(day),
  HH: ({ hour }) => two(hour),
  H: ({ hour }) => String(hour),
  hh: (fields) => two(hourOfHalf(fields)),
  h: (fields) => String(hourOfHalf(fields)),
  mm: ({ minute }) => two(minute),
  m: ({ minute }) => String(minute),
  ss: ({ second }) => two(second),
  s: ({ second }) => String(second),
  SSS: ({ millisecond }) => String(millisecond).padStart(3, '0'),
  a: half,
  A: (fields) => half(fields).toUpperCase(),
  Z: ({ offsetMs }) => offsetText(offsetMs),
};

const TOKEN = /\[([^\]]*)\]|yyyy|YYYY|yy|YY|MMMM|MMM|MM|M|EEEE|dddd|EEE|ddd|DD|dd|D|d|HH|H|hh|h|mm|m|ss|s|SSS|a|A|Z/g;

function formatted(fields: Fields, pattern: string): string {
  return pattern.replace(TOKEN, (token, literal: string | undefined) => {
    const name = /^[YD]/.test(token) ? token.toLowerCase() : token;
    return literal ?? TOKENS[name]?.(fields) ?? token;
  });
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
