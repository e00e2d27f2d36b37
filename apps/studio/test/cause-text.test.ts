import { describe, expect, test } from 'vitest';
import { sentenceOf } from '../src/pages/run/cause-text.ts';
import { formatOf } from '../src/text/format.ts';

const format = formatOf('de', 'UTC');
const NOW = 1_000_000;

describe('[STU-83] the reason of a state', () => {
  const cause = (code: string, value: Record<string, unknown> = {}) => ({ code, message: 'In English.', value });

  test('is worded by the server in English', () => {
    expect(sentenceOf(cause('paused', { since: 0 }), 'en', formatOf('en'), NOW)).toBe('In English.');
  });

  test('is worded in German from its code and values', () => {
    const german = (code: string, value?: Record<string, unknown>) => sentenceOf(cause(code, value), 'de', format, NOW);
    expect(german('paused', { since: NOW - 90_000 })).toBe('Der Lauf ist seit 1 m 30 s pausiert.');
    expect(german('upstream', { sources: { fetch: 'running', load: 'queued' } })).toBe('Wartet auf fetch, load.');
    expect(german('handling', { handling: 'fatal' })).toBe('Nichts hat den Fehler behandelt, darum endete der Lauf.');
    expect(german('completed', { attempt: 2 })).toBe('Abgeschlossen mit Versuch 2.');
  });

  test('keeps messages of errors, and sentences of causes that a newer server has', () => {
    expect(sentenceOf(cause('error'), 'de', format, NOW)).toBe('In English.');
    expect(sentenceOf(cause('toString'), 'de', format, NOW)).toBe('In English.');
  });
});
