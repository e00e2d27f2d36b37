import { describe, expect, it } from 'vitest';
import { cronInWords } from '../../src/pages/schedules/cron-words.ts';
import { nextFires } from '../../src/pages/schedules/next-fires.ts';

describe('a cron expression in words', () => {
  it.each([
    ['* * * * *', 'every minute', 'jede Minute'],
    ['*/15 * * * *', 'every 15 minutes', 'alle 15 Minuten'],
    ['*/10 8-17 * * *', 'every 10 minutes between 08:00 and 17:59', 'alle 10 Minuten zwischen 08:00 und 17:59'],
    ['*/30 * * * * *', 'every 30 seconds', 'alle 30 Sekunden'],
    ['0 * * * *', 'every hour', 'jede Stunde'],
    ['5 */6 * * *', 'every 6 hours at :05', 'alle 6 Stunden um :05'],
    ['30 2 * * *', 'every day at 02:30', 'täglich um 02:30'],
    ['0 9,17 * * *', 'every day at 09:00 and 17:00', 'täglich um 09:00 und 17:00'],
    ['0 9 * * 1-5', 'Monday to Friday at 09:00', 'Montag bis Freitag um 09:00'],
    ['0 9 * * MON,THU', 'on Monday and Thursday at 09:00', 'am Montag und Donnerstag um 09:00'],
    ['0 9 * * 7', 'on Sunday at 09:00', 'am Sonntag um 09:00'],
    ['0 9 1 * *', 'on day 1 of the month at 09:00', 'am 1. des Monats um 09:00'],
    ['0 18 L * *', 'on the last day of the month at 18:00', 'am letzten Tag des Monats um 18:00'],
    ['0 0 1 JAN *', 'on day 1 of the month in January at 00:00', 'am 1. des Monats im Januar um 00:00'],
    ['@daily', 'every day at 00:00', 'täglich um 00:00'],
  ])('[STU-45] says %s', (expression, english, german) => {
    expect(cronInWords(expression, 'en')).toBe(english);
    expect(cronInWords(expression, 'de')).toBe(german);
  });

  it.each(['', 'x', '0 9 1 * 1', '0 9 */2 * *', '0 9 * * 1#2', '1-5 9 * * *', '0 9 * * 1-2-3', '* * * * * * *'])(
    '[STU-45] has no sentence for %s, which is shown as it is',
    (expression) => {
      expect(cronInWords(expression, 'en')).toBeUndefined();
    },
  );
});

describe('the next times of a schedule that is being written', () => {
  const NOW = Date.UTC(2026, 10, 18, 6, 0);

  it('[STU-45] are those of its time zone, also when its clock changes', () => {
    const next = nextFires({ cron: '30 2 * * *', timezone: 'Europe/Berlin' }, Date.UTC(2026, 9, 24, 12), 2);
    expect(next).toEqual({ ok: true, fires: [Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 26, 1, 30)] });
  });

  it('[STU-45] of an interval count from now', () => {
    expect(nextFires({ every: '6h', timezone: 'UTC' }, NOW, 2)).toEqual({
      ok: true,
      fires: [NOW + 6 * 3_600_000, NOW + 12 * 3_600_000],
    });
  });

  it('[STU-45] name the field that is wrong', () => {
    expect(nextFires({ cron: '61 * * * *', timezone: 'UTC' }, NOW, 1)).toMatchObject({ ok: false, field: 'cron' });
    expect(nextFires({ every: 'soon', timezone: 'UTC' }, NOW, 1)).toMatchObject({ ok: false, field: 'every' });
    expect(nextFires({ cron: '* * * * *', timezone: 'Mars/Base' }, NOW, 1)).toMatchObject({
      ok: false,
      field: 'timezone',
    });
  });
});
