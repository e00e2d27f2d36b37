/** A cron expression as a sentence. Expressions that no short sentence fits have none, and are shown as they are. */
import { defineText, type Language } from '../../text/define-text.ts';

const text = defineText({
  en: {
    everyMinute: 'every minute',
    everyMinutes: (count: number) => `every ${count} minutes`,
    everySeconds: (count: number) => `every ${count} seconds`,
    everyHour: (minute: string) => (minute === '00' ? 'every hour' : `every hour at :${minute}`),
    everyHours: (count: number, minute: string) =>
      minute === '00' ? `every ${count} hours` : `every ${count} hours at :${minute}`,
    between: (from: string, to: string) => `between ${from} and ${to}`,
    everyDay: 'every day',
    at: (times: string) => `at ${times}`,
    on: (days: string) => `on ${days}`,
    range: (from: string, to: string) => `${from} to ${to}`,
    dayOfMonth: (days: string) => `on day ${days} of the month`,
    lastDay: 'on the last day of the month',
    in: (months: string) => `in ${months}`,
  },
  de: {
    everyMinute: 'jede Minute',
    everyMinutes: (count) => `alle ${count} Minuten`,
    everySeconds: (count) => `alle ${count} Sekunden`,
    everyHour: (minute) => (minute === '00' ? 'jede Stunde' : `jede Stunde um :${minute}`),
    everyHours: (count, minute) => (minute === '00' ? `alle ${count} Stunden` : `alle ${count} Stunden um :${minute}`),
    between: (from, to) => `zwischen ${from} und ${to}`,
    everyDay: 'täglich',
    at: (times) => `um ${times}`,
    on: (days) => `am ${days}`,
    range: (from, to) => `${from} bis ${to}`,
    dayOfMonth: (days) => `am ${days}. des Monats`,
    lastDay: 'am letzten Tag des Monats',
    in: (months) => `im ${months}`,
  },
});

const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const MAX_TIMES = 4;

/** `Monday to Friday at 09:00`, without the time zone. */
export function cronInWords(expression: string, language: Language): string | undefined {
  const fields = (NICKNAMES[expression.trim().toLowerCase()] ?? expression).trim().split(/\s+/);
  const [second, minute, hour, day, month, weekday] = fields.length === 6 ? fields : ['0', ...fields];
  if (second === undefined || minute === undefined || hour === undefined) return undefined;
  if (day === undefined || month === undefined || weekday === undefined || fields.length > 6) return undefined;
  const time = timePhrase(second, minute, hour, language);
  const date = datePhrase(day, month, weekday, language);
  if (time === undefined || date === undefined) return undefined;
  const { at, everyDay } = text[language];
  if (time.isRepeated) return date === '' ? time.words : `${time.words} ${date}`;
  return `${date === '' ? everyDay : date} ${at(time.words)}`;
}

interface TimePhrase {
  readonly words: string;
  /** Whether it says how often, not when. */
  readonly isRepeated: boolean;
}

function timePhrase(second: string, minute: string, hour: string, language: Language): TimePhrase | undefined {
  const words = text[language];
  const seconds = stepOf(second);
  if (seconds !== undefined) {
    return minute === '*' && hour === '*' ? { words: words.everySeconds(seconds), isRepeated: true } : undefined;
  }
  if (second !== '0') return undefined;
  const minutes = minute === '*' ? 1 : stepOf(minute);
  if (minutes !== undefined) {
    const often = minutes === 1 ? words.everyMinute : words.everyMinutes(minutes);
    const range = /^(\d+)-(\d+)$/.exec(hour);
    if (hour === '*') return { words: often, isRepeated: true };
    if (range === null) return undefined;
    return { words: `${often} ${words.between(`${two(range[1])}:00`, `${two(range[2])}:59`)}`, isRepeated: true };
  }
  const at = numbersOf(minute, []);
  if (at === undefined) return undefined;
  const step = stepOf(hour);
  if (hour === '*' || step !== undefined) {
    if (at.length !== 1) return undefined;
    const past = two(at[0]);
    return { words: step === undefined ? words.everyHour(past) : words.everyHours(step, past), isRepeated: true };
  }
  const hours = numbersOf(hour, []);
  if (hours === undefined || hours.length * at.length > MAX_TIMES) return undefined;
  const times = hours.flatMap((one) => at.map((past) => `${two(one)}:${two(past)}`));
  return { words: listed(times, language), isRepeated: false };
}

function datePhrase(day: string, month: string, weekday: string, language: Language): string | undefined {
  const words = text[language];
  const isAnyDay = day === '*' || day === '?';
  const isAnyWeekday = weekday === '*' || weekday === '?';
  if (!isAnyDay && !isAnyWeekday) return undefined;
  const months = month === '*' ? '' : namesOf(month, MONTHS, (index) => monthName(index - 1, language), 1, language);
  if (months === undefined) return undefined;
  const parts: string[] = [];
  if (!isAnyWeekday) {
    const days = namesOf(weekday, DAYS, (index) => weekdayName(index % 7, language), 0, language);
    if (days === undefined) return undefined;
    // A range needs no preposition: `Monday to Friday`.
    parts.push(/^\w+-\w+$/.test(weekday) ? days : words.on(days));
  } else if (day === 'L') parts.push(words.lastDay);
  else if (!isAnyDay) {
    const days = numbersOf(day, []);
    if (days === undefined) return undefined;
    parts.push(words.dayOfMonth(listed(days.map(String), language)));
  }
  if (months !== '') parts.push(words.in(months));
  return parts.join(' ');
}

/** The names of a field of weekdays or months; a range stays a range. */
function namesOf(
  field: string,
  names: readonly string[],
  nameOf: (index: number) => string,
  first: number,
  language: Language,
): string | undefined {
  const parts = field.split(',').map((part) => {
    const [from, to, more] = part.split('-').map((end) => numberOf(end, names, first));
    if (from === undefined || more !== undefined || (part.includes('-') && to === undefined)) return undefined;
    return to === undefined ? nameOf(from) : text[language].range(nameOf(from), nameOf(to));
  });
  return parts.every((part) => part !== undefined) ? listed(parts, language) : undefined;
}

function numbersOf(field: string, names: readonly string[]): number[] | undefined {
  const numbers = field.split(',').map((part) => numberOf(part, names, 0));
  return numbers.every((number) => number !== undefined) ? numbers : undefined;
}

function numberOf(field: string, names: readonly string[], first: number): number | undefined {
  if (/^\d+$/.test(field)) return Number(field);
  const at = names.indexOf(field.toUpperCase());
  return at < 0 ? undefined : at + first;
}

/** The number of a field such as "every 5th". */
function stepOf(field: string): number | undefined {
  const step = /^(?:\*|0)\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? undefined : Number(step);
}

function two(value: string | number | undefined): string {
  return String(value ?? 0).padStart(2, '0');
}

function listed(parts: readonly string[], language: Language): string {
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(parts);
}

/** 1 January 2023 was a Sunday. */
function weekdayName(index: number, language: Language): string {
  return new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2023, 0, 1 + index));
}

function monthName(index: number, language: Language): string {
  return new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' }).format(Date.UTC(2023, index, 1));
}
