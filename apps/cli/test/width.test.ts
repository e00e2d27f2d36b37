import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { column, fit, printable, printableLine, stripColours, visibleWidth, wrap } from '../src/terminal/width.ts';

describe('width of text', () => {
  test('counts cells, not code units', () => {
    expect(visibleWidth('abc')).toBe(3);
    expect(visibleWidth('\x1b[31mabc\x1b[39m')).toBe(3);
    expect(visibleWidth('日本')).toBe(4);
    expect(visibleWidth('e\u0301')).toBe(1);
    expect(visibleWidth('🚀')).toBe(2);
    expect(visibleWidth('✓ ⏸ ●')).toBe(5);
    expect(visibleWidth('✅ ☕ ⌚')).toBe(8);
  });

  test('[CLI-54] cutting never exceeds the width and keeps colours closed', () => {
    expect(fit('abcdef', 4)).toBe('abc…');
    expect(fit('abcd', 4)).toBe('abcd');
    expect(fit('日本語', 4)).toBe('日…');
    expect(fit('✅✅', 3)).toBe('✅…');
    expect(fit('\x1b[31mabcdef\x1b[39m', 4)).toBe('\x1b[31mabc…\x1b[0m');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 30 }), (text, width) => {
        expect(visibleWidth(fit(text, width))).toBeLessThanOrEqual(width);
        expect(visibleWidth(column(text, width))).toBe(width);
      }),
    );
  });

  test('wraps at spaces', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('unbreakable', 4)).toEqual(['unbreakable']);
  });
});

describe('foreign text', () => {
  test('[CLI-11] control characters become visible', () => {
    expect(printable('a\x1b[2Jb')).toBe('a␛[2Jb');
    expect(printable('x\x07\x08')).toBe('x␇␈');
    expect(printable('\u202eevil')).toBe('\\u202eevil');
    expect(printable('\x9b31m')).toBe('\\u009b31m');
    expect(printable('two\nlines\tstay')).toBe('two\nlines\tstay');
    expect(printableLine('two\n  lines\r\n')).toBe('two ⏎ lines');
  });

  test('[CLI-11] nothing that could start a terminal sequence is left', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be left
        expect(printableLine(text)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
      }),
    );
  });

  test('stripping colours leaves the text', () => {
    expect(stripColours('\x1b[1m\x1b[31mx\x1b[39m\x1b[22m')).toBe('x');
  });
});
