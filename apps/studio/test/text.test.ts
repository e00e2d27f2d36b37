import { describe, expect, test } from 'vitest';
import { defineText, preferredLanguage } from '../src/text/define-text.ts';
import { formatOf } from '../src/text/format.ts';
import { isShownStatus } from '../src/text/status-text.ts';

describe('languages', () => {
  test('[STU-30] follow the browser', () => {
    expect(preferredLanguage(['fr-FR', 'de-AT', 'en'])).toBe('de');
    expect(preferredLanguage(['fr'])).toBe('en');
    expect(preferredLanguage(['constructor'])).toBe('en');
    expect(isShownStatus('toString')).toBe(false);
  });

  test('[STU-30] a text that one language lacks does not compile', () => {
    // @ts-expect-error: `b` is missing in German.
    const texts = defineText({ en: { a: 'x', b: (count: number) => `${count}` }, de: { a: 'y' } });
    expect(texts.de.a).toBe('y');
  });
});

describe('figures', () => {
  const at = Date.parse('2026-11-18T13:02:11.340Z');
  const en = formatOf('en', 'UTC');
  const de = formatOf('de', 'UTC');

  test('[STU-31] durations', () => {
    expect([0, 340, 2_440, 192_000, 3_600_000, 100_000_000].map(en.duration)).toEqual([
      '0 ms',
      '340 ms',
      '2.4 s',
      '3 m 12 s',
      '1 h',
      '1 d 3 h',
    ]);
    expect(de.duration(2_440)).toBe('2,4 s');
  });

  test('[STU-31] sizes and numbers', () => {
    expect([12, 1_500, 2_345_678].map(en.bytes)).toEqual(['12 B', '1.5 kB', '2.3 MB']);
    expect(de.number(1_234_567)).toBe('1.234.567');
  });

  test('[STU-31] moments', () => {
    expect(en.exact(at)).toBe('13:02:11.340');
    expect(en.moment(at, at + 1_000)).toBe('13:02:11');
    expect(en.moment(at, at + 48 * 3_600_000)).toMatch(/18 Nov/);
    expect(en.relative(at, at + 180_000)).toBe('3 minutes ago');
    expect(de.relative(at, at + 180_000)).toBe('vor 3 Minuten');
  });
});
