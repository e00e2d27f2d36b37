import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DURATION_LIMITS, formatDuration, formatSize, parseDuration, parseSize } from '../../src/duration.ts';

describe('durations', () => {
  it.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5s', 1_500],
    ['1.1s', 1_100],
    ['0s', 0],
    ['PT5M', 300_000],
    ['P1DT2H', 93_600_000],
    ['PT0.5S', 500],
    ['PT0,5S', 500],
    ['P2W', 1_209_600_000],
    ['3652d', 315_532_800_000],
  ])('[DEF-1] %s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ['10', "add a unit: did you mean '10s' or '10ms'?"],
    ['10 sec', "did you mean '10s'?"],
    ['5 minutes', "did you mean '5m'?"],
    ['1 hour and 30 min', "did you mean '1h30m'?"],
    ['30m1h', "did you mean '1h30m'?"],
    ['10S', "did you mean '10s'?"],
    ['2 weeks', "did you mean '14d'?"],
    ['pt5m', "did you mean 'PT5M'?"],
    ['-5s', 'a duration cannot be negative'],
    ['P1M', 'write it in days, e.g. P30D'],
    ['4000d', 'the longest duration is 3652d'],
    ['1.5ms', 'the nearest is 2ms'],
    ['', 'write it as 250ms, 10s, 5m, 2h, 1d, 1h30m or ISO 8601 (PT5M)'],
    ['soon', 'write it as 250ms, 10s, 5m, 2h, 1d, 1h30m or ISO 8601 (PT5M)'],
    ['P', 'write it as 250ms, 10s, 5m, 2h, 1d, 1h30m or ISO 8601 (PT5M)'],
    ['P1DT', 'write it as 250ms, 10s, 5m, 2h, 1d, 1h30m or ISO 8601 (PT5M)'],
  ])('[DEF-2] %j is refused with a suggestion', (text, hint) => {
    expect(parseDuration(text)).toMatchObject({ hint });
  });

  it('[DEF-2] any text gives a whole number within bounds or a problem, at once', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-P0-9.dhmsTS ]{0,70}$/)), (text) => {
        const ms = parseDuration(text);
        if (typeof ms !== 'number') expect(ms.hint).not.toBe('');
        else expect(Number.isSafeInteger(ms) && ms >= 0 && ms <= DURATION_LIMITS.maxDurationMs).toBe(true);
      }),
    );
    expect(parseDuration('9'.repeat(1_000_000))).toMatchObject({ message: 'is not a duration' });
  });

  it.each([
    [0, '0ms'],
    [12.4, '12ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_540, '1.5s'],
    [59_949, '59.9s'],
    [59_970, '1m'],
    [61_000, '1m 1s'],
    [3_599_900, '1h'],
    [5_400_000, '1h 30m'],
    [86_399_999, '1d'],
    [93_600_000, '1d 2h'],
    [-1_500, '-1.5s'],
  ])('[DEF-3] %d ms is shown as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('[DEF-3] never shows more than two units or a full next one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DURATION_LIMITS.maxDurationMs }), (ms) => {
        const shown = formatDuration(ms);
        expect(shown.split(' ').length).toBeLessThanOrEqual(2);
        expect(shown).not.toMatch(/\b(?:60s|60m|24h|1000ms)\b/);
      }),
    );
  });
});

describe('sizes', () => {
  it.each([
    ['512B', 512],
    ['64KiB', 65_536],
    ['10MB', 10_000_000],
    ['1.5KiB', 1_536],
    ['1TiB', 1_024 ** 4],
  ])('[DEF-4] %s is %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each([
    ['64kb', "did you mean '64KB'?"],
    ['64 kib', "did you mean '64KiB'?"],
    ['10M', "did you mean '10MB'?"],
    ['10 bytes', "did you mean '10B'?"],
    ['10', "add a unit: did you mean '10B', '10KiB' or '10MiB'?"],
    ['-1KB', 'a size cannot be negative'],
    ['2TiB', 'the largest size is 1TiB'],
    ['1.5B', 'write it as 512B, 64KiB, 10MB or 1GiB'],
    ['big', 'write it as 512B, 64KiB, 10MB or 1GiB'],
  ])('[DEF-4] %j is refused with a suggestion', (text, hint) => {
    expect(parseSize(text)).toMatchObject({ hint });
  });

  it('[DEF-4] sizes are shown in powers of 1024', () => {
    expect([0, 512, 65_536, 1_572_864].map(formatSize)).toEqual(['0 B', '512 B', '64 KiB', '1.5 MiB']);
  });
});
