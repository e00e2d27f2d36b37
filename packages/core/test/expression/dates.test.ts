import { describe, expect, it } from 'vitest';
import { evaluate, failure } from './sample-scope.ts';

describe('dates', () => {
  it.each([
    [`'2024-05-01'.toDate()`, '2024-05-01T00:00:00.000Z'],
    [`'2024-05'.toDate()`, '2024-05-01T00:00:00.000Z'],
    [`'2024-05-01T10:20'.toDate()`, '2024-05-01T10:20:00.000Z'],
    [`'2024-05-01 10:20:30'.toDate()`, '2024-05-01T10:20:30.000Z'],
    [`'2024-05-01T10:20:30.5Z'.toDate()`, '2024-05-01T10:20:30.500Z'],
    [`'2024-05-01T10:20:30.123456789+02:00'.toDate()`, '2024-05-01T08:20:30.123Z'],
    [`'2024-05-01T10:20-0530'.toDate()`, '2024-05-01T15:50:00.000Z'],
    [`'0001-01-01'.toDate()`, '0001-01-01T00:00:00.000Z'],
    [`1714558800000.toDate()`, '2024-05-01T10:20:00.000Z'],
    [`'2024-05-01T10:20Z'.toMillis()`, 1714558800000],
    [`'1969-12-31T23:59:59Z'.toMillis()`, -1000],
    [`$execution.startedAt.plus(90, 'minutes')`, '2024-05-01T11:30:00.000Z'],
    [`'2024-05-01'.plus(1.5, 'h')`, '2024-05-01T01:30:00.000Z'],
    [`'2024-12-31'.plus(2, 'quarters')`, '2025-06-30T00:00:00.000Z'],
    [`'2023-02-28'.plus(1, 'year')`, '2024-02-28T00:00:00.000Z'],
    [`'2024-02-29'.minus(1, 'year')`, '2023-02-28T00:00:00.000Z'],
    [`'2024-05-15'.startOf('week')`, '2024-05-13T00:00:00.000Z'],
    [`'2024-05-12'.startOf('week')`, '2024-05-06T00:00:00.000Z'],
    [`'2024-05-15'.startOf('quarter')`, '2024-04-01T00:00:00.000Z'],
    [`'2024-05-15T10:20:30.5Z'.startOf('minute')`, '2024-05-15T10:20:00.000Z'],
    [`'2024-05-15'.endOf('year')`, '2024-12-31T23:59:59.999Z'],
    [`'2024-05-02'.diff('2024-05-01T12:00Z')`, 0.5],
    [`'2024-05-15'.diff('2024-01-31', 'months')`, 3],
    [`'2024-01-31'.diff('2024-05-15', 'months')`, -3],
    [`'2024-05-01'.diff('2020-05-02', 'years')`, 3],
    [`'2024-05-01'.isBefore(1714558800000)`, true],
    [`'2024-01-01'.datePart('week')`, 1],
    [`'2023-01-01'.datePart('week')`, 52],
    [`'2024-12-31'.datePart('dayOfYear')`, 366],
    [`'2024-05-12'.datePart('weekday')`, 7],
    [`'nonsense'.isDate() || '2024-13-01'.isDate() || '2024-05-01T24:00'.isDate() || 1e20.isDate()`, false],
  ])('[EXP-45] %s', (source, result) => {
    expect(evaluate(source)).toEqual(result);
  });

  it.each([
    `'2024-02-30'.toDate()`,
    `'yesterday'.toDate()`,
    `'2024-05-01T10:60Z'.toDate()`,
    `date('')`,
    `'9999-12-31'.plus(1, 'day')`,
    `1e300.toDate()`,
    `'2024-05-01'.plus(1, 'fortnight')`,
    `'2024-05-01'.plus(0.5, 'months')`,
    `'2024-05-01'.datePart('era')`,
  ])('[EXP-45] %s is an error', (source) => {
    expect(failure(source).code).toBe('EXPRESSION_VALUE');
  });

  it('[EXP-45] hints', () => {
    expect(failure(`'2024-05-01'.plus(1, 'dyas')`).hint).toContain('day');
    expect(failure(`'01.05.2024'.toDate()`).hint).toContain('ISO 8601');
  });

  it.each([
    // Clocks in Berlin go forward on 31 March 2024 at 02:00 and back on 27 October 2024 at 03:00.
    [`'2024-03-30T11:00Z'.plus(1, 'day', 'Europe/Berlin')`, '2024-03-31T10:00:00.000Z'],
    [`'2024-03-30T11:00Z'.plus(24, 'hours', 'Europe/Berlin')`, '2024-03-31T11:00:00.000Z'],
    [`'2024-03-31T12:00Z'.startOf('day', 'Europe/Berlin')`, '2024-03-30T23:00:00.000Z'],
    [`'2024-03-31T12:00Z'.endOf('day', 'Europe/Berlin')`, '2024-03-31T21:59:59.999Z'],
    [
      `'2024-10-27T12:00Z'.endOf('day', 'Europe/Berlin').diff('2024-10-27T12:00Z'.startOf('day', 'Europe/Berlin'), 'hours').round()`,
      25,
    ],
    [`'2024-10-27T00:30Z'.startOf('hour', 'Europe/Berlin')`, '2024-10-27T00:00:00.000Z'],
    [`'2024-10-27T01:30Z'.startOf('hour', 'Europe/Berlin')`, '2024-10-27T01:00:00.000Z'],
    [`'2024-04-01T00:00+02:00'.diff('2024-03-31T00:00+01:00', 'days', 'Europe/Berlin')`, 1],
    [`'2024-05-01T23:00Z'.startOf('month', 'Asia/Tokyo')`, '2024-04-30T15:00:00.000Z'],
    [`'2024-05-01T10:00Z'.datePart('hour', 'America/New_York')`, 6],
    [`'2024-05-01T10:00Z'.datePart('hour', '+05:30')`, 15],
    [
      `'2024-05-01T10:00Z'.formatDate('EEEE, d MMMM yyyy, h:mm a Z', 'America/New_York')`,
      'Wednesday, 1 May 2024, 6:00 am -04:00',
    ],
    [
      `'2024-05-01T13:04:05.006Z'.formatDate('YYYY-MM-DD[T]HH:mm:ss.SSS ddd MMM hh A yy M D H m s')`,
      '2024-05-01T13:04:05.006 Wed May 01 PM 24 5 1 13 4 5',
    ],
    [`'2024-05-01'.formatDate('Z', 'Asia/Kolkata')`, '+05:30'],
  ])('[EXP-46] %s', (source, result) => {
    expect(evaluate(source)).toEqual(result);
  });

  it('[EXP-46] a zone that is not there', () => {
    expect(failure(`'2024-05-01'.startOf('day', 'Europe/Atlantis')`).hint).toContain('Europe/Berlin');
  });
});
